"""What the commands that train policies have in common."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from misstep.cli.exit_codes import ExitCode
from misstep.cli.output import emit_json, note, warn

if TYPE_CHECKING:
    from misstep.task import Task
    from misstep.training.asnet import Progress, TrainingResult


class Once:
    """Warns of a thing once, however often it happens."""

    def __init__(self) -> None:
        self._heard: set[str] = set()

    def __call__(self, text: str) -> None:
        """Warns, if this was not said before."""
        if text not in self._heard:
            self._heard.add(text)
            warn([text])


def check_writable(out: Path) -> None:
    """Checked before anything is loaded."""
    from misstep.errors import InputError

    try:
        out.mkdir(parents=True, exist_ok=True)
        probe = out / ".probe"
        probe.write_text("", encoding="utf-8")
        probe.unlink()
    except OSError as error:
        raise InputError(f"{out}: cannot be written to: {error.strerror}; choose another --out") from None


def load_tasks(domain: Path, problems: list[Path]) -> "list[Task]":
    """Problems of a domain, or all in directories, with unit cost."""
    from misstep.errors import InputError
    from misstep.pddl import read_domain
    from misstep.task import load

    read = read_domain(domain)
    tasks = []
    for path in problems:
        files = sorted(path.glob("*.pddl")) if path.is_dir() else [path]
        files = [file for file in files if file.resolve() != domain.resolve()]
        if not files:
            raise InputError(f"{path}: has no .pddl files; give problems or a directory of them")
        tasks += [load(read, file, unit_cost=True) for file in files]
    return tasks


def show(told: "Progress", *, quiet: bool) -> None:
    """An epoch as a line."""
    note(
        f"{told.run} epoch {told.epoch}: loss {told.loss:.4f}, trained {told.success_rate:.0%}, solves "
        f"{told.solved}/{told.of}, {told.samples} states, {told.seconds:.0f} s, {told.left:.0f} s left",
        quiet=quiet,
    )
    sys.stderr.flush()


def tell(result: "TrainingResult", *, kind: str, validated: bool, json: bool, quiet: bool) -> int:
    """What training gave, as JSON or for people; the exit code."""
    if json:
        emit_json(result.as_json())
        return ExitCode.NOTHING_FOUND
    note(f"{result.epochs} epochs in {result.seconds:.0f} s", quiet=quiet)
    note(f"solves {result.solved} {'validation' if validated else 'training'} tasks", quiet=quiet)
    print(f"{kind}:{result.final}")
    return ExitCode.NOTHING_FOUND
