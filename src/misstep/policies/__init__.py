"""Policies of all kinds, each a part of its own; none imports another."""
