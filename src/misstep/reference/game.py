"""Games against chance: why a strategy is safe, and why no strategy is."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from misstep.reference.checked import need


class Game(NamedTuple):
    """What strategies and refutations speak about.

    In a state somebody chooses one of the `applicable` actions, and chance (or an enemy) one of its
    `outcomes`; an action that is not applicable has none. The play ends in goal states and in states without
    actions. It is lost if it ever visits an unsafe state. No state is both unsafe and a goal.
    """

    applicable: Callable[[Any], Collection[Any]]
    outcomes: Callable[[Any, Any], Collection[Any]]
    is_unsafe: Callable[[Any], bool]
    is_goal: Callable[[Any], bool]


class Choice(NamedTuple):
    """A line of a strategy: do `action` in `state`; at most `value` deviations from the policy lie ahead."""

    state: Any
    value: int
    action: Any


class Answer(NamedTuple):
    """A line of a refutation: with `budget` deviations left, `outcomes` says how chance beats each action."""

    state: Any
    budget: int
    outcomes: Mapping[Any, Any]


def check_strategy(
    game: Game,
    starts: Iterable[Any],
    radius: int | None,
    lines: Sequence[Choice],
    policy: Callable[[Any], Any],
) -> None:
    """Refuse unless the lines are a strategy that never visits an unsafe state from any of the starts.

    The strategy deviates from the policy at most `radius` times on every play; None stands for any number.
    Why: every state of the table is not unsafe, and has an end there or an action all of whose outcomes are
    in the table again. So a play that starts in the table stays in it forever and never visits an unsafe
    state, however chance chooses. Each step from value v leads to a value of at most v, and of at most v - 1
    where the action is not the policy's. Values are not negative, so at most v deviations lie ahead of a
    state with value v, and the starts have values up to the radius.
    """
    table = {line.state: line for line in lines}
    need(len(table) == len(lines), "a state has two lines in the strategy")
    for start in starts:
        need(start in table, "a state that should be safe is not covered by the strategy")
        need(
            radius is None or table[start].value <= radius,
            "a state needs more deviations than the radius allows",
        )
    for line in lines:
        if line.action is None:
            _check_end(game, line)
        else:
            left = line.value - int(radius is not None and line.action != policy(line.state))
            _check_choice(game, line, table, left)


def _check_end(game: Game, line: Choice) -> None:
    """Refuse unless the play is over in a state that is not unsafe."""
    need(line.value >= 0, "a negative number of deviations")
    need(not game.is_unsafe(line.state), "the strategy visits an unsafe state")
    ends = game.is_goal(line.state) or not game.applicable(line.state)
    need(ends, "the strategy has no action where the play goes on")


def _check_choice(game: Game, line: Choice, table: Mapping[Any, Choice], left: int) -> None:
    """Refuse unless the state is not unsafe, and every outcome is covered with what is left."""
    need(left >= 0, "a negative number of deviations")
    need(not game.is_unsafe(line.state), "the strategy visits an unsafe state")
    need(not game.is_goal(line.state), "the strategy has an action where the play is over")
    outcomes = game.outcomes(line.state, line.action)
    need(len(outcomes) > 0, f"the action {line.action!r} of the strategy is not applicable")
    for outcome in outcomes:
        need(outcome in table, f"an outcome of {line.action!r} is not covered by the strategy")
        need(table[outcome].value <= left, "an outcome needs more deviations than are left")


def check_refutation(
    game: Game,
    starts: Iterable[Any],
    radius: int | None,
    lines: Sequence[Answer],
    policy: Callable[[Any], Any],
) -> None:
    """Refuse unless the lines prove that no strategy within the radius keeps any of the starts safe.

    A line claims: with its budget of deviations nobody avoids unsafe states from here. It is accepted if the
    play goes on there, and for every action that the budget allows the line names an outcome that is unsafe,
    or that an earlier line refutes with at least the budget that is left after the action. By induction on
    the order of the lines each claim is true: whatever is chosen, chance answers with that outcome, and from
    there the play is lost. A budget that does not help leaves smaller ones no better off. A deviation takes
    one off the budget; with radius None there is no budget, and every action is allowed.
    """
    refuted: dict[Any, int] = {}
    for line in lines:
        need(line.budget >= 0, "a negative number of deviations")
        actions = [] if game.is_goal(line.state) else game.applicable(line.state)
        need(len(actions) > 0, "where the play is over nothing is lost")
        need(line.outcomes.keys() <= set(actions), "an action is answered that is not applicable")
        for action in actions:
            left = line.budget - int(radius is not None and action != policy(line.state))
            if left >= 0:
                _check_answer(game, line, action, left, refuted)
        refuted[line.state] = max(line.budget, refuted.get(line.state, 0))
    for start in starts:
        lost = game.is_unsafe(start) or refuted.get(start, -1) >= (radius or 0)
        need(lost, "a state that should not be safe is not refuted")


def _check_answer(game: Game, line: Answer, action: Any, left: int, refuted: Mapping[Any, int]) -> None:
    """Refuse unless the outcome that the line names for the action is one, and is lost with what is left."""
    need(action in line.outcomes, f"no outcome of {action!r} is named")
    outcome = line.outcomes[action]
    need(
        outcome in game.outcomes(line.state, action), f"what is named for {action!r} is none of its outcomes"
    )
    lost = game.is_unsafe(outcome) or refuted.get(outcome, -1) >= left
    need(lost, f"the outcome named for {action!r} is not refuted before")
