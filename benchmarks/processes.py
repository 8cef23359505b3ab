"""The processes of a running service, told apart by their command lines."""

from collections.abc import Iterator
from dataclasses import dataclass

import psutil

NEO4J, API, JOBS, SUPERVISOR, GUARDS = "Neo4j", "API", "jobs", "supervisor", "guards"
PARTS = (NEO4J, API, JOBS, SUPERVISOR, GUARDS)


@dataclass(frozen=True, slots=True)
class Member:
    """A process of the service, and the part of it that it is."""

    process: psutil.Process
    part: str


def members(pid: int) -> list[Member]:
    """All processes of the service that a process holds."""
    return list(_members(pid))


def server_process(pid: int, part: str) -> psutil.Process | None:
    """The process that does the work of a part; None while there is none."""
    found = [member.process for member in members(pid) if member.part == part]
    return found[0] if found else None


def _members(pid: int) -> Iterator[Member]:
    top = psutil.Process(pid)
    for process in (top, *top.children(recursive=True)):
        try:
            command = process.cmdline()
        except psutil.Error:
            continue  # it has just ended
        yield Member(process, _part(command, is_top=process == top))


def _part(command: list[str], *, is_top: bool) -> str:
    if is_top:
        return SUPERVISOR
    if any(word.endswith("process_guard.py") for word in command):
        return GUARDS
    if command[1:3] == ["-m", "api"]:
        return API
    if command[1:3] == ["-m", "jobs"]:
        return JOBS
    return NEO4J if command and command[0].endswith("java") else GUARDS
