"""Memory: what the processes of a service hold after ten thousand adds and some recalls."""

from collections import Counter
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console

from benchmarks.corpus import RandomVectors, load_corpus
from benchmarks.loading import load
from benchmarks.processes import PARTS, members
from benchmarks.service import running_service
from benchmarks.speed import SPACE, warm_up
from benchmarks.tables import show_table

_SIZE = 10_000
_DIMENSIONS = 384
_MIB = 1024 * 1024


def run_memory(data: Path, *, console: Console) -> dict[str, Any]:
    """Load, recall, and look at every process of the service, with the default settings."""
    corpus = load_corpus(data, _SIZE)
    with running_service() as service:
        with service.target.client() as client:
            before = resident(service.process.pid)
            load(client, SPACE, corpus.texts, RandomVectors(_DIMENSIONS), first=0)
            warm_up(client, corpus.questions)
        after = resident(service.process.pid)
    rows = [[part, f"{before[part]:.0f}", f"{after[part]:.0f}"] for part in PARTS]
    rows.append(["all", f"{sum(before.values()):.0f}", f"{sum(after.values()):.0f}"])
    columns = ["process", "just started", f"{_SIZE:,} memories"]
    caption = f"{_measure()} of every process of `graphmem up`, default settings."
    show_table(console, "Memory (MiB)", columns, rows, caption=caption)
    return {
        "measure": _measure(),
        "memories": _SIZE,
        "started_mib": dict(before),
        "loaded_mib": dict(after),
    }


def resident(pid: int) -> Counter[str]:
    """MiB by part of the service."""
    sizes: Counter[str] = Counter()
    for member in members(pid):
        try:
            sizes[member.part] += _bytes(member.process) / _MIB
        except psutil.Error:
            continue  # it has just ended
    return sizes


def _bytes(process: psutil.Process) -> int:
    """The proportional size where the system knows it: shared pages count once."""
    if psutil.LINUX:
        return int(process.memory_full_info().pss)
    return int(process.memory_info().rss)


def _measure() -> str:
    return "Proportional set size" if psutil.LINUX else "Resident set size"
