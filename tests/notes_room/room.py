"""The room of notes: a note and the memory that it keeps are written together."""

from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from graphmem.errors import GraphmemError, InvalidInput
from graphmem.gateway.claims import content_claim
from graphmem.gateway.draft import Draft
from graphmem.gateway.memory_operation import MemoryOperation
from graphmem.gateway.operation import Decided, Operation
from graphmem.model.caller import Role
from graphmem.model.event import Event
from graphmem.model.job import Every, Job
from graphmem.model.memory import Memory, MemoryType, memory_key
from graphmem.model.page import every_item
from graphmem.model.policy.rules import number
from graphmem.model.state import Selection
from graphmem.rooms import Prune, Room
from notes_room.records import (
    Note,
    Notes,
    lock_note,
    mark_notes,
    remove_notes,
    resting_notes,
    save_note,
)

NAME = "notes"
HERE = Path(__file__).parent


class NoteEffect(StrEnum):
    """What became of a note."""

    ADDED = "note_added"
    STALE = "note_stale"
    FRESH = "note_fresh"
    FORGOTTEN = "note_forgotten"


@dataclass(frozen=True, kw_only=True, slots=True)
class NotePolicy:
    """How many days a stale note is kept at least, beside what holds for all."""

    keep_days: int = number(0, most=365)


@dataclass(frozen=True, kw_only=True)
class AddNote(MemoryOperation):
    """Write a note and keep a memory of it, in one transaction."""

    kind = "note"

    space: object
    uid: str
    text: str

    @property
    def spaces(self):
        """The space of the note."""
        return (self.space,)

    @property
    def _key(self):
        return memory_key(self.space, f"note-{self.uid}")

    def check(self):
        """Refuse a note without words."""
        if not self.text.strip():
            raise InvalidInput({"text": ["Must not be blank."]})

    def selection(self):
        """The memory and its claim."""
        claim = content_claim(self.space, MemoryType.FACT, None, self.text, NAME)
        return Selection(memories=frozenset({self._key}), claims=frozenset({claim}))

    def read_records(self, transaction):
        """The note, locked."""
        return lock_note(transaction, self.space, self.uid)

    def decide(self, state, now):
        """Create the memory where it is not there."""
        draft = Draft(before=state, now=now)
        if self._key not in state.memories:
            memory = _memory(self.space, f"note-{self.uid}", self.text, now)
            draft.create(memory)
            draft.vectors_of[memory.key] = 0
        note = Note(uid=self.uid, text=self.text, memory=self._key)
        event = Event(space=self.space.key, subject=self.uid, effect=NoteEffect.ADDED)
        return Decided(answer=note, events=(event,), memories=draft.decision(), records=now)

    def apply_records(self, transaction, decided):
        """Write the note."""
        save_note(transaction, self.space, decided.answer, now=decided.records)


def _memory(space, uid, text, now):
    return Memory(
        uid=uid,
        space=space,
        type=MemoryType.FACT,
        content=text,
        summary=text[:120],
        created_at=now,
        updated_at=now,
        embedded=False,
        native={"note": uid},
        kept_by=NAME,
    )


class NoteReaction:
    """A note is stale while the memory that it rests on is not there."""

    def read(self, transaction, *, memories, entities, turns):  # noqa: ARG002
        """The notes that rest on memories."""
        return resting_notes(transaction, memories)

    def decide(self, records, changes, now):  # noqa: ARG002
        """Mark those whose memory left or came back."""
        left = {memory.key for memory in changes.left}
        back = {memory.key for memory in changes.returned}
        marked = [
            replace(note, is_stale=note.memory in left)
            for note in records
            if note.memory in left | back
        ]
        events = [
            Event(
                space=note.space,
                subject=note.uid,
                effect=NoteEffect.STALE if note.is_stale else NoteEffect.FRESH,
            )
            for note in marked
        ]
        return marked, events

    def apply(self, transaction, change):
        """Write the marks."""
        mark_notes(transaction, change)


@dataclass(frozen=True, kw_only=True)
class ForgetNotes(Operation):
    """Forget stale notes."""

    kind = "note"
    role = Role.ADMIN

    rows: list

    @property
    def spaces(self):
        """None: a job does it."""
        return ()

    def read(self, transaction):
        """Nothing more."""

    def decide(self, state, now):  # noqa: ARG002
        """All of them."""
        events = tuple(
            Event(space=row["space"], subject=row["uid"], effect=NoteEffect.FORGOTTEN)
            for row in self.rows
        )
        return Decided(answer=len(self.rows), events=events)

    def apply(self, transaction, decided):  # noqa: ARG002
        """Remove them."""
        remove_notes(transaction, [row["key"] for row in self.rows])


@dataclass(frozen=True, kw_only=True)
class NoteService:
    """What the room does."""

    gateway: object
    notes: Notes

    def add(self, space, uid, text, actor, *, dry_run=False):
        """Write a note."""
        operation = AddNote(space=space, uid=uid, text=text)
        return self.gateway.execute(operation, actor, dry_run=dry_run)


@dataclass(frozen=True, kw_only=True)
class NoteTransfer:
    """The notes of a space as lines."""

    service: NoteService
    kind: str = "note"

    def lines(self, space):
        """All notes."""
        for note in every_item(lambda after: self.service.notes.page(space, after, limit=50)):
            yield {"uid": note.uid, "text": note.text}

    def write(self, space, values, *, caller):
        """Write notes."""
        for value in values:
            try:
                self.service.add(space, value["uid"], value["text"], caller)
                yield "notes"
            except GraphmemError as error:
                yield error


def build(core):
    """The room over a core."""
    service = NoteService(gateway=core.gateway, notes=Notes(core.connection))

    def forget(before, run):
        days = core.policies.base.rooms[NAME].keep_days
        rows = service.notes.stale_before(before - timedelta(days=days))
        return core.gateway.execute(ForgetNotes(rows=rows), run).answer

    def tidy(run):
        run.counts["seen"] += 1

    return Room(
        name=NAME,
        service=service,
        jobs=(
            Job(
                name="tidy_notes",
                does="looks at notes",
                schedule=Every(minutes=30),
                function=tidy,
            ),
        ),
        prunes=(Prune(counted_as="notes_forgotten", forget=forget),),
        warm_ups=(lambda: service.notes.stale_before(core.clock.now()),),
        transfers=(NoteTransfer(service=service),),
        queries=HERE / "cypher",
        migrations=HERE / "migrations",
        reactions=(NoteReaction(),),
        policy=NotePolicy(),
    )
