"""A guarded process never outlives its owner."""

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from graphmem.adapters.guarded_process import LARGEST_LOG_BYTES, LOG_FILES, GuardedProcess

REPOSITORY = Path(__file__).parents[2]
SLEEPER = (sys.executable, "-c", "import time; print('up', flush=True); time.sleep(60)")
STUBBORN = (
    sys.executable,
    "-c",
    (
        "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True);"
        " time.sleep(60)"
    ),
)
CHATTER = """
import time
print('up', flush=True)
while True:
    print('line', flush=True)
    time.sleep(0.01)
"""
OWNER = """
import sys, time
from pathlib import Path
from graphmem.adapters.guarded_process import GuardedProcess
process = GuardedProcess(sys.argv[2:], log_path=Path(sys.argv[1]), grace_seconds=0.5)
process.start()
print(process.pid, flush=True)
time.sleep(60)
"""


def until(claim: Callable[[], bool], seconds: float = 5) -> bool:
    """Wait for something that becomes true soon."""
    end = time.monotonic() + seconds
    while not claim() and time.monotonic() < end:
        time.sleep(0.02)
    return claim()


def started(tmp_path: Path, command: tuple[str, ...], grace_seconds: float = 5) -> GuardedProcess:
    """Start a process and wait until it says that it is up."""
    process = GuardedProcess(
        command, log_path=tmp_path / "process.log", grace_seconds=grace_seconds
    )
    process.start()
    assert until(lambda: "up" in process.output())
    return process


def child_of(guard_pid: int) -> psutil.Process:
    """Return what the guard runs."""
    return psutil.Process(guard_pid).children()[0]


def is_gone(process: psutil.Process) -> bool:
    """Whether a process has ended, also when nobody has collected it."""
    return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE


def test_stop_ends_the_command(tmp_path: Path) -> None:
    """Closing the guard's input is enough."""
    process = started(tmp_path, SLEEPER)
    child = child_of(process.pid or 0)
    process.stop()
    assert 128 + signal.SIGTERM == process.poll()
    assert is_gone(child)


def test_stop_kills_a_command_that_ignores_the_polite_way(tmp_path: Path) -> None:
    """SIGKILL follows after the grace."""
    process = started(tmp_path, STUBBORN, grace_seconds=0.2)
    child = child_of(process.pid or 0)
    process.stop()
    assert until(lambda: is_gone(child))


def test_exit_status_of_the_command_is_passed_on(tmp_path: Path) -> None:
    """The guard ends as its command does."""
    process = GuardedProcess((sys.executable, "-c", "exit(7)"), log_path=tmp_path / "process.log")
    process.start()
    assert until(lambda: process.poll() is not None)
    assert process.poll() == 7
    process.stop()


def test_unknown_command_is_told_in_the_log(tmp_path: Path) -> None:
    """A command that is not there gives status 127, as in a shell."""
    process = GuardedProcess(("no-such-command",), log_path=tmp_path / "process.log")
    process.start()
    assert until(lambda: process.poll() is not None)
    assert process.poll() == 127
    assert "no-such-command cannot be started" in process.output()
    process.stop()


def test_output_leaves_out_what_earlier_runs_wrote(tmp_path: Path) -> None:
    """The log is kept, but an old error is not shown as a new one."""
    (tmp_path / "process.log").write_text("an old error\n")
    process = started(tmp_path, SLEEPER)
    process.stop()
    assert process.output() == "up\n"
    assert (tmp_path / "process.log").read_text() == "an old error\nup\n"


def test_command_ends_when_its_guard_is_killed(tmp_path: Path) -> None:
    """Kill -9 of the guard does not leave the command behind."""
    process = started(tmp_path, SLEEPER, grace_seconds=0.2)
    child = child_of(process.pid or 0)
    psutil.Process(process.pid).kill()
    assert until(lambda: is_gone(child))
    process.stop()


def test_owner_ends_a_stubborn_command_whose_guard_was_killed(tmp_path: Path) -> None:
    """The process group still names what the guard had started."""
    process = started(tmp_path, STUBBORN, grace_seconds=0.2)
    child = child_of(process.pid or 0)
    psutil.Process(process.pid).kill()
    process.stop()
    assert until(lambda: is_gone(child))


def test_nothing_is_left_when_the_owner_is_killed(tmp_path: Path) -> None:
    """Kill -9 of the owner ends the guard and even a stubborn command."""
    log_path = tmp_path / "process.log"
    owner_command = (sys.executable, "-c", OWNER, str(log_path), *STUBBORN)
    with subprocess.Popen(
        owner_command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        guard = psutil.Process(int(owner.stdout.readline()))
        assert until(lambda: log_path.read_text() == "up\n")
        child = child_of(guard.pid)
        owner.kill()
    assert until(lambda: is_gone(guard) and is_gone(child))


def test_a_log_for_whose_copy_there_is_no_room_stays_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = GuardedProcess(("true",), log_path=tmp_path / "process.log")
    process.log_path.write_bytes(b"x" * (LARGEST_LOG_BYTES + 1))
    older = tmp_path / "process.log.1"
    older.write_text("older")

    def full(*_: object) -> None:
        raise OSError(28, "no space")

    monkeypatch.setattr(shutil, "copy", full)
    process.rotate_log()

    assert LARGEST_LOG_BYTES + 1 == process.log_path.stat().st_size
    assert "older" == older.read_text()


def test_a_log_that_has_grown_too_large_is_put_away_while_the_command_writes_on(
    tmp_path: Path,
) -> None:
    process = started(
        tmp_path,
        (
            sys.executable,
            "-c",
            CHATTER,
        ),
    )
    try:
        for number in range(LOG_FILES + 2):
            with process.log_path.open("ab") as log:
                log.write(b"%d\n" % number + b"x" * LARGEST_LOG_BYTES)
            process.rotate_log()
            assert process.log_path.stat().st_size < 1_000
        process.rotate_log()

        assert until(lambda: "line" in process.output())
        assert LOG_FILES == len(list(tmp_path.iterdir()))
        newest = process.log_path.with_name("process.log.1").read_bytes()
        assert b"%d\n" % (LOG_FILES + 1) in newest
    finally:
        process.stop()
