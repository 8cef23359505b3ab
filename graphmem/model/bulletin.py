"""Bulletin: what an orchestrator should know before it answers a message (002)."""

from dataclasses import dataclass, replace
from datetime import datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A line of a bulletin and the memory that it cites."""

    text: str
    uid: str

    @property
    def on_one_line(self) -> str:
        """The text without line breaks, which an older version kept."""
        return " ".join(self.text.split())


@dataclass(frozen=True, kw_only=True, slots=True)
class Bulletin:
    """The sections that are shown, in their order, each with its lines."""

    sections: tuple[tuple[str, tuple[Line, ...]], ...]

    @property
    def rendered(self) -> str:
        """The text: each section's name and its lines, or ``-`` where it has none."""
        return "".join(
            f"{name}:\n" + ("".join(f"{line.on_one_line}\n" for line in lines) or "-\n")
            for name, lines in self.sections
        )

    @property
    def citations(self) -> tuple[str, ...]:
        """The uids of the memories that are shown, each once, in the order of the text."""
        return tuple(dict.fromkeys(line.uid for _, lines in self.sections for line in lines))


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """A bulletin as it was made: the mode of its recall, and what it fell back to, if so."""

    message_id: str
    bulletin: Bulletin
    mode: str
    fallback: str | None
    generated_at: datetime

    def showing(self, bulletin: Bulletin) -> "Snapshot":
        """The same with another bulletin."""
        return replace(self, bulletin=bulletin)
