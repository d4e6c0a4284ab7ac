"""Policies as parts: `bind(task)` makes one that can be asked."""
