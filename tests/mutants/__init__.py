"""Damaged input: every format that misstep reads, mutated and given to the real commands (`python -m tests.mutants`)."""
