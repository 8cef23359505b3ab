"""Folder export: the lines of an export as files of a folder (003, Files).

What rooms keep stays out. Records are read and written one after the other; what must be known of
all of them is on disk.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graphmem.lifecycle.files.entity_form import KnownOfIt, entity_file, incoming, outgoing
from graphmem.lifecycle.files.entity_keys import entity_name
from graphmem.lifecycle.files.folder import FolderWriter
from graphmem.lifecycle.files.memory_form import InBox, memory_file
from graphmem.lifecycle.files.names import (
    ALIASES,
    IDENTITY,
    PROFILE,
    entity_path,
    memory_path,
)
from graphmem.lifecycle.files.page_forms import (
    IDENTITY_HEAD,
    PROFILE_HEAD,
    profile_line,
    reflection,
)
from graphmem.lifecycle.files.plain_lines import Line, PlainLines
from graphmem.lifecycle.files.record_forms import ARTEFACT, BOX, QUESTION, THREAD, FileForm
from graphmem.lifecycle.files.scratch import Scratch
from graphmem.lifecycle.files.state_forms import (
    BUFFER,
    HASHES,
    LINES,
    META,
    TOPICS,
    TRACES,
    buffer_entry,
    json_line,
    json_list,
    json_object,
    trace_entry,
)
from graphmem.model.edge import LineageType
from graphmem.model.entity import label_from_key
from graphmem.model.memory import Status
from graphmem.model.notebook import ProfileLine
from graphmem.model.space import Space
from graphmem.rooms import Transfer
from graphmem.text.normalise import shorten
from graphmem.text.statements import STATEMENT_MAX_CHARS, statement_hash
from graphmem.upkeep.topics import TopicCounter

LEFT_OUT = "left_out"  # kept by a room
_AT_ONCE = 200
_FACTS, _CONNECTIONS = 20, 50  # of an entity that its file shows
_TOPICS = 50
_WORDS_CHARS = 280  # of a turn that the file of its thread shows
Report = Callable[[Mapping[str, int]], None]


@dataclass(kw_only=True)
class FolderExport:
    """Writes a space into a folder; ``report`` is told how many lines of each kind were written."""

    transfers: Sequence[Transfer]
    profile: Sequence[ProfileLine]  # as it is shown
    space: Space
    writer: FolderWriter
    scratch: Scratch
    report: Report
    counts: Counter[str] = field(default_factory=Counter)
    topics: TopicCounter = field(default_factory=TopicCounter)
    last_extraction_at: str | None = None

    @property
    def plain(self) -> PlainLines:
        """The lines without what rooms keep."""
        return PlainLines(scratch=self.scratch)

    def run(self) -> Mapping[str, int]:
        """Write all files; how many lines of each kind they hold.

        Raises:
            InvalidInput: the folder holds something else, or a link is in the way.
        """
        self.writer.begin()
        self._note_members()
        self._write_memories()
        for kind, path in LINES.items():
            self.writer.write(path, map(json_line, self._shown(kind)))
        for form in (BOX, ARTEFACT, QUESTION, THREAD):
            self._write_each(form)
        self._write_entities()
        self._write_pages()
        self._write_state()
        self.writer.finish()
        return self.counts

    def _lines(self, kind: str) -> Iterator[Line]:
        for transfer in self.transfers:
            if transfer.kind == kind:
                yield from transfer.lines(self.space)

    def _counted(self, kind: str) -> Iterator[Line]:
        """The lines of a kind, each counted."""
        for line in self._lines(kind):
            self.counts[kind] += 1
            if self.counts.total() % _AT_ONCE == 0:
                self.report(self.counts)
            yield line

    def _note_members(self) -> None:
        """Know which memories are in boxes, and which are summaries of others."""
        for box in self._lines("box"):
            for member in box["members"]:
                self.scratch.lead("box", member["memory"], box["uid"])
                if box["trace"]:
                    self.scratch.lead("trace", member["memory"], box["trace"])
        for line in self._lines("lineage"):
            if line["type"] == LineageType.SUMMARY_OF and "from_space" not in line:
                self.scratch.add("summary", line["from"])

    def _write_memories(self) -> None:
        for line in self._lines("memory"):
            if self.plain.leave_out(line):
                self.counts[LEFT_OUT] += 1
                continue
            self._write_memory(line)
            self._know(line)

    def _write_memory(self, line: Line) -> None:
        uid = line["uid"]
        path = memory_path(line, is_summary=self.scratch.has("summary", uid))
        within = InBox(box=self.scratch.led("box", uid), trace=self.scratch.led("trace", uid))
        self.writer.write(path, [memory_file(line, within)])
        self.counts["memory"] += 1
        if self.counts["memory"] % _AT_ONCE == 0:
            self.report(self.counts)

    def _know(self, line: Line) -> None:
        """Note what other files show of a memory."""
        is_active = line["status"] == Status.ACTIVE
        if is_active:
            self.topics.add(line["uid"], line["content"])
            if len(line["content"]) <= STATEMENT_MAX_CHARS:
                self.scratch.add("hash", statement_hash(line["content"]))
        if line["status"] == Status.RETRACTED:
            return
        self.scratch.lead("words", line["uid"], line["summary"])
        for ref in line["entities"]:
            self.scratch.lead("entity", ref["key"], ref["label"] or label_from_key(ref["key"]))
            if is_active:
                self.scratch.note("fact", ref["key"], line["created_at"], line["summary"])

    def _shown(self, kind: str) -> Iterator[Line]:
        """The lines of a kind without what rooms keep."""
        for line in self._counted(kind):
            shown = self.plain.without_kept(kind, line)
            if shown is None:
                self.counts[kind] -= 1
                continue
            self._know_of(kind, shown)
            yield shown

    def _know_of(self, kind: str, line: Line) -> None:
        """Note what other files show of a line."""
        if kind == "relation":
            self._note_relation(line)
        elif kind == "turn" and line["content"]:
            said = shorten(line["content"], _WORDS_CHARS)
            self.scratch.lead("words", line["uid"], f"{line['actor'] or line['role']}: {said}")
        elif kind == "extraction" and line["at"]:
            self.last_extraction_at = max(self.last_extraction_at or "", line["at"])

    def _note_relation(self, line: Line) -> None:
        start, end, label = line["from"], line["to"], line["label"]
        self.scratch.note("connection", start, "", outgoing(label, end))
        self.scratch.note("connection", end, "", incoming(label, start))
        for key, name in ((start, line["from_label"]), (end, line["to_label"])):
            self.scratch.lead("entity", key, name or label_from_key(key))

    def _write_each(self, form: FileForm) -> None:
        for line in self._counted(form.kind):
            shown = [self.scratch.led("words", uid) for uid in _told_in(form, line)]
            text = form.file(line, [words for words in shown if words])
            self.writer.write(form.path(line), [text])

    def _write_entities(self) -> None:
        for line in self._counted("entity"):
            self.scratch.add("declared", line["key"])
            self._write_entity(line, is_declared=True)
            if line["aliases"]:
                self.scratch.lead("alias", entity_name(line["key"]), json.dumps(line["aliases"]))
        for key, label in self.scratch.links("entity"):
            if not self.scratch.has("declared", key):
                self._write_entity(_mentioned(key, label), is_declared=False)
        table = ((key, json.loads(names)) for key, names in self.scratch.links("alias"))
        self.writer.write(ALIASES, json_object(table))

    def _write_entity(self, line: Line, *, is_declared: bool) -> None:
        key = line["key"]
        known = KnownOfIt(
            facts=self.scratch.notes("fact", key, limit=_FACTS),
            connections=self.scratch.notes("connection", key, limit=_CONNECTIONS),
        )
        self.writer.write(entity_path(key), [entity_file(line, known, is_declared=is_declared)])

    def _write_pages(self) -> None:
        self.writer.write(PROFILE, self._profile())
        reflections = map(reflection, self._counted("reflection"))
        self.writer.write(IDENTITY, _headed(IDENTITY_HEAD, reflections))

    def _profile(self) -> Iterator[str]:
        shown = {line.uid: line.text for line in self.profile}
        yield PROFILE_HEAD
        for line in self._counted("profile_line"):
            yield profile_line(line, shown.get(line["uid"], ""))

    def _write_state(self) -> None:
        buffers = map(buffer_entry, self._counted("buffer"))
        self.writer.write(BUFFER, json_list("buffers", buffers))
        traces = map(trace_entry, self._counted("topic_trace"))
        self.writer.write(TRACES, json_list("traces", traces))
        self.writer.write(HASHES, (f"{each}\n" for each in self.scratch.names("hash")))
        topics = (
            {"term": each.label, "score": each.score, "memoryIds": list(each.examples)}
            for each in self.topics.top(_TOPICS)
        )
        self.writer.write(TOPICS, json_list("topics", topics))
        self.writer.write(META, json_object(self._meta()))

    def _meta(self) -> Iterator[tuple[str, Any]]:
        yield "memoryCount", self.counts["memory"]
        yield "extractionCount", self.counts["extraction"]
        yield "lastExtractionAt", self.last_extraction_at


def _told_in(form: FileForm, line: Line) -> list[str]:
    """The memories or turns whose words the file of a record shows."""
    if form is BOX:
        return [member["memory"] for member in line["members"]]
    return list(line["turns"]) if form is THREAD else []


def _headed(head: str, parts: Iterable[str]) -> Iterator[str]:
    yield head
    yield from parts


def _mentioned(key: str, label: str) -> Line:
    """An entity of which there is only its name."""
    nothing: Line = {"description": None, "attributes": {}, "created_at": None, "updated_at": None}
    return {"key": key, "label": label, "aliases": [], **nothing}
