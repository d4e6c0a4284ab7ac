"""Policies for replays: one that stands still, one that fails."""

from __future__ import annotations

from typing import Any


def brake(state: dict[str, Any], applicable: tuple[str, ...]) -> str:
    wanted = "decelerate" if state["speed"] > 0 else "accelerate" if state["speed"] < 0 else "coast"
    return wanted if wanted in applicable else applicable[0]


def fail(state: dict[str, Any], applicable: tuple[str, ...]) -> str:
    raise KeyError("nothing learned")
