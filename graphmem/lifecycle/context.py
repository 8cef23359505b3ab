"""Context: what an agent should know before it answers, within a budget (003, Recall). Pure.

Sections stand in one order, whole lines only; what a line says can begin no line of its own.
"""

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TypeVar

from graphmem.lifecycle.recalled import Recalled
from graphmem.model.memory import memory_key
from graphmem.model.notebook import NotedQuestion, ProfileLine
from graphmem.model.space import Space
from graphmem.store.session_context import ShownBox
from graphmem.text.normalise import comparable
from graphmem.text.rendering import within_line

Thing = TypeVar("Thing")

CHARS_PER_TOKEN = 4
# of the budget, so that a long profile leaves room for what was recalled
_PROFILE_SHARE = 0.15
_BOXES_SHARE = 0.1  # that boxes have for themselves, at most
_TOPICS_SHOWN = 8
_BESIDE = frozenset({"boxes", "questions"})  # sections of memories that others tell
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

    ``recalled`` come best first; ``artefacts`` are pairs of a memory's key and its words.
    """

    recalled: Sequence[Recalled] = ()
    artefacts: Sequence[tuple[str, str]] = ()
    profile: Sequence[ProfileLine] = ()
    boxes: Sequence[ShownBox] = ()
    questions: Sequence[NotedQuestion] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ContextLine:
    """A line, and the keys of the memories that it rests on."""

    text: str
    memories: tuple[str, ...]


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
    def memories(self) -> tuple[str, ...]:
        """The keys of the memories that it rests on, each once."""
        return tuple(dict.fromkeys(key for line in self.lines for key in line.memories))

    @property
    def uids(self) -> tuple[str, ...]:
        """Their uids, each once."""
        return _uids(self.memories)


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
        """The keys of the memories that it rests on, each once."""
        return tuple(dict.fromkeys(key for each in self.sections for key in each.memories))

    @property
    def uids(self) -> tuple[str, ...]:
        """Their uids, each once."""
        return _uids(self.memories)


def build_context(given: ContextInput, *, max_tokens: int) -> Context:
    """A context of at most so many tokens: the first lines of each section, as long as they fit.

    Notes and episodes share their room by what was recalled best. No memory stands in two sections
    but for boxes and questions.
    """
    size = max_tokens * CHARS_PER_TOKEN
    page = _Page(left=size)
    page.add("artefacts", given.artefacts, _quote)
    page.add("profile", given.profile, _profile_line, most=round(size * _PROFILE_SHARE))
    boxes = [_box_line(box) for box in given.boxes]
    reserved = min(_size_of("boxes", boxes), round(size * _BOXES_SHARE))
    best = page.best(given.recalled, kept_free=reserved)
    page.add_best("notes", given.recalled, best)
    episodes = [best[each.key] for each in given.recalled if each.is_episode and each.key in best]
    page.add("boxes", given.boxes, _box_line, most=page.left - _size_of("episodes", episodes))
    page.add_best("episodes", given.recalled, best)
    if given.questions:
        page.add("questions", given.questions, _question_line)
    return Context(sections=tuple(page.sections))


def said_once(recalled: Sequence[Recalled], space: Space) -> list[Recalled]:
    """Memories without those of other spaces that say what one of the space says."""
    others = {each.key for each in recalled if each.space_key != space.key}
    if not others:
        return list(recalled)
    own = {comparable(each.content) for each in recalled if each.key not in others}
    return [
        each for each in recalled if each.key not in others or comparable(each.content) not in own
    ]


@dataclass(kw_only=True)
class _Page:
    """The sections so far, the memories that they tell, and the characters that are left."""

    left: int
    sections: list[Section] = field(default_factory=list)
    told: set[str] = field(default_factory=set)

    def add(
        self,
        name: str,
        things: Sequence[Thing],
        line: Callable[[Thing], ContextLine],
        *,
        most: int | None = None,
    ) -> None:
        """Add the first lines of things that fit, of ``most`` characters; none of what was told."""
        room = self.left if most is None else min(self.left, most)
        lines = map(line, things)
        new = [each for each in lines if name in _BESIDE or self.told.isdisjoint(each.memories)]
        kept = _first_that_fit(new, room - self._gap() - len(_HEADINGS[name]) - 1)
        self._close(name, kept, cut=len(new) - len(kept))

    def add_best(
        self, name: str, memories: Sequence[Recalled], best: Mapping[str, ContextLine]
    ) -> None:
        """Add the lines of the best memories of a section."""
        its = (each.key for each in memories if _section_of(each) == name)
        new = [key for key in its if key not in self.told]
        kept = tuple(best[key] for key in new if key in best)
        self._close(name, kept, cut=len(new) - len(kept))

    def best(self, memories: Sequence[Recalled], *, kept_free: int) -> Mapping[str, ContextLine]:
        """The lines of the first memories that fit beside what stays free, by key."""
        left, begun, best = self.left - kept_free, set[str](), dict[str, ContextLine]()
        for memory in memories:
            if memory.key in self.told:
                continue
            name, line = _section_of(memory), _memory_line(memory)
            left -= len(line.text) + 1
            left -= 0 if name in begun else len(_HEADINGS[name]) + 1 + self._gap(begun)
            if left < 0:
                break
            begun.add(name)
            best[memory.key] = line
        return best

    def _close(self, name: str, lines: tuple[ContextLine, ...], *, cut: int) -> None:
        section = Section(name=name, lines=lines, cut=cut)
        if lines:
            self.left -= len(section.text) + self._gap()
        if name not in _BESIDE:
            self.told |= set(section.memories)
        self.sections.append(section)

    def _gap(self, begun: Sized = ()) -> int:
        """How many characters stand before the next section: a blank line, but for the first."""
        return 2 if begun or any(section.lines for section in self.sections) else 0


def _section_of(memory: Recalled) -> str:
    return "episodes" if memory.is_episode else "notes"


def _size_of(name: str, lines: Sequence[ContextLine]) -> int:
    """The characters of a section of lines with the blank line before it; 0 without lines."""
    heading = len(_HEADINGS[name]) + 3
    return heading + sum(len(line.text) + 1 for line in lines) if lines else 0


def _first_that_fit(lines: Sequence[ContextLine], room: int) -> tuple[ContextLine, ...]:
    """The first lines that fit into some characters, each with the line end before it."""
    sizes = accumulate(len(line.text) + 1 for line in lines)
    return tuple(line for line, size in zip(lines, sizes, strict=True) if size <= room)


def _quote(artefact: tuple[str, str]) -> ContextLine:
    key, text = artefact
    return _line(f"\u201c{within_line(text)}\u201d", (key,))


def _profile_line(line: ProfileLine) -> ContextLine:
    return _line(within_line(line.text), _keys(line.space, line.memories))


def _question_line(question: NotedQuestion) -> ContextLine:
    return _line(within_line(question.question), _keys(question.space, question.memories))


def _line(text: str, memories: tuple[str, ...]) -> ContextLine:
    return ContextLine(text=f"- {text}", memories=memories)


def _keys(space: Space, uids: Sequence[str]) -> tuple[str, ...]:
    return tuple(memory_key(space, uid) for uid in uids)


def _uids(keys: Sequence[str]) -> tuple[str, ...]:
    """The uids of keys, each once; memories of two spaces may have one uid."""
    return tuple(dict.fromkeys(key.partition("|")[2] for key in keys))


def _memory_line(memory: Recalled) -> ContextLine:
    """A memory with the day on which it was said or stored."""
    return _line(f"{within_line(memory.content)} ({memory.said_at.date()})", (memory.key,))


def _box_line(box: ShownBox) -> ContextLine:
    topics = ", ".join(within_line(topic, apart=",") for topic in box.topics[:_TOPICS_SHOWN])
    memories = "1 memory" if len(box.memories) == 1 else f"{len(box.memories)} memories"
    return _line(f"{box.last_at.date()}: {topics} ({memories})", box.memories)
