"""Folder import: the files of a folder as records that an import takes in (003, Files).

What is no part of the layout, or broken, is named; all else is read.
"""

import heapq
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphmem.errors import InvalidInput
from graphmem.intake.export_import import Record, Unread
from graphmem.lifecycle.entity_matching import shown_key
from graphmem.lifecycle.files.dates import day_in, milliseconds_of, moment_text, time_in
from graphmem.lifecycle.files.differences import is_ours
from graphmem.lifecycle.files.entity_form import entity_value
from graphmem.lifecycle.files.entity_keys import key_of
from graphmem.lifecycle.files.folder import (
    MANIFEST,
    FolderReader,
    Unfit,
)
from graphmem.lifecycle.files.foreign import (
    Records,
    connections,
    turn_of_artefact,
    waiting,
)
from graphmem.lifecycle.files.found import Found, Value, left_out, own, record_of, unread
from graphmem.lifecycle.files.front_matter import Page, read_page
from graphmem.lifecycle.files.memory_form import memory_value, part_edge
from graphmem.lifecycle.files.names import ALIASES
from graphmem.lifecycle.files.notebook_pages import NotebookPages
from graphmem.lifecycle.files.plain_json import parsed
from graphmem.lifecycle.files.record_forms import ARTEFACT, BOX, QUESTION, THREAD, FileForm
from graphmem.lifecycle.files.scratch import Scratch
from graphmem.lifecycle.files.state_forms import (
    BUFFER,
    LINES,
    MADE,
    TRACES,
    alias_table,
    buffer_value,
    entry_on,
    list_head,
    trace_entries,
    trace_value,
)
from graphmem.model.entity import label_from_key
from graphmem.model.memory import Status
from graphmem.text.statements import STATEMENT_MAX_CHARS, statement_hash

_MEMORY_FOLDERS = ("facts", "corrections", "archive", "summaries")
_FORMS = (
    ("threads", THREAD),
    ("boxes", BOX),
    ("artifacts", ARTEFACT),
    ("questions", QUESTION),
)
_STATE = frozenset({*LINES.values(), *MADE, BUFFER, TRACES, MANIFEST, ALIASES})
Entries = Callable[[Any], Records]


@dataclass(frozen=True, kw_only=True, slots=True)
class FolderImport:
    """Reads a folder that an export, or the source system, wrote."""

    reader: FolderReader
    scratch: Scratch

    def records(self) -> Iterator[Found]:
        """All that the folder holds, in the order in which it is to be written."""
        for unfit in self.reader.strangers():
            yield left_out(unfit)
        yield from self._state_strangers()
        yield from self._entities()
        yield from self._memories()
        yield from self._links()
        yield from self._lines("relation")
        for _, said in self.scratch.links("connection"):
            relation = json.loads(said)
            place = f"connections of {shown_key(relation['from'])}"
            yield Record(place=place, kind="relation", value=relation)
        for kind in ("lineage", "conversation", "turn"):
            yield from self._lines(kind)
        yield from self._listed(BUFFER, "buffer", "buffers", _buffers, buffer_value)
        yield from self._lines("extraction")
        yield from self._listed(TRACES, "topic_trace", "traces", _traces, trace_value)
        for folder, form in _FORMS:
            yield from self._each(folder, form)
        yield from NotebookPages(reader=self.reader, scratch=self.scratch).records()
        yield from self._lines("feedback")

    def _state_strangers(self) -> Iterator[Unread]:
        for folder in ("config", "state"):
            for found in self.reader.files(folder):
                if isinstance(found, Unfit):
                    yield left_out(found)
                elif found not in _STATE:
                    yield unread(found, "Is no part of the layout.")

    def _pages(self, folder: str) -> Iterator[str | Unread]:
        """The paths of the Markdown files of a folder; what is none is named."""
        for found in self.reader.files(folder):
            if isinstance(found, Unfit):
                yield left_out(found)
            elif found.endswith(".md"):
                yield found
            else:
                yield unread(found, "Is no part of the layout.")

    def _read(
        self, kind: str, path: str, value_of: Callable[[Page, str], Any], name: str = "uid"
    ) -> Record | Unread | None:
        """The record of a file; None where it says that there is none."""
        try:
            value = value_of(read_page(self.reader.text(path)), path)
        except InvalidInput as error:
            return Unread(place=path, error=error)
        if value is None:
            return None
        uid = value[name]
        if uid is not None and not self.scratch.add(kind, str(uid)):
            return unread(path, f"Another file has the id {uid} too.")
        return Record(place=path, kind=kind, value=value)

    def _entities(self) -> Iterator[Found]:
        yield from self._aliases()
        for path in self._pages("entities"):
            found = self._entity(path) if isinstance(path, str) else path
            if found:
                yield found
        for key, names in self.scratch.links("alias"):
            if not self.scratch.has("entity", key):
                yield Record(place=ALIASES, kind="entity", value=_named(key, json.loads(names)))

    def _entity(self, path: str) -> Found | None:
        found = self._read("entity", path, self._entity_value, "key")
        if isinstance(found, Record):
            more = json.loads(self.scratch.led("alias", str(found.value["key"])) or "[]")
            found.value["aliases"] = _united(found.value["aliases"], more)
        return found

    def _entity_value(self, page: Page, path: str) -> dict[str, Any] | None:
        value = entity_value(page, path)
        if value and not is_ours(page.front):
            for relation in connections(value, page.text):
                self.scratch.lead("connection", relation["uid"], json.dumps(relation))
        return value

    def _aliases(self) -> Iterator[Unread]:
        """Note the other names of entities, by key."""
        try:
            for shown, names in self._table().items():
                self.scratch.lead("alias", key_of(shown), json.dumps(names))
        except InvalidInput as error:
            yield Unread(place=ALIASES, error=error)

    def _table(self) -> Mapping[str, list[str]]:
        is_there = self.reader.has(ALIASES)
        return alias_table(parsed(self.reader.text(ALIASES))) if is_there else {}

    def _memories(self) -> Iterator[Found]:
        """The memories by when they were stored, as far as folders and names tell that."""
        ways = [self._timed(folder) for folder in _MEMORY_FOLDERS]
        for _, path in heapq.merge(*ways, key=lambda each: each[0]):
            yield self._memory(path) if isinstance(path, str) else path

    def _timed(self, folder: str) -> Iterator[tuple[int, str | Unread]]:
        day: str | None = None
        of_day: list[tuple[int, str]] = []
        for path in self._pages(folder):
            if isinstance(path, Unread):
                yield 0, path
                continue
            if day_in(path) != day:
                yield from sorted(of_day)
                day, of_day = day_in(path), []
            of_day.append((_time_of(path), path))
        yield from sorted(of_day)

    def _memory(self, path: str) -> Found:
        found = self._read("memory", path, self._memory_value)
        return found or unread(path, "Holds nothing.")

    def _memory_value(self, page: Page, path: str) -> dict[str, Any]:
        value: dict[str, Any] = own(memory_value(page, path))
        uid, content = str(value["uid"]), value["content"]
        if self.scratch.has("memory", uid):
            return value
        edge = None if is_ours(page.front) else part_edge(value)
        if edge:
            self.scratch.lead("parent", uid, edge["to"])
        is_short = isinstance(content, str) and len(content) <= STATEMENT_MAX_CHARS
        if is_short and value["status"] == Status.ACTIVE:
            known = json.dumps([uid, value.get("created_at"), value["importance"]])
            self.scratch.lead("statement", statement_hash(content), known)
        return value

    def _links(self) -> Iterator[Found]:
        yield from self._lines("edge")
        for uid, parent in self.scratch.links("parent"):
            value = {"from": uid, "to": parent, "type": "PART_OF"}
            yield Record(place=f"parentId of {uid}", kind="edge", value=value)

    def _lines(self, kind: str) -> Iterator[Found]:
        path = LINES[kind]
        if not self.reader.has(path):
            return
        for number, line in enumerate(self.reader.lines(path), start=1):
            yield record_of(f"{path} line {number}", kind, line, lambda text: own(parsed(text)))

    def _listed(
        self, path: str, kind: str, name: str, entries: Entries, value: Value
    ) -> Iterator[Found]:
        """The records of a JSON file that holds several: each on a line, or in a form of others."""
        lines = self.reader.lines(path) if self.reader.has(path) else iter(())
        head = next(lines, "")
        if head == list_head(name):
            for number, line in enumerate(lines, start=2):
                if text := entry_on(line):
                    place = f"{path} line {number}"
                    yield record_of(place, kind, text, lambda said: value(parsed(said)))
        elif head:
            try:
                found = entries(parsed(self.reader.text(path)))
            except InvalidInput as error:
                yield Unread(place=path, error=error)
                return
            for which, each in found:
                yield record_of(path, which, each, value if which == kind else lambda said: said)

    def _each(self, folder: str, form: FileForm) -> Iterator[Found]:
        for path in self._pages(folder):
            if isinstance(path, Unread):
                yield path
            elif found := self._read(form.kind, path, lambda page, _: form.value(page)):
                if form is ARTEFACT and isinstance(found, Record):
                    yield from self._turn_of(found)
                yield found

    def _turn_of(self, artefact: Record) -> Iterator[Record]:
        """The turn that an artefact of another system is of."""
        for kind, value in turn_of_artefact(artefact.value):
            if kind == "turn":
                artefact.value["turn"] = value["uid"]
                yield Record(place=artefact.place, kind=kind, value=value)
            elif self.scratch.add(kind, value["id"]):
                yield Record(place=artefact.place, kind=kind, value=value)


def _buffers(found: Any) -> Records:  # noqa: ANN401 - any JSON
    """The buffers of a file, of ours or of another system, with the turns that only they hold."""
    ours = found.get("buffers") if isinstance(found, Mapping) else None
    return [("buffer", each) for each in ours] if isinstance(ours, list) else waiting(found)


def _traces(found: Any) -> Records:  # noqa: ANN401 - any JSON
    return [("topic_trace", each) for each in trace_entries(found)]


def _named(key: str, names: list[str]) -> dict[str, Any]:
    """An entity of which there are only its names."""
    return {"key": key, "label": label_from_key(key), "aliases": names}


def _united(known: Any, more: list[str]) -> Any:  # noqa: ANN401 - any value of YAML
    if not isinstance(known, list):
        return known
    return [*known, *(each for each in more if each not in known)]


def _time_of(path: str) -> int:
    number = time_in(path)
    return milliseconds_of(moment_text("day", day_in(path))) if number is None else number
