"""The commands that both builds run: a scenario is a list of them, run one after the other in one folder."""

from dataclasses import dataclass

COURIER = "domain.pddl problem.pddl"
FERRY = "ferry/domain.pddl ferry/p02.pddl"
TESTED = f"test {COURIER} --policy zoo:courier-asnet --unit-cost"
CRASHING = f"test {COURIER} --policy python:policies.py"


@dataclass(frozen=True)
class Scenario:
    """Commands in one folder, which at first holds the inputs of `inputs.py`."""

    commands: tuple[str, ...]
    records: tuple[str, ...] = ()
    """Records that the other build must verify, show, replay and report with the same result."""
    interrupted: str | None = None
    """What the first command writes; the command is stopped while it grows, and continued by either build."""
    resume: str = ""
    """What the first command takes in addition to continue."""


def _test(options: str, *more: str, task: str = COURIER, out: str = "r") -> Scenario:
    first = f"test {task} {options} --out {out}"
    return Scenario((first, *more), records=(out,), interrupted=out, resume="--resume")


def _oracle(text: str) -> Scenario:
    return _test(
        f"--policy heuristic:hadd --pool 20 --oracle {text}", task="ferry/domain.pddl ferry/p01.pddl"
    )


ORACLES = (
    "landmarks abstraction dead-ends greedy improve undo undo:failing=true inverse planner:astar:lmcut "
    "planner:ehc:ff planner:gbfs:ff improve/ehc morph bounds:0 bounds:10 bounds:100+improve/ehc lookahead lookahead:3 "
    "perfect bounds:100+planner:astar:lmcut"
).split()

SCENARIOS: dict[str, Scenario] = {
    "demo": Scenario(("demo --out demo", "demo gripper --json --out gripper"), records=("demo", "gripper")),
    "test": _test(
        "--policy zoo:courier-asnet --unit-cost --pool 40",
        "show r",
        "show r 25",
        "show r 25 --json",
        "verify r",
        "replay r",
        "replay r 25 --json",
        "shrink r 25",
        "report r",
        "verify r --json --jobs 2",
    ),
    "test-json": _test("--policy heuristic:ff --pool 30 --json", "show r --json", "verify r --json"),
    "test-quiet": _test("--policy heuristic:hadd --pool 30 --quiet"),
    "test-jobs-2": _test("--policy heuristic:hadd --pool 30 --jobs 2", task=FERRY),
    "test-jobs-4": _test("--policy heuristic:hadd --pool 30 --jobs 4", task=FERRY),
    "test-gap": _test("--policy heuristic:hadd --pool 25 --gap", "verify r", task=FERRY),
    "test-interleave": _test("--policy heuristic:hadd --pool 25 --interleave", task=FERRY),
    "test-no-faults": _test("--policy heuristic:hadd --pool 25 --no-faults", task=FERRY),
    "test-qualitative": _test("--policy heuristic:ff --pool 25 --objective qualitative", "show r"),
    "test-until-width": _test("--policy heuristic:ff --pool 60 --until-width 0.5"),
    "test-classic": _test("--policy heuristic:ff --fuzzer classic --pool 40", task=FERRY),
    "test-pool-file": Scenario(
        (
            f"fuzz {COURIER} --policy heuristic:ff --pool 20 --out pool.jsonl",
            f"test {COURIER} --policy heuristic:hadd --pool-file pool.jsonl --out r",
        ),
        records=("r",),
    ),
    "test-python": _test("--policy python:policies.py:first --pool 15", "replay r --trust"),
    "test-python-inside": _test("--policy python:policies.py:first --no-isolate --pool 15"),
    "test-raises": _test("--policy python:policies.py:raises --pool 10", "show r"),
    "test-silent": _test("--policy python:policies.py:silent --pool 10", "show r"),
    "test-illegal": _test("--policy python:policies.py:illegal --pool 10", "show r", "verify r"),
    "test-odd-paths": _test(
        "--policy heuristic:ff --pool 5", "show 'q s/t'", "verify 'q s/t'", out="'q s/t'"
    ),
    "test-sas": Scenario(
        ("test task.sas --policy heuristic:ff --pool 10 --out r", "show r", "verify r", "report r"),
        records=("r",),
    ),
    "suite": Scenario(
        (
            "test ferry/domain.pddl ferry/p01.pddl ferry/p02.pddl ferry/p03.pddl --policy heuristic:hadd --pool 10 "
            "--jobs 2 --junit j.xml --out many",
            "test ferry/domain.pddl ferry --policy heuristic:hadd --pool 5 --json --out again",
        ),
        records=("many/p01", "many/p02"),
    ),
    "doors": Scenario(
        (
            f"{TESTED} --pool 40 --junit j.xml --corpus corpus --out r",
            f"{TESTED} --pool 40 --corpus corpus --fail-on new_families --out again",
            f"test {COURIER} --policy heuristic:ff --pool 40 --corpus corpus --json --out third",
            f"{TESTED} --pool 10 --fail-on max_bug_rate=0.9 --out fourth",
        ),
        records=("r",),
    ),
    "toml": Scenario(
        ("test --config options.toml --out r", "test --config wrong.toml --out s"), records=("r",)
    ),
    "diff": Scenario(
        (
            f"{TESTED} --pool 40 --out old",
            f"test {COURIER} --policy heuristic:hadd --unit-cost --pool-file old/pool.jsonl --out new",
            "diff old new",
            "diff new old --json",
            "report old new --out page.html",
        )
    ),
    **{f"oracle-{text.replace(':', '-').replace('/', '-')}": _oracle(text) for text in ORACLES},
    "run": Scenario(
        (
            f"run {COURIER} --policy zoo:courier-asnet --unit-cost",
            f"run {COURIER} --policy heuristic:ff --json",
            f"run {COURIER} --policy heuristic:hadd --states --out plan.txt",
            f"run {COURIER} --policy python:policies.py:illegal",
        )
    ),
    "plan": Scenario(
        (
            *tuple(
                f"plan {FERRY} --search {search} --json"
                for search in ("astar:lmcut", "astar:hmax", "gbfs:ff", "ehc:ff")
            ),
            f"plan {FERRY} --search lazy:ff --out plan.txt",
            f"plan {FERRY} --max-expansions 3",
        )
    ),
    "fuzz": Scenario(
        (
            *tuple(
                f"fuzz {FERRY} --policy heuristic:hadd --bias {bias} --pool 60 --out {bias}.jsonl"
                for bias in ("none", "plan-length", "loopiness", "detour", "surface")
            ),
            f"fuzz {FERRY} --policy heuristic:ff --bias detour:h=star --pool 20 --json --out star.jsonl",
        )
    ),
    "dominance": Scenario(
        (
            f"dominance {COURIER} --save d.npz",
            f"dominance {COURIER} --load d.npz --json",
            f"dominance {COURIER} --factors atomic",
        )
    ),
    "errors": Scenario(
        (
            "test absent.pddl problem.pddl --policy heuristic:ff",
            f"test {COURIER} --policy heuristic:fff",
            f"test {COURIER} --policy zoo:couriers",
            f"test {COURIER} --policy asnet:absent.policy",
            f"test {COURIER} --policy heuristic:ff --oracle boundz",
            f"test {COURIER} --policy heuristic:ff --pool -3",
            f"plan {COURIER} --serch astar:lmcut",
            "verify absent",
            "show absent",
            "replay absent",
            "campaign absent.toml",
            "safety decide absent.jani",
            "test broken.pddl problem.pddl --policy heuristic:ff",
        )
    ),
    "parts": Scenario(
        ("parts", "parts oracle", "parts policy", "parts safety-policy", "parts bias --json", "--version")
    ),
    "help": Scenario(
        tuple(
            f"{command} --help".strip()
            for command in (
                "",
                "test",
                "run",
                "fuzz",
                "plan",
                "dominance",
                "verify",
                "replay",
                "show",
                "report",
                "shrink",
                "diff",
                "train asnet",
                "train gnn",
                "train mlp",
                "select",
                "retrain",
                "scale",
                "campaign",
                "campaign status",
                "safety test",
                "safety decide",
                "safety shield",
                "safety retrain",
                "safety generate",
                "parts",
                "doctor",
            )
        )
    ),
    "model": Scenario(
        (
            "test line.jani --policy zoo:two_way_line --runs 40 --out r",
            "show r",
            "show r 9",
            "show r 9 --json",
            "verify r",
            "replay r",
            "shrink r 4",
            "report r",
            "test line.jani --policy zoo:two_way_line --runs 40 --seed 5 --json --out other",
            "diff r other",
        ),
        records=("r", "other"),
        interrupted="r",
        resume="--resume",
    ),
    "model-doors": Scenario(
        (
            "safety test line.jani --policy zoo:two_way_line --runs 20 --junit j.xml --corpus corpus --out r",
            "safety test line.jani --policy zoo:two_way_line --runs 20 --corpus corpus --out again",
            "test line.jani --policy zoo:two_way_line --runs 20 --filter --out filtered",
            "test line.jani --policy zoo:two_way_line --runs 20 --radius 1 --out near",
            "test line.jani --policy zoo:two_way_line --runs 20 --fuzzer sampling --out drawn",
        ),
        records=("near",),
    ),
    "model-python": Scenario(
        (
            "test line.jani --policy python:policies.py:first_label --runs 10 --out r",
            "test line.jani --policy python:policies.py:raises --runs 10 --out s",
        ),
        records=("r",),
    ),
    "decide": Scenario(
        (
            "safety decide line.jani",
            "safety decide line.jani --radius 1 --policy zoo:two_way_line --json",
            "safety decide line.jani --radius inf --out d",
            "verify d",
            "show d",
            *(
                f"safety decide line.jani --decider {decider} --json"
                for decider in ("tarjan", "lao", "lrtdp", "level", "value-iteration")
            ),
        )
    ),
    "shield": Scenario(
        (
            "safety shield line.jani --policy zoo:two_way_line --runs 20 --out shield.json",
            "test line.jani --policy shield:shield.json --runs 20 --out r",
        )
    ),
    "campaign": Scenario(
        (
            "campaign nightly.toml --out nightly",
            "campaign status nightly",
            "campaign table nightly --by policy",
            "campaign table nightly --by problem",
            "campaign export nightly --csv jobs.csv",
            "campaign plot nightly --out plot.svg",
            "campaign nightly.toml --dry-run --out nightly",
        ),
        interrupted="nightly",
    ),
    "campaign-models": Scenario(("campaign models.toml --out models", "campaign table models --by policy")),
    "train-asnet": Scenario(
        (
            "train asnet ferry/domain.pddl ferry/p01.pddl --validation ferry/p02.pddl --epochs 6 --batches 20 --out t",
            f"test {FERRY} --policy asnet:t/final.policy --pool 10 --out r",
        ),
        interrupted="t",
    ),
    "train-select": Scenario(
        (
            "train asnet ferry/domain.pddl ferry/p01.pddl --validation ferry/p02.pddl --select tree --inits 2 "
            "--start 1 --main 2 --branches 2 --pool 10 --batches 10 --out t",
        ),
        interrupted="t",
    ),
    "train-mlp": Scenario(
        (
            "train mlp line.jani --steps 3000 --hidden 8 --out m.jani2nnet",
            "test line.jani --policy nnet:m.jani2nnet --runs 10 --out r",
        ),
        interrupted="m.jani2nnet",
    ),
    "select": Scenario(
        (
            "train asnet ferry/domain.pddl ferry/p01.pddl --epochs 4 --batches 10 --out t",
            "select ferry/domain.pddl ferry/p01.pddl ferry/p02.pddl --policies t/models --pool 8 --out s",
        )
    ),
    "retrain": Scenario(
        (
            "train asnet ferry/domain.pddl ferry/p01.pddl --epochs 3 --batches 10 --out t",
            "retrain ferry/domain.pddl ferry/p01.pddl --policy asnet:t/final.policy --rounds 2 --pool 8 --epochs 1 "
            "--batches 10 --out again",
        )
    ),
    "safety-retrain": Scenario(
        (
            "safety retrain line.jani --policy zoo:two_way_line --rounds 1 --runs 20 --epochs 3 --exam-runs 20 "
            "--out n.jani2nnet",
        )
    ),
    "scale": Scenario(
        ("scale --generator ferry --policy heuristic:ff --largest 6 --instances 4 --width 0.9 --out s",)
    ),
    "generate": Scenario(
        ("safety generate transport --out t.jani", "safety generate cart_pole --out c.jani")
    ),
}
