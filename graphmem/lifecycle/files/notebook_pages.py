"""Notebook pages: the lines of ``profile.md`` and the reflections of ``IDENTITY.md`` as records."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from graphmem.errors import InvalidInput
from graphmem.intake.export_import import Record, Unread
from graphmem.lifecycle.files.dates import EPOCH
from graphmem.lifecycle.files.folder import FolderReader
from graphmem.lifecycle.files.found import Found, unread
from graphmem.lifecycle.files.front_matter import read_page
from graphmem.lifecycle.files.names import IDENTITY, PROFILE, made_uid
from graphmem.lifecycle.files.page_forms import identity_values, profile_value
from graphmem.lifecycle.files.scratch import Scratch
from graphmem.text.statements import statement_hash
from graphmem.text.times import iso

_IMPORTANCE = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class NotebookPages:
    """Reads both pages; the memories of the folder are known by what they state."""

    reader: FolderReader
    scratch: Scratch

    def records(self) -> Iterator[Found]:
        """The lines and reflections."""
        for path, values in ((PROFILE, self._profile), (IDENTITY, self._identity)):
            try:
                yield from values()
            except InvalidInput as error:
                yield Unread(place=path, error=error)

    def _profile(self) -> Iterator[Found]:
        for number, line in enumerate(self._text(PROFILE).split("\n"), start=1):
            if found := self._profile_line(line, f"{PROFILE} line {number}"):
                yield found

    def _profile_line(self, line: str, place: str) -> Found | None:
        value = profile_value(line)
        if value is None:
            return None
        value = value if "uid" in value else self._resting(value["text"])
        if value is None:
            return unread(place, "Rests on no memory: none in the folder says it.")
        if not self.scratch.add("profile_line", str(value["uid"])):
            return unread(place, f"Another line has the id {value['uid']} too.")
        return Record(place=place, kind="profile_line", value=value)

    def _resting(self, text: str) -> dict[str, Any] | None:
        """A line of another system as what a memory that says it says."""
        known = self.scratch.led("statement", statement_hash(text))
        if known is None:
            return None
        uid, created, importance = json.loads(known)
        return {
            "uid": made_uid("profile", uid),
            "text": None,
            "memories": [uid],
            "importance": importance if isinstance(importance, int) else _IMPORTANCE,
            "noted_at": created or iso(EPOCH),
        }

    def _identity(self) -> Iterator[Found]:
        for value in identity_values(self._text(IDENTITY)):
            if self.scratch.add("reflection", str(value["uid"])):
                yield Record(place=IDENTITY, kind="reflection", value=value)
            else:
                yield unread(IDENTITY, f"Two reflections have the id {value['uid']}.")

    def _text(self, path: str) -> str:
        return read_page(self.reader.text(path)).text if self.reader.has(path) else ""
