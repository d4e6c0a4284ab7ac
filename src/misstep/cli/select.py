"""`misstep select`: rank checkpoints by testing them on validation tasks."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from misstep.cli.exit_codes import ExitCode
from misstep.cli.limits import Limits
from misstep.cli.options import MAX_COUNT, Json, MemoryMb, Quiet, Seconds
from misstep.cli.output import continued, emit_json, note, say, warn
from misstep.errors import InputError
from misstep.explain.words import counted
from misstep.reports.status import StatusLine
from misstep.training.selection import CRITERIA, Criterion

if TYPE_CHECKING:
    from misstep.training.examiner import Examiner
    from misstep.training.selection import Selection, SelectProgress

Count = Number(gte=1, lt=MAX_COUNT)
_SHOWN = 10


def select(
    paths: Annotated[
        list[Path],
        Parameter(
            help="DOMAIN PROBLEM... to validate on (directories are fine); or, with --validation, DIR."
        ),
    ],
    /,
    *,
    policies: Annotated[Path | None, Parameter(help="Directory with the checkpoints.")] = None,
    validation: Annotated[
        list[Path] | None,
        Parameter(negative="", consume_multiple=True, help="DOMAIN PROBLEM..., where DIR comes first."),
    ] = None,
    kind: Annotated[
        str | None, Parameter(help="Kind of the policies, such as asnet; by default as their files end.")
    ] = None,
    criterion: Annotated[
        Criterion,
        Parameter(help="What names the best: the score, solved tasks, training loss, early termination."),
    ] = "pi-test",
    pool: Annotated[int, Parameter(validator=Count, help="Pool states of every task.")] = 50,
    expansions: Annotated[
        int, Parameter(validator=Count, help="For the plan that every pool state is held against.")
    ] = 1000,
    oracle: Annotated[
        list[str] | None,
        Parameter(negative="", help="Oracles to be asked about every policy besides, such as bounds."),
    ] = None,
    unit_cost: Annotated[
        bool | None, Parameter(help="Every action costs 1; by default as the kind of policy says.")
    ] = None,
    seed: Annotated[int, Parameter(validator=Number(gte=0, lt=2**32), help="Of the pools.")] = 0,
    seconds: Seconds = None,
    memory_mb: MemoryMb = None,
    out: Annotated[
        Path | None,
        Parameter(help="Directory for pools and answers, which are used again; DIR/selection by default."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> int:
    """Rank checkpoints: solved tasks, solved pool states and states without a bug, a third each.

    Every checkpoint is tested on the same states (unbiased walks) against the same plans. What was found out is
    kept, so the same command goes on where it was stopped.

    Example: misstep select domain.pddl validation/ --policies ferry/models
    """
    from misstep.budget import Budget
    from misstep.training.examiner import ExamConfig, Examiner
    from misstep.training.selection import find_candidates, open_book
    from misstep.training.selection import select as rank_all

    limits = Limits(seconds=seconds, memory_mb=memory_mb)
    folder, files = _what(paths, policies, validation)
    candidates = find_candidates(folder, kind=kind)
    if unit_cost is None:
        unit_cost = _wants_unit_cost(candidates[0].policy)
    config = ExamConfig(
        pool=pool, seed=seed, expansions=expansions, oracle=tuple(oracle or ()), unit_cost=unit_cost
    )
    where = out or folder / "selection"
    budget = Budget(seconds=limits.seconds_left)
    examiner = Examiner(config, where)
    with continued(where), StatusLine("making pools", quiet=quiet or json, seconds=seconds) as status:
        with limits.watch():
            _add_tasks(examiner, files, status)
        book = open_book(examiner)
        try:
            found = rank_all(
                candidates,
                examiner,
                book,
                budget=budget,
                watch=limits.watch,
                progress=lambda told: _show(status, told),
                seed=seed,
            )
        finally:
            book.close()
    if criterion not in found.choices:
        raise InputError(f"--criterion {criterion} needs the log.jsonl of the training beside the models")
    if found.unlogged and found.ranking[0].grade.solved_tasks == 0:
        warn(_without_log(found), quiet=quiet)
    if json:
        emit_json(found.as_json(criterion))
        return ExitCode.NOTHING_FOUND
    warn(*(f"{file}: {reason}" for file, reason in found.failed.items()), quiet=quiet)
    if not quiet:
        _say_ranking(found)
    say(found.choices[criterion].candidate.policy)
    return ExitCode.NOTHING_FOUND


def _what(paths: list[Path], policies: Path | None, validation: list[Path] | None) -> tuple[Path, list[Path]]:
    """The directory of policies, and domain and problems, however they were given."""
    if policies is not None and validation is None:
        folder, files = policies, paths
    elif policies is None and validation is not None and len(paths) == 1:
        folder, files = paths[0], validation
    else:
        raise InputError(
            "say what to rank and on what: `misstep select DOMAIN PROBLEM... --policies DIR`, "
            "or `misstep select DIR --validation DOMAIN PROBLEM...`"
        )
    if len(files) < 2:
        raise InputError("validation needs a domain and at least one problem: DOMAIN PROBLEM...")
    return folder, files


def _add_tasks(examiner: "Examiner", files: list[Path], status: StatusLine) -> None:
    from misstep.pddl import read_domain
    from misstep.suite import problem_files
    from misstep.task import load

    domain = read_domain(files[0])
    problems = problem_files(files[0], files[1:])
    for number, problem in enumerate(problems):
        status.show(f"pool {number + 1} of {len(problems)}: {problem.name}")
        examiner.add(load(domain, problem, unit_cost=examiner.config.unit_cost), name=problem.name)


def _wants_unit_cost(policy: str) -> bool:
    from misstep.plugins import make_policy_part

    return bool(getattr(make_policy_part(policy), "unit_cost", False))


def _show(status: StatusLine, told: "SelectProgress") -> None:
    status.show(f"policy {told.done + 1} of {told.of}: {Path(told.policy).name} on {told.task}")


def _say_ranking(found: "Selection") -> None:
    name = max(len(Path(each.candidate.file).name) for each in found.ranking[:_SHOWN])
    say(f"{'policy':{name}}  score  tasks  states solved  without bug  first in")
    for each in found.ranking[:_SHOWN]:
        grade = each.grade
        states = max(grade.states, 1)
        say(
            f"{Path(each.candidate.file).name:{name}}  {each.score:5.3f}  {grade.solved_tasks:5}  "
            f"{grade.solved_states / states:13.1%}  {grade.bug_free_states / states:11.1%}  {each.chance:8.0%}"
        )
    if len(found.ranking) > _SHOWN:
        say(f"... {len(found.ranking) - _SHOWN} more (--json has all)")
    say("", *_how_sure(found))
    for criterion in CRITERIA:
        if criterion in found.choices and criterion != "pi-test":
            chosen = found.choices[criterion]
            say(f"{criterion} would take {Path(chosen.candidate.file).name} (score {chosen.score:.3f})")
    if found.left:
        note(
            f"{found.left} policies were not examined: the limit on {found.limit} was hit; the same command goes on"
        )


def _without_log(found: "Selection") -> str:
    """Where no task is solved, the log alone tells a trained policy from an untrained one."""
    of = len(found.ranking)
    which = "these policies" if found.unlogged == of else f"{found.unlogged} of the {of} policies"
    return (
        f"the training loss and the epoch of {which} are unknown, because no log.jsonl of the training beside them "
        "tells it; a policy that was not trained at all cannot be told apart, and may come first"
    )


def _how_sure(found: "Selection") -> list[str]:
    first = found.ranking[0]
    if first.grade.solved_tasks == 0:
        name, pools = Path(first.candidate.file).name, first.pool_solved
        found_out = "" if pools is None else f" {name} solves {pools} of {first.grade.states} pool states."
        if found.unlogged == len(found.ranking):
            which, ties = (
                "policies",
                ". Between equals the names of the files decide: the later name comes first.",
            )
        else:
            which, ties = "trained policies", ", then by the smaller training loss, then by the later epoch."
        by = "They are ranked by the pool states that they solve"
        tasks = counted(found.tasks, "validation task")
        return [
            f"None of the {which} solves any of the {tasks}, so every score is 0. {by}{ties}{found_out} "
            "Smaller validation tasks tell more."
        ]
    lines = [
        f"{Path(first.candidate.file).name} is first in {first.chance:.0%} of 2000 draws of {found.tasks} "
        "validation tasks with replacement."
    ]
    if found.same:
        lines.append(f"{found.same} others did exactly as well on every task; cheaper runs decided.")
    against = found.runner_up
    if against is not None:
        lines.append(
            f"Against the next that did otherwise: better on {against.better} tasks, worse on {against.worse}, "
            f"equal on {against.equal} (sign test: p = {against.p_value:.2g})."
        )
    return lines
