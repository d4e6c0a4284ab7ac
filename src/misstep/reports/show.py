"""A bug for the eye: both courses side by side, the misstep, what differs, what the certificate proves."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from misstep.explain.words import does
from misstep.loading import recorded_task
from misstep.record.record import Record
from misstep.record.replay import Replay, Replayed
from misstep.reports.columns import side_by_side
from misstep.reports.comparison import Comparison, compare
from misstep.reports.text import USUAL_WIDTH, filled, listed

if TYPE_CHECKING:
    from misstep.safety.replay import ModelReplay, ReplayedModel

_ENDLESS = {
    "loop": "the policy's run comes back to a state in which it was before, so it never gets there",
    "stuck": "the policy's run ends without an action before it gets there",
    "illegal": "the policy's run ends with an answer that is not applicable before it gets there",
    "dead-end": "the policy's run ends where the goal is out of reach",
}


def show_bug(record: Record, certificate: dict[str, Any], *, width: int = USUAL_WIDTH) -> list[str]:
    """A bug of a record, filled to `width` columns; names are whole, however long they are."""
    if is_safety(certificate):
        from misstep.reports.show_safety import show_model_bug  # the JANI side is loaded when it is needed

        return show_model_bug(record, certificate, width=width)
    comparison = compare(recorded_task(record), certificate)
    head = filled(f"bug {certificate.get('id')}: {headline(comparison)}", width)
    again = certificate.get("replay")
    where = [] if again is None else [f"Ask the policy again: {again}"]
    return [*head, "", *explained(comparison, certificate, width=width), *where]


def is_safety(certificate: dict[str, Any]) -> bool:
    """Whether a certificate is about a JANI model."""
    return certificate.get("kind") == "safety"


def show_replayed(
    again: "Replay | ModelReplay",
    found: "Replayed | ReplayedModel",
    certificate: dict[str, Any],
    *,
    width: int = USUAL_WIDTH,
) -> list[str]:
    """What the policy does now beside the known plan; a fault that was proven holds for the same run only."""
    if not isinstance(again, Replay) or not isinstance(found, Replayed):
        from misstep.reports.show_safety import show_replayed_model

        return show_replayed_model(found, certificate, width=width)
    run: dict[str, Any] = {
        "outcome": found.run.outcome,
        "actions": [action.name for action in found.run.actions],
        "answer": None if found.run.answer is None else found.run.answer.name,
    }
    same = run["actions"] == certificate["run"]["actions"]
    now = {**certificate, "run": run, "fault": certificate["fault"] if same else None}
    both = compare(again.task, now)
    if same and found.status == "bug":
        return explained(both, now, width=width)
    lines = side_by_side(both, width)
    return [*lines, "", *filled(f"Proven: {proof(both, now)}", width)] if found.status == "changed" else lines


def bug_json(record: Record, certificate: dict[str, Any]) -> dict[str, Any]:
    """The same as data: the certificate and what is compared."""
    if is_safety(certificate):
        from misstep.reports.show_safety import model_bug_json

        return model_bug_json(record, certificate)
    return {**certificate, **compare(recorded_task(record), certificate).as_json()}


def headline(comparison: Comparison) -> str:
    """What goes wrong, in one line."""
    if comparison.policy_cost is not None:
        return f"the policy pays {comparison.policy_cost} where {comparison.enough} is enough"
    return f"the policy {does(comparison.outcome)}; a plan of cost {comparison.enough} exists"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why the policy's course is worse, in words; what a screen and a page say below both courses."""

    misstep: str
    where: str
    """The title of `needed`."""
    needed: list[str]
    differences: tuple[list[str], list[str]] | None
    reason: str | None
    """Why the policy's answer was no decision, where that is so."""
    proof: str


def explain(comparison: Comparison, certificate: dict[str, Any]) -> Explanation:
    """What there is to say about a bug."""
    facts, more = comparison.needed
    others = f"; {more} more {'fact holds' if more == 1 else 'facts hold'}" if more else ""
    if comparison.step is None:
        misstep, verb = "no single decision could be proven to be wrong.", "starts"
    else:
        misstep, verb = _where(comparison, comparison.step), "happens"
    return Explanation(
        misstep=misstep,
        where=f"It {verb} where (what the better way needs{others}):",
        needed=facts or ["nothing at all"],
        differences=comparison.differences,
        reason=certificate["run"].get("reason"),
        proof=proof(comparison, certificate),
    )


DIFFERENCES = ("True only after the policy's action:", "True only after the better action:")


def explained(comparison: Comparison, certificate: dict[str, Any], *, width: int) -> list[str]:
    """Both courses, and below them why the one is worse."""
    said = explain(comparison, certificate)
    lines = [*side_by_side(comparison, width), "", *filled(f"Misstep: {said.misstep}", width)]
    lines += [*filled(f"  {said.where}", width), *listed(said.needed, width)]
    for title, found in zip(DIFFERENCES, said.differences or (), strict=False):
        lines += [*filled(f"  {title}", width), *listed(found or ["nothing"], width)]
    if said.reason:
        lines += filled(f"Reason: {said.reason}", width)
    return lines + filled(f"Proven: {said.proof}", width)


def _where(comparison: Comparison, step: int) -> str:
    if not comparison.is_single:
        return f"one of steps {step + 1} to {comparison.until}; which one could not be proven"
    taken, better = _decision(comparison, step)
    return f"step {step + 1}, {taken} instead of {better}"


def _decision(comparison: Comparison, step: int) -> tuple[str, str]:
    """What the policy did at the misstep, and what would have been better."""
    done, better = comparison.policy.actions, comparison.better.actions
    taken = done[step].name if step < len(done) else comparison.answer or "no action"
    return taken, better[step].name if step < len(better) else "stopping there"


def proof(comparison: Comparison, certificate: dict[str, Any]) -> str:
    """What the certificate proves, in plain words; `misstep verify` checks it."""
    enough, pays = comparison.enough, comparison.policy_cost
    if pays is not None:
        said = (
            f"a plan reaches the goal at cost {enough}, the policy's run at {pays}: {pays - enough} too much"
        )
    elif comparison.outcome == "cut-off":
        least = (certificate.get("cost") or {}).get("lo")
        pay = "never reaches the goal" if least is None else f"pays at least {least}"
        said = f"a plan reaches the goal at cost {enough}; the policy {pay}, though its run was cut off"
    else:
        end = _ENDLESS.get(comparison.outcome, "the policy's run does not get there")
        said = f"a plan reaches the goal at cost {enough}; {end}"
    return f"{said}.{_proof_of_fault(comparison, certificate['fault'])}{_proof_of_first(comparison, certificate)}"


def _proof_of_first(comparison: Comparison, certificate: dict[str, Any]) -> str:
    """That no earlier decision is wrong, where that is proven: it takes the exact best cost of the state."""
    step = comparison.step
    if not step or not comparison.is_single or certificate["fault"] is None:
        return ""
    least = (certificate.get("best") or {}).get("lo")
    whole = (*comparison.policy.actions[:step], *comparison.better.actions[step:])
    if least != sum(action.cost for action in whole):
        return ""
    return f" No decision before it is wrong, since no course costs less than {least}."


def _proof_of_fault(comparison: Comparison, fault: dict[str, Any] | None) -> str:
    if fault is None or comparison.step is None or comparison.until is None or fault["lower"] is None:
        return ""
    lower, step = fault["lower"], comparison.step
    enough = sum(action.cost for action in comparison.better.actions[step:])
    value = lower.get("bound") if lower.get("kind") == "frontier" else lower.get("value")
    by_search = (
        " (a search says so, which the checker has to believe)" if lower.get("kind") == "search" else ""
    )
    if value is None:
        return f" After the misstep the goal is out of reach{by_search}."
    least = sum(action.cost for action in comparison.policy.actions[step : comparison.until]) + value
    said = "With the misstep" if comparison.is_single else "As the policy goes on"
    return f" {said} {least} or more has to be paid from there, without it {enough}{by_search}."
