"""Explain: why a memory came back from a recall, or why it did not.

Pure, over what the trace kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from graphmem.model.memory import Memory, Status
from graphmem.model.trace import TraceRecord
from graphmem.recall.candidates import Scored
from graphmem.recall.question import Question


class Reason(StrEnum):
    """Stable codes for why a memory came back or not."""

    RETURNED = "returned"
    CUT_BY_LIMIT = "cut_by_limit"
    BELOW_MIN_SCORE = "below_min_score"
    NOT_A_CANDIDATE = "not_a_candidate"
    NOT_KEPT = "not_kept"
    NO_RECALL = "no_recall"
    FILTERED_BY_TYPE = "filtered_by_type"
    FILTERED_BY_TAG = "filtered_by_tag"
    FILTERED_BY_ENTITY = "filtered_by_entity"
    FILTERED_BY_CONVERSATION = "filtered_by_conversation"
    FILTERED_BY_CAPTURED_BY = "filtered_by_captured_by"
    FILTERED_BY_TIME = "filtered_by_time"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    RETRACTED = "retracted"
    EXPIRED = "expired"
    OTHER_SPACE = "other_space"


_KEPT_AS_THEY_ARE = ("limit", "min_score", "conversation_id", "graph")
_KEPT_LISTS = ("types", "tags", "captured_by", "statuses")


@dataclass(frozen=True, kw_only=True, slots=True)
class Why:
    """The answer: a code, and the figures behind it."""

    reason: Reason
    detail: Mapping[str, object] = field(default_factory=dict)

    @property
    def returned(self) -> bool:
        """Whether the memory came back."""
        return self.reason is Reason.RETURNED


def kept_request(question: Question, *, returned: int, candidates: int) -> dict[str, object]:
    """What a trace keeps of a question, so that an absence can be explained later.

    And how many candidates it had, how many of which came back.
    """
    request = question.request
    kept = {name: getattr(request, name) for name in _KEPT_AS_THEY_ARE}
    kept |= {name: list(getattr(request, name)) for name in _KEPT_LISTS}
    return kept | {
        "entities": [keys[0] if len(keys) == 1 else keys for keys in question.entity_keys],
        "ranker": question.ranker.value,
        "as_of": _iso(request.as_of),
        "known_at": _iso(request.known_at),
        "any_time": request.include_superseded and request.as_of is None,
        "plan": question.plan,
        "words": list(question.words),
        "returned": returned,
        "candidates": candidates,
    }


def kept_candidates(
    scored: Sequence[Scored], spaces: Sequence[str]
) -> list[tuple[int, str, float]]:
    """Candidates as a trace keeps them: number of the space, uid, score; in their order."""
    numbers = {space: number for number, space in enumerate(spaces)}
    return [
        (numbers[entry.candidate.key.partition("|")[0]], entry.candidate.uid, round(entry.score, 6))
        for entry in scored
    ]


def trace_of_shown(trace: TraceRecord, shown: Sequence[str]) -> TraceRecord:
    """The trace of a recall of which only some memories, by key, were shown, in their order."""
    numbers = {space: number for number, space in enumerate(trace.spaces)}
    candidates: Sequence[Any] = trace.events
    scores = {(space, uid): score for space, uid, score in candidates}
    named = [(space, uid) for space, _, uid in (key.partition("|") for key in shown)]
    first = [(numbers[space], uid) for space, uid in named]
    told = set(first)
    behind = [place for place in scores if place not in told]
    return replace(
        trace,
        events=[(*place, scores.get(place)) for place in (*first, *behind)],
        request={**trace.request, "returned": len(first)},
    )


def why(trace: TraceRecord, memory: Memory, before: Memory | None) -> Why:
    """Why a memory came back from the recall of a trace, or why not.

    ``before`` is the version of the memory that the recall could see, None where there was none
    yet.
    """
    request: Mapping[str, Any] = trace.request
    if memory.space.key not in trace.spaces:
        return Why(reason=Reason.OTHER_SPACE, detail={"space": memory.space.name})
    if request["plan"] == Reason.NO_RECALL:
        return Why(reason=Reason.NO_RECALL)
    number = trace.spaces.index(memory.space.key)
    events: Sequence[Any] = trace.events
    for rank, (space, uid, score) in enumerate(events, start=1):
        if (space, uid) == (number, memory.uid):
            return _of_candidate(request, rank, score)
    if _was_retracted(memory, trace.created_at):
        return Why(reason=Reason.RETRACTED, detail={"status_reason": memory.status_reason})
    absent = _of_absent(request, trace.created_at, before)
    is_cut = request.get("candidates", 0) > len(events)
    if is_cut and absent.reason is Reason.NOT_A_CANDIDATE:
        return Why(reason=Reason.NOT_KEPT, detail={"kept": len(events)})
    return absent


def _was_retracted(memory: Memory, moment: datetime) -> bool:
    since = memory.status_at if memory.status is Status.RETRACTED else None
    return since is not None and since <= moment


def _of_candidate(request: Mapping[str, Any], rank: int, score: float | None) -> Why:
    least = request["min_score"]
    detail = {"rank": rank, "score": score, "limit": request["limit"], "min_score": least}
    if rank <= request["returned"]:
        return Why(reason=Reason.RETURNED, detail=detail)
    is_below = least > 0 and score is not None and score < least
    return Why(reason=Reason.BELOW_MIN_SCORE if is_below else Reason.CUT_BY_LIMIT, detail=detail)


def _of_absent(request: Mapping[str, Any], asked_at: datetime, memory: Memory | None) -> Why:
    if memory is None:
        return Why(
            reason=Reason.FILTERED_BY_TIME, detail={"recorded": "later than this recall could see"}
        )
    if memory.status.value not in request["statuses"] or memory.status is Status.RETRACTED:
        return Why(
            reason=Reason(memory.status.value), detail={"status_reason": memory.status_reason}
        )
    if memory.has_expired(asked_at):
        return Why(reason=Reason.EXPIRED, detail={"expires_at": _iso(memory.expires_at)})
    moment = datetime.fromisoformat(request["as_of"]) if request["as_of"] else asked_at
    if request["any_time"] or _is_valid(memory, moment):
        return _of_filtered(request, memory)
    times = {name: _iso(getattr(memory, name)) for name in ("valid_from", "valid_until")}
    return Why(reason=Reason.FILTERED_BY_TIME, detail=times | {"as_of": moment.isoformat()})


def _is_valid(memory: Memory, moment: datetime) -> bool:
    has_begun = memory.valid_from is None or memory.valid_from <= moment
    return has_begun and (memory.valid_until is None or memory.valid_until > moment)


def _of_filtered(request: Mapping[str, Any], memory: Memory) -> Why:
    entities = [ref.key for ref in memory.entities]
    types, captors, asked = (request[name] for name in ("types", "captured_by", "conversation_id"))
    sources = (memory.source, *memory.more_sources)
    said_in = [source.conversation_id for source in sources]
    hands = [source.captured_by.value for source in sources]
    is_captured = not captors or bool(set(captors) & set(hands))
    checks = (
        (Reason.FILTERED_BY_TYPE, types and memory.type.value not in types, memory.type.value),
        (Reason.FILTERED_BY_TAG, not set(request["tags"]) <= set(memory.tags), list(memory.tags)),
        (Reason.FILTERED_BY_ENTITY, not _mentions(request["entities"], entities), entities),
        (Reason.FILTERED_BY_CONVERSATION, asked not in {None, *said_in}, said_in[0]),
        (Reason.FILTERED_BY_CAPTURED_BY, not is_captured, hands[0]),
    )
    for reason, is_filtered, has in checks:
        if is_filtered:
            return Why(reason=reason, detail={"has": has})
    return Why(reason=Reason.NOT_A_CANDIDATE, detail={"embedded": memory.embedded})


def _mentions(wanted: Sequence[str | Sequence[str]], entities: Sequence[str]) -> bool:
    """Whether each that is wanted is among some entities, by one of the keys that it may have."""
    groups = ([keys] if isinstance(keys, str) else keys for keys in wanted)
    return all(not set(keys).isdisjoint(entities) for keys in groups)


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
