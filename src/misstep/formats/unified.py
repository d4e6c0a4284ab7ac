"""Problems of the unified-planning library as PDDL texts, by that library's own writer."""

from typing import Any

from misstep.errors import InputError, UnsupportedFeature
from misstep.support.extras import require_extra

_MODULE = "unified_planning"


def is_unified_problem(value: object) -> bool:
    """Whether this is a `Problem` of unified-planning; the library is not imported to find out."""
    return any(
        cls.__name__ == "Problem" and cls.__module__.split(".")[0] == _MODULE for cls in type(value).__mro__
    )


def unified_texts(problem: Any) -> tuple[str, str]:
    """The domain and the problem as PDDL; names that PDDL does not allow are changed by the writer."""
    io = require_extra(f"{_MODULE}.io", extra="unified-planning", purpose="a unified-planning problem")
    try:
        writer = io.PDDLWriter(problem)
        return writer.get_domain(), writer.get_problem()
    except Exception as error:  # the library has many kinds of its own
        if type(error).__name__ == "UPProblemDefinitionError":
            raise UnsupportedFeature(
                f"the unified-planning problem cannot be written as PDDL: {error}"
            ) from None
        raise InputError(f"the unified-planning problem cannot be written as PDDL: {error}") from None
