"""Jobs in processes of this machine."""

import json
from pathlib import Path

from misstep.config import Config
from misstep.events import Finished
from misstep.record.record import EVENTS
from misstep.workers import Job, Told, run_job
from tests.conftest import COURIER


def test_a_record_that_goes_another_way_is_an_error_and_not_the_end_of_the_process(tmp_path: Path) -> None:
    """With time limits, a test that goes on may find out something else; the campaign then begins it anew."""
    config = Config(
        domain=COURIER[0],
        problem=COURIER[1],
        policy="zoo:courier",
        pool=3,
        oracle=("landmarks+greedy",),
        faults=False,
    )
    heard: list[Told] = []
    job = Job(1, config, tmp_path / "record", is_free=False, resume=True)
    assert run_job(job, heard.append).error is None
    assert isinstance(heard[-1].event, Finished)
    log = tmp_path / "record" / EVENTS
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    judged = next(line for line in lines if line["event"] == "judged")
    judged["steps"] += 1
    log.write_text("".join(json.dumps(line) + "\n" for line in lines[:-1]))  # as if it had been killed
    told = run_job(job, heard.append)
    assert told.is_done
    assert "does not go as it went" in (told.error or "")
