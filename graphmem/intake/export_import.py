"""Export and import: a space as JSON lines, and such lines into a space.

Entities, memories and edges are kinds of lines; rooms bring more kinds.
"""

import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, islice
from typing import Any, TypeVar

from graphmem.errors import GraphmemError, InvalidInput, StoreUnavailable
from graphmem.gateway.edges import DrawEdge, EdgeRequest
from graphmem.gateway.sources import claim_of
from graphmem.gateway.writing import Writing
from graphmem.intake.jsonl_format import (
    edge_request,
    exported_edge,
    exported_memory,
    memory_request,
)
from graphmem.model.caller import Caller
from graphmem.model.edge import Edge, is_made_edge_uid
from graphmem.model.memory import Memory, Status
from graphmem.model.page import every_item
from graphmem.model.source import Source
from graphmem.model.space import Space
from graphmem.model.writing import WriteRequest
from graphmem.rooms import Transfer
from graphmem.store.edges import Edges
from graphmem.store.memories import Memories, MemoryFilter
from graphmem.store.sources import Sources

_AT_ONCE = 200
_PROBLEMS_MAX = 100
Request = TypeVar("Request", WriteRequest, EdgeRequest)


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """What is to be taken in: where it stands, its kind of line, and what that holds."""

    place: str  # as a problem of it is named
    kind: str
    value: Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Unread:
    """What could not be read, where it stands, and why."""

    place: str
    error: InvalidInput


@dataclass(kw_only=True)
class Imported:
    """How many records had each outcome, and what is wrong with the first hundred that failed."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def note_problem(self, place: str, error: GraphmemError) -> None:
        """Note what is wrong with a record."""
        self.counts["failed"] += 1
        fields = error.fields if isinstance(error, InvalidInput) else {}
        texts = "; ".join(f"{path}: {' '.join(said)}" for path, said in fields.items())
        if len(self.problems) < _PROBLEMS_MAX:
            self.problems.append(f"{place}: {texts or error.message}")


def export_lines(transfers: Sequence[Transfer], space: Space) -> Iterator[str]:
    """All that a space holds, kind by kind."""
    for transfer in transfers:
        for value in transfer.lines(space):
            yield json.dumps({transfer.kind: value}, ensure_ascii=False) + "\n"


def import_lines(
    transfers: Sequence[Transfer], lines: Iterable[str], space: Space, *, caller: Caller
) -> Iterator[Imported]:
    """Write lines into a space, in batches, and say after each what became of all so far.

    A bad line takes no other with it.

    Raises:
        Forbidden: the key may not write in the space.
        StoreUnavailable: the database does not answer; lines that were written are known when they
            come again.
    """
    kinds = [transfer.kind for transfer in transfers]
    numbered = enumerate(lines, start=1)
    found = (_found(f"line {number}", line, kinds) for number, line in numbered if line.strip())
    return import_records(transfers, found, space, caller=caller)


def import_records(
    transfers: Sequence[Transfer],
    found: Iterable[Record | Unread],
    space: Space,
    *,
    caller: Caller,
) -> Iterator[Imported]:
    """Write records into a space, as ``import_lines`` does; each names its place.

    Raises:
        Forbidden, StoreUnavailable: see import_lines.
    """
    done = Imported()
    left = iter(found)
    while batch := list(islice(left, _AT_ONCE)):
        by_kind = _by_kind(batch, done)
        for transfer in transfers:
            _write(transfer, by_kind[transfer.kind], space, caller, done)
        yield done


def _by_kind(batch: Iterable[Record | Unread], done: Imported) -> defaultdict[str, list[Record]]:
    found: defaultdict[str, list[Record]] = defaultdict(list)
    for each in batch:
        if isinstance(each, Record):
            found[each.kind].append(each)
        else:
            done.note_problem(each.place, each.error)
    return found


def _found(place: str, line: str, kinds: Sequence[str]) -> Record | Unread:
    try:
        kind, value = _parsed(line, kinds)
    except InvalidInput as error:
        return Unread(place=place, error=error)
    return Record(place=place, kind=kind, value=value)


def _parsed(line: str, kinds: Sequence[str]) -> tuple[str, Any]:
    """What a line holds, and of which kind it is."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput({"line": ["Is not JSON."]}) from error
    if not isinstance(values, Mapping) or len(values) != 1:
        raise InvalidInput({"line": [f"Must hold one of {', '.join(kinds)}."]})
    ((kind, value),) = values.items()
    if kind not in kinds:
        raise InvalidInput({kind: [f"Is not a kind of line; there are {', '.join(kinds)}."]})
    return kind, value


def _write(
    transfer: Transfer, records: Sequence[Record], space: Space, caller: Caller, done: Imported
) -> None:
    values = [record.value for record in records]
    outcomes = transfer.write(space, values, caller=caller) if values else ()
    for record, outcome in zip(records, outcomes, strict=True):
        if isinstance(outcome, GraphmemError):
            done.note_problem(record.place, outcome)
        else:
            done.counts[outcome] += 1


@dataclass(frozen=True, kw_only=True)
class MemoryTransfer:
    """The memories of a space, of every status; oldest first, because turns have an order."""

    memories: Memories
    sources: Sources
    writing: Writing
    kind: str = "memory"

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The memories of a space; a file turns their order, for they are read newest first."""
        with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
            starts: list[tuple[str, str, int]] = []
            for memory, sources in self._with_sources(self._newest_first(space)):
                starts.append((memory.created_at.isoformat(), memory.uid, file.tell()))
                line = json.dumps(exported_memory(memory, sources), ensure_ascii=False)
                file.write(line + "\n")
            for _, _, start in sorted(starts):
                file.seek(start)
                yield json.loads(file.readline())

    def _with_sources(
        self, memories: Iterator[Memory]
    ) -> Iterator[tuple[Memory, Sequence[Source]]]:
        """Memories with all their sources, each with the digest of what it said.

        A key that stands for another memory by now is left out.
        """
        while batch := list(islice(memories, _AT_ONCE)):
            claimed = self.sources.claimed(batch)
            for memory in batch:
                pages = partial(self.sources.page, memory, limit=_AT_ONCE)
                has_more = memory.sources_total > len(memory.sources)
                every = list(every_item(pages)) if has_more else memory.sources
                said = [_held(source, memory, claimed) for source in every]
                yield replace(memory, source=replace(said[0], at=None)), said

    def _newest_first(self, space: Space) -> Iterator[Memory]:
        for status in Status:
            wanted = MemoryFilter(spaces=[space], status=status)
            pages = every_item(partial(self.memories.page, wanted, limit=_AT_ONCE))
            yield from (memory for memory in pages if memory.status is status)

    def write(
        self, space: Space, values: Sequence[Any], *, caller: Caller
    ) -> Iterable[str | GraphmemError]:
        """Write memories under their uids."""
        requests = [_loaded(memory_request, value, space) for value in values]
        report = self.writing.write(requests, caller=caller)
        return [result.error or result.outcome.value for result in report.results]


def _held(source: Source, memory: Memory, claimed: Mapping[tuple[str, str], str | None]) -> Source:
    """A source with the digest of what it said, without a key that is no longer the memory's."""
    claim = claim_of(source, memory)
    if claim is None or (memory.key, claim) not in claimed:
        return replace(source, key=None)
    return replace(source, digest=claimed[memory.key, claim])


@dataclass(frozen=True, kw_only=True)
class EdgeTransfer:
    """The edges between the memories of a space."""

    edges: Edges
    memories: Memories
    writing: Writing
    kind: str = "edge"

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """The edges of a space; a uid that only counts there is left out, and orders nothing."""
        pages = partial(self.edges.page, [space], limit=_AT_ONCE)
        for _, edges in groupby(every_item(pages), key=lambda edge: edge.from_uid):
            lines = map(_edge_line, edges)
            yield from sorted(
                lines, key=lambda line: (line["to"], line["type"], line.get("uid", ""))
            )

    def write(
        self, space: Space, values: Sequence[Any], *, caller: Caller
    ) -> Iterable[str | GraphmemError]:
        """Draw edges: all in one transaction, or where one of them is wrong, each alone."""
        requests = self._with_keepers([_loaded(edge_request, value, space) for value in values])
        drawable = [request for request in requests if isinstance(request, EdgeRequest)]
        try:
            self.writing.write([], edges=drawable, caller=caller)
        except StoreUnavailable:
            raise
        except GraphmemError:
            return [self._drawn_alone(request, caller) for request in requests]
        return ["edges" if isinstance(each, EdgeRequest) else each for each in requests]

    def _with_keepers(
        self, requests: Sequence[EdgeRequest | GraphmemError]
    ) -> list[EdgeRequest | GraphmemError]:
        """The requests, each as of the room that keeps the memory that its edge starts at."""
        starts = {each.ends[0] for each in requests if isinstance(each, EdgeRequest)}
        keepers = {key: memory.kept_by for key, memory in self.memories.by_key(starts).items()}
        return [
            replace(each, kept_by=keepers.get(each.ends[0]))
            if isinstance(each, EdgeRequest)
            else each
            for each in requests
        ]

    def _drawn_alone(
        self, request: EdgeRequest | GraphmemError, caller: Caller
    ) -> str | GraphmemError:
        if isinstance(request, GraphmemError):
            return request
        try:
            self.writing.gateway.execute(DrawEdge(request=request), caller)
        except StoreUnavailable:
            raise
        except GraphmemError as error:
            return error
        return "edges"


def _edge_line(edge: Edge) -> dict[str, Any]:
    values = exported_edge(edge)
    if is_made_edge_uid(edge.uid):
        del values["uid"]
    return values


def _loaded(
    load: Callable[[Any, Space], Request],
    value: Any,  # noqa: ANN401 - any JSON
    space: Space,
) -> Request | InvalidInput:
    try:
        return load(value, space)
    except InvalidInput as error:
        return error
