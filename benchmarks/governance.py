"""Governance: what a call costs with few and with many items, beside a batch add, and its trace."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.client import Client
from benchmarks.corpus import RandomVectors, load_corpus
from benchmarks.floors import in_this_process
from benchmarks.metrics import percentile
from benchmarks.service import running_service
from benchmarks.tables import show_table
from graphmem.bootstrap import Graphmem
from graphmem.gateway.draft import Draft
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided
from graphmem.gateway.rollups import WITHOUT_VECTORS
from graphmem.gateway.workbench import Workbench
from graphmem.governance.memories import memory_of
from graphmem.model.caller import Caller, Role
from graphmem.model.governance import EventType, Item, ItemKind, ItemSource, Phase, Place
from graphmem.model.memory import Authority
from graphmem.model.space import FIRST_TENANT, Space, SpaceKind
from graphmem.model.state import GraphState, Selection
from graphmem.model.trace import TraceKind, TraceRecord
from graphmem.store.governance import ChangedItems, lock_places, save_changes
from graphmem.text.dedup_keys import dedup_key

_CALLER = Caller(key_id="benchmark", tenant=FIRST_TENANT, role=Role.ADMIN, spaces=("*",))
_SIZES = (100, 10_000)
_CALLS, _WARM_UPS = 120, 30
_BATCH = 500
_DIMENSIONS = 384
_TEXT_CHARS = 200  # of what is said
_CONTRACT = {
    "short_term": 6,
    "semantic": True,
    "profile": True,
    "write_policy": "aggressive",
    "forget_policy": "never",
}


@dataclass(frozen=True, kw_only=True)
class _Load(MemoryOperation[None]):
    """Let a session have many items, as if they had been recorded."""

    kind = TraceKind.GOVERNANCE

    items: Sequence[Item]
    place: Place

    @property
    def spaces(self) -> Sequence[Space]:
        """The session."""
        return (self.place.space,)

    def selection(self) -> Selection:
        """Nothing."""
        return Selection()

    def decide(self, state: GraphState, now: datetime) -> Decided[None]:
        """Create their memories."""
        draft = Draft(before=state, now=now)
        for item in self.items:
            memory = replace(memory_of(item, now), logical_key=None, embedded=True)
            draft.create(memory)
            draft.vectors_of[memory.key] = WITHOUT_VECTORS
        return Decided(answer=None, memories=draft.decision())

    def apply_records(self, transaction: Workbench, decided: Decided[None]) -> None:  # noqa: ARG002
        """Let them be present."""
        space = self.place.space
        user = Space(tenant=space.tenant, kind=SpaceKind.USER, owner=space.owner)
        lock_places(transaction, [space, user], makes=[space, user])
        phase = self.place.phase
        changes = ChangedItems(
            places=[self.place, Place(space=user, clock=self.place.created + 10)],
            phases=[(space, phase)] if phase else [],
            created=self.items,
        )
        trace = TraceRecord(
            uid=f"load-{self.items[0].uid}",
            kind=self.kind,
            tenant=space.tenant,
            spaces=(space.key,),
            key_id=_CALLER.key_id,
            created_at=transaction.now,
        )
        save_changes(transaction, changes, trace, told=[])


def run_governance(data: Path, *, console: Console) -> dict[str, Any]:
    """Measure all of it, and print a table."""
    corpus = load_corpus(data, max(_SIZES))
    texts = [text[:_TEXT_CHARS] for text in corpus.texts]
    said = [text[:_TEXT_CHARS] for text in (*corpus.fresh, *corpus.questions)]
    with running_service(heap="1g", pagecache="512m") as service:
        with in_this_process(service) as graphmem:
            for size in _SIZES:
                _load(graphmem, f"s{size}", texts[:size])
        with service.target.client() as client:
            client.call("PUT", "/v1/contracts/assistant", _CONTRACT)
            times, written = _times(client, said)
        with in_this_process(service) as graphmem:
            stored = _trace_bytes(graphmem)
    p50 = {name: percentile(each[_WARM_UPS:], 0.5) for name, each in times.items()}
    few, many = (p50[f"call at {size:,}"] for size in _SIZES)
    figures = p50 | {
        "many beside few": many / few,
        "call beside a batch add": few / p50["batch add"],
        "items written by a call": written,
        "bytes of a trace": stored,
    }
    rows = [[name, f"{value:.2f}"] for name, value in figures.items()]
    show_table(console, "Governed calls (ms at the median)", ["what", "value"], rows)
    return figures


def _load(graphmem: Graphmem, owner: str, texts: Sequence[str]) -> None:
    space = Space(tenant=FIRST_TENANT, kind=SpaceKind.SESSION, owner=owner)
    phase = Phase(index=1, started_at=1, reason="auto")
    items = [_item(graphmem, space, phase, number, text) for number, text in enumerate(texts, 1)]
    for start in range(0, len(items), _BATCH):
        part = items[start : start + _BATCH]
        last = part[-1]
        place = Place(
            space=space,
            person=owner,
            phase=phase,
            numbers={ItemKind.SEMANTIC: last.number},
            created=last.number,
        )
        graphmem.gateway.execute(_Load(items=part, place=place), _CALLER)


def _item(graphmem: Graphmem, space: Space, phase: Phase, number: int, text: str) -> Item:
    event = list(EventType)[number % len(EventType)]
    return Item(
        uid=graphmem.ids.new("memory"),
        space=space,
        kind=ItemKind.SEMANTIC,
        number=number,
        text=text,
        source=ItemSource.USER,
        created_at=number + 1,
        mark=number + 1,
        importance=number % 7 + 1,
        importance_reason=(f"event:{event}", "source:user"),
        event_type=event,
        dedup_key=dedup_key(event, text),
        authority=Authority.USER_ASSERTED,
        authority_reason="source:user",
        phase=phase,
        policy_tags=("allowed_by:privacy",),
    )


def _times(client: Client, said: Sequence[str]) -> tuple[dict[str, list[float]], float]:
    """Calls in the small and the large session and batch adds, in turn; items a call wrote."""
    vectors = RandomVectors(_DIMENSIONS)
    times: dict[str, list[float]] = {f"call at {size:,}": [] for size in _SIZES}
    times["batch add"] = []
    written: list[int] = []
    for number, text in enumerate(islice(cycle(said), _CALLS)):
        for size in _SIZES if number % 2 else _SIZES[::-1]:
            state = {"user": {"id": f"s{size}"}}
            body = {"input": f"{text} ({number})", "output": f"Answer {number}.", "state": state}
            answer = _timed(
                client, "/v1/governed/assistant/calls", body, times[f"call at {size:,}"]
            )
            written.append(len(answer["written"]))
        items = [
            {
                "space": "user:adds",
                "content": f"{text} ({number}, {each})",
                "embedding": vectors.of(number * 10 + each),
            }
            for each in range(written[-1])
        ]
        _timed(client, "/v1/memories/batch", {"items": items}, times["batch add"])
    return times, sum(written) / len(written)


def _timed(
    client: Client, path: str, body: Mapping[str, Any], times: list[float]
) -> dict[str, Any]:
    start = time.perf_counter()
    answer: dict[str, Any] = client.post(path, dict(body))
    times.append((time.perf_counter() - start) * 1_000)
    return answer


def _trace_bytes(graphmem: Graphmem) -> float:
    """The bytes of the properties of a trace of a call, at the median."""
    rows = graphmem.connection.run_statement(
        "MATCH (t:Trace) WHERE t.kind = 'governance' AND t.packed IS NOT NULL"
        " AND NOT t.uid STARTS WITH 'load-'"
        " RETURN t.packed AS packed, t.request AS request, t.spaces AS spaces LIMIT 400"
    )
    sizes = [
        len(bytes(row["packed"])) + len(row["request"]) + sum(map(len, row["spaces"]))
        for row in rows
    ]
    return percentile([float(size) for size in sizes], 0.5)
