"""Pieces of work that are done once, side by side, and never mixed with those of another plan."""

import json
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, TypeVar

from misstep.budget import Budget
from misstep.errors import InputError
from misstep.record.store import write_whole

Tell = Callable[[str], None]
Piece = TypeVar("Piece")
# How often somebody looks at what is under way.
_LOOK_SECONDS = 5.0


def bind_plan(file: Path, about: Mapping[str, Any]) -> None:
    """Remembers what is done there; InputError where it was something else."""
    text = json.dumps(about, indent=1) + "\n"
    if not file.is_file():
        write_whole(file, text)
    elif file.read_text(encoding="utf-8") != text:
        raise InputError(
            f"{file}: there are results of another plan or other instances; choose another --out, or the same options"
        )


def run_pieces(
    pieces: Sequence[tuple[Path, Piece]],
    work: Callable[[Piece], str | None],
    *,
    jobs: int,
    where: Path,
    budget: Budget | None = None,
    tell: Tell = lambda text: None,
    progress: Tell = lambda text: None,
    under_way: Callable[[], str] | None = None,
) -> list[str]:
    """Does the pieces whose files are not there yet; the reasons of those that could not be done.

    `tell` hears what was done before, `progress` that it begins and of every piece. Where pieces take long, `under_way`
    says how far all of them together are; it is asked every few seconds and added to the progress. `work` runs in
    processes of its own where there are several jobs or the time is limited, so it has to pickle. When the time is up,
    nobody waits for what is under way, and the rest is left for the next call.
    """
    left = [piece for file, piece in pieces if not file.is_file()]
    before = len(pieces) - len(left)
    if before:
        tell(f"{before} of {len(pieces)} pieces of work are done already")
    failed: list[str] = []
    count = before

    def show() -> None:
        words = f"{count} of {len(pieces)} pieces of work are done"
        progress(words if under_way is None else f"{words} · {under_way()}")

    if left:  # the first may take long
        show()
    for reason in _reasons(left, work, jobs, where, budget, look=show):
        failed += [] if reason is None else [reason]
        count += 1
        show()
    return failed


def _reasons(
    left: Sequence[Piece],
    work: Callable[[Piece], str | None],
    jobs: int,
    where: Path,
    budget: Budget | None,
    look: Callable[[], None],
) -> Iterator[str | None]:
    """Of every piece, in the order in which they end, why it could not be done; while it waits, it looks."""
    seconds = None if budget is None else budget.seconds_left
    if seconds is None and (jobs == 1 or len(left) < 2):
        yield from map(work, left)
        return
    if not left or (seconds is not None and seconds <= 0):
        return
    # Fresh processes: a fork of one that has threads may hang.
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            waiting: set[Future[str | None]] = {pool.submit(work, piece) for piece in left}
            while waiting:
                seconds = None if budget is None else budget.seconds_left
                patience = _LOOK_SECONDS if seconds is None else min(_LOOK_SECONDS, max(0.0, seconds))
                done, waiting = wait(waiting, timeout=patience, return_when=FIRST_COMPLETED)
                for piece in done:
                    yield piece.result()
                if done:
                    continue
                if seconds is not None and seconds <= patience:
                    _end(pool)
                    return
                look()
        except BrokenProcessPool:
            pool.shutdown(cancel_futures=True)
            raise InputError(
                f"{where}: a process of the experiments died, perhaps for want of memory; the same command "
                "goes on, with fewer --jobs or less --memory-mb"
            ) from None
        except BaseException:  # Ctrl-C
            _end(pool)
            raise


def _end(pool: ProcessPoolExecutor) -> None:
    """Nobody waits for what is under way."""
    pool.shutdown(wait=False, cancel_futures=True)
    for process in multiprocessing.active_children():
        process.terminate()
