"""Relations: incidents whose causes share no word with them, so only an edge leads there."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from rich.console import Console

from benchmarks.client import Client, Target
from benchmarks.metrics import mean
from benchmarks.tables import show_table

SPACE = "project:relations"
_LIMITS = (5, 10, 20)

_MACHINES = ("pump", "press", "crane", "kiln", "lathe", "conveyor", "mixer", "boiler")
_HALLS = ("north", "south", "east", "west", "old", "new")
_CAUSES = (
    "A mouse chewed through grey cable {n} near the stairs",
    "Rain came in at skylight {n} over the weekend",
    "Supplier {n} sent screws of the wrong length",
    "Somebody left valve {n} open after cleaning",
    "Fuse {n} was replaced by a weaker one in spring",
    "A forklift bumped into pillar {n} on Tuesday",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Incident:
    """What stopped, and why; the words of one say nothing of the other."""

    uid: str
    effect: str
    cause: str
    question: str


def incidents() -> Iterator[Incident]:
    """One incident for each machine of each hall."""
    for number, (machine, hall) in enumerate(product(_MACHINES, _HALLS)):
        yield Incident(
            uid=f"{number}",
            effect=f"The {machine} of the {hall} hall stopped and made noises.",
            cause=_CAUSES[number % len(_CAUSES)].format(n=100 + number) + ".",
            question=f"Why did the {machine} of the {hall} hall stop?",
        )


def run_relations(target: Target, console: Console) -> dict[str, Any]:
    """Store incidents with edges and ask for the causes, without and with the graph arm."""
    cases = list(incidents())
    with target.client() as client:
        _store(client, cases)
        found = {
            f"graphmem {ranker}{' with graph' if graph else ''}": _recalls(
                client, cases, ranker=ranker, graph=graph
            )
            for ranker in ("fused", "rrf")
            for graph in (False, True)
        }
    rows = [[system, *(f"{100 * row[k]:.1f}" for k in _LIMITS)] for system, row in found.items()]
    note = (
        f"{len(cases)} incidents, each CAUSED_BY a memory without a word in common; share of"
        " causes found."
    )
    columns = ["system", *(f"cause@{k}" for k in _LIMITS)]
    show_table(
        console, "Relations that the words do not carry (percent)", columns, rows, caption=note
    )
    return {system: {str(k): value for k, value in row.items()} for system, row in found.items()}


def _store(client: Client, cases: list[Incident]) -> None:
    items = []
    for case in cases:
        items.append({"space": SPACE, "content": case.cause, "uid": f"cause-{case.uid}"})
        effect = {"space": SPACE, "content": case.effect, "uid": f"effect-{case.uid}"}
        items.append(effect | {"caused_by": [f"cause-{case.uid}"]})
    client.post("/v1/memories/batch", {"items": items, "atomic": True})


def _recalls(
    client: Client, cases: list[Incident], *, ranker: str, graph: bool
) -> dict[int, float]:
    hits: dict[int, list[float]] = {k: [] for k in _LIMITS}
    for case in cases:
        body = {
            "spaces": [SPACE],
            "query": case.question,
            "limit": max(_LIMITS),
            "ranker": ranker,
            "graph": graph,
        }
        uids = [item["memory"]["uid"] for item in client.post("/v1/recall", body)["items"]]
        for k in _LIMITS:
            hits[k].append(float(f"cause-{case.uid}" in uids[:k]))
    return {k: mean(values) for k, values in hits.items()}
