"""`zoo:NAME`: trained policies that come with misstep."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import as_file, files

from misstep.errors import InputError
from misstep.plugins import make_policy_part, part_class
from misstep.policy import Policy, PolicyPart
from misstep.support.suggest import did_you_mean
from misstep.task import Task


@dataclass(frozen=True)
class Zoo:
    """A trained policy that comes with misstep: `courier` (linear), or an ASNet for a bundled domain: `blocks`,
    `courier-asnet`, `ferry`, `gripper`, `logistics`, `miconic`, `satellite`, `spanner`, `transport`, `visitall`."""

    name: str = field(metadata={"help": "which one"})

    @staticmethod
    def names() -> list[str]:
        """Which there are."""
        return list(zoo_files())

    @property
    def unit_cost(self) -> bool:
        """Whether the policy behind the name was made for unit costs."""
        file = zoo_files().get(self.name)
        return file is not None and bool(
            getattr(part_class("policy", file.split(".")[1]), "unit_cost", False)
        )

    def bind(self, task: Task, /) -> Policy:
        """The policy on this task; PolicyError where it was trained on another domain."""
        with self.opened() as part:
            return part.bind(task)

    @contextmanager
    def opened(self) -> Iterator[PolicyPart]:
        """The part behind the name; its file may be gone afterwards."""
        known = zoo_files()
        if self.name not in known:
            hint = did_you_mean(self.name, known) or f"there are: {', '.join(known)}"
            raise InputError(f"policy `zoo:{self.name}`: no policy of this name comes with misstep; {hint}")
        kind = known[self.name].split(".")[1]
        with as_file(files("misstep") / "bundled" / "zoo" / known[self.name]) as path:
            yield make_policy_part(f"{kind}:{path}")


def zoo_files() -> dict[str, str]:
    """The bundled policies by name. Files are called NAME.KIND.EXTENSION, KIND being that of the policy."""
    found = sorted(entry.name for entry in (files("misstep") / "bundled" / "zoo").iterdir())
    return {file.partition(".")[0]: file for file in found}
