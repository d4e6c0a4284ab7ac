"""What a campaign costs beside its tests, and what a very large one would take.

python -m benchmarks.campaign [--jobs 200] [--processes 1]     overhead of a job, of the plan and of the database
python -m benchmarks.campaign --simulate                       the scheduler with 10,000 policies x 1,000 tasks

The simulation is on paper: it draws how long jobs take, and lets a driver with measured costs hand them out.
It is the same on every machine.
"""

import argparse
import heapq
import itertools
import random
import resource
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import misstep
from misstep.campaign.coordinator import Coordinator, open_campaign
from misstep.campaign.database import NAME
from misstep.campaign.engine import Assignment, Ended
from misstep.campaign.local import LocalEngine
from misstep.campaign.plan import Limits, Plan, read_plan
from misstep.campaign.result import Result
from misstep.record.record import Record
from misstep.session import Session

IDLE = 2000
"""Jobs without a test, to measure the rest."""
_COURIER = Path(misstep.__file__).parent / "bundled" / "courier"


class Idle:
    """An engine that does nothing at all: what is left is the coordinator and its database."""

    slots = 2

    def __init__(self) -> None:
        self._ended: list[Ended] = []

    def begin(self, assignment: Assignment) -> None:
        self._ended.append(Ended(assignment.id, Result(tested=1, cleared=1)))

    def wait(self, seconds: float) -> list[Ended]:
        ended, self._ended = self._ended, []
        return ended

    def close(self) -> None:
        pass


def write_campaign(folder: Path, jobs: int) -> Path:
    """Trivial jobs: a SAS file needs no translator, and one state is tested."""
    (folder / "courier.sas").write_text(misstep.load(_COURIER / "domain.pddl", _COURIER / "problem.pddl").sas)
    file = folder / "campaign.toml"
    file.write_text(
        'domain = "courier.sas"\npolicies = ["heuristic:blind"]\npool = 1\noracle = "landmarks"\n'
        f"seeds = {jobs}\n"
    )
    return file


def run_campaign(plan: Plan, engine: LocalEngine | Idle) -> tuple[float, float]:
    """Seconds of the plan, and of all jobs."""
    with open_campaign(plan.out) as database:
        begin = time.perf_counter()
        coordinator = Coordinator(plan, database)
        coordinator.prepare()
        middle = time.perf_counter()
        try:
            coordinator.run(engine)
        finally:
            engine.close()
        return middle - begin, time.perf_counter() - middle


def measure(jobs: int, processes: int) -> None:
    with tempfile.TemporaryDirectory(prefix="campaign-") as name:
        folder = Path(name)
        plan = read_plan(write_campaign(folder, jobs))
        alone, alone_cpu = tests_alone(plan, folder / "alone")
        engine = LocalEngine(processes)
        begin = time.perf_counter()
        # Processes start once, whatever the number of jobs.
        for job in itertools.islice(plan.jobs(), processes):
            engine.begin(Assignment(job.id, job.config, folder / "warm" / job.id, Limits()))
        while engine.wait(10):
            pass
        started, cpu = time.perf_counter() - begin, time.process_time()
        _, seconds = run_campaign(plan, engine)
        own_cpu = time.process_time() - cpu
        each = seconds * processes / jobs
        size = (plan.out / NAME).stat().st_size / jobs
        large = read_plan(write_campaign(folder, IDLE), out=folder / "idle")
        cpu = time.process_time()
        for _ in large.jobs():
            pass
        planned = time.process_time() - cpu
        cpu = time.process_time()
        _, idle = run_campaign(large, Idle())
        idle_cpu = time.process_time() - cpu
    print(f"a test alone, with its record    {1e3 * alone:8.1f} ms, {1e3 * alone_cpu:6.1f} ms of a processor")
    print(f"a job of the campaign            {1e3 * each:8.1f} ms, {processes} at a time")
    print(f"overhead of a job                {1e3 * (each - alone):8.1f} ms")
    print(f"  the coordinator's part of it             {1e3 * own_cpu / jobs:6.1f} ms of a processor")
    print(f"start of the processes           {1e3 * started:8.1f} ms, once")
    print(f"plan, a job                                {1e3 * planned / IDLE:6.2f} ms of a processor")
    print(
        f"coordinator and database, a job  {1e3 * idle / IDLE:8.2f} ms, {1e3 * idle_cpu / IDLE:6.2f} ms "
        f"of a processor, {size:.0f} bytes"
    )
    print(
        f"memory of this process           {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:8.0f} MB"
    )


def tests_alone(plan: Plan, folder: Path) -> tuple[float, float]:
    """The same tests one after the other in this process, each with its record: what a job costs anyway."""
    configs = [job.config for job in plan.jobs()]
    begin, cpu = time.perf_counter(), time.process_time()
    for number, config in enumerate(configs):
        record = Record.create(folder / str(number))
        list(Session(config, record=record).events())
        record.close()
    return (time.perf_counter() - begin) / len(configs), (time.process_time() - cpu) / len(configs)


@dataclass(frozen=True)
class Scenario:
    """A cluster with a driver; seconds are of one job."""

    cores: int
    driver: float
    """To hand out a job, take its record and write it down."""
    fetch: float
    """To get a policy to a machine that does not have it."""
    cores_of_machine: int = 64


def simulate() -> None:
    policies, tasks, mean = 10_000, 1_000, 60.0
    print(f"{policies:,} policies x {tasks:,} tasks: {policies * tasks:,} jobs of {mean:.0f} s on average")
    print(" cores   driver, a job   cores busy    all of it   bound by     one result of each policy")
    for cores in (64, 1_024, 10_000):
        for driver in (0.005, 0.05):
            days, busy, first = run(Scenario(cores, driver, fetch=0.2), mean, policies, tasks)
            bound = "the driver" if busy < 0.9 else "the cores"
            print(
                f"{cores:6,} {1e3 * driver:12.0f} ms {busy:12.0%} {days:7.1f} days   {bound:<10} {first:7.1f} h"
            )


def run(
    scenario: Scenario, mean: float, policies: int, tasks: int, *, sample: int = 100_000
) -> tuple[float, float, float]:
    """Days of all jobs, how busy cores are, and hours until every policy has its first result.

    A list schedule: the driver serves cores one at a time in the order in which they become free. So many jobs
    are drawn, which is enough for a steady state; the rest goes on at the same pace.
    """
    rng = random.Random(0)
    free = [(0.0, core) for core in range(scenario.cores)]
    heapq.heapify(free)
    machines = max(1, scenario.cores // scenario.cores_of_machine)
    driver, work, first = 0.0, 0.0, 0.0
    known: set[tuple[int, int]] = set()
    for number in range(sample):
        at, core = heapq.heappop(free)
        driver = max(driver, at) + scenario.driver
        policy, machine = number % policies, core % machines
        seconds = rng.lognormvariate(0.0, 1.0) * mean / 1.6487212707  # its mean is exp(1/2)
        fetch = 0.0 if (policy, machine) in known else scenario.fetch
        known.add((policy, machine))
        heapq.heappush(free, (driver + fetch + seconds, core))
        work += seconds
        if number < policies:
            first = max(first, driver + fetch + seconds)
    end = max(at for at, _ in free)
    steady = driver  # until the last one was handed out; then cores run dry
    pace = sample / steady
    total = policies * tasks / pace + (end - steady)
    busy = min(1.0, work / sample * pace / scenario.cores)
    return total / 86400, busy, first / 3600


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulate", action="store_true")
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    simulate() if given.simulate else measure(given.jobs, given.processes)
