"""Numbers that other people's code returns."""

from numbers import Real


def as_number(value: object) -> float | None:
    """The value as a float; None where it is no number. Truth values and NaN are none, infinity is one."""
    if isinstance(value, bool):
        return None
    # NumPy's scalars are registered as Real or know how to become one.
    if not isinstance(value, Real) and not hasattr(value, "__float__"):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number == number else None
