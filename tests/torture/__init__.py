"""Torture: random PDDL tasks with their own interpreter and their own Dijkstra; every word of misstep is compared.

Nothing here is shared with `misstep.testing` or `misstep.reference`: what those get wrong is not got wrong again.
`python -m tests.torture` (or `make torture`) goes on until its time is over.
"""
