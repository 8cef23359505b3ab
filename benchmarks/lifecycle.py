"""Lifecycle: what the rules find, what turns cost, and what a year of turns leaves in the store."""

import gzip
import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.cases import Case, Turn
from benchmarks.client import Client, Target
from benchmarks.durability import kill_part, wait_until
from benchmarks.floors import in_this_process
from benchmarks.locomo import FILE, load_locomo
from benchmarks.metrics import mean, percentile, turn_recall
from benchmarks.processes import API, JOBS, NEO4J
from benchmarks.quality import store_case
from benchmarks.service import Service, is_ready, running_service
from benchmarks.tables import show_table
from graphmem.bootstrap import Graphmem
from graphmem.lifecycle.categories import category_of
from graphmem.lifecycle.signals import scan
from graphmem.model.conversation import TurnRole
from graphmem.model.extraction import Category
from graphmem.model.source import CapturedBy
from graphmem.model.space import FIRST_TENANT
from graphmem.text.secrets import has_secret

SENTENCES = Path(__file__).parent / "sentences"
_SCANS = 300
_TURNS = 300  # whose time is measured
_BATCH = 200
_K = 10
_CLIENTS, _KILLED_TURNS = 8, 200
_VOLUME_BATCH = 100
_HOSTILE = ("i ", "no that's ", "fyi", "important ", "\u00e9 ", "actually", "i work ")
_GIVE_UP_SECONDS = 240.0


def run_lifecycle(data: Path, *, console: Console) -> dict[str, Any]:
    """Measure all of it, and print a table for each."""
    figures: dict[str, Any] = {"sentences": sentences(console), "signals": signals(console)}
    with running_service(heap="1g", pagecache="512m") as service:
        figures["turns"] = turn_times(service.target, console)
        if (data / FILE).is_file():
            figures["locomo"] = locomo_quality(data, service.target, console)
        if (data / LIFEBENCH).is_file():
            with in_this_process(service) as graphmem:
                figures["volume"] = volume(data, service.target, graphmem, console)
    figures["exactly_once"] = exactly_once(console)
    return figures


def sentences(console: Console) -> dict[str, Any]:
    """How many of the labelled sentences get the right category, and how much small talk any."""
    found = {name: _sentences_of(SENTENCES / name) for name in (".", "held_out")}
    rows = [
        [name, f"{each['right']:.1%}", f"{each['small_talk']} of {each['of']}"]
        for name, each in found.items()
    ]
    show_table(console, "Labelled sentences", ["set", "right category", "small talk kept"], rows)
    return found


def _sentences_of(folder: Path) -> dict[str, Any]:
    right = [
        category_of(line) is category
        for category in Category
        for line in (folder / f"{category}.txt").read_text("utf-8").splitlines()
    ]
    talk = (folder / "small_talk.txt").read_text("utf-8").splitlines()
    kept = sum(category_of(line) is not None for line in talk)
    return {"right": mean([float(each) for each in right]), "small_talk": kept, "of": len(talk)}


def signals(console: Console) -> dict[str, float]:
    """How long the scan of a turn takes, hostile texts included; milliseconds."""
    times = {length: _scan_times(length) for length in (4_000, 32_000)}
    figures = {f"p99_{length}": percentile(each, 0.99) for length, each in times.items()}
    figures["ratio"] = percentile(times[32_000], 0.5) / percentile(times[4_000], 0.5)
    rows = [[name, f"{value:.2f}"] for name, value in figures.items()]
    show_table(console, "Signal scan, ms (ratio of medians)", ["what", "value"], rows)
    return figures


def _scan_times(length: int) -> list[float]:
    texts = [(part * length)[:length] for part in _HOSTILE]
    plain = ("We talked about the kitchen and the weather was nice. " * length)[:length]
    texts.append(plain)
    for text in texts:
        scan(TurnRole.USER, text)  # patterns are compiled once
    rows = [texts[number % len(texts)] for number in range(_SCANS)]
    return [_milliseconds(lambda text=each: scan(TurnRole.USER, text)) for each in rows]


def _milliseconds(work: Any) -> float:  # noqa: ANN401 - any call
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1_000


def turn_times(target: Target, console: Console) -> dict[str, float]:
    """A turn that only waits, beside a single add with its vector given, in turn."""
    with target.client() as client:
        policy = {"lifecycle.buffer_max_turns": 500}
        client.call("PUT", "/v1/spaces/policy", {"space": "user:turns", "overrides": policy})
        vector = [0.05] * 384
        times: dict[str, list[float]] = {"turn": [], "add": [], "extracted": []}
        for number in range(_TURNS):
            word = f"Nice weather number {number} over the harbour today"
            bodies = {
                "turn": ("/v1/turns", _turn("user:turns", f"s-{number % 5}", word)),
                "add": (
                    "/v1/memories",
                    {"space": "user:adds", "content": word, "embedding": vector},
                ),
                "extracted": ("/v1/turns", _turn("user:facts", "s", f"FYI {word} is mine.")),
            }
            for name, (path, body) in bodies.items():
                times[name].append(_milliseconds(lambda p=path, b=body: client.post(p, b)))
    p50 = {name: percentile(each, 0.5) for name, each in times.items()}
    ratio = p50["turn"] / p50["add"]
    rows = [[name, f"{value:.1f}"] for name, value in p50.items()]
    show_table(
        console,
        f"Turns over HTTP, p50 ms; a waiting turn is {ratio:.2f} of an add",
        ["call", "ms"],
        rows,
    )
    return p50 | {"ratio": ratio}


def _turn(space: str, session: str, content: str, **more: object) -> dict[str, object]:
    named = {"space": space, "session": session, "role": "user", "content": content}
    return named | {name: value for name, value in more.items() if value is not None}


@dataclass(frozen=True, kw_only=True, slots=True)
class Heard:
    """What became of the turns of a case: memories with the turns behind them."""

    turns_of: Mapping[str, tuple[str, ...]]
    telling: frozenset[str]  # turns that gave a fact


def locomo_quality(data: Path, target: Target, console: Console) -> dict[str, Any]:
    """Which turns give facts, and how well facts, turns and both are recalled."""
    cases = load_locomo(data)
    with target.client() as client:
        plain = {case.name: store_case(client, in_part(case, "plain")).turns for case in cases}
        facts = {case.name: heed(client, in_part(case, "facts"), keep=False) for case in cases}
        both = {case.name: heed(client, in_part(case, "both"), keep=True) for case in cases}
        scores = {
            "turns alone": _recall(
                client, cases, "plain", {n: _tuples(t) for n, t in plain.items()}
            ),
            "facts alone": _recall(
                client, cases, "facts", {n: r.turns_of for n, r in facts.items()}
            ),
            "both": _recall(client, cases, "both", {n: r.turns_of for n, r in both.items()}),
        }
    shares = _shares(cases, facts)
    rows = [[name, f"{value:.1%}"] for name, value in scores.items()]
    show_table(console, f"LoCoMo, turn recall@{_K}", ["what is stored", "recall"], rows)
    show_table(
        console,
        f"LoCoMo, turns that give a fact (evidence {shares['ratio']:.2f} times all)",
        ["turns", "share"],
        [["evidence", f"{shares['evidence']:.1%}"], ["all", f"{shares['all']:.1%}"]],
    )
    return {"recall": scores, "shares": shares}


def _tuples(turns: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {uid: tuple(found) for uid, found in turns.items()}


def in_part(case: Case, what: str) -> Case:
    """A case in a space of its own."""
    return Case(
        name=case.name,
        space=f"{case.space}-{what}",
        turns=case.turns,
        questions=case.questions,
    )


def heed(
    client: Client, case: Case, *, keep: bool, switches: Mapping[str, object] | None = None
) -> Heard:
    """Post all turns of a case, both speakers as users, and read what they say."""
    overrides = {"lifecycle.keep_turns": keep, **(switches or {})}
    client.call("PUT", "/v1/spaces/policy", {"space": case.space, "overrides": overrides})
    named: dict[str, str] = {}
    for start in range(0, len(case.turns), _BATCH):
        part = case.turns[start : start + _BATCH]
        body = {"space": case.space, "session": case.name, "wait": True}
        answer = client.post("/v1/turns/batch", body | {"turns": list(map(_said, part))})
        uids = [each["uid"] for each in answer["turns"]]
        named |= dict(zip(uids, (turn.id for turn in part), strict=True))
    client.post(f"/v1/spaces/{case.space}/buffers/flush", {})
    turns_of: dict[str, tuple[str, ...]] = {}
    telling: set[str] = set()
    for memory in _memories(client, case.space):
        turns_of[memory["uid"]] = tuple(named[uid] for uid in memory["turns"] if uid in named)
        if memory["native"]:
            telling |= set(turns_of[memory["uid"]])
    return Heard(turns_of=turns_of, telling=frozenset(telling))


def _said(turn: Turn) -> dict[str, str]:
    return {
        "role": "user",
        "content": turn.content,
        "actor": turn.actor,
        "occurred_at": turn.occurred_at.isoformat().replace("+00:00", "Z"),
    }


def _memories(client: Client, space: str) -> Iterator[dict[str, Any]]:
    cursor: str | None = ""
    while cursor is not None:
        more = f"&cursor={cursor}" if cursor else ""
        answer = client.call("GET", f"/v1/memories?space={space}&limit=200{more}").body
        yield from answer["items"]
        cursor = answer["next_cursor"]


def _recall(
    client: Client,
    cases: Iterable[Case],
    what: str,
    turns_of: Mapping[str, Mapping[str, tuple[str, ...]]],
) -> float:
    """The mean share of the evidence among the first ten results; a fact counts as its turns."""
    found: list[float] = []
    for case in cases:
        for question in case.questions:
            body = {"spaces": [f"{case.space}-{what}"], "query": question.text, "limit": _K}
            items = client.post("/v1/recall", body)["items"]
            ranked = [turns_of[case.name].get(item["memory"]["uid"], ()) for item in items]
            found.append(turn_recall(ranked, question.gold_turns, _K))
    return mean(found)


def _shares(cases: Sequence[Case], facts: Mapping[str, Heard]) -> dict[str, float]:
    evidence, every = [], []
    for case in cases:
        gold = frozenset().union(*(question.gold_turns for question in case.questions))
        telling = facts[case.name].telling
        every += [float(turn.id in telling) for turn in case.turns]
        evidence += [float(turn.id in telling) for turn in case.turns if turn.id in gold]
    shares = {"evidence": mean(evidence), "all": mean(every)}
    return shares | {"ratio": shares["evidence"] / shares["all"]}


LIFEBENCH = Path("lifebench") / "en-lumingqiang.json.gz"
BEAM = Path("beam") / "chats_100k.json.gz"


def volume(data: Path, target: Target, graphmem: Graphmem, console: Console) -> dict[str, Any]:
    """A year of one person's items and a long chat: what they leave in the store, half by half."""
    turns = {"lifebench": _lifebench(data / LIFEBENCH), "beam": beam_turns(data / BEAM)}
    figures = {name: _posted(target, graphmem, name, each) for name, each in turns.items() if each}
    rows = [
        [
            name,
            f"{each['turns']:,}",
            f"{each['facts']:,}",
            str(each["errors"]),
            f"{each['growth']:.2f}",
            str(each["without_turns"]),
        ]
        for name, each in figures.items()
    ]
    columns = ["set", "turns", "facts", "errors", "second half to first", "facts without turns"]
    show_table(console, "A year of turns, by rules", columns, rows)
    return figures


def _lifebench(path: Path) -> list[dict[str, object]]:
    items = json.loads(gzip.decompress(path.read_bytes()))["items"]
    return [
        {"role": "user", "content": text[:32_000], "actor": "Lu"}
        for item in items
        if (text := text_of(item)).strip()
    ]


def text_of(item: Mapping[str, Any]) -> str:
    """What an item of a year says, whatever it is: a message, a note, a photo, a call."""
    names = ("message_content", "content", "description", "caption", "title", "conversation")
    text = next((item[name] for name in names if item.get(name)), "")
    return text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)


def beam_turns(path: Path) -> list[dict[str, object]]:
    """The turns of a chat about code, but for those with a password in them, which are refused."""
    if not path.is_file():
        return []
    chat = json.loads(gzip.decompress(path.read_bytes()))[0]
    return [
        {"role": each["role"], "content": each["content"][:32_000]}
        for each in chat["messages"]
        if each["content"].strip() and not has_secret(each["content"])
    ]


def _posted(
    target: Target, graphmem: Graphmem, name: str, turns: Sequence[dict[str, object]]
) -> dict[str, Any]:
    """Post turns in two halves, and count what there is after each."""
    space, errors, sizes = f"user:volume-{name}", 0, [0]
    with target.client() as client:
        for half in (turns[: len(turns) // 2], turns[len(turns) // 2 :]):
            for start in range(0, len(half), _VOLUME_BATCH):
                body = {"space": space, "session": name, "wait": True}
                part = half[start : start + _VOLUME_BATCH]
                answer = client.call("POST", "/v1/turns/batch", body | {"turns": part})
                errors += answer.status != 201
            sizes.append(_size(graphmem, space))
        facts = [each for each in _memories(client, space) if _is_fact(each)]
    first, second = (
        sizes[1] / (len(turns) // 2),
        (sizes[2] - sizes[1]) / (len(turns) - len(turns) // 2),
    )
    return {
        "turns": len(turns),
        "facts": len(facts),
        "errors": errors,
        "growth": second / first,
        "without_turns": sum(not memory["turns"] for memory in facts),
    }


def _is_fact(memory: Mapping[str, Any]) -> bool:
    """Whether turns gave a memory; what the jobs wrote of several has no turn of its own."""
    return bool(memory["source"]["captured_by"] == CapturedBy.EXTRACTOR)


def _size(graphmem: Graphmem, space: str) -> int:
    """How many nodes there are of a space, of every label, and of its traces."""
    rows = graphmem.connection.run_statement(
        "MATCH (n) WHERE n.space = $space OR $space IN n.spaces RETURN count(n) AS nodes",
        space=f"{FIRST_TENANT}/{space}",
    )
    return int(rows[0]["nodes"])


def exactly_once(console: Console) -> dict[str, Any]:
    """Two hundred turns from eight clients while the API, the jobs and Neo4j are killed in turn."""
    with running_service() as service:
        killed = _say_while_killing(service)
        figures = _count_once(service.target) | {"killed": killed}
    is_sound = (
        figures["in_no_extraction"] == figures["in_several"] == figures["facts_twice"] == 0
        and figures["turns"] == _KILLED_TURNS
        and len(killed) == 3
    )
    rows = [[name, str(value)] for name, value in figures.items()]
    show_table(
        console, f"Exactly once: {'sound' if is_sound else 'NOT SOUND'}", ["what", "count"], rows
    )
    return figures | {"is_sound": is_sound}


def _say_while_killing(service: Service) -> list[str]:
    done: Counter[str] = Counter()
    lock = threading.Lock()

    def say(numbers: range) -> None:
        with service.target.client() as client:
            for number in numbers:
                _say(client, number)
                with lock:
                    done["turns"] += 1

    def kill() -> list[str]:
        killed = []
        for place, part in enumerate((API, JOBS, NEO4J), start=1):
            wait_until(lambda p=place: done["turns"] >= _KILLED_TURNS * p // 4, _GIVE_UP_SECONDS)
            if kill_part(service.process.pid, part):
                killed.append(part)
        return killed

    with ThreadPoolExecutor(_CLIENTS + 1) as pool:
        killer = pool.submit(kill)
        shares = [range(start, _KILLED_TURNS, _CLIENTS) for start in range(_CLIENTS)]
        for each in [pool.submit(say, share) for share in shares]:
            each.result()
        return killer.result()


def _say(client: Client, number: int) -> None:
    """Say one thing until it is acknowledged; every third is a high signal."""
    opening = "FYI the" if number % 3 == 0 else "My"
    content = f"{opening} parcel unit{number:05d}q is on floor {number % 40} these days."
    body = _turn("user:once", "s", content, message_id=f"m-{number}", wait=number % 2 == 0)
    deadline = time.monotonic() + _GIVE_UP_SECONDS
    while time.monotonic() < deadline:
        try:
            if client.call("POST", "/v1/turns", body).status in {200, 201}:
                return
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.2)


def _count_once(target: Target) -> dict[str, Any]:
    """In how many extractions each turn is, once all were read."""
    wait_until(lambda: is_ready(target), _GIVE_UP_SECONDS)
    with target.client() as client:

        def is_read() -> bool:
            client.post("/v1/spaces/user:once/buffers/flush", {})
            items = client.call("GET", "/v1/spaces/user:once/buffers").body["items"]
            return sum(each["turns"] for each in items) == 0

        wait_until(is_read, _GIVE_UP_SECONDS)
        turns = client.call("GET", "/v1/conversations/s/turns?space=user:once&limit=200").body
        extractions = client.call("GET", "/v1/extractions?space=user:once&limit=200").body
        contents = Counter(each["content"] for each in _memories(client, "user:once"))
    ends = Counter(uid for each in extractions["items"] for uid in each["turns"])
    uids = [each["uid"] for each in turns["items"]]
    return {
        "turns": len(uids),
        "extractions": extractions["total"],
        "in_no_extraction": sum(ends[uid] == 0 for uid in uids),
        "in_several": sum(ends[uid] > 1 for uid in uids),
        "facts": len(contents),
        "facts_twice": sum(count - 1 for count in contents.values()),
    }
