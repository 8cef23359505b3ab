"""Remembering: the memories of a revision, as changes of the graph (000)."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from graphmem.corpus.facts import corpus_memories
from graphmem.corpus.looks import Look
from graphmem.corpus.memory_changes import CorpusMemory, MemoryChanges, memory_changes
from graphmem.errors import ModelUnavailable
from graphmem.gateway.draft import Draft
from graphmem.gateway.indexing import texts_to_embed
from graphmem.gateway.rollups import WITHOUT_VECTORS
from graphmem.model.corpus import ROOM, Documents, PresentMemory
from graphmem.model.edge import EdgeType
from graphmem.model.entity import EntityRef, label_from_key
from graphmem.model.event import Reason
from graphmem.model.memory import Memory, Status, memory_key
from graphmem.model.policy import IndexPolicy
from graphmem.model.policy.corpus import CorpusPolicy
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.model.space import Space
from graphmem.model.state import GraphState, Selection
from graphmem.ports import Embedder, Vector
from graphmem.text.normalise import shorten

log = logging.getLogger(__name__)

_EMBEDDED_AT_ONCE = 64  # where there are more, all wait for the job
_SUMMARY_CHARS = 280
_CONFIDENCE = 0.95
_IMPORTANCE, _PART_IMPORTANCE = 80, 60  # an item stands on the cards of what it names


def wanted_memories(
    look: Look, documents: Documents, policy: CorpusPolicy
) -> tuple[CorpusMemory, ...]:
    """The memories that a revision should have; none where it is no valid corpus."""
    if look.corpus is None or not look.is_valid:
        return ()
    return corpus_memories(look.corpus, documents, policy)


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedMemories:
    """What a revision is likely to change of memories: what to lock, and vectors for new words."""

    selection: Selection = field(default_factory=Selection)
    vectors: Mapping[int, Sequence[Vector]] = field(default_factory=dict)
    index_of: Mapping[str, int] = field(default_factory=dict)  # of vectors, by content
    present: tuple[PresentMemory, ...] = ()
    verified: tuple[str | None, ...] = ()  # the proved commit of that time; empty: not known
    look: Look | None = None  # at the revision
    changes: MemoryChanges = field(default_factory=MemoryChanges)


def prepared(
    space: Space,
    wanted: Iterable[CorpusMemory],
    present: Iterable[PresentMemory],
    *,
    verified: str | None,
    look: Look,
    embedder: Embedder,
    index: IndexPolicy,
) -> PreparedMemories:
    """What writing the memories of a revision needs, by those that are there now."""
    present = tuple(present)
    changes = memory_changes(wanted, present)
    written = [*changes.new, *(new for _, new in changes.changed)]
    contents = list(dict.fromkeys(each.content for each in written))
    if len(contents) > _EMBEDDED_AT_ONCE:
        contents = []
    vectors = _vectors(contents, embedder, index)
    owner = space.without_persona.key
    return PreparedMemories(
        selection=Selection(
            with_turns=False,
            memories=frozenset(memory_key(space, uid) for uid in _touched(changes, present)),
            entities=frozenset(
                f"{owner}|{key}" for each in written for ref in each.entities for key in ref.keys
            ),
        ),
        present=present,
        verified=(verified,),
        look=look,
        changes=changes,
        vectors=vectors,
        index_of={content: number for number, content in enumerate(contents) if number in vectors},
    )


def _touched(changes: MemoryChanges, present: Sequence[PresentMemory]) -> set[str]:
    """The uids of memories that are written, or that new ones are a part of."""
    by_key = {each.key: each.uid for each in present}
    parents = {by_key.get(each.part_of or "") for each in changes.new}
    uids = {*(uid for uid, _ in changes.changed), *changes.removed, *parents}
    return {uid for uid in uids if uid}


def _vectors(
    contents: Sequence[str], embedder: Embedder, index: IndexPolicy
) -> dict[int, Sequence[Vector]]:
    parts = [texts_to_embed(content, None, index) for content in contents]
    flat = [text for part in parts for text in part]
    try:
        embedded = iter(embedder.embed(flat) if flat else ())
        return {number: [next(embedded) for _ in part] for number, part in enumerate(parts)}
    except ModelUnavailable as error:
        log.warning("embedding failed for %d memories: %s", len(contents), error.message)
        return {}


@dataclass(kw_only=True)
class Remembering:
    """Lets the memories of a space be those that a revision should have."""

    space: Space
    draft: Draft
    state: GraphState
    prepared: PreparedMemories
    uids: Iterable[str]
    made: dict[str, str] = field(default_factory=dict)  # uids of new memories, by what they are of

    def decide(self, changes: MemoryChanges, present: Iterable[PresentMemory]) -> bool:
        """Decide what is written; False where something is needed that was not locked."""
        by_key = {each.key: memory_key(self.space, each.uid) for each in present}
        touched = [memory_key(self.space, uid) for uid, _ in changes.changed]
        touched += [memory_key(self.space, uid) for uid in changes.removed]
        touched += [by_key[each.part_of] for each in changes.new if each.part_of in by_key]
        if any(key not in self.draft.memories for key in touched):
            return False
        for uid in changes.removed:
            memory = self.draft.memories[memory_key(self.space, uid)]
            if memory.status is Status.ACTIVE:
                self.draft.set_status(memory, Status.SUPERSEDED, Reason.UPDATE)
        for uid, wanted in changes.changed:
            self._revise(memory_key(self.space, uid), wanted)
        uids = iter(self.uids)
        for wanted in changes.new:
            memory = self._new(wanted, next(uids))
            self.draft.create(memory)
            by_key[wanted.key] = memory.key
            self.made[wanted.key] = memory.uid
        for wanted in changes.new:
            if wanted.part_of in by_key:
                child = self.draft.memories[by_key[wanted.key]]
                parent = self.draft.memories[by_key[wanted.part_of]]
                self.draft.draw(child, EdgeType.PART_OF, parent)
        return True

    def present_after(
        self, changes: MemoryChanges, present: Iterable[PresentMemory]
    ) -> tuple[PresentMemory, ...] | None:
        """The memories that are there once it is written; None where somebody retracted one."""
        present = tuple(present)
        left = {*changes.removed, *(uid for uid, _ in changes.changed)}
        touched = [self.state.memories[memory_key(self.space, uid)] for uid in left]
        are_active = all(memory.status is Status.ACTIVE for memory in touched)
        if not are_active or any(each.is_retracted for each in present):
            return None
        written = [(self.made[each.key], each) for each in changes.new]
        return (
            *(each for each in present if each.uid not in left),
            *(
                PresentMemory(key=each.key, uid=uid, digest=each.digest)
                for uid, each in (*changes.changed, *written)
            ),
        )

    def _new(self, wanted: CorpusMemory, uid: str) -> Memory:
        now = self.draft.now
        source = Source(
            type=SourceType.MANUAL,
            captured_by=CapturedBy.USER,
            key=wanted.key,
        )
        memory = Memory(
            uid=uid,
            space=self.space,
            type=wanted.type,
            content=wanted.content,
            summary=shorten(wanted.content, _SUMMARY_CHARS),
            created_at=now,
            updated_at=now,
            importance=_PART_IMPORTANCE if wanted.part_of else _IMPORTANCE,
            confidence=_CONFIDENCE,
            entities=self._entities(wanted),
            source=source,
            valid_from=wanted.valid_from,
            valid_until=wanted.valid_until,
            claims_content=False,
            native=wanted.native,
            kept_by=ROOM,
        )
        return self._embedded(memory)

    def _revise(self, key: str, wanted: CorpusMemory) -> None:
        memory = self.draft.memories[key]
        if memory.status is not Status.ACTIVE:
            memory = self.draft.set_status(memory, Status.ACTIVE, None)
        revised = replace(
            memory,
            content=wanted.content,
            summary=shorten(wanted.content, _SUMMARY_CHARS),
            entities=self._entities(wanted),
            valid_from=wanted.valid_from,
            valid_until=wanted.valid_until,
            native=wanted.native,
            updated_at=self.draft.now,
            version=memory.version + 1,
        )
        is_reworded = revised.content != memory.content
        self.draft.put(self._embedded(revised) if is_reworded else revised)

    def _embedded(self, memory: Memory) -> Memory:
        """A memory with the vectors of its words, or one that waits for them."""
        index = self.prepared.index_of.get(memory.content, WITHOUT_VECTORS)
        self.draft.vectors_of[memory.key] = index
        return replace(memory, embedded=index != WITHOUT_VECTORS)

    def _entities(self, wanted: CorpusMemory) -> tuple[EntityRef, ...]:
        """The entities that are meant; a merged one is what it became."""
        owner = self.space.without_persona.key
        found: dict[str, EntityRef] = {}
        for ref in wanted.entities:
            key = self.state.entity(owner, ref)
            label = ref.label or label_from_key(key)
            found.setdefault(key, EntityRef(key=key, label=label))
        return tuple(found.values())
