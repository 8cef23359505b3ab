"""Durability: acknowledged adds while the API, the jobs and Neo4j are killed in turn."""

import http.client
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console

from benchmarks.client import Client, Target
from benchmarks.processes import API, JOBS, NEO4J, server_process
from benchmarks.service import Service, running_service
from benchmarks.tables import show_table

_SPACE = "user:durability"
_ADDS = 2_000
_CLIENTS = 4
_VICTIMS = (API, JOBS, NEO4J)
_GIVE_UP_SECONDS = 180.0
_PAUSE_SECONDS = 0.2
_PAGE = 200


@dataclass(kw_only=True)
class Progress:
    """What the clients have so far; shared between their threads."""

    uids: dict[int, str] = field(default_factory=dict)
    retries: Counter[str] = field(default_factory=Counter)
    failed: dict[int, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def done(self) -> int:
        """How many adds have an end."""
        return len(self.uids) + len(self.failed)


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """What was there in the end."""

    acknowledged: int
    killed: tuple[str, ...]
    retries: dict[str, int]
    failed: int
    missing: int
    changed: int
    not_recalled: int
    stored: int
    stored_twice: int
    without_vectors: int

    @property
    def is_sound(self) -> bool:
        """Whether nothing was lost and nothing is there twice."""
        return (
            self.failed
            == self.missing
            == self.changed
            == self.not_recalled
            == self.stored_twice
            == 0
            and self.acknowledged == self.stored
            and len(self.killed) == len(_VICTIMS)
        )


def run_durability(*, console: Console) -> dict[str, Any]:
    """Add, kill, check and print."""
    with running_service() as service:
        progress, killed = _add_while_killing(service)
        findings = _check(service.target, progress, killed)
    _print(console, findings)
    return asdict(findings) | {"is_sound": findings.is_sound, "failures": progress.failed}


def content_of(number: int) -> str:
    """A distinct text with a word of its own."""
    return f"The parcel {word_of(number)} was left with the neighbour on floor {number % 40}"


def word_of(number: int) -> str:
    """The word that only one text has."""
    return f"unit{number:05d}q"


def _add_while_killing(service: Service) -> tuple[Progress, tuple[str, ...]]:
    progress = Progress()
    shares = [range(start, _ADDS, _CLIENTS) for start in range(_CLIENTS)]
    with ThreadPoolExecutor(_CLIENTS + 1) as pool:
        killer = pool.submit(_kill_each, service, progress)
        for adder in [pool.submit(_add_all, service.target, share, progress) for share in shares]:
            adder.result()
        return progress, tuple(killer.result())


def _kill_each(service: Service, progress: Progress) -> list[str]:
    """Kill each victim once, when a further quarter of the adds is done; give those killed."""
    killed = []
    for number, part in enumerate(_VICTIMS, start=1):
        threshold = _ADDS * number // (len(_VICTIMS) + 1)
        wait_until(lambda threshold=threshold: progress.done() >= threshold, 2 * _GIVE_UP_SECONDS)
        if kill_part(service.process.pid, part):
            killed.append(part)
    return killed


def kill_part(pid: int, part: str) -> bool:
    """Kill the process of a part; one that is just being started again is waited for."""

    def kill() -> bool:
        process = server_process(pid, part)
        if process:
            process.kill()
        return process is not None

    return wait_until(kill, 30.0)


def _add_all(target: Target, numbers: range, progress: Progress) -> None:
    with target.client() as client:
        for number in numbers:
            _add(client, number, progress)


def _add(client: Client, number: int, progress: Progress) -> None:
    """Send one memory with one idempotency key until it is acknowledged."""
    body = {
        "space": _SPACE,
        "content": content_of(number),
        "dedupe": "none",
    }  # a second one would be seen
    headers = {"Idempotency-Key": secrets.token_hex(16)}
    deadline = time.monotonic() + _GIVE_UP_SECONDS
    while True:
        reason = _try(client, body, headers, number, progress)
        if reason is None:
            return
        with progress.lock:
            progress.retries[reason] += 1
            if time.monotonic() > deadline or reason.startswith("status 4"):
                progress.failed[number] = reason
                return
        time.sleep(_PAUSE_SECONDS)


def _try(
    client: Client, body: object, headers: dict[str, str], number: int, progress: Progress
) -> str | None:
    """One attempt; why it was not acknowledged, or None."""
    try:
        answer = client.call("POST", "/v1/memories", body, headers=headers)
    except (OSError, http.client.HTTPException) as error:
        return type(error).__name__
    if answer.status not in {200, 201}:
        return f"status {answer.status}"
    with progress.lock:
        progress.uids[number] = answer.body["memory"]["uid"]
    return None


def _check(target: Target, progress: Progress, killed: tuple[str, ...]) -> Findings:
    wait_until(lambda: _answers(target), _GIVE_UP_SECONDS)
    counts: Counter[str] = Counter()
    with target.client() as client:
        for number, uid in sorted(progress.uids.items()):
            counts.update(_check_one(client, number, uid))
        stored = [memory for page in _pages(client) for memory in page]
    contents = Counter(memory["content"] for memory in stored)
    return Findings(
        acknowledged=len(progress.uids),
        killed=killed,
        retries=dict(progress.retries),
        failed=len(progress.failed),
        missing=counts["missing"],
        changed=counts["changed"],
        not_recalled=counts["not recalled"],
        stored=len(stored),
        stored_twice=sum(count - 1 for count in contents.values()),
        without_vectors=sum(not memory["embedded"] for memory in stored),
    )


def _check_one(client: Client, number: int, uid: str) -> Iterator[str]:
    """What is wrong with one acknowledged memory."""
    answer = client.call("GET", f"/v1/memories/{uid}?space={_SPACE}")
    if answer.status != 200:
        yield "missing"
    elif answer.body["content"] != content_of(number):
        yield "changed"
    found = client.post("/v1/recall", {"spaces": [_SPACE], "query": word_of(number), "limit": 5})[
        "items"
    ]
    holding = [
        entry["memory"]["uid"] for entry in found if word_of(number) in entry["memory"]["content"]
    ]
    if holding != [uid]:
        yield "not recalled"


def _pages(client: Client) -> Iterator[list[dict[str, Any]]]:
    cursor: str | None = ""
    while cursor is not None:
        more = f"&cursor={cursor}" if cursor else ""
        answer = client.call("GET", f"/v1/memories?space={_SPACE}&limit={_PAGE}{more}")
        yield answer.body["items"]
        cursor = answer.body["next_cursor"]


def _answers(target: Target) -> bool:
    with target.client() as client:
        try:
            return client.call("GET", "/health/ready").status == 200
        except (OSError, http.client.HTTPException):
            return False


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Wait for something; whether it came in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def _print(console: Console, findings: Findings) -> None:
    rows = [
        ["acknowledged adds", f"{findings.acknowledged:,}"],
        ["killed with -9", ", ".join(findings.killed)],
        [
            "tries repeated",
            ", ".join(f"{count} {reason}" for reason, count in findings.retries.items()) or "0",
        ],
        ["never acknowledged", str(findings.failed)],
        ["acknowledged but missing", str(findings.missing)],
        ["acknowledged but changed", str(findings.changed)],
        ["not recalled by its own word", str(findings.not_recalled)],
        ["stored", f"{findings.stored:,}"],
        ["stored twice", str(findings.stored_twice)],
        ["still without vectors", str(findings.without_vectors)],
    ]
    show_table(
        console,
        f"Durability: {'sound' if findings.is_sound else 'NOT SOUND'}",
        ["what", "count"],
        rows,
    )
