"""What the policy does and what would be better, step by step; what `misstep show` shows, as data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from misstep._core import Action, State
from misstep.bound import cost_as_json
from misstep.errors import InputError
from misstep.task import Task


@dataclass(frozen=True, slots=True)
class Course:
    """Actions from a state on, and the states that they lead through: one more than actions."""

    actions: tuple[Action, ...]
    states: tuple[State, ...]

    @property
    def cost(self) -> int:
        """Of all actions together."""
        return sum(action.cost for action in self.actions)

    def as_json(self) -> list[dict[str, Any]]:
        """One object a step."""
        return [{"action": action.name, "cost": action.cost} for action in self.actions]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both courses from the state of a bug.

    Where a decision is proven to be wrong, the better course does what the policy does until then, so that
    both can be read side by side; it may cost more than the best plan that is known from the start.
    """

    outcome: str
    """How the policy's run ends."""
    policy: Course
    better: Course
    answer: str | None
    """The policy's last answer, where it ended the run because it was no applicable action."""
    step: int | None
    """The actions before the decision that is proven to be wrong; None where none is."""
    until: int | None
    """Where that could not be told, one of the decisions from `step` to before this one is wrong."""
    back_to: int | None
    """Of a loop: the actions before the state that the last action leads back to."""
    enough: int
    """The cost of the best plan that is known from the start."""

    @property
    def policy_cost(self) -> int | None:
        """What the policy pays; None where it never reaches the goal."""
        return self.policy.cost if self.outcome == "solved" else None

    @property
    def is_single(self) -> bool:
        """Whether one decision is proven to be wrong, and not just one of several."""
        return self.step is not None and self.until == self.step + 1

    @property
    def differences(self) -> tuple[list[str], list[str]] | None:
        """Facts that hold only after the policy's wrong decision, and only after the better one."""
        if self.step is None or not self.is_single:
            return None
        if self.step + 1 >= min(len(self.policy.states), len(self.better.states)):
            return None
        one, other = self.policy.states[self.step + 1].facts, self.better.states[self.step + 1].facts
        return sorted(set(one) - set(other)), sorted(set(other) - set(one))

    @property
    def needed(self) -> tuple[list[str], int]:
        """The facts of the state of the decision that the better course builds on, and how many more hold."""
        at = self.step or 0
        state = self.better.states[at]
        task: Any = state.task
        written: set[int] = set()
        found: dict[tuple[int, int], None] = {}
        for action in self.better.actions[at:]:
            found |= dict.fromkeys(fact for fact in action.precondition if fact[0] not in written)
            written |= {variable for variable, _ in action.effect}
        found |= dict.fromkeys(fact for fact in task.goal if fact[0] not in written)
        facts = sorted(name for fact in found if (name := task.fact_name(*fact)) is not None)
        return facts, len(set(state.facts) - set(facts))

    def as_json(self) -> dict[str, Any]:
        """For `misstep show --json`; steps count from 0, as in certificates."""
        differences = self.differences
        return {
            "policy_course": self.policy.as_json(),
            "policy_cost": None if self.policy_cost is None else cost_as_json(self.policy_cost),
            "better_course": self.better.as_json(),
            "better_cost": self.better.cost,
            "misstep": self.step,
            "misstep_until": self.until,
            "loop_from": self.back_to,
            "only_after_policy": None if differences is None else differences[0],
            "only_after_better": None if differences is None else differences[1],
            "needed": self.needed[0],
        }


def compare(task: Task, certificate: dict[str, Any]) -> Comparison:
    """The comparison that a certificate of a bug holds; InputError where the record is damaged."""
    try:
        where = f"bug {certificate.get('id')}"
        run, fault = certificate["run"], certificate["fault"]
        start = task.state(certificate["state"])
        policy = follow(task, start, run["actions"], where=where)
        plan: Sequence[str] = certificate["witness"]
        step = None if fault is None else int(fault["step"])
        aligned = plan if fault is None else [*run["actions"][:step], *fault["witness"]]
        return Comparison(
            outcome=run["outcome"],
            policy=policy,
            better=follow(task, start, aligned, where=where),
            answer=run.get("answer"),
            step=step,
            until=None if fault is None else int(fault["until"]),
            back_to=_back_to(policy) if run["outcome"] == "loop" else None,
            enough=follow(task, start, plan, where=where).cost,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{where}: the certificate is damaged ({error}); `misstep verify` says what is wrong with it"
        ) from None


def follow(task: Task, state: State, names: Sequence[str], *, where: str) -> Course:
    """The course of these actions; where the translator split an action into several of one name, the one
    that works."""
    actions: list[Action] = []
    states = [state]
    for name in names:
        found = next((each for each in task.successors(states[-1]) if each[0].name == name), None)
        if found is None:
            raise InputError(
                f"{where}: {name} cannot be done after {len(actions)} steps; the record is damaged, "
                "`misstep verify` says more"
            )
        actions.append(found[0])
        states.append(found[1])
    return Course(tuple(actions), tuple(states))


def _back_to(course: Course) -> int | None:
    *before, last = course.states
    return before.index(last) if last in before else None
