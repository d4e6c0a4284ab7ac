"""A program between misstep and another program, so that nothing is left behind when misstep is killed.

Run by its path, with an interpreter that loads nothing else: it has to start fast. Its arguments are a pipe on
which it reports (`ready` or the number of an error, then the exit code of the command) and a directory, which it
makes and removes: only so the directory goes whenever misstep does. Standard input is a pipe that misstep
holds. The command comes through it: its length, then the memory limit in bytes (0 for none) and the words. What
comes then means that the command has to end. The pipe closes when misstep has read what it wants, and when
misstep is gone, however that happened.
"""

import os
import resource
import select
import shutil
import signal
import sys

_LOOK_SECONDS = 0.1


def main() -> None:
    """Makes the directory, runs the command that comes, reports how it ended, removes the directory."""
    report, folder = int(sys.argv[1]), sys.argv[2]
    try:
        os.mkdir(folder, 0o700)  # noqa: PTH102
    except OSError as error:
        os.write(report, str(error.errno).encode())
        return
    try:
        os.chdir(folder)
        os.write(report, b"ready")
        if words := _words():
            _run(words, report)
    except BrokenPipeError:  # misstep is gone
        pass
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _words() -> list[str]:
    """The memory limit and the command; nothing where misstep wants none or is gone."""
    size, words = int.from_bytes(_read(8), "big"), b""
    if size:
        words = _read(size)
    return [os.fsdecode(word) for word in words.split(b"\0")] if words else []


def _read(size: int) -> bytes:
    """So many bytes of standard input; none where it ends before."""
    data = b""
    while len(data) < size:
        more = os.read(0, size - len(data))
        if not more:
            return b""
        data += more
    return data


def _run(words: list[str], report: int) -> None:
    """Runs the command to its end, and waits until misstep has seen what it left."""
    # Not a package here: misstep itself would take much longer to load than many a program runs.
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120
    from census import adopt_orphans, die_with_parent, end_descendants  # type: ignore[import-not-found]

    adopt_orphans()
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    child = os.fork()
    if child == 0:
        os.close(report)
        die_with_parent()  # where somebody kills the launcher
        _become(words[1:], int(words[0]))
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)  # only the command holds the pipe of its output now
    os.dup2(nothing, 2)
    is_running = True
    while True:
        ready, _, _ = select.select([0, readable] if is_running else [0], [], [], _LOOK_SECONDS)
        if is_running:
            ended, status = _reap(child)
            if ended:
                end_descendants(os.getpid())
                os.write(report, str(os.waitstatus_to_exitcode(status)).encode())
                is_running = False
        if 0 in ready:
            is_over = not os.read(0, 16)
            end_descendants(os.getpid())
            if is_over:
                return


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
    main()
    os._exit(0)
