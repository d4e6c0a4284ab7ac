"""Which drawing a task gets: one that was asked for, one that is called like its domain, or the rules."""

from misstep.drawing import Drawing, Scene
from misstep.drawings.rules import usual_scene
from misstep.errors import PartError
from misstep.plugins import blaming, list_parts, make_part, part_label, require
from misstep.task import Task


def drawn_scene(task: Task, drawing: Drawing | None) -> Scene:
    """The scene of a task; PartError where somebody else's drawing fails."""
    usual = usual_scene(task)
    chosen = drawing or _for_domain(task)
    if chosen is None:
        return usual
    require("drawing", chosen, "name", "scene")
    with blaming("drawing", chosen, f"drawing {task.name}"):
        scene = chosen.scene(task, usual)
    if not isinstance(scene, Scene):
        raise PartError(
            f"{part_label('drawing', chosen)} returned {type(scene).__name__} instead of a Scene; tell its authors"
        )
    return scene


def _for_domain(task: Task) -> Drawing | None:
    domain = None if task.problem is None else task.problem.domain.name
    if domain is None or domain not in {part.name for part in list_parts("drawing")}:
        return None
    found: Drawing = make_part("drawing", domain)
    return found
