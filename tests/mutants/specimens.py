"""The input formats of misstep: for each a file to damage and the commands that read it."""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import shutil
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from importlib.resources import files
from pathlib import Path

import numpy as np

import misstep
from misstep import load
from misstep.bundled.models import generate
from misstep.cli import app
from misstep.cli.exit_codes import ExitCode
from misstep.errors import MisstepError
from misstep.formats.safetensors import write_safetensors
from misstep.remote import wire
from misstep.remote.correspondence import Correspondence
from misstep.task import Task
from tests.mutants import documents, texts
from tests.mutants.leftovers import leftovers
from tests.mutants.specimen import LIMITS, Specimen, Way, by_name, command
from tests.unit.asnet_reference import random_model
from tests.unit.gnn_models import ferry, random_checkpoint
from tests.unit.onnx_model import linear_model
from tests.unit.test_asnet_policy import write_sqlite, write_toml
from tests.unit.torch_file import write_checkpoint


def specimens(folder: Path) -> list[Specimen]:
    """All formats; their files are made in `folder`. Whatever commands load is loaded here, before any fork."""
    for module in pkgutil.walk_packages(misstep.__path__, "misstep."):
        if not module.name.endswith(("__main__", "pytest_plugin")):
            importlib.import_module(module.name)
    with Path(os.devnull).open("w") as nothing, redirect_stdout(nothing), redirect_stderr(nothing):
        return _made(folder)


def _made(folder: Path) -> list[Specimen]:
    task, model = _task_files(folder), _model_files(folder)
    return [
        *_tasks(folder, task),
        *_policies(folder, task),
        *_models(folder, model),
        *_model_policies(folder, model),
        *_records(folder, task, model),
        *_training(folder),
        *leftovers(folder, task, model),
        *_programs(folder, task),
    ]


def _task_files(folder: Path) -> Path:
    """A small task as `domain.pddl`, `problem.pddl` and, what is returned, `task.sas`."""
    domain, problem = ferry(folder)
    (folder / "task.sas").write_text(load(domain, problem).sas)
    return folder / "task.sas"


def _tasks(folder: Path, task: Path) -> list[Specimen]:
    domain, problem = folder / "domain.pddl", folder / "problem.pddl"
    pool, config, table = folder / "pool.jsonl", folder / "misstep.toml", folder / "pool-table.json"
    app.run(["fuzz", str(task), "--policy", "heuristic:ff", "--pool", "8", "--out", str(pool), "--quiet"])
    config.write_text(
        'policy = "heuristic:ff"\npool = 3\nseed = 1\noracle = ["planner", "improve/ehc"]\nbias = "none"\n'
        'objective = "quantitative"\nmax_steps = 100\nconfidence = 0.9\n\n[misstep.fail]\nmax_bug_rate = 0.5\n'
    )
    steps = [(state, misstep.load_sas(task)) for state in (misstep.load_sas(task).initial_state,)]
    table.write_text(
        json.dumps([{"facts": s.facts, "action": t.applicable(s)[0].name} for s, t in steps * 2])
    )
    dominance = folder / "task.dominance"
    app.run(["dominance", str(task), "--save", str(dominance), "--quiet", "--json"])
    search = ("--search", "gbfs:ff", *LIMITS, "--json")
    small = ("--policy", "heuristic:ff", "--pool", "3", *LIMITS, "--json", "--out", "out")
    return [
        Specimen("PDDL domain", domain, texts.lisp, (command("plan", "{}", problem, *search),)),
        Specimen("PDDL problem", problem, texts.lisp, (command("plan", domain, "{}", *search),)),
        Specimen("SAS task", task, texts.lines, (command("plan", "{}", *search), command("test", "{}", *small))),
        Specimen("pool", pool, documents.json_lines, (command("test", task, *small, "--pool-file", "{}"),)),
        Specimen(
            "options (TOML)", config, documents.toml,
            (command("test", task, "--config", "{}", *LIMITS, "--json", "--out", "out"),
             command("test", task, *small)),
        ),
        Specimen("dominance function", dominance, texts.damage, (command("dominance", task, "--load", "{}"),)),
        Specimen("policy table", table, documents.json_text, (command("run", task, "--policy", "table:{}", *LIMITS),)),
    ]  # fmt: skip


def _policies(folder: Path, sas: Path) -> list[Specimen]:
    domain, problem = folder / "domain.pddl", folder / "problem.pddl"
    task = load(domain, problem)
    network = random_model(task.pddl)
    own = folder / "own.safetensors"
    own.write_bytes((files("misstep") / "bundled" / "zoo" / "ferry.asnet.safetensors").read_bytes())
    linear = folder / "linear.json"
    linear.write_bytes((files("misstep") / "bundled" / "zoo" / "courier.linear.json").read_bytes())
    facts, actions = sum(task.domain_sizes), len(task.actions)
    rng = np.random.default_rng(0)
    layers = {"0.weight": rng.normal(size=(4, facts)), "0.bias": np.zeros(4)}
    layers |= {"2.weight": rng.normal(size=(actions, 4)), "2.bias": np.zeros(actions)}
    floats = {name: array.astype(np.float32) for name, array in layers.items()}
    saved, tensors, onnx = folder / "net.pt", folder / "net.safetensors", folder / "net.onnx"
    write_checkpoint(saved, {"state_dict": floats, "epoch": 3})
    write_safetensors(tensors, floats, metadata={"activation": "relu"})
    onnx.write_bytes(linear_model(rng.normal(size=(facts, actions)), np.zeros(actions)))

    def run(kind: str, *more: str) -> tuple[Way]:
        return (command("run", domain, problem, "--policy", f"{kind}:{{}}", *LIMITS, "--json", *more),)

    def run_sas(kind: str, options: str = "") -> tuple[Way]:
        return (command("run", sas, "--policy", f"{kind}:{{}}{options}", *LIMITS, "--json", "--no-isolate"),)

    bundled = Path(misstep.__file__).parent / "bundled"
    courier = (bundled / "courier" / "domain.pddl", bundled / "courier" / "problem.pddl")
    ferry_task = (bundled / "domains" / "ferry.pddl", bundled / "problems" / "ferry.pddl")
    asnet = (command("run", *ferry_task, "--policy", "asnet:{}", *LIMITS, "--json"),)
    checkpoint = random_checkpoint(folder / "net.ckpt", hidden=8, iterations=2)
    return [
        Specimen("ASNet (SQLite)", write_sqlite(folder / "net.policy", network), documents.sqlite, run("asnet")),
        Specimen("ASNet (TOML)", write_toml(folder / "net.toml", network), documents.toml, run("asnet")),
        Specimen("ASNet (own)", own, documents.safetensors, asnet),
        Specimen("GNN checkpoint", checkpoint, documents.archive, run("gnn")),
        Specimen(
            "linear policy", linear, documents.json_text,
            (command("run", *courier, "--policy", "linear:{}", *LIMITS, "--json"),),
        ),
        Specimen("PyTorch weights", saved, documents.archive, run_sas("torch", ",activation=relu")),
        Specimen("safetensors weights", tensors, documents.safetensors, run_sas("torch")),
        Specimen("ONNX network", onnx, documents.protocol, run_sas("onnx")),
    ]  # fmt: skip


def _model_files(folder: Path) -> Path:
    """A small model as `line.jani`, with a policy as `line.jani2nnet` and `line.nnet`."""
    model = folder / "line.jani"
    model.write_text(json.dumps(generate("two_way_line")))
    return model


def _models(folder: Path, model: Path) -> list[Specimen]:
    whole = json.loads(model.read_text())
    properties, bare, state = folder / "properties.jani", folder / "bare.jani", folder / "state.json"
    properties.write_text(json.dumps({"properties": whole.pop("properties")}))
    bare.write_text(json.dumps(whole))
    values = {one["name"]: one.get("initial-value", 0) for one in whole["variables"] if "name" in one}
    state.write_text(json.dumps(values))
    test = ("--policy", "zoo:two_way_line", "--runs", "3", *LIMITS, "--json", "--out", "out")
    decide = ("--max-expansions", "2000", *LIMITS, "--json")
    return [
        Specimen(
            "JANI model", model, documents.json_text,
            (command("safety", "test", "{}", *test), command("safety", "decide", "{}", *decide)),
        ),
        Specimen(
            "JANI properties", properties, documents.json_text,
            (command("safety", "test", bare, "--properties", "{}", *test),),
        ),
        Specimen(
            "state (JSON)", state, documents.json_text,
            (command("safety", "decide", model, "--state", "{text}", *decide),),
        ),
    ]  # fmt: skip


def _model_policies(folder: Path, model: Path) -> list[Specimen]:
    tree = folder / "network"
    tree.mkdir()
    zoo = Path(misstep.__file__).parent / "bundled" / "safety_zoo"
    for name in ("two_way_line.jani2nnet", "two_way_line.nnet"):
        shutil.copy(zoo / name, tree / name)
    interface = json.loads((tree / "two_way_line.jani2nnet").read_text())
    forest = folder / "forest"
    forest.mkdir()
    outputs = _outputs(tree / "two_way_line.nnet")
    leaf = {"feat_id": 0, "split_value": 1.5, "lt": {"leaf_value": 1.0}, "gt": {"leaf_value": -1.0}}
    (forest / "trees.json").write_text(
        json.dumps({"base_scores": [0.0] * outputs, "trees": [[leaf]] * outputs})
    )
    (forest / "trees.jani2nnet").write_text(json.dumps({**interface, "file": "trees.json"}))
    test = ("--runs", "3", *LIMITS, "--json", "--out", "out")
    by_interface = (command("safety", "test", model, "--policy", "nnet:{}", *test),)
    by_weights = (command("safety", "test", model, "--policy", "nnet:{dir}/two_way_line.jani2nnet", *test),)
    by_trees = (command("safety", "test", model, "--policy", "trees:{dir}/trees.jani2nnet", *test),)
    return [
        Specimen("jani2nnet", tree / "two_way_line.jani2nnet", documents.json_text, by_interface, tree),
        Specimen("nnet weights", tree / "two_way_line.nnet", texts.lines, by_weights, tree),
        Specimen("tree ensemble", forest / "trees.json", documents.json_text, by_trees, forest),
    ]


def _outputs(weights: Path) -> int:
    """The last of the layers' sizes: the first line that is no comment has counts, the second the sizes."""
    rows = [row for row in weights.read_text().splitlines() if not row.startswith("//")]
    return int(rows[1].strip(", ").split(",")[-1])


def _records(folder: Path, task: Path, model: Path) -> list[Specimen]:
    classical, safety, corpus = folder / "classical", folder / "safety", folder / "corpus.jsonl"
    ready = ("--pool", "6", "--policy", "heuristic:hadd", "--quiet")
    app.run(["test", str(task), *ready, "--out", str(classical), "--corpus", str(corpus)])
    app.run(
        [
            "safety",
            "test",
            str(model),
            "--policy",
            "zoo:two_way_line",
            "--runs",
            "5",
            "--quiet",
            "--out",
            str(safety),
        ]
    )
    found = []
    for title, record in (("record of a task", classical), ("record of a model", safety)):
        others = tuple((path, by_name(path)) for path in sorted(record.rglob("*")) if path.is_file())
        here = record.name
        ways = (
            command("verify", here, "--seconds", "10", "--json"),
            command("verify", here, "--seconds", "10", "--json"),
            command("show", here),
            command("report", here, "--out", "report.html"),
            command("replay", here, "--seconds", "4", "--trust", "--json"),
            command("diff", here, record, "--json"),
        )
        found.append(Specimen(title, record / "events.jsonl", documents.json_lines, ways, record, others))
    known = command("test", task, *ready[:-1], *LIMITS, "--json", "--out", "out", "--corpus", "{}")
    return [*found, Specimen("corpus of bugs", corpus, documents.json_lines, (known,))]


def _training(folder: Path) -> list[Specimen]:
    """What a training and a selection leave to go on with."""
    domain, problem = folder / "domain.pddl", folder / "problem.pddl"
    trained = folder / "trained"
    small = (
        str(domain),
        str(problem),
        "--epochs",
        "2",
        "--batches",
        "5",
        "--hidden",
        "4",
        "--max-states",
        "10",
    )
    train = ("train", "asnet", *small, "--quiet", "--json")
    app.run([*train, "--cache", str(trained) + "/cache.db", "--out", str(trained)])
    ways = (command(*train, "--seconds", "4", "--cache", "{dir}/cache.db", "--out", "{dir}"),)
    others = tuple((path, by_name(path)) for path in sorted(trained.iterdir()) if path.is_file())
    return [Specimen("state of a training", trained / "cache.db", documents.sqlite, ways, trained, others)]


def _programs(folder: Path, task: Path) -> list[Specimen]:
    """What other programs say: a planner's plan, a generator's problem, a policy server's messages."""
    plan, program = folder / "plan.txt", folder / "planner.sh"
    app.run(["plan", str(task), "--search", "gbfs:ff", "--out", str(plan), "--quiet"])
    program.write_text('#!/bin/sh\ncp "$MUTANT" plan\n')
    program.chmod(0o755)
    domain, problem = folder / "domain.pddl", folder / "problem.pddl"
    external = f"external:lama-first,program={program}"
    message = folder / "task.wire"
    message.write_bytes(wire.encode_task(task.read_text()))
    scale = (
        "--domain",
        domain,
        "--policy",
        "heuristic:ff",
        "--largest",
        "2",
        "--instances",
        "1",
        "--seconds",
        "4",
    )
    return [
        Specimen("planner's plan", plan, texts.lisp, (_with_mutant("plan", task, "--search", external, *LIMITS),)),
        Specimen(
            "generated problem", problem, texts.lisp,
            (command("scale", "--generator", "command:cat {}", *scale, "--json"),),
        ),
        Specimen("server's task", message, documents.protocol, (_server_task(task),)),
        Specimen("server's answers", _answers(folder), documents.protocol, (_server_answers,)),
    ]  # fmt: skip


def _with_mutant(*words: str | Path) -> Way:
    """A command line whose programs find the damaged file by the variable MUTANT."""
    way = command(*words)

    def with_mutant(file: Path) -> int:
        os.environ["MUTANT"] = str(file)
        return way(file)

    return with_mutant


def _answers(folder: Path) -> Path:
    path = folder / "answer.wire"
    path.write_bytes(wire.encode_probabilities([(3, 0.25), (0, 0.75)]))
    return path


def _server_task(here: Path) -> Way:
    def way(file: Path) -> int:
        try:
            there = Task(wire.decode_task(file.read_bytes()), source="server")
            Correspondence(misstep.load_sas(here), there, source="server")
        except (wire.WireError, MisstepError):
            return ExitCode.USAGE
        return ExitCode.NOTHING_FOUND

    return way


def _server_answers(file: Path) -> int:
    data = file.read_bytes()
    readers: Sequence[Callable[[bytes], object]] = (
        wire.decode_probabilities,
        wire.decode_operator,
        wire.decode_state,
    )
    for read in readers:
        try:
            read(data)
        except wire.WireError:
            continue
    return ExitCode.NOTHING_FOUND
