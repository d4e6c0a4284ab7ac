"""The files that scenarios start from: copied from this checkout or written here, so both builds read the same."""

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
POLICIES = '''"""Policies of a user: good ones and broken ones."""

def first(state):
    return next(iter(state.task.applicable(state)), None)

def silent(state):
    return None

def illegal(state):
    return "(drive red harbour harbour)"

def raises(state):
    raise RuntimeError("out of memory")

def first_label(state):
    return "move_left"
'''
SAS = """begin_version
3
end_version
begin_metric
1
end_metric
2
begin_variable
var0
-1
3
Atom at(a)
Atom at(b)
Atom at(c)
end_variable
begin_variable
var1
-1
2
Atom light()
NegatedAtom light()
end_variable
0
begin_state
0
1
end_state
begin_goal
2
0 2
1 0
end_goal
4
begin_operator
go a b
0
1
0 0 0 1
2
end_operator
begin_operator
go b c
0
1
0 0 1 2
2
end_operator
begin_operator
go a c
0
1
0 0 0 2
5
end_operator
begin_operator
switch
1
0 1
1
0 1 -1 0
1
end_operator
0
"""
OPTIONS = """
domain = "domain.pddl"
problem = "problem.pddl"
policy = "heuristic:hadd"
pool = 12
oracle = ["landmarks+planner:astar:lmcut"]
"""
CAMPAIGN = """
domain = "domain.pddl"
problems = ["problem.pddl", "broken.pddl"]
policies = ["zoo:courier-asnet", "heuristic:ff"]
unit_cost = true
pool = 8
seeds = [0, 1]
seconds = 600
"""
MODELS = """
models = ["line.jani"]
policies = ["zoo:two_way_line"]
runs = [10, 20]
"""


def write_inputs(folder: Path, model: str) -> None:
    """Fills a new folder; `model` is the text of a JANI model."""
    folder.mkdir(parents=True)
    courier = ROOT / "src" / "misstep" / "bundled" / "courier"
    shutil.copy(courier / "domain.pddl", folder)
    shutil.copy(courier / "problem.pddl", folder)
    (folder / "broken.pddl").write_text((courier / "problem.pddl").read_text()[:-20])
    (folder / "ferry").mkdir()
    for file in sorted((ROOT / "tests" / "tasks" / "ferry").glob("*.pddl")):
        shutil.copy(file, folder / "ferry")
    texts = {
        "policies.py": POLICIES,
        "task.sas": SAS,
        "options.toml": OPTIONS,
        "wrong.toml": OPTIONS + "bais = 3\n",
        "nightly.toml": CAMPAIGN,
        "models.toml": MODELS,
        "line.jani": model,
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
