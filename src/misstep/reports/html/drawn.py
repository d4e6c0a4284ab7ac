"""Which drawing a task gets: one that was asked for, one that is called like its domain, or the rules."""

import json
from typing import get_args

from misstep.drawing import Drawing, Layout, RoleKind, Scene
from misstep.drawings.rules import usual_scene
from misstep.errors import MisstepError, PartError
from misstep.plugins import blaming, list_parts, make_part, part_label
from misstep.reports.html.course_data import scene_data
from misstep.support.describe import describe_error
from misstep.task import Task


def drawn_scene(task: Task, drawing: Drawing | None) -> tuple[Scene, str | None]:
    """The scene of a task, and why it is not the one that was wanted.

    What a page proves does not depend on how states are drawn: where a drawing fails, a simpler one does.
    """
    try:
        usual = usual_scene(task)
        _check_data(task, usual)
    except Exception as error:
        return Scene(), (
            f"misstep could not draw the states of {task.name} ({describe_error(error)}), so they are lists of "
            "facts; this is a bug in misstep: report it with the task"
        )
    try:
        return _chosen_scene(task, drawing, usual), None
    except MisstepError as error:
        return usual, f"{error}; states are drawn by the rules for any domain"
    except Exception as error:  # the scene of somebody else may be anything
        return (
            usual,
            f"the drawing failed ({describe_error(error)}); states are drawn by the rules for any domain",
        )


def _chosen_scene(task: Task, drawing: Drawing | None, usual: Scene) -> Scene:
    """PartError where somebody else's drawing fails or makes no sense."""
    chosen = drawing or _for_domain(task)
    if chosen is None:
        return usual
    with blaming("drawing", chosen, f"drawing {task.name}"):
        scene = chosen.scene(task, usual)
        problem = _problem(scene)
        if problem is None:
            _check_data(task, scene)
    if problem is not None:
        raise PartError(
            f"{part_label('drawing', chosen)} {problem}; tell its authors, or use --drawing rules"
        )
    return scene


def _check_data(task: Task, scene: Scene) -> None:
    """Raises what writing the scene into a page would raise; JSON has neither infinity nor NaN."""
    json.dumps(scene_data(task, scene), allow_nan=False)


def _for_domain(task: Task) -> Drawing | None:
    domain = None if task.problem is None else task.problem.domain.name
    if domain is None or domain not in {part.name for part in list_parts("drawing")}:
        return None
    found: Drawing = make_part("drawing", domain)
    return found


def _problem(scene: object) -> str | None:
    """What the page could not draw."""
    if not isinstance(scene, Scene):
        return f"returned {type(scene).__name__} instead of a Scene"
    if scene.layout not in get_args(Layout):
        return f"has the layout `{scene.layout}`; there are {', '.join(get_args(Layout))}"
    names = [place.name for place in scene.places]
    if len(set(names)) < len(names):
        return "has two places of one name"
    for edge in scene.edges:
        if not (0 <= edge.start < len(names) and 0 <= edge.end < len(names)):
            return f"has a way from place {edge.start} to {edge.end}, but {len(names)} places"
    for predicate, role in scene.roles.items():
        if role.kind not in get_args(RoleKind):
            return f"gives `{predicate}` the role `{role.kind}`; there are {', '.join(get_args(RoleKind))}"
    return None
