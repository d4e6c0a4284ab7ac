"""Drawings of states: rules that fit any domain."""
