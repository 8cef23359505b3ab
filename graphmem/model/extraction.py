"""Extractions: which turns were read, what was kept of them, and what waits to be read (003)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from graphmem.model.conversation import Turn, TurnRole, conversation_key
from graphmem.model.memory import MemoryType
from graphmem.model.space import Space


class Category(StrEnum):
    """What kind of statement a fact is, in the order in which it is tried."""

    CORRECTION = "correction"
    PRINCIPLE = "principle"
    PREFERENCE = "preference"
    COMMITMENT = "commitment"
    DECISION = "decision"
    RELATIONSHIP = "relationship"
    ENTITY = "entity"
    MOMENT = "moment"
    SKILL = "skill"
    FACT = "fact"


# the types of the core (003, Type projection)
TYPE_OF: Mapping[Category, MemoryType] = {
    Category.CORRECTION: MemoryType.FACT,
    Category.PRINCIPLE: MemoryType.PREFERENCE,
    Category.PREFERENCE: MemoryType.PREFERENCE,
    Category.COMMITMENT: MemoryType.TODO,
    Category.DECISION: MemoryType.DECISION,
    Category.RELATIONSHIP: MemoryType.FACT,
    Category.ENTITY: MemoryType.FACT,
    Category.MOMENT: MemoryType.EVENT,
    Category.SKILL: MemoryType.IDENTITY,
    Category.FACT: MemoryType.FACT,
}


class Tier(StrEnum):
    """How sure a fact is; a speculative one goes quiet unless it is said again."""

    EXPLICIT = "explicit"
    IMPLIED = "implied"
    INFERRED = "inferred"
    SPECULATIVE = "speculative"


_TIERS = ((0.95, Tier.EXPLICIT), (0.70, Tier.IMPLIED), (0.40, Tier.INFERRED))


def tier_of(confidence: float) -> Tier:
    """The tier of a confidence from 0 to 1."""
    return next((tier for least, tier in _TIERS if confidence >= least), Tier.SPECULATIVE)


class EngineName(StrEnum):
    """What read the turns."""

    RULES = "rules"
    MODEL = "model"


class FactOutcome(StrEnum):
    """What became of a fact."""

    CREATED = "created"
    SUPERSEDED = "superseded"  # it took the place of what it corrects
    SUPERSEDED_BY_NEWER = "superseded_by_newer"  # what it corrects is newer
    SKIPPED = "skipped"  # a memory says it already
    REFUSED = "refused"


@dataclass(frozen=True, kw_only=True, slots=True)
class Buffer:
    """The turns of a session that wait for their extraction, counted by when they arrived.

    ``digest`` stands for their words, ``last_digest`` for those of the last extraction.
    """

    space: Space
    session: str
    turns: int = 0
    user_turns: int = 0
    characters: int = 0
    first_at: datetime | None = None
    last_at: datetime | None = None
    digest: str = ""
    last_extraction_at: datetime | None = None
    last_digest: str = ""
    extractions: int = 0

    @property
    def key(self) -> str:
        """The unique key of the node: that of its conversation."""
        return conversation_key(self.space, self.session)


@dataclass(frozen=True, kw_only=True, slots=True)
class Heard:
    """A turn as an engine reads it."""

    uid: str
    role: TurnRole
    content: str
    at: datetime
    actor: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """What an engine states: a fact as it found it, with the uids of the turns it rests on.

    ``entities`` are the names that it mentions, each with a type.
    """

    category: Category
    content: str
    confidence: float | None = None
    tags: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    entities: tuple["Named", ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """A name of something that turns mention, and what kind of thing it is (003)."""

    name: str
    type: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Relationship:
    """How one named thing stands to another, and the number of the statement that says so."""

    source: Named
    target: Named
    label: str
    statement: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What could be asked to learn more; priority 0 to 1."""

    question: str
    context: str = ""
    priority: float = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """What was not kept, by a stable code and the turn it came from."""

    reason: str
    turn: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Findings:
    """All that an engine found in some turns, before anything of it is kept."""

    engine: EngineName = EngineName.RULES
    statements: tuple[Statement, ...] = ()
    entities: tuple[Named, ...] = ()
    relationships: tuple[Relationship, ...] = ()
    profile_updates: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    reflection: str | None = None
    refused: tuple[Refusal, ...] = ()
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptFact:
    """What became of one fact of an extraction; importance is 0 to 1."""

    outcome: FactOutcome
    category: Category
    content: str | None
    confidence: float
    importance: float
    uid: str | None = None
    turns: tuple[str, ...] = ()

    @property
    def tier(self) -> Tier:
        """How sure it is."""
        return tier_of(self.confidence)


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptEntity:
    """An entity that an extraction names, and how it was recognised."""

    key: str
    matched_by: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """What was kept of an extraction."""

    facts: tuple[KeptFact, ...] = ()
    entities: tuple[KeptEntity, ...] = ()
    relationships: tuple[Mapping[str, str], ...] = ()
    profile_updates: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    reflection: str | None = None
    refused: tuple[Refusal, ...] = ()
    degraded: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was kept."""
        texts = (self.profile_updates, self.questions, self.reflection)
        is_stored = any(fact.uid for fact in self.facts)
        return not (is_stored or any((self.entities, self.relationships, *texts)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Extraction:
    """Turns of a session that are read together, and what was kept of them once they were.

    ``decided_at`` is when its last turn arrived, ``at`` when it was done. ``is_guarded`` says that
    a guard kept a model from it. ``claim`` names who reads them now.
    """

    uid: str
    space: Space
    session: str
    reason: str
    decided_at: datetime
    turns: tuple[str, ...] = ()
    is_guarded: bool = False
    engine: EngineName = EngineName.RULES
    at: datetime | None = None
    claim: str = ""
    claimed_until: datetime | None = None
    tries: int = 0  # how often somebody claimed it again
    kept: Kept = field(default_factory=Kept)

    @property
    def key(self) -> str:
        """The unique key of the node: ``space|uid``."""
        return extraction_key(self.space, self.uid)

    @property
    def is_done(self) -> bool:
        """Whether its turns were read."""
        return self.at is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Thread:
    """Turns of a session that follow each other without a long pause, by when they were said.

    ``words`` are the most frequent ones, which make its title.
    """

    uid: str
    space: Space
    session: str
    title: str
    turns: int
    first_at: datetime
    last_at: datetime
    words: Mapping[str, int] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The unique key of the node: ``space|uid``."""
        return extraction_key(self.space, self.uid)


@dataclass(frozen=True, kw_only=True, slots=True)
class Activity:
    """That an extraction named an entity, and what was said of it, as it still stands."""

    at: datetime
    extraction: str
    session: str
    note: str | None = None
    memory: str | None = None


def extraction_key(space: Space, uid: str) -> str:
    """The unique key of an extraction: its uid counts only within its space."""
    return f"{space.key}|{uid}"


def heard(turns: Sequence[Turn], most_chars: int) -> tuple[Heard, ...]:
    """Turns as engines read them, each with its first characters."""
    return tuple(
        Heard(
            uid=turn.uid,
            role=turn.role,
            content=turn.content[:most_chars],
            at=turn.at,
            actor=turn.actor,
        )
        for turn in turns
    )
