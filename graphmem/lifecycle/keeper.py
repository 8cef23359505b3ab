"""The keeper of the lifecycle: turns arrive, buffers are flushed, extractions read and shown."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from graphmem.conversations.keeper import ConversationKeeper
from graphmem.conversations.sayings import (
    AHEAD_MAX,
    NOT_READABLE,
    READ_MAX_CHARS,
    TOO_FAR_AHEAD,
    is_readable,
)
from graphmem.errors import InvalidInput, NotFound
from graphmem.lifecycle.arrival import Arrived, BufferTurns, with_words
from graphmem.lifecycle.buffer import TURN_READ_CHARS, Because
from graphmem.lifecycle.closing import CloseBuffer
from graphmem.lifecycle.context_keeper import ContextKeeper
from graphmem.lifecycle.entity_matching import core_key
from graphmem.lifecycle.extractor import Extractor
from graphmem.lifecycle.feedback import takes_feedback
from graphmem.lifecycle.feedback_keeper import FeedbackKeeper
from graphmem.lifecycle.notebook_keeper import NotebookKeeper
from graphmem.lifecycle.plan import Plan
from graphmem.lifecycle.sharing import Sharing
from graphmem.lifecycle.signals import scan
from graphmem.model.caller import Caller
from graphmem.model.conversation import Saying, Turn
from graphmem.model.entity import entity_ref
from graphmem.model.extraction import Activity, Buffer, Extraction, Heard, Thread
from graphmem.model.notebook import SealReason
from graphmem.model.page import Cursor, Page
from graphmem.model.space import WITHOUT_FACTS, Space
from graphmem.ports import Clock, IdSource
from graphmem.store.activity import ActivityReader
from graphmem.store.buffers import Buffers
from graphmem.store.entities import Entities
from graphmem.store.extractions import Extractions, turns_of
from graphmem.store.spaces import SpacePolicies
from graphmem.store.threads import ThreadReader

NO_FACTS = "No facts are extracted in a space of this kind."


@dataclass(frozen=True, kw_only=True, slots=True)
class Heeded:
    """What became of turns, what was read of them at once, and the trace that says why."""

    arrived: Arrived
    extractions: tuple[Extraction, ...]
    trace_id: str
    suggests_feedback: bool = False  # the user objects, where a space counts feedback


@dataclass(frozen=True, kw_only=True, slots=True)
class Read:
    """An extraction that was read, and the trace that says what became of it."""

    extraction: Extraction
    trace_id: str


@dataclass(frozen=True, kw_only=True)
class LifecycleKeeper:
    """Takes turns and keeps what they say, for callers."""

    conversations: ConversationKeeper
    extractor: Extractor
    policies: SpacePolicies
    clock: Clock
    ids: IdSource
    buffers: Buffers
    extractions: Extractions
    threads: ThreadReader
    entities: Entities
    activities: ActivityReader
    notebooks: NotebookKeeper
    contexts: ContextKeeper
    sharing: Sharing
    feedback: FeedbackKeeper

    def heed(
        self,
        space: Space,
        session: str,
        sayings: Sequence[Saying],
        *,
        caller: Caller,
        wait: bool,
    ) -> Heeded:
        """Keep turns of a session in their order, all or none, and read what they make due.

        Without ``wait`` a job reads it.

        Raises:
            InvalidInput: something is wrong with a turn, by ``turns.<number>.<field>``.
            PolicyRefused, KeptByRoom, RetractedSource, Conflict: see ConversationKeeper.append.
        """
        self._check(space, sayings)
        config = self.policies.of(space).lifecycle
        patterns = config.high_signal_patterns
        signals = [scan(each.role, each.content, patterns) for each in sayings]
        append = self.conversations.to_append(
            space, session, sayings, caller=caller, remember=config.keep_turns
        )
        operation = BufferTurns(
            append=append,
            config=config,
            signals=signals,
            uids=[self.ids.new("extraction") for _ in sayings],
            claim=self.ids.new("claim") if wait else "",
            claimed_for=self.extractor.claimed_for,
            vectors=append.vectors,
        )
        done = self.conversations.gateway.execute(operation, caller)
        arrived = with_words(done.answer, [each.content for each in sayings])
        extractions = self._read_at_once(arrived, caller) if wait else ()
        objects = any(signal.disagreement for signal in signals)
        return Heeded(
            arrived=arrived,
            extractions=extractions,
            trace_id=done.trace_id,
            suggests_feedback=objects and takes_feedback(config),
        )

    def _check(self, space: Space, sayings: Sequence[Saying]) -> None:
        wrong: dict[str, list[str]] = {}
        latest = self.clock.now() + AHEAD_MAX
        for number, saying in enumerate(sayings):
            if not is_readable(saying.content):
                wrong[f"turns.{number}.content"] = [NOT_READABLE]
            if saying.at and saying.at > latest:
                wrong[f"turns.{number}.occurred_at"] = [TOO_FAR_AHEAD]
        if space.kind in WITHOUT_FACTS:
            wrong["space"] = [NO_FACTS]
        if wrong:
            raise InvalidInput(wrong)

    def _read_at_once(self, arrived: Arrived, caller: Caller) -> tuple[Extraction, ...]:
        """Read what turns made due; of turns that were there what they ended in."""
        known = [
            self._extraction_of(each.turn, caller) for each in arrived.turns if not each.is_new
        ]
        own = [self._extraction(n, each, caller) for n, each in enumerate(arrived.due)]
        found = {each.key: each for each in (*known, *own) if each}
        return tuple(found.values())

    def _extraction(self, number: int, due: Extraction, caller: Caller) -> Extraction | None:
        """An extraction that these turns made due; those before it may have taken long."""
        claimed = self.extractor.claim(due, caller=caller) if number else due
        return self.extractor.run(claimed, caller=caller).answer if claimed else None

    def _extraction_of(self, turn: Turn, caller: Caller) -> Extraction | None:
        """The extraction that a turn ended in, read now if nobody did."""
        found = self.extractions.of_turn(turn.space, turn.uid)
        if found is None or found.is_done:
            return found
        claimed = self.extractor.claim_anew(found, caller=caller)
        return self.extractor.run(claimed, caller=caller).answer if claimed else None

    def flush(self, space: Space, session: str | None, *, caller: Caller) -> Iterator[Read]:
        """Read what waits in the buffers of a space, or of one session, one after the other.

        Then its open box is sealed.
        """
        now = self.clock.now()
        for each in self.extractions.waiting(now, space=space.key, session=session or ""):
            yield from self.read(each, caller=caller)
        for buffer in self.buffers.holding(space, session):
            yield from self.close(buffer, Because.FLUSH, caller=caller)
        self.notebooks.seal(space, SealReason.FLUSH, caller)

    def close(self, buffer: Buffer, reason: Because, *, caller: Caller) -> Iterator[Read]:
        """Make a buffer due and read it; nothing, where there is no more in it."""
        operation = CloseBuffer(
            space=buffer.space,
            session=buffer.session,
            uid=self.ids.new("extraction"),
            reason=reason,
            config=self.policies.of(buffer.space).lifecycle,
            claim=self.ids.new("claim"),
            claimed_for=self.extractor.claimed_for,
        )
        if due := self.conversations.gateway.execute(operation, caller).answer:
            yield from self._read(due, caller)

    def _read(self, claimed: Extraction, caller: Caller) -> Iterator[Read]:
        done = self.extractor.run(claimed, caller=caller)
        if done.answer:
            yield Read(extraction=done.answer, trace_id=done.trace_id)

    def read(self, extraction: Extraction, *, caller: Caller) -> Iterator[Read]:
        """Read an extraction that waits, unless another worker has it."""
        if claimed := self.extractor.claim_anew(extraction, caller=caller):
            yield from self._read(claimed, caller)

    def preview(self, space: Space, turns: Sequence[Heard], *, caller: Caller) -> Plan:
        """What would be extracted of some turns; nothing is written.

        Raises:
            InvalidInput: no facts are extracted in a space of that kind.
        """
        if space.kind in WITHOUT_FACTS:
            raise InvalidInput({"space": [NO_FACTS]})
        cut = [replace(each, content=each.content[:TURN_READ_CHARS]) for each in turns]
        plan, _ = self.extractor.plan(space, "preview", cut, caller=caller, uses_model=True)
        return plan

    def find(self, space: Space, uid: str) -> tuple[Extraction, tuple[Turn, ...]]:
        """An extraction that was done, with its turns.

        Raises:
            NotFound: there is none of that uid.
        """
        found = self.extractions.find(space, uid)
        if found is None or not found.is_done:
            raise NotFound
        return found, turns_of(self.extractions.connection, found, chars=READ_MAX_CHARS)

    def page(
        self, space: Space, session: str | None, after: Cursor | None, *, limit: int
    ) -> Page[Extraction]:
        """One page of the extractions of a space, the newest first."""
        return self.extractions.page(space, session, after, limit=limit)

    def activity(self, space: Space, key: str) -> list[Activity] | None:
        """The newest activity of an entity, newest first; None where there is no such key.

        The key may have the form of 003: ``person-jane-doe``.
        """
        try:
            ref = entity_ref(key if ":" in key else core_key(key))
        except ValueError:
            return None
        spaces = space.readable_with_it()
        meant = self.entities.meant(spaces, [ref])[0]
        return self.activities.of(spaces, meant) if meant else None

    def thread_page(self, space: Space, after: Cursor | None, *, limit: int) -> Page[Thread]:
        """One page of the threads of a space, the latest first."""
        return self.threads.page(space, after, limit=limit)


def counts_of(extractions: Sequence[Extraction]) -> Mapping[str, int]:
    """How many extractions there were, and facts of each outcome."""
    counts: dict[str, int] = {"extractions": len(extractions)}
    for extraction in extractions:
        for fact in extraction.kept.facts:
            name = f"facts_{fact.outcome.value}"
            counts[name] = counts.get(name, 0) + 1
    return counts
