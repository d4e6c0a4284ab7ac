"""Pieces of work that are done once, side by side, and never mixed with those of another plan."""

import json
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, TypeVar

from misstep.budget import Budget
from misstep.errors import InputError
from misstep.record.store import write_whole

Tell = Callable[[str], None]
Piece = TypeVar("Piece")


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
) -> list[str]:
    """Does the pieces whose files are not there yet; the reasons of those that could not be done.

    `tell` hears what was done before, `progress` that it begins and of every piece. `work` runs in processes of its
    own where there are several jobs or the time is limited, so it has to pickle. When the time is up, nobody waits for
    what is under way, and the rest is left for the next call.
    """
    left = [piece for file, piece in pieces if not file.is_file()]
    before = len(pieces) - len(left)
    if before:
        tell(f"{before} of {len(pieces)} pieces of work are done already")
    failed: list[str] = []
    if left:  # the first may take long
        progress(f"{before} of {len(pieces)} pieces of work are done")
    for count, reason in enumerate(_reasons(left, work, jobs, where, budget), start=before + 1):
        failed += [] if reason is None else [reason]
        progress(f"{count} of {len(pieces)} pieces of work are done")
    return failed


def _reasons(
    left: Sequence[Piece],
    work: Callable[[Piece], str | None],
    jobs: int,
    where: Path,
    budget: Budget | None,
) -> Iterator[str | None]:
    """Of every piece, in the order in which they end, why it could not be done."""
    seconds = None if budget is None else budget.seconds_left
    if seconds is None and (jobs == 1 or len(left) < 2):
        yield from map(work, left)
        return
    if not left or (seconds is not None and seconds <= 0):
        return
    # Fresh processes: a fork of one that has threads may hang.
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        try:
            for done in as_completed([pool.submit(work, piece) for piece in left], timeout=seconds):
                yield done.result()
        except TimeoutError:
            _end(pool)
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
