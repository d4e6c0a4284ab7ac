"""Damaged input: mutants of every format that misstep reads, given to the real commands (`python -m tests.mutants`)."""
