"""Control problems with real variables, deterministic; `steps` ends a run safely after that many steps."""

from __future__ import annotations

import math
from typing import Any

from misstep.bundled.models.build import Builder, call, clamp, grid, ite


def bouncing_ball(*, steps: int | None = 100) -> dict[str, Any]:
    """Hit a ball that is high enough, or let it fall; it must not come to rest."""
    b = Builder("bouncing_ball")
    height = b.real("height", 0.0, 15.0, 7.0)
    speed = b.real("speed", -20.0, 20.0, 0.0)
    done = b.clock(steps)
    dt, g = 0.1, 9.81
    resting = (height <= 0.0) & (speed <= 1.0) & (speed >= -1.0)
    falling = speed - g * dt
    lands = height + falling * dt <= 0.0
    free = {
        "height": ite(lands, 0.0, clamp(height + falling * dt, 0.0, 15.0)),
        "speed": clamp(ite(lands, falling * -0.85, falling), -20.0, 20.0),
    }
    b.edge("wait", ~resting, free)
    pushed = clamp(speed * 0.5 - 4.0, -20.0, 20.0)
    b.edge("hit", ~resting & (height >= 4.0), {"height": height, "speed": pushed})
    starts = [{"height": h, "speed": v} for h in grid(16, 3.0, 9.0) for v in grid(9, -1.0, 1.0)]
    return b.document(unsafe=resting, goal=done, starts=starts)


def follow_car(*, steps: int | None = 100) -> dict[str, Any]:
    """Follow a car that drives at a constant speed: keep a gap, do not lose sight of it."""
    b = Builder("follow_car")
    gap = b.real("gap", -10.0, 120.0, 30.0)
    speed = b.real("speed", 0.0, 40.0, 30.0)
    done = b.clock(steps)
    dt, lead = 0.5, 28.0
    inside = (gap > 0.0) & (gap < 80.0)
    for label, push in (("brake", -3.0), ("keep", 0.0), ("accelerate", 2.0)):
        after = clamp(speed + push * dt, 0.0, 40.0)
        b.edge(label, inside, {"speed": after, "gap": clamp(gap + (lead - after) * dt, -10.0, 120.0)})
    starts = [{"gap": d, "speed": v} for d in grid(12, 10.0, 60.0) for v in grid(12, 20.0, 36.0)]
    return b.document(unsafe=(gap <= 0.0) | (gap >= 80.0), goal=done, starts=starts)


def cart_pole(*, steps: int | None = 100) -> dict[str, Any]:
    """Push a cart left or right so that the pole on it stays up and the cart on its track."""
    b = Builder("cart_pole")
    x = b.real("x", -4.8, 4.8, 0.0)
    speed = b.real("speed", -10.0, 10.0, 0.0)
    angle = b.real("angle", -1.6, 1.6, 0.0)
    turn = b.real("turn", -10.0, 10.0, 0.0)
    done = b.clock(steps)
    dt, g, cart, pole, half = 0.02, 9.8, 1.0, 0.1, 0.5
    limit = 12 * math.pi / 180
    inside = (angle <= limit) & (angle >= -limit) & (x <= 2.4) & (x >= -2.4)
    sine, cosine = call("sin", angle), call("cos", angle)
    for label, force in (("left", -10.0), ("right", 10.0)):
        push = (force + pole * half * turn * turn * sine) / (cart + pole)
        bend = (g * sine - cosine * push) / (half * (4.0 / 3.0 - pole * cosine * cosine / (cart + pole)))
        move = push - pole * half * bend * cosine / (cart + pole)
        after = {
            "x": clamp(x + dt * speed, -4.8, 4.8),
            "speed": clamp(speed + dt * move, -10.0, 10.0),
            "angle": clamp(angle + dt * turn, -1.6, 1.6),
            "turn": clamp(turn + dt * bend, -10.0, 10.0),
        }
        b.edge(label, inside, after)
    starts = [
        {"x": p, "angle": a, "turn": t}
        for p in grid(5, -0.5, 0.5)
        for a in grid(5, -0.1, 0.1)
        for t in grid(6, -0.4, 0.4)
    ]
    return b.document(unsafe=~inside, goal=done, starts=starts)


def inverted_pendulum(*, steps: int | None = 100) -> dict[str, Any]:
    """Keep a pendulum upright with a weak motor."""
    b = Builder("inverted_pendulum")
    angle = b.real("angle", -2.0, 2.0, 0.1)
    turn = b.real("turn", -8.0, 8.0, 0.0)
    done = b.clock(steps)
    dt, g, mass, length = 0.05, 10.0, 1.0, 1.0
    inside = (angle <= 0.8) & (angle >= -0.8)
    for label, torque in (("left", -2.0), ("none", 0.0), ("right", 2.0)):
        push = (3.0 * g / (2.0 * length)) * call("sin", angle) + 3.0 * torque / (mass * length * length)
        after = clamp(turn + push * dt, -8.0, 8.0)
        b.edge(label, inside, {"angle": clamp(angle + after * dt, -2.0, 2.0), "turn": after})
    starts = [{"angle": a, "turn": t} for a in grid(12, -0.35, 0.35) for t in grid(12, -1.0, 1.0)]
    return b.document(unsafe=~inside, goal=done, starts=starts)
