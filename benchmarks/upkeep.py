"""Upkeep: expire, archive and dedupe over many spaces, and recalls beside them."""

import itertools
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console

from benchmarks.client import Target
from benchmarks.corpus import RandomVectors, load_corpus
from benchmarks.loading import BATCH, add_batch, batches, item
from benchmarks.metrics import percentile
from benchmarks.service import Service, jobs_taken_over, running_service
from benchmarks.tables import show_table

_SPACES, _EACH = 1_000, 100
_EXPIRED, _FORGOTTEN, _REPEATED = 5, 5, 10  # of each hundred; the repeated ones are pairs
_DIMENSIONS = 384
_JOBS = ("expire", "archive", "curate_dedupe")
_RECALLS, _WARM_UPS = 400, 20
_MIB = 1024 * 1024
_POLL_SECONDS = 0.05
# so that what was loaded now is old enough to be archived
_SETTINGS = {"GRAPHMEM__POLICY__UPKEEP__ARCHIVE__AGE_DAYS": "0"}
_PAST = "2026-01-01T00:00:00Z"


def run_upkeep(data: Path, *, console: Console) -> dict[str, Any]:
    """Load 100,000 memories into 1,000 spaces, and print what three jobs and recalls take."""
    with running_service(heap="1g", pagecache="512m", settings=_SETTINGS) as service:
        corpus = load_corpus(data, _EACH)
        jobs_taken_over(service, _JOBS)
        _load(service.target, corpus.texts, console)
        alone = _recalled(service.target, corpus.questions, _enough())
        runs, beside = _jobs_beside_recalls(service, corpus.questions)
    seconds = sum(run["seconds"] for run in runs.values())
    resident = max(run["mib"] for run in runs.values())
    rows = [
        [f"{name}: {run['changed']:,} changed", f"{run['seconds']:.1f} s, {run['mib']:.0f} MiB"]
        for name, run in runs.items()
    ]
    rows.append(["all three, one after the other", f"{seconds:.1f} s, {resident:.0f} MiB at most"])
    rows.append(["recall alone, p50 / p95", _spread(alone)])
    rows.append(["recall while the jobs run, p50 / p95", _spread(beside)])
    rows.append(["ratio of the p95", f"{percentile(beside, 0.95) / percentile(alone, 0.95):.2f}"])
    note = (
        f"{_SPACES * _EACH:,} memories in {_SPACES:,} spaces; each job in a process of its"
        " own; one client recalls."
    )
    show_table(console, "Upkeep", ["job", ""], rows, caption=note)
    return {
        "runs": runs,
        "seconds": seconds,
        "mib": resident,
        "recall_ms": {
            name: {"p50": percentile(values, 0.5) * 1000, "p95": percentile(values, 0.95) * 1000}
            for name, values in (("alone", alone), ("beside", beside))
        },
    }


def _load(target: Target, texts: tuple[str, ...], console: Console) -> None:
    vectors = RandomVectors(_DIMENSIONS)
    bodies = (
        _memory(space, number, texts[number], vectors.of(number))
        for space in range(_SPACES)
        for number in range(_EACH)
    )
    with target.client() as client:
        for number, batch in enumerate(batches(bodies, BATCH), 1):
            add_batch(client, batch)
            if number % 40 == 0:
                console.print(f"{number * BATCH:,} memories are loaded.")


def _memory(space: int, number: int, text: str, vector: list[float]) -> dict[str, Any]:
    """A memory of a space: the first ones expire, some nobody needs, the others repeat."""
    body = item(f"user:u{space}", text, vector)
    if number < _EXPIRED:
        return body | {"expires_at": _PAST}
    if number < _EXPIRED + _FORGOTTEN:
        return body | {"importance": 10}
    if number < _EXPIRED + _FORGOTTEN + _REPEATED:
        return body | {"content": f"Said again: {number // 2}.", "dedupe": "none"}
    return body


def _jobs_beside_recalls(
    service: Service, questions: tuple[str, ...]
) -> tuple[dict[str, dict[str, Any]], list[float]]:
    done = threading.Event()
    beside: list[float] = []
    recalls = threading.Thread(
        target=lambda: beside.extend(
            _recalled(service.target, questions, lambda: not done.is_set())
        )
    )
    recalls.start()
    try:
        runs = {job: _run_job(service, job) for job in _JOBS}
    finally:
        done.set()
        recalls.join()
    return runs, beside


def _run_job(service: Service, job: str) -> dict[str, Any]:
    """Run a job as an operator would; its seconds, and the most memory of its process."""
    command = (str(Path(sys.executable).with_name("graphmem")), "jobs", "run", job, "-o", "json")
    process = subprocess.Popen(
        command,
        env={**os.environ, **service.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    watched = psutil.Process(process.pid)
    most = 0
    while process.poll() is None:
        try:
            most = max(most, watched.memory_info().rss)
        except psutil.Error:
            break
        time.sleep(_POLL_SECONDS)
    output, _ = process.communicate()
    (shown,) = json.loads(output)
    with service.target.client() as client:
        (run,) = client.call("GET", f"/v1/jobs/{job}/runs?limit=1").body["items"]
    return {
        "changed": shown.get("archived", 0),
        "seconds": _seconds(run),
        "mib": most / _MIB,
        "status": run["status"],
    }


def _seconds(run: Mapping[str, Any]) -> float:
    began, ended = (datetime.fromisoformat(run[name]) for name in ("started_at", "finished_at"))
    return (ended - began).total_seconds()


def _recalled(
    target: Target, questions: tuple[str, ...], goes_on: Callable[[], bool]
) -> list[float]:
    """The seconds of each recall after the first ones, in one space after the other."""
    seconds = []
    with target.client() as client:
        asked = itertools.cycle(questions)
        for number in itertools.count():
            if number >= _WARM_UPS and not goes_on():
                break
            space = f"user:u{number * 7 % _SPACES}"
            started = time.perf_counter()
            client.post("/v1/recall", {"spaces": [space], "query": next(asked)})
            seconds.append(time.perf_counter() - started)
    return seconds[_WARM_UPS:]


def _enough() -> Callable[[], bool]:
    left = itertools.count(_RECALLS, -1)
    return lambda: next(left) > 0


def _spread(seconds: list[float]) -> str:
    return (
        f"{percentile(seconds, 0.5) * 1000:.1f} / {percentile(seconds, 0.95) * 1000:.1f} ms"
        f" ({len(seconds)} recalls)"
    )
