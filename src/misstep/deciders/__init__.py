"""Deciders: algorithms that say whether a state of a safety game is r-safe, and prove it."""
