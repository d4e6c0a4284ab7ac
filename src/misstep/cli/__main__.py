"""Lets `python -m misstep.cli` do what `misstep` does."""

from misstep.cli import main

main()
