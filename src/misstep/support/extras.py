"""Optional dependencies: imported when asked for; the error for an absent one names the install command."""

from importlib import import_module
from typing import Any

from misstep.errors import InputError


def require_extra(module: str, *, extra: str, purpose: str) -> Any:
    """The module; `purpose` says in the error what needs it, such as `policy onnx:FILE`."""
    install = f'pip install "misstep[{extra}]"'
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise InputError(
                f"{purpose} needs {module}, whose {error.name} is not installed; {install}"
            ) from None
        raise InputError(f"{purpose} needs {module}, which is not installed; {install}") from None
    except Exception as error:  # Native libraries fail to load in many ways.
        raise InputError(f"{purpose} needs {module}, which cannot be loaded: {error}; {install}") from error
