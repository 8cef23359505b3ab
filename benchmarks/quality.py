"""Quality: store a data set, ask its questions, and score what comes back next to the baselines."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks import baselines
from benchmarks.cases import Case, Question, Turn
from benchmarks.client import Client, Target
from benchmarks.locomo import load_locomo
from benchmarks.longmemeval import load_longmemeval
from benchmarks.metrics import all_found, any_found, first_sessions, mean, turn_hit, turn_recall
from benchmarks.tables import show_table
from graphmem.ports import Embedder

SYSTEMS = {
    "graphmem fused": {"ranker": "fused"},
    "graphmem fused with graph": {"ranker": "fused", "graph": True},
    "graphmem rrf": {"ranker": "rrf"},
    "graphmem blend": {"ranker": "blend"},
    "graphmem lifecycle": {"ranker": "lifecycle"},
}
_BATCH = 200

Ranked = list[tuple[str, ...]]  # groups of turn ids, best first
Rankings = dict[str, dict[str, Ranked]]  # question id → system → ranked
Score = Callable[[Ranked, Question, Case], float | None]  # None: not scored


@dataclass(frozen=True, kw_only=True, slots=True)
class Measure:
    """A column of the table."""

    name: str
    score: Score


@dataclass(frozen=True, kw_only=True, slots=True)
class DataSet:
    """A data set: how it is read, how many results are asked for, and how it is scored."""

    name: str
    load: Callable[..., list[Case]]
    limit: int
    measures: tuple[Measure, ...]
    note: str


@dataclass(kw_only=True, slots=True)
class Stored:
    """What became of the turns of one case: uid → turns, and how often each outcome came."""

    turns: dict[str, list[str]] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)


def run_quality(
    data: Path,
    target: Target,
    embedder: Embedder,
    *,
    names: Sequence[str],
    limit: int | None,
    console: Console,
) -> dict[str, Any]:
    """Measure the named data sets against a running service.

    Returns the figures and the raw results.
    """
    return {
        name: measure_data_set(
            DATA_SETS[name], data, target, embedder, limit=limit, console=console
        )
        for name in names
    }


def measure_data_set(
    data_set: DataSet,
    data: Path,
    target: Target,
    embedder: Embedder,
    *,
    limit: int | None,
    console: Console,
) -> dict[str, Any]:
    """Store, ask, score and print one data set."""
    cases = data_set.load(data, limit=limit)
    with target.client() as client:
        stored = {case.name: store_case(client, case) for case in cases}
        rankings, degraded = ask_cases(client, cases, stored, limit=data_set.limit)
    ours = scores(cases, rankings, data_set.measures)
    theirs = scores(cases, baselines.baseline_rankings(cases, embedder), data_set.measures)
    outcomes = sum((case.outcomes for case in stored.values()), Counter[str]())
    print_scores(console, data_set, {**theirs, **ours}, outcomes=outcomes, degraded=degraded)
    return {
        "scores": {**theirs, **ours},
        "outcomes": dict(outcomes),
        "degraded": dict(degraded),
        "ranked": rankings,
    }


def store_case(client: Client, case: Case) -> Stored:
    """Send all turns of a case in order.

    An exact repetition is answered with the uid of the first.
    """
    stored = Stored()
    for start in range(0, len(case.turns), _BATCH):
        part = case.turns[start : start + _BATCH]
        answer = client.post(
            "/v1/memories/batch", {"items": [memory_body(case.space, turn) for turn in part]}
        )
        for turn, result in zip(part, answer["results"], strict=True):
            stored.outcomes[result["outcome"]] += 1
            if "uid" in result:
                stored.turns.setdefault(result["uid"], []).append(turn.id)
    return stored


def memory_body(space: str, turn: Turn) -> dict[str, Any]:
    """What is sent of a turn: nothing that says where the answers are."""
    return {
        "space": space,
        "content": turn.content,
        "actor": turn.actor,
        "occurred_at": turn.occurred_at.isoformat().replace("+00:00", "Z"),
        "source": {"type": "channel_transcript", "conversation_id": turn.conversation_id},
    }


def ask_cases(
    client: Client, cases: Iterable[Case], stored: Mapping[str, Stored], *, limit: int
) -> tuple[Rankings, Counter[str]]:
    """Ask every question with every ranker; also how often an answer was degraded."""
    rankings: Rankings = {}
    degraded: Counter[str] = Counter()
    for case in cases:
        for question in case.questions:
            for system, fields in SYSTEMS.items():
                body = {"spaces": [case.space], "query": question.text, "limit": limit}
                answer = client.post("/v1/recall", body | fields)
                degraded.update(reason.partition(":")[0] for reason in answer["degraded"])
                rankings.setdefault(question.id, {})[system] = ranked_turns(
                    answer, stored[case.name]
                )
    return rankings, degraded


def ranked_turns(answer: Mapping[str, Any], stored: Stored) -> Ranked:
    """The turns behind each recalled memory."""
    return [tuple(stored.turns[item["memory"]["uid"]]) for item in answer["items"]]


def scores(
    cases: Iterable[Case], rankings: Rankings, measures: Sequence[Measure]
) -> dict[str, dict[str, float]]:
    """System → measure → mean over the questions that it scores; ``n`` is their number."""
    values: dict[str, dict[str, list[float]]] = {}
    for case in cases:
        for question in case.questions:
            for system, ranked in rankings[question.id].items():
                for measure in measures:
                    score = measure.score(ranked, question, case)
                    if score is not None:
                        values.setdefault(system, {}).setdefault(measure.name, []).append(score)
    return {
        system: {name: mean(points) for name, points in found.items()}
        | {"n": max(map(len, found.values()))}
        for system, found in values.items()
    }


def print_scores(
    console: Console,
    data_set: DataSet,
    found: Mapping[str, Mapping[str, float]],
    *,
    outcomes: Mapping[str, int],
    degraded: Mapping[str, int],
) -> None:
    """One table: a row for each system, a column for each measure, in percent."""
    names = [measure.name for measure in data_set.measures]
    rows = [
        [system, *(f"{100 * row.get(name, math.nan):.1f}" for name in names)]
        for system, row in found.items()
    ]
    count = max(int(row["n"]) for row in found.values())
    turns = ", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items()))
    caption = f"{data_set.note} {count} questions; turns: {turns}."
    if degraded:
        caption += f" DEGRADED: {dict(degraded)}."
    show_table(
        console, f"Quality: {data_set.name} (percent)", ["system", *names], rows, caption=caption
    )


def _turn_recall(k: int) -> Measure:
    def score(ranked: Ranked, question: Question, _: Case) -> float | None:
        return turn_recall(ranked, question.gold_turns, k) if question.gold_turns else None

    return Measure(name=f"turn recall@{k}", score=score)


def _turn_hit(k: int) -> Measure:
    def score(ranked: Ranked, question: Question, _: Case) -> float | None:
        return turn_hit(ranked, question.gold_turns, k) if question.gold_turns else None

    return Measure(name=f"hit@{k}", score=score)


def _sessions(
    name: str, found_of: Callable[[Iterable[str], frozenset[str]], float], k: int
) -> Measure:
    def score(ranked: Ranked, question: Question, case: Case) -> float | None:
        return found_of(first_sessions(ranked, case.sessions, k), question.gold_sessions)

    return Measure(name=f"sessions {name}@{k}", score=score)


DATA_SETS = {
    "locomo": DataSet(
        name="LoCoMo, development half",
        load=load_locomo,
        limit=20,
        measures=(_turn_recall(5), _turn_recall(10), _turn_recall(20), _turn_hit(5)),
        note="Categories 1 to 4 with evidence; asked with limit 20.",
    ),
    "longmemeval": DataSet(
        name="LongMemEval, 60 questions for development",
        load=load_longmemeval,
        limit=100,
        measures=(
            _sessions("any", any_found, 5),
            _sessions("all", all_found, 5),
            _turn_recall(5),
            _turn_recall(10),
            _turn_recall(20),
        ),
        note="Without the _abs questions, whose answer is not there; user turns only; asked"
        " with limit 100; "
        "turn recall over the questions whose answer turns are user turns.",
    ),
}
