"""The keeper of notebooks: what is kept of spaces beside their memories, for callers and jobs."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock

from cachetools import TTLCache

from graphmem.errors import NotFound
from graphmem.gateway.gateway import Gateway
from graphmem.gateway.operation import Actor, Executed
from graphmem.gateway.validation import is_uid
from graphmem.lifecycle.boxes import is_quiet
from graphmem.lifecycle.entity_index import INDEX_KEPT_SECONDS, index_lines
from graphmem.lifecycle.reflecting import AddReflection, ResolveQuestion
from graphmem.lifecycle.sealing import SealBox
from graphmem.model.caller import Caller
from graphmem.model.job import Run
from graphmem.model.memory import memory_key
from graphmem.model.notebook import (
    Artefact,
    Box,
    NotebookLine,
    NotedQuestion,
    Reflection,
    SealReason,
    TopicTrace,
)
from graphmem.model.page import Cursor, Page
from graphmem.model.policy import LifecycleConfig
from graphmem.model.space import Space
from graphmem.ports import Clock, IdSource
from graphmem.store.artefacts import Artefacts
from graphmem.store.boxes import Boxes
from graphmem.store.connection import Connection
from graphmem.store.entity_index import EntityIndexReader
from graphmem.store.identity import reflections_of
from graphmem.store.profile import profile_of
from graphmem.store.questions import Questions
from graphmem.store.spaces import SpacePolicies
from graphmem.text.normalise import one_line

_INDEXES_KEPT = 1_000  # of spaces


@dataclass(frozen=True, kw_only=True)
class NotebookKeeper:
    """Shows and changes what is kept of a space beside its memories."""

    gateway: Gateway
    policies: SpacePolicies
    clock: Clock
    ids: IdSource
    boxes: Boxes
    artefacts: Artefacts
    questions: Questions
    index: EntityIndexReader
    connection: Connection
    _indexes: TTLCache[str, "_KeptIndex"] = field(
        default_factory=lambda: TTLCache(maxsize=_INDEXES_KEPT, ttl=INDEX_KEPT_SECONDS),
        compare=False,
    )
    _lock: Lock = field(default_factory=Lock, compare=False)  # of these, which threads share

    def seal(self, space: Space, reason: SealReason, actor: Actor) -> Executed[Box | None]:
        """Seal the open box of a space; the answer is None where there is none to seal."""
        config = self.policies.of(space).lifecycle
        return self.gateway.execute(SealBox(space=space, reason=reason, config=config), actor)

    def seal_quiet(self, run: Run) -> None:
        """Seal the boxes of spaces in which nothing was told for longer than their gap."""
        run.counts["box_sealed"] = 0
        now = self.clock.now()
        for box in self.boxes.quiet(now, space=run.space):
            if is_quiet(box, self.policies.of(box.space).lifecycle, now):
                if run.must_stop():
                    return
                self.seal(box.space, SealReason.TIME_GAP, run)

    def shown(self, box: Box | None) -> Box | None:
        """A box as it may be shown: without what was taken back; None where nothing is left."""
        return self.boxes.find(box.space, box.uid) if box else None

    def box(self, space: Space, uid: str) -> Box:
        """A box of a space.

        Raises:
            NotFound: there is none of that id.
        """
        found = self.boxes.find(space, uid) if is_uid(uid) else None
        if found is None:
            raise NotFound
        return found

    def box_page(
        self,
        space: Space,
        after: Cursor | None,
        *,
        limit: int,
        is_open: bool | None,
        days: int | None,
        session: str | None,
    ) -> Page[Box]:
        """One page of the boxes of a space, the latest first: open, recent, of a session."""
        since = self.clock.now() - timedelta(days=days) if days is not None else None
        return self.boxes.page(
            space, after, limit=limit, is_open=is_open, session=session, since=since
        )

    def trace(self, space: Space, uid: str) -> TopicTrace:
        """A topic trace of a space.

        Raises:
            NotFound: there is none of that id.
        """
        found = self.boxes.find_trace(space, uid) if is_uid(uid) else None
        if found is None:
            raise NotFound
        return found

    def trace_page(self, space: Space, after: Cursor | None, *, limit: int) -> Page[TopicTrace]:
        """One page of the topic traces of a space, the latest first."""
        return self.boxes.trace_page(space, after, limit=limit)

    def artefact_page(self, space: Space, after: Cursor | None, *, limit: int) -> Page[Artefact]:
        """One page of the artefacts of a space, the newest first."""
        return self.artefacts.page(space, after, limit=limit, now=self.clock.now())

    def profile(self, space: Space) -> list[NotebookLine]:
        """The lines of the profile of a space, oldest first."""
        return [
            NotebookLine(text=one_line(line.text), uids=line.memories)
            for line in profile_of(self.connection, space, self.clock.now())
        ]

    def identity(self, space: Space) -> list[NotebookLine]:
        """The reflections of a space, oldest first; they rest on no memories."""
        return [
            NotebookLine(text=one_line(each.text))
            for each in reflections_of(self.connection, space)
        ]

    def reflect(self, space: Space, text: str, *, caller: Caller) -> Executed[Reflection]:
        """Add a reflection to the identity of a space.

        Raises:
            InvalidInput: it is blank or too long.
            IdentityDisabled, TooSoon, IdentityFull: it may not be added.
        """
        operation = AddReflection(
            space=space,
            uid=self.ids.new("reflection"),
            text=text,
            config=self.policies.of(space).lifecycle,
        )
        return self.gateway.execute(operation, caller)

    def question_page(
        self, space: Space, after: Cursor | None, *, limit: int, is_open: bool | None
    ) -> Page[NotedQuestion]:
        """One page of the questions of a space, those that matter most first."""
        now = self.clock.now()
        return self.questions.page(space, after, limit=limit, now=now, is_open=is_open)

    def resolve(
        self, space: Space, uid: str, answer: str | None, *, caller: Caller
    ) -> Executed[NotedQuestion]:
        """Resolve a question.

        Raises:
            InvalidInput: the answer is blank or too long.
            NotFound: there is no such question.
            AlreadyResolved: it was resolved before.
        """
        if not is_uid(uid):
            raise NotFound
        operation = ResolveQuestion(space=space, uid=uid, answer=answer)
        return self.gateway.execute(operation, caller)

    def entity_index(self, space: Space) -> list[NotebookLine]:
        """What a space knows most of, best first; made anew after ten minutes at most.

        One that was made before counts only while all memories that it rests on are as they were.
        """
        config = self.policies.of(space).lifecycle
        if not config.knowledge_index_enabled:
            return []
        now = self.clock.now()
        with self._lock:
            kept = self._indexes.get(space.key)
        is_fresh = kept is not None and (now - kept.made_at).total_seconds() < INDEX_KEPT_SECONDS
        if kept and is_fresh and kept.config == config and self.index.still(kept.versions, now):
            return kept.lines
        known = self.index.known(space, now)
        lines = list(
            index_lines(
                known,
                now,
                most=config.knowledge_index_entities,
                characters=config.knowledge_index_chars,
            )
        )
        shown = {uid for line in lines for uid in line.uids}
        versions = {
            memory_key(space, each.memory): each.version for each in known if each.memory in shown
        }
        made = _KeptIndex(lines=lines, versions=versions, made_at=now, config=config)
        with self._lock:
            self._indexes[space.key] = made
        return lines


@dataclass(frozen=True, kw_only=True, slots=True)
class _KeptIndex:
    lines: list[NotebookLine]
    versions: dict[str, int]  # of its memories, by key
    made_at: datetime
    config: LifecycleConfig
