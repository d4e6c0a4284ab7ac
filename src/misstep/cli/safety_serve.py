"""`misstep safety serve`: offers a policy on a JANI model, shielded or not, to other programs."""

from typing import Annotated, Any

from cyclopts import Parameter

from misstep.cli.config_options import ServeOptions, make_config
from misstep.cli.options import Json, Quiet
from misstep.cli.safety_options import ModelFile
from misstep.cli.serving import serve_until_stopped


def serve(
    model: ModelFile,
    /,
    *,
    address: Annotated[
        str,
        Parameter(
            help="host:port, *:port to listen on all networks, or unix:///path; port 0 takes a free port."
        ),
    ] = "127.0.0.1:0",
    options: Annotated[Any, Parameter(name="*")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Offer a policy on a JANI model to other programs over gRPC, until Ctrl-C (exit code 0).

    It prints its address on standard output. Test it with --policy remote:ADDRESS. docs/safety.md describes the
    messages, which are JSON.

    Example: misstep safety serve line.jani --policy shield:line.shield.json --address localhost:50052
    """
    from misstep.safety.model import load_model
    from misstep.safety.policy import load_policy
    from misstep.safety.remote import ModelPolicyServer

    config = make_config(options or ServeOptions(), model=model)
    task = load_model(config)
    policy = load_policy(config.policy, task, filter=config.filter)
    server = ModelPolicyServer(task, policy, address=address)
    return serve_until_stopped(
        server,
        {"model": str(model), "policy": config.policy},
        what=f"{config.policy} on {model}",
        json=json,
        quiet=quiet,
    )


serve.__annotations__["options"] = Annotated[ServeOptions | None, Parameter(name="*")]
