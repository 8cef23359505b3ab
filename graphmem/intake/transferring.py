"""Transferring: writing a space out as lines, and lines into a space."""

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from graphmem.errors import GraphmemError, InvalidInput, StoreUnavailable
from graphmem.gateway.edges import EdgeRequest
from graphmem.gateway.gateway import Gateway
from graphmem.intake.transfer import exported_edge, exported_memory, imported
from graphmem.model.caller import Caller
from graphmem.model.memory import Status
from graphmem.model.space import Space
from graphmem.model.writing import WriteRequest
from graphmem.store.edges import EdgePlace, Edges
from graphmem.store.memories import Memories, MemoryFilter, Place

_AT_ONCE = 200
_PROBLEMS_MAX = 100


@dataclass(kw_only=True)
class Imported:
    """What became of lines: how many of each outcome, and what is wrong with the first hundred that failed."""

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def note_problem(self, number: int, error: GraphmemError) -> None:
        """Note what is wrong with a line."""
        self.counts["failed"] += 1
        fields = error.fields if isinstance(error, InvalidInput) else {}
        texts = "; ".join(f"{path}: {' '.join(said)}" for path, said in fields.items())
        if len(self.problems) < _PROBLEMS_MAX:
            self.problems.append(f"line {number}: {texts or error.message}")


def export_lines(memories: Memories, edges: Edges, space: Space) -> Iterator[str]:
    """All memories of a space, oldest first, of every status, then its edges."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as lines:
        starts: list[tuple[str, str, int]] = []
        for status in Status:
            behind: Place | None = None
            while True:
                wanted = MemoryFilter(spaces=[space], status=status)
                page = memories.page(wanted, limit=_AT_ONCE, behind=behind)
                for memory in page.memories:
                    starts.append((memory.created_at.isoformat(), memory.uid, lines.tell()))
                    lines.write(
                        json.dumps({"memory": exported_memory(memory)}, ensure_ascii=False) + "\n"
                    )
                if (behind := page.next) is None:
                    break
        for _, _, start in sorted(starts):  # turns are to be written in their order
            lines.seek(start)
            yield lines.readline()
    place: EdgePlace | None = None
    while True:
        found = edges.page([space], limit=_AT_ONCE, behind=place)
        yield from (
            json.dumps({"edge": exported_edge(edge)}, ensure_ascii=False) + "\n"
            for edge in found.edges
        )
        if (place := found.next) is None:
            return


def import_lines(
    gateway: Gateway, lines: Iterable[str], space: Space, *, caller: Caller
) -> Iterator[Imported]:
    """Write lines into a space, in batches; what became of them so far.

    A bad line takes no other with it.

    Raises:
        Forbidden: the key may not write in the space. StoreUnavailable: the database does not
        answer; lines that were written are known when they come again.
    """
    done = Imported()
    numbered = enumerate(lines, start=1)
    while batch := list(islice(numbered, _AT_ONCE)):
        memories: list[tuple[int, WriteRequest]] = []
        edges: list[tuple[int, EdgeRequest]] = []
        for number, line in batch:
            try:
                request = imported(_parsed(line), space) if line.strip() else None
            except InvalidInput as error:
                done.note_problem(number, error)
                continue
            if isinstance(request, EdgeRequest):
                edges.append((number, request))
            elif request:
                memories.append((number, request))
        _write_memories(gateway, memories, done, caller)
        _draw_edges(gateway, edges, done, caller)
        yield done


def _parsed(line: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput({"line": ["Is not JSON."]}) from error


def _write_memories(
    gateway: Gateway, memories: Iterable[tuple[int, WriteRequest]], done: Imported, caller: Caller
) -> None:
    numbered = list(memories)
    if not numbered:
        return
    report = gateway.write([request for _, request in numbered], caller=caller)
    for (number, _), result in zip(numbered, report.results, strict=True):
        if result.error:
            done.note_problem(number, result.error)
        else:
            done.counts[result.outcome.value] += 1


def _draw_edges(
    gateway: Gateway, edges: Iterable[tuple[int, EdgeRequest]], done: Imported, caller: Caller
) -> None:
    """All edges in one transaction; where one of them is wrong, each alone."""
    numbered = list(edges)
    if not numbered:
        return
    try:
        gateway.write([], edges=[request for _, request in numbered], caller=caller)
        done.counts["edges"] += len(numbered)
    except StoreUnavailable:
        raise
    except GraphmemError:
        for number, request in numbered:
            try:
                gateway.draw_edge(request, caller=caller)
                done.counts["edges"] += 1
            except StoreUnavailable:
                raise
            except GraphmemError as error:
                done.note_problem(number, error)
