"""Verdicts of the default oracle on two tasks of every domain with real policies: what stays unknown, and why.

python -m benchmarks.quantiles [--pool N] [--only WORD] [--oracle TEXT] [--largest] [--seconds S]
"""

import argparse
import time
from collections import Counter
from pathlib import Path

from benchmarks.peer_pools import DATA
from misstep.config import DEFAULT_ORACLE, Config
from misstep.session import Session

QUANTILES = (0.1, 0.4)
BIASES = ("none", "detour")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pool", type=int, default=50)
    parser.add_argument("--only", default="")
    parser.add_argument("--oracle", default=DEFAULT_ORACLE)
    parser.add_argument("--largest", action="store_true", help="the largest task of each domain instead")
    parser.add_argument("--seconds", type=float, default=None)
    options = parser.parse_args()
    print(f"oracle: {options.oracle}")
    print(f"{'task':52} {'bias':7} tested bugs cleared search unknown faults  CPU s")
    total: Counter[str] = Counter()
    for folder in sorted([*(DATA / "asnets").iterdir(), *(DATA / "gnn").iterdir()]):
        if not (folder / "problems").is_dir() or options.only not in str(folder):
            continue
        for problem in chosen(folder, largest=options.largest):
            for bias in ("none",) if options.largest else BIASES:
                total += tested(folder, problem, bias, options)
    share = 100 * total["unknown"] / max(1, total["tested"])
    print(f"{dict(total)}; unknown: {share:.1f} %")


def chosen(folder: Path, *, largest: bool) -> list[Path]:
    """The problems at two quantiles of the size of their files, or the largest one."""
    problems = sorted((folder / "problems").glob("*.pddl"), key=lambda path: (path.stat().st_size, path.name))
    if largest:
        return problems[-1:]
    return [problems[int(share * (len(problems) - 1))] for share in QUANTILES]


def tested(folder: Path, problem: Path, bias: str, options: argparse.Namespace) -> Counter[str]:
    """Runs one test and prints its counts."""
    policy = next(path for path in sorted(folder.iterdir()) if path.suffix in (".policy", ".ckpt"))
    kind = "asnet" if policy.suffix == ".policy" else "gnn"
    config = Config(
        domain=folder / "domain.pddl",
        problem=problem,
        policy=f"{kind}:{policy}",
        pool=options.pool,
        bias=bias,
        oracle=(options.oracle,),
        seconds=options.seconds,
        extend=options.seconds is not None,
    )
    session, before = Session(config), time.process_time()
    for _ in session.events():
        pass
    seconds, counts = time.process_time() - before, session.tally.counts()
    limits = "" if session.tally.finished is None else "; ".join(session.tally.finished.limits_hit)
    name = f"{folder.parent.name}/{folder.name}/{problem.stem}"
    print(
        f"{name[:52]:52} {bias:7} {counts['tested']:6d} {counts['bugs']:4d} {counts['cleared']:7d} "
        f"{counts['cleared_by_search']:6d} {counts['unknown']:7d} {counts['faults']:6d} {seconds:6.1f}  {limits}",
        flush=True,
    )
    names = ("tested", "bugs", "cleared", "cleared_by_search", "unknown", "faults")
    return Counter({name: counts[name] for name in names}) + Counter(seconds=round(seconds))


if __name__ == "__main__":
    main()
