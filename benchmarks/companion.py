"""Companion: what its rules keep, what a context and a message cost, and conversations of days."""

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from rich.console import Console

from benchmarks.client import Client, Target
from benchmarks.corpus import Vectors, load_corpus
from benchmarks.floors import in_this_process
from benchmarks.metrics import mean, percentile
from benchmarks.service import running_service
from benchmarks.tables import show_table
from graphmem.bootstrap import Graphmem
from graphmem.companion.judge_filters import filtered
from graphmem.companion.judge_rules import read
from graphmem.companion.keeper import CompanionKeeper
from graphmem.companion.keeping import KeepJudged
from graphmem.companion.planning import PlannedFact, request_of_fact
from graphmem.model.caller import Caller, Role
from graphmem.model.companion import FactKind, Message, NewFact
from graphmem.model.policy.companion import JudgePolicy
from graphmem.model.space import FIRST_TENANT, parse_space

SENTENCES = Path(__file__).parent / "sentences" / "companion"
DATA = "memorybank"
_KINDS = ("profile", "people", "project", "commitment", "habit", "thread", "friction")
_NOW = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
_CALLER = Caller(key_id="benchmark", tenant=FIRST_TENANT, role=Role.ADMIN, spaces=("*",))
_MEMORIES, _MESSAGES, _BATCH, _ENTITIES = 10_000, 1_000, 500, 200
_QUESTIONS, _WARM_UPS = 200, 30
_BUDGET = 1_200
_RARE = 3  # words of an answer
_DAY = re.compile(r"(April|May) (\d+)|(\d+)月(\d+)")


def run_companion(data: Path, *, console: Console) -> dict[str, Any]:
    """Measure all of it, and print a table for each."""
    figures: dict[str, Any] = {"sentences": sentences(console)}
    with running_service(heap="1g", pagecache="512m") as service:
        figures["messages"] = message_times(service.target, console)
        with in_this_process(service) as graphmem:
            figures["context"] = context_times(data, service.target, graphmem, console)
        if (data / DATA).is_dir():
            figures[DATA] = {
                language: days(data / DATA / f"{language}.json", service.target, console)
                for language in ("en", "zh")
            }
    return figures


# sentences


def sentences(console: Console) -> dict[str, Any]:
    """Of how many labelled messages the right is kept, and how much of small talk."""
    found = {name: _sentences_of(SENTENCES / name) for name in (".", "held_out")}
    rows = [
        [name, f"{each['right']:.1%}", f"{each['small_talk']} of {each['of']}"]
        for name, each in found.items()
    ]
    show_table(console, "Judged by rules", ["set", "right kind", "items of small talk"], rows)
    return found


def _sentences_of(folder: Path) -> dict[str, Any]:
    right = [kind in _kept(line) for kind in _KINDS for line in _lines(folder, kind)]
    talk = _lines(folder, "small_talk")
    kept = sum(len(_kept(line)) for line in talk)
    return {"right": mean([float(each) for each in right]), "small_talk": kept, "of": len(talk)}


def _lines(folder: Path, name: str) -> list[str]:
    return (folder / f"{name}.txt").read_text("utf-8").splitlines()


def _kept(text: str) -> list[str]:
    """The kinds of what is kept of a message."""
    message = Message(uid="m", is_user=True, content=text, at=_NOW)
    judged = read(message, [message], personas=("Coach",))
    found = filtered(
        judged, [message], personas=("Coach",), pending=(), overrides={}, policy=JudgePolicy()
    )
    kinds = [*(each.kind for each in found.memories), *(each.kind for each in found.todos)]
    return [kind.lower() for kind in kinds]


# times


def message_times(target: Target, console: Console) -> dict[str, float]:
    """A message that rules judge, beside a single add of the same text, in turn."""
    said = [line for name in (*_KINDS, "small_talk") for line in _lines(SENTENCES, name)]
    times: dict[str, list[float]] = {"message": [], "add": []}
    with target.client() as client:
        _put_persona(client)
        for number, text in enumerate(_spread(said)):
            bodies = {
                "message": (
                    "/v1/companions/times/coach/messages",
                    {"message_id": f"m-{number}", "role": "user", "content": text},
                ),
                "add": ("/v1/memories", {"space": "user:adds", "content": text}),
            }
            order = list(bodies) if number % 2 else list(bodies)[::-1]
            for name in order:
                path, body = bodies[name]
                times[name].append(_milliseconds(lambda p=path, b=body: client.post(p, b)))
    p50 = {name: percentile(each[_WARM_UPS:], 0.5) for name, each in times.items()}
    p95 = {name: percentile(each[_WARM_UPS:], 0.95) for name, each in times.items()}
    ratio = p50["message"] / p50["add"]
    title = f"Messages over HTTP, ms; a message by rules is {ratio:.2f} of an add"
    rows = [[name, f"{p50[name]:.1f}", f"{p95[name]:.1f}"] for name in p50]
    show_table(console, title, ["call", "p50", "p95"], rows)
    return p50 | {"ratio": ratio}


def _spread(lines: Sequence[str]) -> list[str]:
    """Lines of all kinds in turn."""
    step = 7  # it and the number of lines have no divisor in common
    return [lines[number * step % len(lines)] for number in range(len(lines))]


def context_times(
    data: Path, target: Target, graphmem: Graphmem, console: Console
) -> dict[str, float]:
    """A context beside a recall with blend and cards, over the same memories, in turn."""
    corpus = load_corpus(data, _MEMORIES)
    with target.client() as client:
        _put_persona(client)
        overrides = {"companion.distinct_facts": True}
        client.call("PUT", "/v1/spaces/policy", {"space": "user:load", "overrides": overrides})
        _keep_facts(graphmem, corpus.texts[:_MEMORIES])
        client.close()  # the server ends a connection that was idle meanwhile
        for number, text in enumerate(islice(cycle(corpus.fresh), _MESSAGES)):
            body = {"message_id": f"m-{number}", "role": "user", "content": text[:4_000]}
            client.post("/v1/companions/load/coach/messages", body | {"judge": "later"})
        times: dict[str, list[float]] = {"context": [], "recall": []}
        for number, question in enumerate(islice(cycle(corpus.questions), _QUESTIONS)):
            bodies = {
                "context": (
                    "/v1/companions/load/coach/context",
                    {"query": question, "budget": _BUDGET},
                ),
                "recall": ("/v1/recall", _recall_body("user:load", question)),
            }
            order = list(bodies) if number % 2 else list(bodies)[::-1]
            for name in order:
                path, body = bodies[name]
                times[name].append(_milliseconds(lambda p=path, b=body: client.post(p, b)))
    p50 = {name: percentile(each[_WARM_UPS:], 0.5) for name, each in times.items()}
    p95 = {name: percentile(each[_WARM_UPS:], 0.95) for name, each in times.items()}
    ratio = p50["context"] / p50["recall"]
    title = (
        f"{_MEMORIES:,} memories and {_MESSAGES:,} messages, ms;"
        f" a context is {ratio:.2f} of a recall with blend and cards"
    )
    rows = [[name, f"{p50[name]:.1f}", f"{p95[name]:.1f}"] for name in p50]
    show_table(console, title, ["call", "p50", "p95"], rows)
    return p50 | {"ratio": ratio}


def _recall_body(space: str, question: str) -> dict[str, Any]:
    return {
        "spaces": [space],
        "query": question,
        "ranker": "blend",
        "cards": True,
        "limit": 12,
    }


def _keep_facts(graphmem: Graphmem, texts: Sequence[str]) -> None:
    """Keep texts as facts of a user, each of one or two of many entities."""
    space = parse_space("user:load", tenant=FIRST_TENANT)
    keeper = graphmem.of(CompanionKeeper)
    facts = [
        NewFact(
            kind=list(FactKind)[number % len(FactKind)],
            content=text,
            entity_refs=(f"person:p_{number % _ENTITIES}", f"org:o_{number % 37}")[
                : 1 + number % 2
            ],
            importance=number % 4,
        )
        for number, text in enumerate(texts)
    ]
    vectors = Vectors(texts, graphmem.embedder)
    for start in range(0, len(facts), _BATCH):
        part = facts[start : start + _BATCH]
        requests = [
            replace(
                request_of_fact(fact, space=space, at=None), embedding=tuple(vectors.of(number))
            )
            for number, fact in enumerate(part, start=start)
        ]
        ready = keeper.preparation.embed(keeper.preparation.check(requests, _CALLER))
        operation = KeepJudged(
            space=space,
            policy=keeper.policy,
            config=keeper.policies.of(space).companion,
            facts=[PlannedFact(fact=part[item.index], item=item) for item in ready.items],
            vectors=ready.vectors,
        )
        keeper.gateway.execute(operation, _CALLER)


def _milliseconds(work: Any) -> float:  # noqa: ANN401 - any call
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1_000


def _put_persona(client: Client) -> None:
    client.call("PUT", "/v1/personas/coach", {"name": "Coach"})


# conversations of days


@dataclass(frozen=True, kw_only=True, slots=True)
class _Person:
    """A user of the data set: what he and the persona said, day by day, and what he asks later."""

    name: str
    said: Mapping[str, Sequence[tuple[str, str]]]  # by day: query and response
    questions: Sequence[str]


def days(file: Path, target: Target, console: Console) -> dict[str, Any]:
    """Conversations of ten days: what is kept, and how often a context has words of the answer.

    The data names no answers. The words of one are here the rarest words of what was said that
    shares most with the question (on its day, where it names one), and are not in the question.
    """
    people = _people(file)
    rows = []
    with target.client() as client:
        _put_persona(client)
        for number, person in enumerate(people):
            user = f"{file.stem}-{number}"
            _tell(client, user, person)
            rows.append(_kept_of(client, user, person) | _found(client, user, person))
    totals = {name: sum(row[name] for row in rows) for name in rows[0]}
    asked = totals["questions"]
    shown = [
        ["messages", str(totals["messages"])],
        ["sessions a day", f"{totals['sessions'] / totals['days']:.2f}"],
        ["memories a user", f"{totals['memories'] / len(rows):.1f}"],
        ["todos a user", f"{totals['todos'] / len(rows):.1f}"],
        ["facts without a message", str(totals["without_message"])],
        ["contexts over their budget with something left to drop", str(totals["over_budget"])],
        *(
            [f"answer words, {what}", f"{totals[what] / asked:.1%}"]
            for what in ("context any", "context all", "turns any", "turns all")
        ),
    ]
    show_table(console, f"{len(rows)} users of memorybank ({file.stem})", ["what", "value"], shown)
    return totals | {"users": rows}


def _people(file: Path) -> list[_Person]:
    loaded = json.loads(file.read_text("utf-8"))
    return [
        _Person(
            name=name,
            said={
                day: [(pair["query"].strip(), pair["response"].strip()) for pair in pairs]
                for day, pairs in sorted(found["history"].items())
            },
            questions=[each.strip().strip('"') for each in found["questions"]],
        )
        for name, found in loaded.items()
    ]


def _messages(person: _Person) -> Iterator[dict[str, str]]:
    """All messages, those of a day a minute apart."""
    number = 0
    for day, pairs in person.said.items():
        at = datetime.fromisoformat(day).replace(hour=9, tzinfo=UTC)
        for text, role in ((text, role) for pair in pairs for text, role in _sides(pair)):
            number += 1
            at += timedelta(minutes=1)
            if text:
                yield {
                    "message_id": f"m-{number}",
                    "role": role,
                    "content": text,
                    "occurred_at": at.isoformat().replace("+00:00", "Z"),
                }


def _sides(pair: tuple[str, str]) -> Iterator[tuple[str, str]]:
    yield from zip(pair, ("user", "assistant"), strict=True)


def _tell(client: Client, user: str, person: _Person) -> None:
    """Post all messages, and all turns as plain memories of a space of their own."""
    for body in _messages(person):
        client.post(f"/v1/companions/{user}/coach/messages", body)
        plain = {"space": f"user:{user}-turns", "content": body["content"]}
        client.post("/v1/memories", plain | {"occurred_at": body["occurred_at"], "dedupe": "none"})


def _kept_of(client: Client, user: str, person: _Person) -> dict[str, int]:
    memories = list(_all(client, f"/v1/memories?space=user:{user}"))
    sessions = list(_all(client, f"/v1/companions/{user}/coach/sessions"))
    return {
        "messages": sum(1 for _ in _messages(person)),
        "days": len({body["occurred_at"][:10] for body in _messages(person)}),
        "sessions": len(sessions),
        "memories": len(memories),
        "todos": len(list(_all(client, f"/v1/companions/{user}/coach/todos"))),
        "without_message": sum(not memory["turns"] for memory in memories),
    }


def _all(client: Client, path: str) -> Iterator[dict[str, Any]]:
    cursor = ""
    while True:
        sign = "&" if "?" in path else "?"
        page = client.call("GET", f"{path}{sign}limit=200{cursor}").body
        yield from page["items"]
        if not page["next_cursor"]:
            return
        cursor = f"&cursor={quote(page['next_cursor'])}"


def _found(client: Client, user: str, person: _Person) -> dict[str, int]:
    """How many questions have some and all words of their answer in what is found for them."""
    counts = Counter({"questions": 0, "over_budget": 0})
    counts.update({f"{what} {much}": 0 for what in ("context", "turns") for much in ("any", "all")})
    for question in person.questions:
        wanted = _answer_words(person, question)
        body = {"query": question, "budget": _BUDGET}
        context = client.post(f"/v1/companions/{user}/coach/context", body)
        recalled = client.post(
            "/v1/recall", {"spaces": [f"user:{user}-turns"], "query": question, "limit": 10}
        )
        texts = {
            "context": context["text"],
            "turns": "\n".join(each["memory"]["content"] for each in recalled["items"]),
        }
        counts["questions"] += 1
        counts["over_budget"] += _is_too_long(context)
        for what, text in texts.items():
            here = wanted & set(_words(text))
            counts[f"{what} any"] += bool(here)
            counts[f"{what} all"] += bool(wanted) and here == wanted
    return dict(counts)


def _is_too_long(context: Mapping[str, Any]) -> bool:
    """Whether a context is over its budget though something could still go."""
    loose = {"relevant", "session_summary_latest", "threads"}
    left = [each for each in context["blocks"] if each["name"] in loose and not each["dropped"]]
    return bool(context["over_budget"] and left)


def _answer_words(person: _Person, question: str) -> set[str]:
    """The rarest words of what was said that shares most with a question."""
    pairs = [(day, " ".join(pair)) for day, some in person.said.items() for pair in some]
    known = Counter(word for _, text in pairs for word in set(_words(text)))
    asked = set(_words(question))
    named = _named_day(question)
    some = [text for day, text in pairs if named in {None, day[5:]}] or [text for _, text in pairs]

    def shared(text: str) -> float:
        return sum(1 / known[word] for word in asked & set(_words(text)))

    best = max(some, key=shared)
    words = sorted(set(_words(best)) - asked, key=lambda word: (known[word], -len(word), word))
    return set(words[:_RARE])


def _named_day(question: str) -> str | None:
    """The month and day that a question names: ``05-02``."""
    found = _DAY.search(question)
    if not found:
        return None
    month = {"April": 4, "May": 5}.get(found[1] or "", int(found[3] or 0))
    return f"{month:02}-{int(found[2] or found[4]):02}"


def _words(text: str) -> Iterable[str]:
    """The words of a text in lower case; of Chinese, each two characters that stand together."""
    for word in re.findall(r"[a-z']{4,}|[\u4e00-\u9fff]{2,}", text.lower()):
        if word[0] >= "\u4e00":
            yield from (word[place : place + 2] for place in range(len(word) - 1))
        else:
            yield word
