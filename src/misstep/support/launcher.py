"""A program between misstep and another program, so that nothing is left behind when misstep is killed.

Run by its path, with an interpreter that loads nothing else: it has to start fast. Its arguments are the
memory limit in bytes (0 for none), a directory to remove if misstep is gone, and the command. Standard input
is a pipe that misstep holds: it says so there when it has waited long enough, and the pipe closes when misstep
is gone, however that happened.
"""

import os
import resource
import select
import shutil
import signal
import sys

_LOOK_SECONDS = 0.1


def main() -> int:
    """Runs the command; its exit code, or the end by the signal that ended it."""
    memory, folder, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    # Not a package here: misstep itself would take much longer to load than many a program runs.
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    from census import adopt_orphans, end_descendants  # type: ignore[import-not-found]

    adopt_orphans()
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    child = os.fork()
    if child == 0:
        _become(command, memory)
    while True:
        ready, _, _ = select.select([0, readable], [], [], _LOOK_SECONDS)
        ended, status = _reap(child)
        if ended:
            end_descendants(os.getpid())
            return os.waitstatus_to_exitcode(status)
        if 0 in ready:
            is_gone = not os.read(0, 16)
            end_descendants(os.getpid())
            if is_gone and folder:
                shutil.rmtree(folder, ignore_errors=True)
            return 1


def _become(command: list[str], memory: int) -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(127)


def _reap(child: int) -> tuple[bool, int]:
    """Whether the command ended; orphans that it left are waited for, too."""
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid in (0, child):
                return pid == child, status
    except ChildProcessError:
        return True, 0


if __name__ == "__main__":
    code = main()
    if code < 0:  # As it ended, so do we.
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.kill(os.getpid(), -code)
    os._exit(code)
