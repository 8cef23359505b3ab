"""Session context: what the call before a model costs, and whose evidence stands in it."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.cases import Question
from benchmarks.client import Client, Target
from benchmarks.lifecycle import Heard, heed, in_part
from benchmarks.locomo import load_locomo
from benchmarks.metrics import all_found, any_found, mean, percentile
from benchmarks.quality import store_case
from benchmarks.service import running_service
from benchmarks.tables import show_table

_TOKENS, _CHARS_PER_TOKEN = 2_000, 4
_RECALLED = 200  # memories of a plain recall that fills the budget
_WARM_UPS = 30
_SAID = ("artefacts", "profile", "notes", "episodes")  # sections that tell what memories say
_SWITCHES = {
    "lifecycle.verbatim_artifacts_enabled": True,
    "lifecycle.memory_boxes_enabled": True,
    "lifecycle.trace_weaver_enabled": True,
    "lifecycle.episode_note_mode_enabled": True,
}

Turns = Sequence[str]


def run_contexts(data: Path, *, console: Console) -> dict[str, Any]:
    """Contexts of LoCoMo's questions beside plain recalls that fill the same budget."""
    with running_service(heap="1g", pagecache="512m") as service:
        return _figures(data, service.target, console)


def _figures(data: Path, target: Target, console: Console) -> dict[str, Any]:
    times: dict[str, list[float]] = {"context": [], "with session": [], "recall": []}
    found: dict[str, list[tuple[float, float]]] = {}
    with target.client() as client:
        for case in load_locomo(data):
            told = heed(client, in_part(case, "context"), keep=False, switches=_SWITCHES)
            facts = heed(client, in_part(case, "recalled"), keep=False)
            said = store_case(client, in_part(case, "said"))
            turns = {uid: tuple(each) for uid, each in said.turns.items()}
            for number, question in enumerate(case.questions):
                _measure(client, f"{case.space}-context", question, number, times)
                ways = {
                    "context": _in_context(client, f"{case.space}-context", question, told),
                    "recall of facts": _recalled(
                        client, f"{case.space}-recalled", question, facts.turns_of
                    ),
                    "recall of turns": _recalled(client, f"{case.space}-said", question, turns),
                }
                for name, shown in ways.items():
                    gold = question.gold_turns
                    shares = (any_found(shown, gold), all_found(shown, gold))
                    found.setdefault(name, []).append(shares)
    return _shown(times, found, console)


def _shown(
    times: Mapping[str, Sequence[float]],
    found: Mapping[str, Sequence[tuple[float, float]]],
    console: Console,
) -> dict[str, Any]:
    p50 = {name: percentile(each[_WARM_UPS:], 0.5) for name, each in times.items()}
    ratio = p50["context"] / p50["recall"]
    show_table(
        console,
        f"Contexts over HTTP, p50 ms; a context is {ratio:.2f} of a recall",
        ["call", "ms"],
        [[name, f"{value:.1f}"] for name, value in p50.items()],
    )
    shares = {
        name: {"any": mean([one for one, _ in each]), "all": mean([all_ for _, all_ in each])}
        for name, each in found.items()
    }
    show_table(
        console,
        f"LoCoMo, questions whose evidence stands in {_TOKENS:,} tokens",
        ["way", "any of it", "all of it"],
        [[name, f"{each['any']:.1%}", f"{each['all']:.1%}"] for name, each in shares.items()],
    )
    return {"p50": p50, "ratio": ratio, "evidence": shares}


def _measure(
    client: Client, space: str, question: Question, number: int, times: dict[str, list[float]]
) -> None:
    """The time of a context and of a recall of the same words, each first in turn."""
    asked = {"space": space, "query": question.text}
    calls: dict[str, Callable[[], object]] = {
        "context": lambda: client.post("/v1/lifecycle/context", asked),
        "with session": lambda: client.post("/v1/lifecycle/context", asked | {"session": "s"}),
        "recall": lambda: client.post("/v1/recall", {"spaces": [space], "query": question.text}),
    }
    for name in list(calls) if number % 2 else list(calls)[::-1]:
        start = time.perf_counter()
        calls[name]()
        times[name].append((time.perf_counter() - start) * 1_000)


def _in_context(client: Client, space: str, question: Question, told: Heard) -> Turns:
    """The turns whose facts a context tells."""
    body = {"space": space, "query": question.text, "max_tokens": _TOKENS}
    answer = client.post("/v1/lifecycle/context", body)
    sections = [each for each in answer["sections"] if each["name"] in _SAID]
    return _turns_of((uid for each in sections for uid in each["uids"]), told.turns_of)


def _recalled(
    client: Client, space: str, question: Question, turns_of: Mapping[str, Turns]
) -> Turns:
    """The turns of the first memories of a recall that fit into the budget, a line each."""
    body = {"spaces": [space], "query": question.text, "limit": _RECALLED}
    left, kept = _TOKENS * _CHARS_PER_TOKEN, []
    for item in client.post("/v1/recall", body)["items"]:
        left -= len(item["memory"]["content"]) + len("-  (2026-03-01)\n")
        if left < 0:
            break
        kept.append(item["memory"]["uid"])
    return _turns_of(kept, turns_of)


def _turns_of(uids: Iterable[str], turns_of: Mapping[str, Turns]) -> Turns:
    return [turn for uid in uids for turn in turns_of.get(uid, ())]
