"""LongMemEval: users with some fifty sessions, and which of them answer one question."""

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.cases import Case, Question, Turn, spread

FILE = Path("longmemeval") / "dev60.json.gz"
_DATE = "%Y/%m/%d (%a) %H:%M"
_CUT = 1_500  # the haystack's texts are cut to this length

Raw = Mapping[str, Any]


def load_longmemeval(data: Path, *, limit: int | None = None) -> list[Case]:
    """The questions with an answer; the haystack of each is a space of its own, user turns only."""
    raw = _read(data)
    answered = [question for question in raw["questions"] if not question["id"].endswith("_abs")]
    return [_case(question, raw) for question in spread(answered, limit)]


def user_texts(data: Path) -> list[str]:
    """All distinct user turns, a corpus to load."""
    return list(dict.fromkeys(text for texts in _read(data)["sessions"].values() for text in texts))


def question_texts(data: Path) -> list[str]:
    """The text of every question."""
    return [question["question"] for question in _read(data)["questions"]]


def _read(data: Path) -> Raw:
    with gzip.open(data / FILE, "rt", encoding="utf-8") as file:
        raw: Raw = json.load(file)
    return raw


def _case(question: Raw, raw: Raw) -> Case:
    name = question["id"]
    turns = tuple(_turns(name, raw["haystacks"][name], raw["sessions"]))
    gold_texts = {
        (session, entry[1][:_CUT])
        for session in question["gold_sessions"]
        for entry in raw["oracle_sessions"].get(session, ())
        if entry[0] == "u" and len(entry) > 2 and entry[2]
    }
    asked = Question(
        id=name,
        text=question["question"],
        kind=question["type"],
        gold_turns=frozenset(
            turn.id for turn in turns if (turn.session, turn.content[:_CUT]) in gold_texts
        ),
        gold_sessions=frozenset(question["gold_sessions"]),
    )
    return Case(name=name, space=f"user:longmemeval-{name}", turns=turns, questions=(asked,))


def _turns(
    name: str, haystack: Iterable[Sequence[str]], sessions: Mapping[str, Sequence[str]]
) -> Iterable[Turn]:
    """The user turns in order of time.

    The conversation is a running number: session ids say too much.
    """
    for number, (session, date) in enumerate(sorted(haystack, key=lambda entry: entry[1]), start=1):
        when = datetime.strptime(date, _DATE).replace(tzinfo=UTC)
        for index, text in enumerate(sessions[session]):
            yield Turn(
                id=f"{name}/{number}/{index}",
                content=text,
                actor="user",
                occurred_at=when,
                conversation_id=f"{name}-{number}",
                session=session,
            )
