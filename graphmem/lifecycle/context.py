"""Context: what an agent should know before it answers, within a budget (003, Recall). Pure.

Sections stand in one order, whole lines only; what a line says can begin no line of its own.
"""

from collections.abc import Sequence, Sized
from dataclasses import dataclass, field
from itertools import accumulate

from graphmem.model.memory import Memory
from graphmem.model.notebook import NotedQuestion, ProfileLine
from graphmem.store.session_context import ShownBox
from graphmem.text.rendering import within_line

CHARS_PER_TOKEN = 4
# of the budget, so that a long profile leaves room for what was recalled
_PROFILE_SHARE = 0.15
_BOXES_SHARE = 0.1  # that boxes have for themselves, at most
_TOPICS_SHOWN = 8
_HEADINGS = {
    "artefacts": "Said word for word",
    "profile": "Profile",
    "notes": "Notes",
    "boxes": "Lately told",
    "episodes": "Episodes",
    "questions": "Open questions",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextInput:
    """All that a context may show, in the order in which it is wanted.

    ``recalled`` come best first; ``artefacts`` are pairs of a memory's uid and its words.
    """

    recalled: Sequence[Memory] = ()
    artefacts: Sequence[tuple[str, str]] = ()
    profile: Sequence[ProfileLine] = ()
    boxes: Sequence[ShownBox] = ()
    questions: Sequence[NotedQuestion] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextLine:
    """A line, and the uids of the memories that it rests on."""

    text: str
    uids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A part of a context: its lines, and how many there was no room for."""

    name: str
    lines: tuple[ContextLine, ...] = ()
    cut: int = 0

    @property
    def text(self) -> str:
        """The section with its heading; empty without lines."""
        if not self.lines:
            return ""
        return "\n".join((f"{_HEADINGS[self.name]}:", *(line.text for line in self.lines)))

    @property
    def uids(self) -> tuple[str, ...]:
        """The memories that it rests on, each once."""
        return tuple(dict.fromkeys(uid for line in self.lines for uid in line.uids))


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """A context: its sections in their order."""

    sections: tuple[Section, ...] = field(default_factory=tuple)

    @property
    def text(self) -> str:
        """All sections that have lines, a blank line between two."""
        return "\n\n".join(section.text for section in self.sections if section.lines)

    @property
    def tokens(self) -> int:
        """How many tokens that is, of four characters each, rounded up."""
        return -(-len(self.text) // CHARS_PER_TOKEN)

    @property
    def memories(self) -> tuple[str, ...]:
        """The uids of the memories that it rests on, each once."""
        return tuple(dict.fromkeys(uid for each in self.sections for uid in each.uids))


def build_context(given: ContextInput, *, max_tokens: int) -> Context:
    """A context of at most so many tokens: the first lines of each section, as long as they fit.

    Notes and episodes share their room by what was recalled best. No memory stands in two sections
    but for boxes.
    """
    size = max_tokens * CHARS_PER_TOKEN
    page = _Page(left=size)
    page.add(
        "artefacts",
        [_line(f"\u201c{within_line(text)}\u201d", (uid,)) for uid, text in given.artefacts],
    )
    profile = [_line(within_line(each.text), each.memories) for each in given.profile]
    page.add("profile", profile, most=round(size * _PROFILE_SHARE))
    boxes = [_line(_box_text(each), each.memories) for each in given.boxes]
    reserved = min(_size_of("boxes", boxes), round(size * _BOXES_SHARE))
    best = page.best(given.recalled, kept_free=reserved)
    notes = [_memory_line(each) for each in given.recalled if not each.is_episode]
    page.add("notes", notes, among=best)
    page.add("boxes", boxes)
    episodes = [_memory_line(each) for each in given.recalled if each.is_episode]
    page.add("episodes", episodes, among=best)
    if given.questions:
        page.add(
            "questions",
            [_line(within_line(each.question), each.memories) for each in given.questions],
        )
    return Context(sections=tuple(page.sections))


@dataclass(kw_only=True)
class _Page:
    """The sections so far, the memories in them but for boxes, and the characters that are left."""

    left: int
    sections: list[Section] = field(default_factory=list)
    told: set[str] = field(default_factory=set)

    def add(
        self,
        name: str,
        lines: Sequence[ContextLine],
        *,
        most: int | None = None,
        among: frozenset[str] | None = None,
    ) -> None:
        """Add the first lines that fit: of ``most`` characters, of the memories ``among`` alone."""
        new = lines if name == "boxes" else self._new(lines)
        wanted = [line for line in new if among is None or among.issuperset(line.uids)]
        gap = self._gap()
        room = self.left if most is None else min(self.left, most)
        kept = _first_that_fit(wanted, room - gap - len(_HEADINGS[name]) - 1)
        section = Section(name=name, lines=kept, cut=len(new) - len(kept))
        self.sections.append(section)
        if kept:
            self.left -= len(section.text) + gap
        if name != "boxes":
            self.told |= set(section.uids)

    def best(self, memories: Sequence[Memory], *, kept_free: int) -> frozenset[str]:
        """The uids of the first memories that fit as notes and episodes, beside what stays free."""
        left, begun, best = self.left - kept_free, set[str](), set[str]()
        for memory in memories:
            name = "episodes" if memory.is_episode else "notes"
            if memory.uid in self.told:
                continue
            left -= len(_memory_line(memory).text) + 1
            left -= 0 if name in begun else len(_HEADINGS[name]) + 1 + self._gap(begun)
            if left < 0:
                break
            begun.add(name)
            best.add(memory.uid)
        return frozenset(best)

    def _gap(self, begun: Sized = ()) -> int:
        """How many characters stand before the next section: a blank line, but for the first."""
        return 2 if begun or any(section.lines for section in self.sections) else 0

    def _new(self, lines: Sequence[ContextLine]) -> list[ContextLine]:
        return [line for line in lines if self.told.isdisjoint(line.uids)]


def _size_of(name: str, lines: Sequence[ContextLine]) -> int:
    """The characters of a section of lines with the blank line before it; 0 without lines."""
    heading = len(_HEADINGS[name]) + 3
    return heading + sum(len(line.text) + 1 for line in lines) if lines else 0


def _first_that_fit(lines: Sequence[ContextLine], room: int) -> tuple[ContextLine, ...]:
    """The first lines that fit into some characters, each with the line end before it."""
    sizes = accumulate(len(line.text) + 1 for line in lines)
    return tuple(line for line, size in zip(lines, sizes, strict=True) if size <= room)


def _line(text: str, uids: tuple[str, ...]) -> ContextLine:
    return ContextLine(text=f"- {text}", uids=uids)


def _memory_line(memory: Memory) -> ContextLine:
    """A memory with the day on which it was said or stored."""
    day = (memory.occurred_at or memory.created_at).date()
    return _line(f"{within_line(memory.content)} ({day})", (memory.uid,))


def _box_text(box: ShownBox) -> str:
    topics = ", ".join(within_line(topic, apart=",") for topic in box.topics[:_TOPICS_SHOWN])
    memories = "1 memory" if len(box.memories) == 1 else f"{len(box.memories)} memories"
    return f"{box.last_at.date()}: {topics} ({memories})"
