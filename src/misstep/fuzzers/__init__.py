"""Fuzzers: how pools of test states are made."""
