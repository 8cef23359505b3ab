"""The graph under load: recalls with cards and graph arm, a hub's card, and writers."""

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.client import Client, Target
from benchmarks.corpus import Corpus, Vectors, load_corpus
from benchmarks.loading import add_batch, batches, item
from benchmarks.metrics import percentile
from benchmarks.service import running_service
from benchmarks.speed import Spread
from benchmarks.tables import show_table
from graphmem.bootstrap import embedder_of
from graphmem.settings import load_settings

SPACE, HUB_SPACE, WRITE_SPACE = "project:graph", "project:hub", "project:writers"
HUB = "org:hub"
_MEMORIES, _ENTITIES, _EDGES_EACH = 10_000, 5_000, 3
_WARM_UPS, _RECALLS, _CARDS, _WRITES, _CLIENTS = 60, 200, 100, 400, 8
_BATCH = 500
_SPREAD = 2_654_435_761  # a multiplier that scatters


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """A kind of recall: its name in the table, and the fields that make it."""

    name: str
    fields: dict[str, Any]


_KINDS = (
    Kind(name="recall", fields={}),
    Kind(name="recall with cards", fields={"cards": True}),
    Kind(name="recall with graph arm", fields={"graph": True}),
    Kind(name="recall with cards and graph arm", fields={"cards": True, "graph": True}),
)


def run_graph(data: Path, *, console: Console) -> dict[str, Any]:
    """Measure 10,000 memories with 30,000 edges, 5,000 entities, and a hub of 10,000 mentions."""
    corpus = load_corpus(data, 2 * _MEMORIES)
    with running_service(heap="1g", pagecache="512m") as service, service.target.client() as client:
        vectors = Vectors(corpus.texts, embedder_of(load_settings(service.environment)))
        _load_graph(client, corpus, vectors)
        console.print(f"{_MEMORIES:,} memories with edges and entities are loaded.")
        _load_hub(client, corpus, vectors)
        console.print(f"{_MEMORIES:,} mentions of the hub are loaded.")
        spreads = {kind.name: _recalls(client, corpus, kind) for kind in _KINDS}
        spreads["card of a hub, 10,000 mentions"] = _hub_cards(client)
        one, many = _write_rates(service.target, corpus, vectors)
        paged = _page_beside_writer(service.target, corpus, vectors)
    rows = [[name, str(spread)] for name, spread in spreads.items()]
    rows += [
        ["writes/s, 1 client", f"{one:.0f}"],
        [f"writes/s, {_CLIENTS} clients into one space", f"{many:.0f}"],
    ]
    rows.append(["ratio", f"{many / one:.2f}"])
    rows.append(
        [
            "paged while others were inserted",
            ", ".join(f"{count:,} {name}" for name, count in paged.items()),
        ]
    )
    note = (
        f"{_MEMORIES:,} memories, {_MEMORIES * _EDGES_EACH:,} edges, {_ENTITIES:,} entities;"
        " over HTTP, one client."
    )
    show_table(
        console, "Graph under load", ["milliseconds p50 / p95 unless said", ""], rows, caption=note
    )
    figures: dict[str, Any] = {
        name: {"p50": spread.p50, "p95": spread.p95} for name, spread in spreads.items()
    }
    return figures | {"writes_per_second": {"1": one, str(_CLIENTS): many}, "paged": paged}


def _load_graph(client: Client, corpus: Corpus, vectors: Vectors) -> None:
    refused: set[str] = set()  # by the policy: a text that looks like a secret
    bodies = (_node(index, corpus.texts[index], vectors.of(index)) for index in range(_MEMORIES))
    for batch in batches(bodies, _BATCH):
        for body in batch:
            body["related_to"] = [uid for uid in body["related_to"] if uid not in refused]
        answer = client.post("/v1/memories/batch", {"items": batch})
        missing = [result["index"] for result in answer["results"] if "error" in result]
        refused.update(batch[index]["uid"] for index in missing)


def _node(index: int, text: str, vector: list[float]) -> dict[str, Any]:
    """A memory that mentions two entities and points to three earlier memories."""
    before = (
        sorted({(index * _SPREAD >> shift) % index for shift in (3, 9, 15)})
        if index > _EDGES_EACH
        else []
    )
    entities = [f"person:p{index % _ENTITIES}", f"org:o{(index * 37) % _ENTITIES}"]
    return item(SPACE, text, vector) | {
        "uid": f"g{index}",
        "importance": 30 + index % 70,
        "entities": entities,
        "related_to": [f"g{other}" for other in before],
    }


def _load_hub(client: Client, corpus: Corpus, vectors: Vectors) -> None:
    bodies = (
        item(HUB_SPACE, corpus.texts[index], vectors.of(index))
        | {"entities": [HUB], "importance": index % 100}
        for index in range(_MEMORIES, 2 * _MEMORIES)
    )
    for batch in batches(bodies, _BATCH):
        add_batch(client, batch)


def _recalls(client: Client, corpus: Corpus, kind: Kind) -> Spread:
    questions = list(itertools.islice(itertools.cycle(corpus.questions), _WARM_UPS + _RECALLS))
    seconds = []
    for question in questions:
        started = time.perf_counter()
        client.post("/v1/recall", {"spaces": [SPACE], "query": question} | kind.fields)
        seconds.append(time.perf_counter() - started)
    return _spread(seconds[_WARM_UPS:])


def _hub_cards(client: Client) -> Spread:
    seconds = []
    for _ in range(_WARM_UPS + _CARDS):
        started = time.perf_counter()
        answer = client.call("GET", f"/v1/entities/{HUB}/card?space={HUB_SPACE}")
        seconds.append(time.perf_counter() - started)
        assert answer.body["mentions"] > 0.9 * _MEMORIES  # noqa: S101 - equal texts are one memory
    return _spread(seconds[_WARM_UPS:])


def _write_rates(target: Target, corpus: Corpus, vectors: Vectors) -> tuple[float, float]:
    """Acknowledged writes a second into one space, by one client and by several at once."""
    numbers = itertools.count()

    def bodies(count: int) -> list[dict[str, Any]]:
        return [
            item(
                WRITE_SPACE,
                f"{corpus.texts[number % _MEMORIES]} ({number})",
                vectors.of(number % _MEMORIES),
            )
            for number in itertools.islice(numbers, count)
        ]

    with target.client() as client:
        one = bodies(_WRITES)
        _write(client, one[:_WARM_UPS])
        started = time.perf_counter()
        _write(client, one[_WARM_UPS:])
        rate_of_one = (_WRITES - _WARM_UPS) / (time.perf_counter() - started)
    parts = [bodies(_WRITES // 2) for _ in range(_CLIENTS)]
    started = time.perf_counter()
    with ThreadPoolExecutor(_CLIENTS) as pool:
        list(pool.map(lambda part: _write_alone(target, part), parts))
    return rate_of_one, sum(map(len, parts)) / (time.perf_counter() - started)


def _page_beside_writer(target: Target, corpus: Corpus, vectors: Vectors) -> dict[str, int]:
    """Page through a space that grows: how many earlier memories came, were missed, came twice."""
    stop = threading.Event()

    def insert() -> int:
        with target.client() as client:
            for number in itertools.count():
                if stop.is_set():
                    return number
                text = f"{corpus.texts[number % _MEMORIES]} (beside {number})"
                client.call(
                    "POST", "/v1/memories", item(SPACE, text, vectors.of(number % _MEMORIES))
                )
        return 0

    with target.client() as client, ThreadPoolExecutor(1) as pool:
        before = client.call("GET", f"/v1/memories?space={SPACE}&limit=1").body["total"]
        newest = client.call("GET", f"/v1/memories?space={SPACE}&limit=1").body["items"][0][
            "created_at"
        ]
        inserting = pool.submit(insert)
        seen: list[str] = []
        cursor = ""
        while cursor is not None:
            page = client.call("GET", f"/v1/memories?space={SPACE}&limit=200{cursor}").body
            seen += [memory["uid"] for memory in page["items"] if memory["created_at"] <= newest]
            cursor = f"&cursor={page['next_cursor']}" if page["next_cursor"] else None
        stop.set()
        inserted = inserting.result()
    return {
        "seen": len(set(seen)),
        "missed": before - len(set(seen)),
        "twice": len(seen) - len(set(seen)),
        "inserted meanwhile": inserted,
    }


def _write_alone(target: Target, bodies: list[dict[str, Any]]) -> None:
    with target.client() as client:
        _write(client, bodies)


def _write(client: Client, bodies: list[dict[str, Any]]) -> None:
    for body in bodies:
        answer = client.call("POST", "/v1/memories", body)
        assert answer.status in {200, 201, 403}, answer.body  # noqa: S101 - 403: a text that looks like a secret


def _spread(seconds: list[float]) -> Spread:
    return Spread(p50=1000 * percentile(seconds, 0.5), p95=1000 * percentile(seconds, 0.95))
