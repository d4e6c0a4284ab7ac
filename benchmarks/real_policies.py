"""`misstep test` on real trained policies, three tasks a domain: verdicts, seconds, certificates checked.

python -m benchmarks.real_policies [--pool N] [--only WORD] [--oracle TEXT]
"""

import argparse

from benchmarks.peer_pools import DATA
from misstep.api import test
from misstep.config import DEFAULT_ORACLE
from misstep.record.verify import verify_record

TASKS = {
    "asnets/blocksworld": ("prob-blocks-blocks-nblk35-seed2107726020-seq1",
                           "prob-blocks-blocks-nblk35-seed2107726020-seq2",
                           "prob-blocks-blocks-nblk35-seed2107726020-seq3"),
    "asnets/elevators": ("opt08-p01", "opt08-p02", "opt08-p03"),
    "asnets/floortile": ("opt-p01-001", "opt-p01-002", "opt-p02-003"),
    "asnets/gripper": ("problem03", "problem05", "problem07"),
    "asnets/matching-blocksworld": ("mbw-b08-t1-s898", "mbw-b08-t2-s1258", "mbw-b08-t2-s1296"),
    "asnets/satellite": ("pfile1", "pfile10", "pfile4"),
    "asnets/scanalyzer": ("p08-p01", "p08-p02", "p08-p03"),
    "asnets/transport": ("opt-p01", "opt-p02", "opt-p04"),
    "asnets/visitall": ("opt11-problem03-full", "opt11-problem04-half", "opt11-problem06-half"),
    "gnn/blocks": ("probBLOCKS-8-0", "probBLOCKS-10-0", "probBLOCKS-11-0"),
    "gnn/delivery": ("instance_3_2_0", "instance_3_3_0", "instance_5_3_0"),
    "gnn/gripper": ("prob01", "prob03", "prob05"),
    "gnn/miconic": ("s1-0", "s3-0", "s5-0"),
    "gnn/visitall": ("problem02-full", "problem03-full", "problem05-full"),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pool", type=int, default=100)
    parser.add_argument("--only", default="")
    parser.add_argument("--oracle", default=DEFAULT_ORACLE)
    options = parser.parse_args()
    print(f"{'task':58} solved bugs qual cleared search unknown translate fuzz policy oracle total  proofs")
    for domain, problems in TASKS.items():
        for problem in problems:
            if options.only in f"{domain}/{problem}":
                report(domain, problem, pool=options.pool, oracle=options.oracle)


def report(domain: str, problem: str, *, pool: int, oracle: str) -> None:
    folder = DATA / domain
    policy = next(path for path in sorted(folder.iterdir()) if path.suffix in (".policy", ".ckpt"))
    kind = "asnet" if policy.suffix == ".policy" else "gnn"
    task = (folder / "domain.pddl", folder / "problems" / f"{problem}.pddl")
    tested = test(task, f"{kind}:{policy}", oracle=oracle, pool=pool)
    found, checked = tested.as_json(), verify_record(tested.record).as_json()
    bugs, seconds = found["bugs"], found["seconds"]
    print(
        f"{domain + '/' + problem:58} {found['solved']:6d} {sum(bugs.values()):4d} {bugs['qualitative']:4d} "
        f"{found['cleared']:7d} {found['cleared_by_search']:6d} {found['unknown']:7d} "
        f"{seconds['translate']:9.2f} {seconds['fuzz']:4.2f} {seconds['policy']:6.2f} "
        f"{seconds['oracle']:6.2f} {seconds['total']:5.2f}  "
        f"{checked['valid']} of {checked['certificates']} valid",
        flush=True,
    )
    for entry in checked["invalid"][:3]:
        print(f"    {entry}")


if __name__ == "__main__":
    main()
