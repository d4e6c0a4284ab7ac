"""Planners as parts: ours and other people's."""
