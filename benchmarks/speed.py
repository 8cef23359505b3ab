"""Speed: adds and recalls over HTTP at growing sizes, next to floors measured in the same run.

One service and one space, which grows from size to size; vectors are given while loading.
"""

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.client import Client, Target
from benchmarks.corpus import Corpus, Vectors, load_corpus
from benchmarks.floors import Floors, in_this_process, measure_floors
from benchmarks.loading import ACTOR, add_batch, batches, item, load
from benchmarks.metrics import percentile
from benchmarks.service import Service, running_service
from benchmarks.tables import show_table
from graphmem.bootstrap import Graphmem
from graphmem.gateway.indexing import texts_to_embed

SPACE = "user:load"
_WARM_UPS = 100
_RECALLS = 300
_CLIENTS = 8
_CLIENT_RECALLS = 1_500
_SINGLE_ADDS = 100
_FRESH_ITEMS = 200  # at each size, without vectors
_FRESH_BATCH = 100
_TURNS_PATH = "/v1/conversations/load/turns"
_TURN_BATCHES = 10
_RATIOS = ("embedding_ratio", "recall_ratio", "turn_ratio", "turns_ratio")


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread:
    """Half and 95 of 100 are faster; milliseconds."""

    p50: float
    p95: float

    def __str__(self) -> str:
        """Both, for a table."""
        return f"{self.p50:.1f} / {self.p95:.1f}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """What was measured at one size."""

    memories: int
    load_per_second: float
    embedding_per_second: float
    embedder_per_second: float
    texts_per_memory: float
    single_add: Spread
    single_add_vector_given: Spread
    said_add: Spread
    turn: Spread
    turns_per_second: float
    adds_per_second: float
    recall: Spread
    recall_clients: Spread
    recalls_per_second: float
    return_one: Spread
    statement: Spread
    embed_query: Spread
    in_process: Spread

    @property
    def embedding_ratio(self) -> float:
        """How near adds without vectors come to the embedder alone."""
        return self.embedding_per_second / self.embedder_per_second

    @property
    def turn_ratio(self) -> float:
        """A turn to an add with its vector given."""
        return self.turn.p50 / self.single_add_vector_given.p50

    @property
    def turns_ratio(self) -> float:
        """Turns in batches to memories in batches, vectors given."""
        return self.turns_per_second / self.adds_per_second

    @property
    def recall_ratio(self) -> float:
        """How many times the bare statement a recall over HTTP takes."""
        return self.recall.p50 / self.statement.p50


def run_speed(data: Path, *, sizes: Sequence[int], console: Console) -> dict[str, Any]:
    """Measure at each size, and print a table that grows with them."""
    corpus = load_corpus(data, max(sizes))
    with (
        running_service(heap="1g", pagecache="512m") as service,
        in_this_process(service) as graphmem,
    ):
        bench = Bench(service=service, graphmem=graphmem, corpus=corpus)
        measured = []
        for size in sizes:
            measured.append(bench.measure(size))
            print_speed(console, measured, corpus)
    return {
        str(figures.memories): asdict(figures) | {name: getattr(figures, name) for name in _RATIOS}
        for figures in measured
    }


class Bench:
    """A service under load.

    It remembers how many memories it holds and which fresh texts are used up.
    """

    def __init__(self, *, service: Service, graphmem: Graphmem, corpus: Corpus) -> None:
        self._target = service.target
        self._graphmem = graphmem
        self._corpus = corpus
        self._vectors = Vectors(corpus.texts, graphmem.embedder)
        self._loaded = 0
        self._added = 0
        self._fresh = _endless(corpus.fresh)

    def measure(self, size: int) -> Figures:
        """Grow to a size and measure everything there."""
        with self._target.client() as client:
            load_rate = self._grow(client, size)
            warm_up(client, self._corpus.questions)
            recalls, floors = self._recalls_beside_floors(client)
            clients, rate = recalls_by_clients(self._target, self._corpus.questions)
            embedding, embedder, texts = self._adds_beside_embedder(client)
            singles = self._single_adds(client, vectors=False)
            given = self._single_adds(client, vectors=True)
            said, turns = self._adds_beside_turns(client)
            turn_rate, add_rate = self._batches_beside_turns(client)
        return Figures(
            memories=size,
            load_per_second=load_rate,
            embedding_per_second=embedding,
            embedder_per_second=embedder,
            texts_per_memory=texts,
            single_add=_spread(singles),
            single_add_vector_given=_spread(given),
            said_add=_spread(said),
            turn=_spread(turns),
            turns_per_second=turn_rate,
            adds_per_second=add_rate,
            recall=_spread(recalls),
            recall_clients=_spread(clients),
            recalls_per_second=rate,
            return_one=_spread(floors.return_one),
            statement=_spread(floors.statement),
            embed_query=_spread(floors.embed_query),
            in_process=_spread(floors.in_process),
        )

    def _grow(self, client: Client, size: int) -> float:
        wanted = size - self._loaded - self._added
        texts = self._corpus.texts[self._loaded : self._loaded + wanted]
        seconds = load(client, SPACE, texts, self._vectors, first=self._loaded)
        self._loaded += len(texts)
        return len(texts) / seconds if texts else math.nan

    def _recalls_beside_floors(self, client: Client) -> tuple[list[float], Floors]:
        """Each question over HTTP and in parts in this process, taking turns in who comes first."""
        recalls: list[float] = []
        floors = Floors()
        questions = list(islice(cycle(self._corpus.questions), _RECALLS + _WARM_UPS // 2))
        for question in questions[_RECALLS:]:
            measure_floors(self._graphmem, SPACE, question, Floors())
        for number, question in enumerate(questions[:_RECALLS]):
            if number % 2:
                measure_floors(self._graphmem, SPACE, question, floors)
            recalls.append(timed_recall(client, question))
            if not number % 2:
                measure_floors(self._graphmem, SPACE, question, floors)
        return recalls, floors

    def _adds_beside_embedder(self, client: Client) -> tuple[float, float, float]:
        """Memories a second: by the service, by its embedder alone on the same texts.

        And texts a memory.
        """
        service_seconds = embedder_seconds = 0.0
        count = 0
        bodies = (item(SPACE, text) for text in islice(self._fresh, _FRESH_ITEMS))
        for batch in batches(bodies, _FRESH_BATCH):
            texts = [text for body in batch for text in self._texts_of(body["content"])]
            started = time.perf_counter()
            self._graphmem.embedder.embed(texts)
            embedder_seconds += time.perf_counter() - started
            service_seconds += add_batch(client, batch)
            count += len(texts)
        self._added += _FRESH_ITEMS
        return _FRESH_ITEMS / service_seconds, _FRESH_ITEMS / embedder_seconds, count / _FRESH_ITEMS

    def _texts_of(self, content: str) -> Sequence[str]:
        return texts_to_embed(content, ACTOR, self._graphmem.policy.index)

    def _single_adds(self, client: Client, *, vectors: bool) -> list[float]:
        seconds = []
        for index, text in enumerate(islice(self._fresh, _SINGLE_ADDS)):
            body = item(SPACE, text, self._vectors.of(index) if vectors else None)
            started = time.perf_counter()
            answer = client.call("POST", "/v1/memories", body)
            if answer.status in {200, 201}:  # 403: a text that looks like a secret
                seconds.append(time.perf_counter() - started)
        self._added += _SINGLE_ADDS
        return seconds

    def _adds_beside_turns(self, client: Client) -> tuple[list[float], list[float]]:
        """The seconds of adds in a conversation, vector given, and of turns, one by one in turn."""
        adds, turns = [], []
        for index, text in enumerate(islice(self._fresh, _SINGLE_ADDS)):
            body = item(SPACE, text, self._vectors.of(index))
            said = body | {"source": {"conversation_id": "adds"}}
            for seconds, path, sent in (
                (adds, "/v1/memories", said),
                (turns, _TURNS_PATH, _turns([text])),
            ):
                started = time.perf_counter()
                answer = client.call("POST", path, sent)
                if answer.status in {200, 201}:
                    seconds.append(time.perf_counter() - started)
        self._added += _SINGLE_ADDS
        return adds, turns

    def _batches_beside_turns(self, client: Client) -> tuple[float, float]:
        """Turns and memories with vectors given a second, in batches of a hundred in turn."""
        adding = saying = 0.0
        for number in range(_TURN_BATCHES):
            texts = list(islice(self._fresh, _FRESH_BATCH))
            items = [
                item(SPACE, f"{text} {number}", self._vectors.of(i)) for i, text in enumerate(texts)
            ]
            adding += add_batch(client, items)
            started = time.perf_counter()
            client.call("POST", _TURNS_PATH, _turns(texts))
            saying += time.perf_counter() - started
        count = _TURN_BATCHES * _FRESH_BATCH
        self._added += count
        return count / saying, count / adding


def _turns(texts: Sequence[str]) -> dict[str, Any]:
    return {"space": SPACE, "turns": [{"role": "user", "content": text} for text in texts]}


def warm_up(client: Client, questions: Sequence[str]) -> None:
    """Recalls that are not counted."""
    for question in islice(cycle(reversed(questions)), _WARM_UPS):
        timed_recall(client, question)


def timed_recall(client: Client, question: str) -> float:
    """The seconds of one recall, with its answer read and decoded."""
    started = time.perf_counter()
    client.post("/v1/recall", {"spaces": [SPACE], "query": question})
    return time.perf_counter() - started


def recalls_by_clients(target: Target, questions: Sequence[str]) -> tuple[list[float], float]:
    """The seconds of each recall by several clients at once, and recalls a second."""
    asked = list(islice(cycle(questions), _CLIENT_RECALLS))
    started = time.perf_counter()
    with ThreadPoolExecutor(_CLIENTS) as pool:
        parts = list(
            pool.map(lambda start: _ask_all(target, asked[start::_CLIENTS]), range(_CLIENTS))
        )
    elapsed = time.perf_counter() - started
    return [seconds for part in parts for seconds in part], len(asked) / elapsed


def _ask_all(target: Target, questions: Iterable[str]) -> list[float]:
    with target.client() as client:
        return [timed_recall(client, question) for question in questions]


def print_speed(console: Console, measured: Sequence[Figures], corpus: Corpus) -> None:
    """A row for each figure, a column for each size."""
    rows = [[name, *(value(figures) for figures in measured)] for name, value in _ROWS.items()]
    columns = [
        "milliseconds p50 / p95 unless said",
        *(f"{figures.memories:,}" for figures in measured),
    ]
    show_table(
        console, "Speed, by memories in the one space", columns, rows, caption=_caption(corpus)
    )


def _caption(corpus: Corpus) -> str:
    return (
        f"Texts: {corpus.origin}. One service whose one space grows. Loaded in batches of 500"
        " by one client. Ratios: a"
        " recall over HTTP to its bare statement; adds without vectors to the embedder alone on"
        " the same texts."
    )


_ROWS: Mapping[str, Any] = {
    "recall over HTTP, 1 client": lambda f: str(f.recall),
    f"recall over HTTP, {_CLIENTS} clients": lambda f: str(f.recall_clients),
    f"recalls/s, {_CLIENTS} clients": lambda f: f"{f.recalls_per_second:.0f}",
    "  recall in this process": lambda f: str(f.in_process),
    "  its candidate statement alone": lambda f: str(f.statement),
    "  the query's vector alone": lambda f: str(f.embed_query),
    "  RETURN 1": lambda f: str(f.return_one),
    "ratio recall p50 : statement p50": lambda f: f"{f.recall_ratio:.2f}",
    "single add": lambda f: str(f.single_add),
    "single add, vector given": lambda f: str(f.single_add_vector_given),
    "batch adds/s, vectors given": lambda f: f"{f.load_per_second:.0f}",
    "batch adds/s, vectors made": lambda f: f"{f.embedding_per_second:.1f}",
    "  the embedder alone, memories/s": lambda f: f"{f.embedder_per_second:.1f}",
    "single add in a conversation, vector given": lambda f: str(f.said_add),
    "a turn": lambda f: str(f.turn),
    "ratio a turn : single add, vector given": lambda f: f"{f.turn_ratio:.2f}",
    "turns/s in batches of 100": lambda f: f"{f.turns_per_second:.0f}",
    "  adds/s in batches of 100, vectors given": lambda f: f"{f.adds_per_second:.0f}",
    "ratio turns : adds, in batches": lambda f: f"{f.turns_ratio:.2f}",
    "ratio batch adds : embedder": lambda f: f"{f.embedding_ratio:.2f}",
}


def _spread(seconds: Sequence[float]) -> Spread:
    return Spread(p50=1000 * percentile(seconds, 0.5), p95=1000 * percentile(seconds, 0.95))


def _endless(texts: Sequence[str]) -> Iterator[str]:
    """Each text once, then each with a number behind it."""
    yield from texts
    for number in range(2, 1_000):
        yield from (f"{text} (again {number})" for text in texts)
