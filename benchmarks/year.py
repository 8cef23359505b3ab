"""A year of the lifecycle: turns and consolidation with a moved clock, and a pass at two sizes."""

import gzip
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.client import Client, Target
from benchmarks.corpus import Vectors, load_corpus
from benchmarks.lifecycle import BEAM, LIFEBENCH, beam_turns, text_of
from benchmarks.loading import BATCH, add_batch, batches, item
from benchmarks.metrics import percentile
from benchmarks.service import jobs_taken_over, running_service
from benchmarks.tables import show_table
from graphmem.bootstrap import Graphmem, build
from graphmem.database import connect
from graphmem.lifecycle.keeper import LifecycleKeeper
from graphmem.model.caller import Caller, Role
from graphmem.model.conversation import Saying, TurnRole
from graphmem.model.job import RunStatus
from graphmem.model.space import FIRST_TENANT, Space, parse_space
from graphmem.settings import load_settings
from graphmem.text.secrets import has_secret

_CALLER = Caller(key_id="benchmark", tenant=FIRST_TENANT, role=Role.ADMIN, spaces=("*",))
_SWITCHES = {
    f"lifecycle.{name}": True
    for name in (
        *("memory_boxes_enabled", "trace_weaver_enabled", "verbatim_artifacts_enabled"),
        *("episode_note_mode_enabled", "threading_enabled"),
    )
}
_JOBS = ("extract", "seal_boxes", "consolidate")
_SIZES, _NEW, _PASSES = (2_000, 20_000), 20, 7
_PEOPLE, _OF_EACH = 20, 3  # memories for each person, and people whom a memory mentions
_BOXES_SHOWN = 10
_SEED = 20_260_301
_START = datetime(2026, 1, 1, 9, tzinfo=UTC)


@dataclass
class MovedClock:
    """A clock that stands where it was put."""

    at: datetime = _START

    def now(self) -> datetime:
        """Where it stands."""
        return self.at


@dataclass(frozen=True, kw_only=True, slots=True)
class _Said:
    at: datetime
    role: TurnRole
    content: str
    actor: str


def run_year(data: Path, *, console: Console) -> dict[str, Any]:
    """Measure both, and print a table for each."""
    with running_service(heap="1g", pagecache="512m") as service:
        clock = MovedClock()
        settings = load_settings(service.environment)
        graphmem = build(settings, connect(settings), clock=clock)
        # what is told in another year would be old to the jobs of the service
        jobs_taken_over(service, [job.name for job in graphmem.runner.states()])
        try:
            return {
                "passes": passes(data, service.target, graphmem, clock, console),
                "volume": volume(data, graphmem, clock, console),
            }
        finally:
            graphmem.close()


# a pass as its space grows


def passes(
    data: Path, target: Target, graphmem: Graphmem, clock: MovedClock, console: Console
) -> dict[str, Any]:
    """The seconds of a pass over twenty new facts, in a space of 2,000 and of 20,000 memories.

    All memories mention people, some of them very often: a person for every twenty memories.
    """
    corpus = load_corpus(data, _SIZES[-1])
    vectors = Vectors(corpus.texts, graphmem.embedder)
    clock.at = datetime.now(UTC)
    space = parse_space("user:passes", tenant=FIRST_TENANT)
    fresh, stored = iter(corpus.fresh), 0
    seconds: dict[int, list[float]] = {}
    for size in _SIZES:
        with target.client() as client:
            bodies = (
                item(space.name, corpus.texts[number], vectors.of(number))
                | {"entities": _people(number)}
                for number in range(stored, size)
            )
            for batch in batches(bodies, BATCH):
                add_batch(client, batch)
            stored = size
            seconds[size] = []
            for _ in range(_PASSES):
                _tell_and_write(client, graphmem, space, fresh)
                seconds[size].append(_pass(graphmem, clock, space))
    p50 = {size: percentile(each[1:], 0.5) for size, each in seconds.items()}
    ratio = p50[_SIZES[1]] / p50[_SIZES[0]]
    rows = [[f"{size:,}", f"{value:.2f}"] for size, value in p50.items()]
    title = f"A pass over {_NEW} new facts, s; {ratio:.2f} times in the larger space"
    show_table(console, title, ["memories stored", "p50"], rows)
    return {"p50": p50, "ratio": ratio}


def _people(number: int) -> list[str]:
    """The people whom a memory mentions: the n-th of those known by then with a share of 1/n."""
    generator = np.random.default_rng([_SEED, number])
    known = 1 + number // _PEOPLE
    places = {int(known ** generator.random()) for _ in range(_OF_EACH)}
    return [f"person:{_name(place)}" for place in sorted(places)]


def _name(number: int) -> str:
    """A name of a person, without digits."""
    return f"{_syllables(number % 50)} {_syllables(number)}".title()


def _syllables(number: int) -> str:
    more = _syllables(number // 50) if number >= 50 else ""
    return more + "bdfgklmnrs"[number % 10] + "aeiou"[number // 10 % 5] + "n"


def _tell_and_write(client: Client, graphmem: Graphmem, space: Space, fresh: Iterator[str]) -> None:
    """New facts, half of them told in turns and half written, about people who are known."""
    sayings = [
        Saying(uid="", role=TurnRole.USER, actor="Ada", content=f"FYI {text[:300]}")
        for text in islice(fresh, _NEW // 2)
    ]
    graphmem.of(LifecycleKeeper).heed(space, "s", sayings, caller=_CALLER, wait=True)
    texts = islice(fresh, _NEW - _NEW // 2)
    items = [
        item(space.name, text) | {"entities": _people(number)} for number, text in enumerate(texts)
    ]
    add_batch(client, items)


def _pass(graphmem: Graphmem, clock: MovedClock, space: Space) -> float:
    clock.at += timedelta(hours=1)
    start = time.perf_counter()
    _run(graphmem, "consolidate", space)
    return time.perf_counter() - start


# a year, twice


def volume(data: Path, graphmem: Graphmem, clock: MovedClock, console: Console) -> dict[str, Any]:
    """A year of one person and a long chat, each told twice in spaces of their own."""
    sets = {"lifebench": _year(data / LIFEBENCH), "beam": _chat(data / BEAM)}
    figures = {
        name: _told_twice(graphmem, clock, name, said, console)
        for name, said in sets.items()
        if said
    }
    rows = [
        [
            name,
            *(str(each[part]) for part in ("turns", "days", "errors", "boxes", "traces", "same")),
        ]
        for name, each in figures.items()
    ]
    columns = ["set", "turns", "days", "errors", "boxes", "traces", "both times the same"]
    show_table(console, "A year of turns with consolidation each day", columns, rows)
    return figures


def _told_twice(
    graphmem: Graphmem, clock: MovedClock, name: str, said: Sequence[_Said], console: Console
) -> dict[str, Any]:
    spaces = [parse_space(f"user:{name}-{run}", tenant=FIRST_TENANT) for run in ("one", "two")]
    days = [(day, list(each)) for day, each in groupby(said, key=lambda each: each.at.date())]
    errors = 0
    for space in spaces:
        graphmem.policies.save(space, _SWITCHES)
        clock.at = said[0].at
        for _, each in days:
            errors += _live_through(graphmem, clock, space, each)
    boxes = [_boxes(graphmem, space) for space in spaces]
    traces = [_traces(graphmem, space) for space in spaces]
    _show_boxes(name, boxes[0], console)
    return {
        "turns": len(said),
        "days": len(days),
        "errors": errors,
        "boxes": len(boxes[0]),
        "traces": len(traces[0]),
        "same": boxes[0] == boxes[1] and traces[0] == traces[1],
    }


def _live_through(
    graphmem: Graphmem, clock: MovedClock, space: Space, said: Sequence[_Said]
) -> int:
    """Say what was said on a day, and let the jobs run in its evening; how many went wrong."""
    errors = 0
    for each in said:
        clock.at = max(clock.at, each.at)
        saying = Saying(uid="", role=each.role, actor=each.actor, content=each.content, at=each.at)
        graphmem.of(LifecycleKeeper).heed(space, "diary", [saying], caller=_CALLER, wait=True)
    clock.at = said[-1].at + timedelta(hours=1)
    for job in _JOBS:
        errors += _run(graphmem, job, space) is not RunStatus.SUCCEEDED
    return errors


def _run(graphmem: Graphmem, job: str, space: Space) -> RunStatus:
    return graphmem.runner.run(job, space_key=space.key, by_hand=True).status


def _boxes(graphmem: Graphmem, space: Space) -> list[tuple[Any, ...]]:
    """The boxes of a space as what they say, the oldest first."""
    rows = graphmem.connection.run_statement(
        "MATCH (b:Box {space: $space}) OPTIONAL MATCH (b)-[h:HOLDS]->(m:Memory)"
        " WITH b, m ORDER BY h.number"
        " RETURN toString(b.created_at) AS at, toString(b.sealed_at) AS sealed,"
        " b.seal_reason AS reason, b.topics AS topics, collect(m.content) AS members"
        " ORDER BY at, topics, members",
        space=space.key,
    )
    return [
        (row["at"], row["sealed"], row["reason"], tuple(row["topics"]), tuple(row["members"]))
        for row in rows
    ]


def _traces(graphmem: Graphmem, space: Space) -> list[tuple[Any, ...]]:
    rows = graphmem.connection.run_statement(
        "MATCH (r:TopicTrace {space: $space})<-[:OF_TRACE]-(b:Box)"
        " WITH r, b ORDER BY b.created_at, b.topics"
        " RETURN r.topics AS topics, collect(toString(b.created_at)) AS boxes"
        " ORDER BY boxes, topics",
        space=space.key,
    )
    return [(tuple(row["topics"]), tuple(row["boxes"])) for row in rows]


def _show_boxes(name: str, boxes: Sequence[tuple[Any, ...]], console: Console) -> None:
    """Ten boxes, evenly from all, with what they hold."""
    step = max(1, len(boxes) // _BOXES_SHOWN)
    for at, _, reason, topics, members in boxes[::step][:_BOXES_SHOWN]:
        console.print(f"{name} {at[:16]} ({reason}): {', '.join(topics[:6])}", highlight=False)
        for member in members[:6]:
            console.print(f"    {member[:110]}", highlight=False, markup=False)


def _year(path: Path) -> list[_Said]:
    if not path.is_file():
        return []
    items = json.loads(gzip.decompress(path.read_bytes()))["items"]
    said = [
        _Said(at=_moment(item), role=TurnRole.USER, content=text[:32_000], actor="Lu")
        for item in items
        if (text := text_of(item).strip()) and not has_secret(text)
    ]
    return sorted(said, key=lambda each: each.at)


def _moment(item: Mapping[str, Any]) -> datetime:
    """When an item of the year came; a conversation has only its day."""
    text = str(item.get("datetime") or item["date"])
    return datetime.fromisoformat(text[:19]).replace(tzinfo=UTC)


def _chat(path: Path) -> list[_Said]:
    """A chat, ten messages an hour."""
    return [
        _Said(
            at=_START + timedelta(hours=number // 10, minutes=5 * (number % 10)),
            role=TurnRole(str(each["role"])),
            content=str(each["content"]),
            actor="User",
        )
        for number, each in enumerate(beam_turns(path))
    ]
