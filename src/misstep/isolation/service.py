"""What runs in a process of its own, as the process sees it."""

from collections.abc import Callable
from typing import Any, Protocol


class Service(Protocol):
    """Travels to the process by pickling and opens there: only then is other people's code loaded."""

    def open(self) -> tuple[dict[str, Any], Callable[[bytes], bytes]]:
        """What there is to say about it, as JSON would have it, and the function that answers questions."""
        ...
