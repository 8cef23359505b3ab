"""Context: what an agent should know before it answers, within a budget (003, Recall). Pure.

Sections stand in one order, whole lines only; what a line says can begin no line of its own.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from graphmem.model.memory import Memory
from graphmem.model.notebook import NotedQuestion, ProfileLine
from graphmem.store.session_context import ShownBox
from graphmem.text.rendering import within_line

CHARS_PER_TOKEN = 4
_PROFILE_SHARE = 0.25  # of the budget, so that a long profile leaves room for what was recalled
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

    No memory stands in two of its sections but for boxes.
    """
    left = max_tokens * CHARS_PER_TOKEN
    told: set[str] = set()
    sections: list[Section] = []
    for name, lines in _wanted(given):
        most = round(max_tokens * CHARS_PER_TOKEN * _PROFILE_SHARE) if name == "profile" else left
        new = [line for line in lines if name == "boxes" or told.isdisjoint(line.uids)]
        gap = 2 if any(section.lines for section in sections) else 0  # the blank line before it
        section = _fitting(name, new, min(left, most) - gap)
        if section.lines:
            left -= len(section.text) + gap
        if name != "boxes":
            told |= set(section.uids)
        sections.append(section)
    return Context(sections=tuple(sections))


def _fitting(name: str, lines: Sequence[ContextLine], room: int) -> Section:
    """The first lines that fit into some characters with their heading."""
    left = room - len(_HEADINGS[name]) - 1
    kept: list[ContextLine] = []
    for line in lines:
        if len(line.text) + 1 > left:
            break
        left -= len(line.text) + 1  # with the line end before it
        kept.append(line)
    return Section(name=name, lines=tuple(kept), cut=len(lines) - len(kept))


def _wanted(given: ContextInput) -> Iterator[tuple[str, list[ContextLine]]]:
    yield (
        "artefacts",
        [_line(f"\u201c{within_line(text)}\u201d", (uid,)) for uid, text in given.artefacts],
    )
    yield "profile", [_line(within_line(each.text), each.memories) for each in given.profile]
    yield "notes", _memory_lines(each for each in given.recalled if not each.is_episode)
    yield "boxes", [_line(_box_text(each), each.memories) for each in given.boxes]
    yield "episodes", _memory_lines(each for each in given.recalled if each.is_episode)
    if given.questions:
        yield (
            "questions",
            [_line(within_line(each.question), each.memories) for each in given.questions],
        )


def _line(text: str, uids: tuple[str, ...]) -> ContextLine:
    return ContextLine(text=f"- {text}", uids=uids)


def _memory_lines(memories: Iterable[Memory]) -> list[ContextLine]:
    """Memories with the day on which each was said or stored."""
    return [
        _line(
            f"{within_line(each.content)} ({(each.occurred_at or each.created_at).date()})",
            (each.uid,),
        )
        for each in memories
    ]


def _box_text(box: ShownBox) -> str:
    topics = ", ".join(within_line(topic, apart=",") for topic in box.topics[:_TOPICS_SHOWN])
    memories = "1 memory" if len(box.memories) == 1 else f"{len(box.memories)} memories"
    return f"{box.last_at.date()}: {topics} ({memories})"
