"""Floors: what the parts of a recall cost in this process, without HTTP, on the same questions."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from unittest import mock

from benchmarks.service import Service
from graphmem.bootstrap import Graphmem, build
from graphmem.database import connect
from graphmem.model.caller import Caller, Role
from graphmem.model.space import FIRST_TENANT
from graphmem.recall.request import RecallRequest
from graphmem.settings import load_settings
from graphmem.store.candidates import Candidates, Search
from graphmem.store.vectors import VectorSlot

_CALLER = Caller(key_id="benchmark", tenant=FIRST_TENANT, role=Role.ADMIN, spaces=("*",))


@dataclass(kw_only=True, slots=True)
class Floors:
    """Times in seconds, one entry a question."""

    return_one: list[float] = field(default_factory=list)
    statement: list[float] = field(default_factory=list)
    embed_query: list[float] = field(default_factory=list)
    in_process: list[float] = field(default_factory=list)


@contextmanager
def in_this_process(service: Service) -> Iterator[Graphmem]:
    """The same service built in this process, over the same database."""
    settings = load_settings(service.environment)
    graphmem = build(settings, connect(settings))
    try:
        yield graphmem
    finally:
        graphmem.close()


def measure_floors(graphmem: Graphmem, space: str, question: str, floors: Floors) -> None:
    """Time a whole recall, then its candidate statement, its vector and RETURN 1 alone."""
    search, seconds = _recalled(graphmem, space, question)
    floors.in_process.append(seconds)
    candidates = Candidates(
        graphmem.connection, VectorSlot(graphmem.connection, graphmem.embedder.name)
    )
    floors.statement.append(_timed(lambda: candidates.by_index(search)))
    floors.embed_query.append(_timed(lambda: graphmem.embedder.embed_query(question)))
    floors.return_one.append(_timed(graphmem.connection.check))


def _recalled(graphmem: Graphmem, space: str, question: str) -> tuple[Search, float]:
    """Recall in this process; what was asked of the graph, and the seconds."""
    asked: list[Search] = []
    by_index = Candidates.by_index

    def noting(candidates: Candidates, search: Search) -> object:
        asked.append(search)
        return by_index(candidates, search)

    request = RecallRequest(spaces=[space], query=question)
    with mock.patch.object(Candidates, "by_index", noting):
        seconds = _timed(lambda: graphmem.recall.recall(request, caller=_CALLER))
    return asked[0], seconds


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
