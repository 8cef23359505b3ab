"""Plain lines: the lines of a space without what rooms keep of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphmem.lifecycle.files.scratch import Scratch

Line = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class PlainLines:
    """Knows what rooms keep: memories and conversations come before the lines that name them."""

    scratch: Scratch

    def leave_out(self, memory: Line) -> bool:
        """Whether a room keeps a memory; then lines that name it go without it."""
        if memory["kept_by"]:
            self.scratch.add("kept", memory["uid"])
        return bool(memory["kept_by"])

    def without_kept(self, kind: str, line: Line) -> Line | None:
        """A line without what rooms keep, and what belongs to other spaces; None if that is all."""
        if kind in {"edge", "lineage"}:
            is_kept = self._is_kept(line["from"]) or self._is_kept(line["to"])
            return None if is_kept or "from_space" in line else line
        if kind == "conversation" and line["kept_by"]:
            self.scratch.add("conversation", line["id"])
            return None
        if kind == "turn":
            return self._turn(line)
        return self._resting(line) if kind == "relation" else line

    def _turn(self, line: Line) -> Line | None:
        if self.scratch.has("conversation", line["conversation_id"]):
            return None
        left = [each for each in line["memories"] if not self._is_kept(each["uid"])]
        return {**line, "memories": left}

    def _resting(self, line: Line) -> Line | None:
        """A relation as far as it rests on what no room keeps."""
        left = [uid for uid in line["memories"] if not self._is_kept(uid)]
        rests = left or line["by_hand"] or not line["memories"]
        return {**line, "memories": left} if rests else None

    def _is_kept(self, uid: str) -> bool:
        return self.scratch.has("kept", uid)
