"""`misstep serve` from outside."""

import contextlib
import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli import command, misstep

pytest.importorskip("grpc", reason='needs pip install "misstep[remote]"')


@contextlib.contextmanager
def serving(*arguments: Any) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """The first line of a running server, and its process."""
    process = subprocess.Popen(
        [*command(), "serve", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process.stdout.readline().strip(), process
    finally:
        process.kill()
        process.communicate(timeout=10)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_serve_and_test(courier: tuple[Path, Path], ending: signal.Signals) -> None:
    with serving(*courier, "--policy", "heuristic:lmcut", "--address", "localhost:0") as (address, process):
        host, _, port = address.rpartition(":")
        assert host == "localhost"
        assert int(port) > 0
        direct = misstep("run", *courier, "--policy", "heuristic:lmcut", "--json").json
        remote = misstep("run", *courier, "--policy", f"remote:{address}", "--json").json
        assert [remote[key] for key in ("outcome", "cost", "plan")] == [
            direct[key] for key in ("outcome", "cost", "plan")
        ]
        process.send_signal(ending)
        out, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert out == ""
    assert "serving heuristic:lmcut on" in err
    assert err.endswith("ended\n")
    assert "Traceback" not in err
    ended = misstep("run", *courier, "--policy", f"remote:{address}")
    assert ended.code == 4
    assert f"no policy server answers at {address}" in ended.err


def test_unix_socket_json_and_quiet(courier: tuple[Path, Path], tmp_path: Path) -> None:
    address = f"unix://{tmp_path}/socket"
    options = ("--policy", "heuristic:ff", "--address", address, "--json", "--quiet")
    with serving(*courier, *options) as (line, process):
        told = json.loads(line)
        assert told["address"] == address
        assert told["policy"] == "heuristic:ff"
        assert misstep("run", *courier, "--policy", f"remote:{address}", "--json").code == 0
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=20) == ("", "")
    assert process.returncode == 0
    assert not (tmp_path / "socket").exists()


def test_the_limit_for_an_answer(courier: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\ndef choose(state):\n    time.sleep(100)\n")
    options = ("--policy", f"python:{tmp_path / 'slow.py'}:choose", "--max-seconds", "0.5")
    with serving(*courier, *options) as (address, _):
        told = misstep("run", *courier, "--policy", f"remote:{address}", "--json").json
    assert told["outcome"] == "failed"
    assert "within 0.5 seconds" in told["reason"]


def test_all_networks_only_with_a_warning(courier: tuple[Path, Path]) -> None:
    with serving(*courier, "--policy", "heuristic:ff", "--address", "*:0") as (address, process):
        assert address.startswith("*:")
        process.send_signal(signal.SIGINT)
        assert "can be reached from other machines" in process.communicate(timeout=20)[1]


@pytest.mark.parametrize(
    ("address", "words"),
    [("nowhere", "write `host:port`"), ("unix:///no/such/folder/socket", "No such file or directory")],
)
def test_wrong_addresses(courier: tuple[Path, Path], address: str, words: str) -> None:
    ended = misstep("serve", *courier, "--policy", "heuristic:ff", "--address", address)
    assert ended.code == 4
    assert words in ended.err
    assert ended.out == ""
