"""Scripts for developers of misstep: they run from a checkout and are not in the wheel."""
