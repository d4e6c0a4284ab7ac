"""Load a task, look around in it, evaluate states in a batch, plan: `python examples/first_steps.py`."""

from importlib.resources import as_file, files

import misstep


def main() -> None:
    """Shows the parts of the Python API that everything else builds on."""
    with as_file(files("misstep") / "bundled" / "courier") as folder:
        task = misstep.load(folder / "domain.pddl", folder / "problem.pddl")

    state = task.initial_state
    print("at the start:", ", ".join(state.facts))
    heuristic = misstep.Heuristic(task, "ff")
    successors = task.successors(state)
    estimates = heuristic.evaluate(task.batch([successor for _, successor in successors]))
    for (action, _), estimate in zip(successors, estimates, strict=True):
        print(f"{action} costs {action.cost}, then h^FF = {estimate:g}")

    result = misstep.search(task, "astar:lmcut", budget=misstep.Budget(seconds=60))
    print(f"{result.outcome}: cost {result.cost}")
    for action in result.plan:
        print(f"  {action}")


if __name__ == "__main__":
    main()
