"""Orchestrators: small files beside the embedder's rate, and bulletins over 10,000 memories."""

import math
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.client import Client
from benchmarks.corpus import Corpus, Vectors, load_corpus
from benchmarks.floors import in_this_process
from benchmarks.loading import load
from benchmarks.metrics import percentile
from benchmarks.service import Service, running_service
from benchmarks.tables import show_table
from graphmem.bootstrap import Graphmem
from graphmem.gateway.indexing import texts_to_embed

_SPACE = "orchestrator:bench"
_FILES = 1_000
_MEMORIES = 10_000
_BULLETINS = 200
_WARM_UPS = 30
_EMBEDDED_AT_ONCE = 64


def run_orchestrators(data: Path, *, console: Console) -> dict[str, Any]:
    """Drop files and take them in; then make bulletins.

    The worker's own looks are far apart, so it does not help.
    """
    corpus = load_corpus(data, _MEMORIES)
    settings = {"GRAPHMEM__MEMORY__WORKER_INTERVAL_SECONDS": "86400"}
    with (
        running_service(settings=settings) as service,
        in_this_process(service) as graphmem,
        service.target.client() as client,
    ):
        ingested = _ingest(service, client, corpus, graphmem)
        load(
            client,
            _SPACE,
            corpus.texts[: _MEMORIES - _FILES],
            Vectors(corpus.texts, graphmem.embedder),
            first=0,
        )
        bulletins, recalls, floor = _bulletins(client, corpus, graphmem)
    figures = ingested | {
        "bulletin_ms": _spread(bulletins),
        "recall_ms": _spread(recalls),
        "return_one_ms": _spread(floor),
    }
    rows = [
        [f"files/s, {_FILES:,} small files", f"{figures['files_per_second']:.1f}"],
        ["  the embedder alone, files/s", f"{figures['embedder_files_per_second']:.1f}"],
        ["ratio files : embedder", f"{figures['ratio']:.2f}"],
        [f"bulletin over {_MEMORIES:,} memories, ms p50 / p95", _text(figures["bulletin_ms"])],
        ["  a recall of the same questions", _text(figures["recall_ms"])],
        ["  RETURN 1", _text(figures["return_one_ms"])],
    ]
    caption = (
        f"Texts: {corpus.origin}. Files are taken in by POST /v1/ingest/scan; the"
        " embedder alone on the same texts."
    )
    show_table(console, "Orchestrators", ["", "figure"], rows, caption=caption)
    return figures


def _ingest(service: Service, client: Client, corpus: Corpus, graphmem: Graphmem) -> dict[str, Any]:
    client.post("/v1/ingest/scan", {"space": _SPACE})  # makes the folder, and the service ready
    folder = (
        Path(service.environment["GRAPHMEM_DATA_DIR"])
        / "orchestrators"
        / "bench"
        / "memory"
        / "ingest"
    )
    texts = [" ".join(text.split()) for text in corpus.fresh[:_FILES]]
    for number, text in enumerate(texts):
        (folder / f"{number:04}.txt").write_text(text, "utf-8")
    started = time.perf_counter()
    done = client.post("/v1/ingest/scan", {"space": _SPACE})
    seconds = time.perf_counter() - started
    embedder_seconds = _embed_alone(texts, graphmem)
    return {
        "processed": done["processed"],
        "rejected": done["rejected"],
        "files_per_second": len(texts) / seconds,
        "embedder_files_per_second": len(texts) / embedder_seconds,
        "ratio": embedder_seconds / seconds,
    }


def _embed_alone(texts: Sequence[str], graphmem: Graphmem) -> float:
    """The seconds that the embedder needs for all that the service embeds of these texts."""
    wanted = [each for text in texts for each in texts_to_embed(text, None, graphmem.policy.index)]
    started = time.perf_counter()
    for at in range(0, len(wanted), _EMBEDDED_AT_ONCE):
        graphmem.embedder.embed(wanted[at : at + _EMBEDDED_AT_ONCE])
    return time.perf_counter() - started


def _bulletins(
    client: Client, corpus: Corpus, graphmem: Graphmem
) -> tuple[list[float], list[float], list[float]]:
    """Seconds of bulletins, of recalls of the same questions, and of RETURN 1, taking turns."""
    bulletins: list[float] = []
    recalls: list[float] = []
    floor: list[float] = []
    for number, question in enumerate(islice(cycle(corpus.questions), _WARM_UPS + _BULLETINS)):
        body = {"space": _SPACE, "message_id": f"m-{number}", "query": question}
        bulletins.append(_timed(client, "/v1/bulletins", body))
        recalls.append(_timed(client, "/v1/recall", {"spaces": [_SPACE], "query": question}))
        started = time.perf_counter()
        graphmem.connection.check()
        floor.append(time.perf_counter() - started)
    return bulletins[_WARM_UPS:], recalls[_WARM_UPS:], floor[_WARM_UPS:]


def _timed(client: Client, path: str, body: object) -> float:
    started = time.perf_counter()
    client.post(path, body)
    return time.perf_counter() - started


def _spread(seconds: Sequence[float]) -> dict[str, float]:
    return {
        name: 1_000 * percentile(seconds, share) if seconds else math.nan
        for name, share in (("p50", 0.5), ("p95", 0.95))
    }


def _text(spread: dict[str, float]) -> str:
    return f"{spread['p50']:.1f} / {spread['p95']:.1f}"
