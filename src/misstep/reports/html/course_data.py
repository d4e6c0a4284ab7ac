"""The bugs of a classical test as small data for a page: states as changes, each action and text once.

The page follows the courses by itself: a state is the values of the task's variables, an action what it
changes. So a bug takes about as much room as the names of its actions would.
"""

from typing import Any

from misstep._core import Action
from misstep.drawing import Scene
from misstep.reports.columns import better_cells, policy_cells
from misstep.reports.comparison import Comparison, compare
from misstep.reports.html.markup import safe_text
from misstep.reports.report import Bug, Report
from misstep.reports.show import explain, headline
from misstep.task import Task

# More bugs than this nobody looks at one by one, and more steps make a page that opens slowly.
MOST_BUGS = 2000
_MOST_STEPS = 500_000


def task_data(report: Report, task: Task, scene: Scene) -> dict[str, Any]:
    """All that the page needs to show the bugs of a record."""
    tables = _Tables(task)
    bugs: list[dict[str, Any]] = []
    steps = 0
    for bug in most_telling(report):
        bugs.append(tables.bug(bug))
        steps += len(bugs[-1]["run"]) + len(bugs[-1]["plan"])
        if steps > _MOST_STEPS:
            break
    return {
        "kind": "task",
        "facts": [
            [_fact(task, variable, value) for value in range(size)]
            for variable, size in enumerate(task.domain_sizes)
        ],
        "initial": list(task.initial_state.values),
        "goal": [value for fact in task.goal for value in fact],
        "actions": tables.actions,
        "texts": list(tables.texts),
        "scene": scene_data(task, scene),
        "bugs": bugs,
    }


def most_telling(report: Report) -> list[Bug]:
    """The bugs that a page has room for; where that are not all, those that stand for others come first."""
    bugs = report.bugs
    if len(bugs) <= MOST_BUGS:
        return bugs
    first = {family.representative for family in report.families}
    return sorted(bugs, key=lambda bug: bug.id not in first)[:MOST_BUGS]


def _fact(task: Task, variable: int, value: int) -> str | None:
    name = task.fact_name(variable, value)
    return None if name is None or name.startswith("(not ") else safe_text(name)


def scene_data(task: Task, scene: Scene) -> dict[str, Any]:
    """A scene for the page; texts are cut and made harmless like all others."""
    roles = {
        safe_text(name): [role.kind, role.subject, role.target, safe_text(role.label or name)]
        for name, role in scene.roles.items()
    }
    return {
        "layout": scene.layout,
        "places": [[safe_text(place.name), place.x, place.y] for place in scene.places],
        "edges": [[edge.start, edge.end, safe_text(edge.label)] for edge in scene.edges],
        "roles": roles,
        "notes": {
            safe_text(name): [safe_text(note) for note in notes] for name, notes in scene.notes.items()
        },
        "inside": {safe_text(thing): safe_text(where) for thing, where in scene.inside.items()},
        "colours": {safe_text(name): safe_text(colour) for name, colour in scene.colours.items()},
        "kinds": {safe_text(name): kind for name, kind in _kinds(task).items()},
    }


def _kinds(task: Task) -> dict[str, int]:
    """Objects of one kind have the same type, and the same always holds of them: some domains have no types."""
    view = task.pddl
    if view is None:
        return {}
    known: list[set[str]] = [{name} for name in view.object_types]
    for atom in view.static_atoms:
        if len(atom.objects) == 1:
            known[atom.objects[0]].add(view.predicates[atom.predicate].name)
    kinds = list(dict.fromkeys(map(frozenset, known)))
    return {name: kinds.index(frozenset(words)) for name, words in zip(view.objects, known, strict=True)}


class _Tables:
    """What bugs share: actions and texts, each stored once."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._initial = list(task.initial_state.values)
        self._numbers: dict[int, int] = {}
        self.actions: list[list[Any]] = []
        self.texts: dict[str, int] = {}

    def bug(self, bug: Bug) -> dict[str, Any]:
        """One bug."""
        certificate = bug.certificate
        both = compare(self._task, certificate)
        said = explain(both, certificate)
        values = both.policy.states[0].values
        changes = [(at, value) for at, value in enumerate(values) if value != self._initial[at]]
        return {
            "id": safe_text(str(certificate.get("id", bug.id))),
            "head": self._text(headline(both)),
            "outcome": both.outcome,
            "start": [number for change in changes for number in change],
            "run": [self._action(action) for action in both.policy.actions],
            "plan": self._plan(both),
            "answer": self._answer(both),
            "ends": [self._text(cells[-1].text) for cells in (policy_cells(both), better_cells(both.better))],
            "step": both.step,
            "until": both.until,
            "back": both.back_to,
            "misstep": self._text(said.misstep),
            "where": self._text(said.where),
            "needed": [self._text(fact) for fact in said.needed],
            "differences": said.differences
            and [[self._text(fact) for fact in facts] for facts in said.differences],
            "reason": None if said.reason is None else self._text(said.reason),
            "proof": self._text(said.proof),
            "replay": None if certificate.get("replay") is None else safe_text(str(certificate["replay"])),
        }

    def _plan(self, both: Comparison) -> list[int]:
        """How many actions are those of the policy's run, and the others."""
        shared = both.step or 0
        return [shared, *(self._action(action) for action in both.better.actions[shared:])]

    def _answer(self, both: Comparison) -> int | None:
        """The answer that ended the run."""
        return self._text(both.answer or "no action") if both.outcome in ("illegal", "stuck") else None

    def _action(self, action: Action) -> int:
        if action.index not in self._numbers:
            self._numbers[action.index] = len(self.actions)
            effect = [number for change in action.effect for number in change]
            self.actions.append([safe_text(action.name), action.cost, effect])
        return self._numbers[action.index]

    def _text(self, text: str) -> int:
        return self.texts.setdefault(safe_text(text), len(self.texts))
