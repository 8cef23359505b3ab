"""The bulletin (002): what an orchestrator should know before it answers, in six sections."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from graphmem.model.bulletin import Bulletin, Line
from graphmem.model.memory import Memory, MemoryType
from graphmem.recall.request import RecallItem
from graphmem.text.rendering import within_line

SECTIONS = (
    "knowledge_summary",
    "active_goals",
    "open_todos",
    "recent_decisions",
    "preference_profile",
    "conflicts_and_uncertainties",
)
LIMIT_CHARS = 4_000
CITATIONS_MAX = 32  # of a prompt
EVIDENCE_MAX = 8  # memories that an investigation is given
EVIDENCE = "evidence"
_SECTION_OF = {
    MemoryType.GOAL: "active_goals",
    MemoryType.TODO: "open_todos",
    MemoryType.DECISION: "recent_decisions",
    MemoryType.PREFERENCE: "preference_profile",
}
_OTHERS, _CONFLICTS = "knowledge_summary", "conflicts_and_uncertainties"
_UNSURE_BELOW = 0.5  # confidence
# in which order lines go when the text is too long, and then whole sections
_LINES_GO = (
    _OTHERS,
    "preference_profile",
    _CONFLICTS,
    "recent_decisions",
    "open_todos",
    "active_goals",
)
_SECTIONS_GO = (
    _CONFLICTS,
    "preference_profile",
    _OTHERS,
    "recent_decisions",
    "open_todos",
    "active_goals",
)


def build_bulletin(
    items: Iterable[RecallItem], *, limit_chars: int = LIMIT_CHARS, citations_max: int | None = None
) -> Bulletin:
    """The bulletin of a recall, in its order, of at most so many characters and cited memories."""
    lines: dict[str, list[Line]] = {name: [] for name in SECTIONS}
    for item in items:
        memory, line = item.memory, _line(item.memory)
        lines[_SECTION_OF.get(memory.type, _OTHERS)].append(line)
        if item.contradicted or memory.confidence < _UNSURE_BELOW:
            lines[_CONFLICTS].append(line)
    return bounded(_bulletin(lines), limit_chars, citations_max)


def build_evidence(items: Sequence[RecallItem], *, limit_chars: int = LIMIT_CHARS) -> Bulletin:
    """The evidence of an investigation: one section, best first, what fits (002, Write-back)."""
    lines = [_line(item.memory) for item in items[:EVIDENCE_MAX]]
    while (
        len((evidence := Bulletin(sections=((EVIDENCE, tuple(lines)),))).rendered) > limit_chars
        and lines
    ):
        lines.pop()
    return evidence


def bounded(bulletin: Bulletin, limit_chars: int, citations_max: int | None = None) -> Bulletin:
    """A bulletin cut to a length: the least important section goes first, from its end."""
    lines = {name: list(kept) for name, kept in bulletin.sections}
    present = _bulletin(lines)
    while len(present.rendered) > limit_chars or (
        citations_max is not None and len(present.citations) > citations_max
    ):
        if name := next((name for name in _LINES_GO if lines.get(name)), None):
            lines[name].pop()
        elif name := next((name for name in _SECTIONS_GO if name in lines), None):
            del lines[name]
        present = _bulletin(lines)
    return present


def with_what_holds(bulletin: Bulletin, memories: Mapping[str, Memory]) -> Bulletin:
    """A bulletin with the lines that cite some memories, by uid, as these are now."""
    return replace(
        bulletin,
        sections=tuple(
            (name, tuple(_line(memories[line.uid]) for line in lines if line.uid in memories))
            for name, lines in bulletin.sections
        ),
    )


def _line(memory: Memory) -> Line:
    return Line(text=f"- {within_line(memory.summary)} [{memory.uid}]", uid=memory.uid)


def _bulletin(lines: Mapping[str, Sequence[Line]]) -> Bulletin:
    return Bulletin(
        sections=tuple((name, tuple(lines[name])) for name in SECTIONS if name in lines)
    )
