"""Tenants: whether a tenant finds its own as well beside the many texts of another one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.cases import Case
from benchmarks.client import Client, Target
from benchmarks.longmemeval import user_texts
from benchmarks.quality import DATA_SETS, Stored, ask_cases, scores, store_case
from benchmarks.service import running_service
from benchmarks.tables import show_table

_TEXTS = 20_000  # of the first tenant
_BATCH = 200
_TEXT_MAX_CHARS = 2_000
_SYSTEM = "graphmem fused"


def run_tenants(data: Path, *, limit: int | None, console: Console) -> dict[str, Any]:
    """Ask LoCoMo in a second tenant, alone and then beside the texts of the first; print both."""
    data_set = DATA_SETS["locomo"]
    cases = data_set.load(data, limit=limit)
    with (
        running_service() as service,
        service.target.client() as first,
        _second(service.target, first).client() as second,
    ):
        stored = {case.name: store_case(second, case) for case in cases}
        alone = _scores(second, cases, stored)
        texts = _fill(first, user_texts(data))
        beside = _scores(second, cases, stored)
    rows = [
        [name, *(f"{100 * found[measure.name]:.1f}" for measure in data_set.measures)]
        for name, found in (("alone", alone), (f"beside {texts:,} texts", beside))
    ]
    names = [measure.name for measure in data_set.measures]
    show_table(console, "LoCoMo in a second tenant (fused, percent)", ["", *names], rows)
    return {"alone": alone, "beside": beside, "texts": texts}


def _second(target: Target, first: Client) -> Target:
    """The same service, for a key of another tenant."""
    body = {"name": "second", "role": "writer", "spaces": ["*"], "tenant": "second"}
    return replace(target, key=first.post("/v1/admin/keys", body)["key"])


def _scores(
    client: Client, cases: Sequence[Case], stored: Mapping[str, Stored]
) -> dict[str, float]:
    data_set = DATA_SETS["locomo"]
    rankings, _ = ask_cases(client, cases, stored, limit=data_set.limit)
    return scores(cases, rankings, data_set.measures)[_SYSTEM]


def _fill(client: Client, texts: Sequence[str]) -> int:
    """Store the texts of the first tenant, some of them in two spaces; how many."""
    short = [text for text in texts if len(text) <= _TEXT_MAX_CHARS]
    items = [
        {"space": f"user:u{number % 20}-{number // len(short)}", "content": text}
        for number, text in enumerate(islice(cycle(short), _TEXTS))
    ]
    for start in range(0, len(items), _BATCH):
        client.post("/v1/memories/batch", {"items": items[start : start + _BATCH]})
    return len(items)
