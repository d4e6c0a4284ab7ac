"""Where the real tasks and policies are, which are no part of the project."""

import os
from pathlib import Path

NO_DATA = "no shared data: set MISSTEP_DATA or put it at ../shared/data"


def data_folder() -> Path | None:
    """The folder in MISSTEP_DATA, or `../shared/data` beside the checkout, or nothing."""
    named = os.environ.get("MISSTEP_DATA")
    folder = Path(named) if named else Path(__file__).parents[2] / "shared" / "data"
    return folder if folder.is_dir() else None
