"""`misstep demo`: plans a bundled task."""

from importlib.resources import as_file, files

from misstep.cli.exit_codes import ExitCode
from misstep.cli.options import Json
from misstep.cli.output import note, warn


def demo(*, json: Json = False) -> int:
    """Plan a bundled task: two vans, three parcels, roads of different length.

    Example: misstep demo
    """
    from misstep.cli.plan import plan, show
    from misstep.planners.native import AStar
    from misstep.task import load

    with as_file(files("misstep") / "data" / "courier") as folder:
        domain, problem = folder / "domain.pddl", folder / "problem.pddl"
        if json:
            return plan(domain, problem, json=True)
        task = load(domain, problem)
    warn(task.warnings)
    note(f"courier: {task.num_variables} variables, {len(task.actions)} actions; a cheapest plan:")
    algorithm = AStar()
    result = algorithm.run(task)
    show(result, result.limit, algorithm=str(algorithm))
    return ExitCode.NOTHING_FOUND
