"""`command:PROGRAM {size} {seed}`: any program that prints a problem."""

from dataclasses import dataclass

from misstep.budget import Budget
from misstep.errors import InputError
from misstep.pddl.given import is_pddl_text
from misstep.plugins import option
from misstep.support.process import Scratch, command_words


@dataclass(frozen=True)
class Command:
    """Any generator: a command in which `{size}` and `{seed}` are numbers and which prints the problem."""

    command: str = option("", "such as `./generate {size} {seed}`")
    seconds: float = option(60.0, "time for one problem")

    domain = None

    def problem(self, size: int, seed: int) -> str:
        """What the program prints; InputError where it fails."""
        words = command_words(self.command, what="generator", size=size, seed=seed)
        if not words:
            raise InputError(
                "generator `command` needs a command; write `command:PROGRAM {size} {seed}`, for example"
            )
        with Scratch() as scratch:
            try:
                finished = scratch.run(words, budget=Budget(seconds=self.seconds))
            except OSError as error:
                raise InputError(
                    f"generator `{self.command}`: cannot be started: {error.strerror}; check the program's name"
                ) from None
        what = f"generator `{' '.join(words)}`"
        if finished.limit is not None:
            raise InputError(f"{what}: hit the limit on {finished.limit}; allow more with `seconds=`")
        if finished.exit_code != 0 or not finished.output.strip():
            raise InputError(f"{what}: printed no problem, but {finished.failure}")
        if not is_pddl_text(finished.output):  # Whatever else it is would be taken for the name of a file.
            raise InputError(f"{what}: printed {finished.output.strip():.60s}, which is no PDDL problem")
        return finished.output
