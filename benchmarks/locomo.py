"""LoCoMo: long conversations of two people, with the turns that answer each question."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.cases import Case, Question, Turn, spread

FILE = Path("locomo") / "locomo_dev5.json"
_FIXES = Path("locomo") / "evidence_fixes_dev5.json"
_CATEGORIES = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
}  # 5 asks what is not there
_DATE = "%I:%M %p on %d %B, %Y"

Raw = Mapping[str, Any]


def load_locomo(data: Path, *, limit: int | None = None) -> list[Case]:
    """The conversations of the development half; each is a space of its own."""
    samples = json.loads((data / FILE).read_text("utf-8"))
    fixes = _fixed_evidence(json.loads((data / _FIXES).read_text("utf-8")))
    return [_case(sample, fixes) for sample in spread(samples, limit)]


def _fixed_evidence(records: Iterable[Raw]) -> dict[tuple[str, int], list[str]]:
    """Malformed evidence ids, mended.

    Wrong answers that the audit found are left as they are.
    """
    return {
        (record["sample_id"], record["qa"]): record["evidence"]
        for record in records
        if "evidence" in record
    }


def _case(sample: Raw, fixes: Mapping[tuple[str, int], list[str]]) -> Case:
    name = sample["sample_id"]
    turns = tuple(_turns(sample["conversation"], name))
    known = {turn.id for turn in turns}
    questions = (
        _question(name, index, entry, fixes.get((name, index), entry["evidence"]), known)
        for index, entry in enumerate(sample["qa"])
        if entry["category"] in _CATEGORIES
    )
    return Case(
        name=name,
        space=f"user:locomo-{name}",
        turns=turns,
        questions=tuple(question for question in questions if question.gold_turns),
    )


def _turns(conversation: Raw, name: str) -> Iterable[Turn]:
    numbers = sorted(
        int(key.split("_")[1])
        for key in conversation
        if key.count("_") == 1 and key.startswith("session")
    )
    for number in numbers:
        session = f"session_{number}"
        when = datetime.strptime(conversation[f"{session}_date_time"], _DATE).replace(tzinfo=UTC)
        for turn in conversation[session]:
            yield Turn(
                id=turn["dia_id"],
                content=turn["text"],
                actor=turn["speaker"],
                occurred_at=when,
                conversation_id=name,
                session=session,
            )


def _question(
    name: str, index: int, entry: Raw, evidence: Iterable[str], known: set[str]
) -> Question:
    return Question(
        id=f"{name}/{index}",
        text=entry["question"],
        kind=_CATEGORIES[entry["category"]],
        gold_turns=frozenset(evidence) & known,
    )
