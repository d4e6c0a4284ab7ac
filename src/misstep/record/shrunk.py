"""Shrunk bugs: from a recorded bug to a smaller one in the same record, certified like any other."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from misstep.claim import names
from misstep.errors import InputError
from misstep.explain.fault import localise
from misstep.explain.shrink import Shrunk, shrink, walk_to
from misstep.explain.words import counted
from misstep.oracle import Panel, make_oracles
from misstep.record.certificate import make_certificate
from misstep.record.pool_file import read_entries
from misstep.record.record import POOL, Record, replay_command
from misstep.record.replay import Replay

if TYPE_CHECKING:
    from misstep.safety.replay import ModelReplay


@dataclass(frozen=True, slots=True)
class ShrunkBug:
    """A smaller bug; `before` and `after` count the steps of the run and of the walk to the state."""

    record: Record
    bug: str
    name: str
    certificate: dict[str, Any]
    said: str
    """What was found, in words."""
    before: dict[str, int | None]
    after: dict[str, int | None]

    def as_json(self) -> dict[str, Any]:
        """As `misstep shrink --json` prints it."""
        return {
            "bug": self.bug,
            "certificate": f"{self.record.where}/bugs/{self.name}.json",
            "before": self.before,
            "after": self.after,
        }


def shrink_bug(again: "Replay | ModelReplay", bug: str) -> ShrunkBug:
    """Shrinks a bug of a record and writes what it finds beside it. InputError where the bug is fixed."""
    if isinstance(again, Replay):
        return _shrink_task_bug(again, bug)
    from misstep.safety.replay import shrink_model_bug

    return shrink_model_bug(again, bug)


def _shrink_task_bug(again: Replay, bug: str) -> ShrunkBug:
    lab, certificate = again.lab, again.record.bug_named(bug)
    lab.add_to_pool(read_entries(again.record.store.lines(POOL), again.task, where=again.record.where))
    (found,) = again.ask({bug: certificate})
    if found.status not in ("bug", "changed"):
        raise InputError(
            f"bug {bug} cannot be shrunk: now the policy does as well as the known plan, or fails"
        )
    case = found.case(lab, certificate)
    walk = walk_to(lab, case.entry)
    oracles = [(part.name, part.bind(lab)) for part in make_oracles(again.config.oracle)]
    panel = Panel(lab, oracles, objective=again.objective)
    shrunk = shrink(lab, panel, case, walk)
    fault = localise(lab, shrunk.case)  # which may tighten the bounds that the judgement rests on
    name = f"{bug}-shrunk"
    made, _ = make_certificate(
        lab,
        shrunk.case,
        panel.judge(shrunk.case),
        lab.known(shrunk.case.state),
        objective=again.objective,
        proofs=again.record.proofs(),
        fault=fault,
        id=name,
        task=again.config.subject,
        policy=again.config.policy,
        seed=again.config.seed,
        walk_from_initial_state=None if shrunk.walk is None else names(shrunk.walk),
        replay=f"{replay_command(again.record.where)} {name}",
    )
    again.record.bug(name, made)
    before = {"run": case.run.steps, "walk": None if walk is None else len(walk)}
    after = {"run": shrunk.case.run.steps, "walk": None if shrunk.walk is None else len(shrunk.walk)}
    return ShrunkBug(again.record, bug, name, made, _said(shrunk, is_same=after == before), before, after)


def _said(shrunk: Shrunk, *, is_same: bool) -> str:
    """What became smaller, in words, and what was left alone."""
    at = shrunk.steps_on_run
    if is_same:
        said = "nothing smaller was found"
    elif at:
        said = f"{counted(at, 'step')} further down the run"
    else:
        said = "a shorter walk to the same state"
    if shrunk.latest == at:
        return said
    return f"{said} (the state {shrunk.latest} steps down is a bug, too, but the walk to it is longer)"
