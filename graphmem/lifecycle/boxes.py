"""Boxes: which memories were told together, and which boxes share their topics (003). Pure.

A space has one open box at most (trap 4). Times are those of the turns.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from graphmem.lifecycle.entity_matching import shown_key
from graphmem.lifecycle.plan import Plan, PlannedFact
from graphmem.lifecycle.told import Told
from graphmem.model.notebook import Box, Member, QuietBox, SealReason, TopicTrace
from graphmem.model.policy import LifecycleConfig
from graphmem.model.space import Space

_TOPICS_MAX = 16  # of an extraction, the first
_TOPIC_MIN_CHARS = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """New memories of an extraction: when their last turn was said, and when that was kept."""

    space: Space
    session: str
    said_at: datetime
    kept_at: datetime
    members: tuple[Member, ...]
    topics: tuple[str, ...]


def batch_topics(topics: Iterable[str]) -> tuple[str, ...]:
    """The topics of an extraction: the first sixteen, lower case, two characters at least."""
    found = dict.fromkeys(topic.strip().lower() for topic in topics)
    return tuple(topic for topic in found if len(topic) >= _TOPIC_MIN_CHARS)[:_TOPICS_MAX]


def overlap(one: Iterable[str], other: Iterable[str]) -> float:
    """How far two lists of topics overlap: shared ones of all, 0 where either is empty."""
    left = {topic.casefold() for topic in one}
    right = {topic.casefold() for topic in other}
    return len(left & right) / len(left | right) if left and right else 0.0


def boxed(current: Box | None, batch: Batch, config: LifecycleConfig, uid: str) -> tuple[Box, ...]:
    """The boxes that a batch changes: it joins the open one, or begins another, by ``uid``.

    The first check that applies decides (003, Boxes): too many, other topics, a pause, else it
    joins. The last box is the one with the batch.
    """
    if current is None:
        return (_sealed_if_full(_begun(batch, uid), config),)
    if len(current.members) + len(batch.members) > config.box_max_memories:
        return (sealed(_joined(current, batch), SealReason.MAX_MEMORIES, batch.said_at),)
    reason = _why_another(current, batch, config)
    if reason is None:
        return (_joined(current, batch),)
    new = _sealed_if_full(_begun(batch, uid), config)
    return sealed(current, reason, batch.said_at), new


def _why_another(current: Box, batch: Batch, config: LifecycleConfig) -> SealReason | None:
    if batch.topics and overlap(current.topics, batch.topics) < config.box_topic_shift_threshold:
        return SealReason.TOPIC_SHIFT
    gap = timedelta(minutes=config.box_time_gap_minutes)
    return SealReason.TIME_GAP if batch.said_at - current.last_at > gap else None


def _begun(batch: Batch, uid: str) -> Box:
    return Box(
        uid=uid,
        space=batch.space,
        session=batch.session,
        created_at=batch.said_at,
        last_at=batch.said_at,
        kept_at=batch.kept_at,
        members=batch.members,
        topics=batch.topics,
    )


def _joined(box: Box, batch: Batch) -> Box:
    known = {member.memory for member in box.members}
    new = [member for member in batch.members if member.memory not in known]
    return replace(
        box,
        last_at=max(box.last_at, batch.said_at),
        kept_at=batch.kept_at,
        members=(*box.members, *new),
        topics=_united(box.topics, batch.topics),
    )


def _sealed_if_full(box: Box, config: LifecycleConfig) -> Box:
    is_over = len(box.members) > config.box_max_memories
    return sealed(box, SealReason.MAX_MEMORIES, box.last_at) if is_over else box


def sealed(box: Box, reason: SealReason, at: datetime) -> Box:
    """A box that is closed; never before its last memory."""
    return replace(box, sealed_at=max(at, box.last_at), seal_reason=reason)


def is_quiet(box: Box | QuietBox, config: LifecycleConfig, now: datetime) -> bool:
    """Whether nothing was said for longer than the gap, nor put in: imports bring older turns."""
    gap = timedelta(minutes=config.box_time_gap_minutes)
    return now - box.last_at > gap and now - box.kept_at > gap


def traced(
    box: Box, traces: Sequence[TopicTrace], config: LifecycleConfig
) -> tuple[Box, TopicTrace]:
    """A sealed box with its trace: that of the most alike topics of the last days, or another.

    The trace gets the topics of the box. Of equally alike ones the latest counts.
    """
    since = box.last_at - timedelta(days=config.trace_weaver_lookback_days)
    recent = [each for each in traces if each.last_at >= since and each.first_at <= box.last_at]
    best = max(
        recent,
        key=lambda each: (overlap(each.topics, box.topics), each.last_at, each.uid),
        default=None,
    )
    least = config.trace_weaver_overlap_threshold
    if best is None or overlap(best.topics, box.topics) < least:
        best = TopicTrace(
            uid=_trace_uid(box.topics),
            space=box.space,
            topics=(),
            first_at=box.created_at,
            last_at=box.last_at,
        )
    return replace(box, trace=best.uid), replace(
        best,
        topics=_united(best.topics, box.topics),
        first_at=min(best.first_at, box.created_at),
        last_at=max(best.last_at, box.last_at),
        boxes=(*best.boxes, box.uid),
    )


def _trace_uid(topics: Iterable[str]) -> str:
    text = ",".join(sorted(topics))
    return f"trace-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _united(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*one, *other)))


def with_traces(
    boxes: Sequence[Box], traces: Sequence[TopicTrace], config: LifecycleConfig
) -> tuple[Box, ...]:
    """The same boxes, those that are sealed with their traces, one after the other."""
    known = {each.uid: each for each in traces}
    done: list[Box] = []
    for box in boxes:
        if box.sealed_at is None:
            done.append(box)
            continue
        with_trace, trace = traced(box, list(known.values()), config)
        known[trace.uid] = trace
        done.append(with_trace)
    return tuple(done)


def batch_of(told: Told, now: datetime) -> Batch | None:
    """The new memories of an extraction with their topics, if there are any."""
    new = [(planned, uid) for planned, _, uid in told.new_facts]
    if not new:
        return None
    own = [(uid, [*_topics_of(planned, told.plan), *_names_in(planned)]) for planned, uid in new]
    said = [topic for planned, _ in new for topic in _topics_of(planned, told.plan)]
    names = [each.name for each in told.plan.matches]
    topics = batch_topics((*said, *names))
    stated = {topic for _, its in own for topic in batch_topics(its)}
    shared = [topic for topic in topics if topic not in stated]
    return Batch(
        space=told.extraction.space,
        session=told.extraction.session,
        said_at=told.said_at,
        kept_at=now,
        members=tuple(_member(uid, (*its, *shared), topics) for uid, its in own),
        topics=topics,
    )


def _member(uid: str, own: Sequence[str], topics: Sequence[str]) -> Member:
    brought = {topic.strip().lower() for topic in own}
    return Member(memory=uid, topics=tuple(topic for topic in topics if topic in brought))


def _topics_of(planned: PlannedFact, plan: Plan) -> Iterator[str]:
    """What a fact is about: its tags, the entities that it mentions, its category."""
    yield from planned.fact.tags
    for named in planned.fact.entities:
        if named in plan.matches:
            yield shown_key(plan.matches[named].ref.key)
    yield planned.fact.category.value


def _names_in(planned: PlannedFact) -> Iterator[str]:
    for named in planned.fact.entities:
        yield named.name
