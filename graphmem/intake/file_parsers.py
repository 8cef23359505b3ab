"""File parsers: dropped text and JSON files as write requests (002, Ingestion). Pure."""

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import PurePath
from typing import Any

from marshmallow import RAISE, Schema, ValidationError, fields, validate

from graphmem.bounded_fields import Several
from graphmem.gateway.edges import EdgeRequest
from graphmem.intake.manifests import RejectedError, RejectionCode
from graphmem.intake.splitting import (
    CONTENT_MAX_CHARS,
    PART_MAX_CHARS,
    leading_words,
    whole_and_parts,
)
from graphmem.messages import flat_messages
from graphmem.model.edge import EdgeType, edge_type
from graphmem.model.memory import MemoryType, Status
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.model.space import Space
from graphmem.model.writing import WriteRequest
from graphmem.text.normalise import shorten, shows_something, with_layout
from graphmem.text.times import has_zone

Texts = dict[str, str | list[Any] | dict[Any, Any]]  # messages of a field

TEXT_ENDINGS, JSON_ENDING = (".txt", ".md"), ".json"
_SUMMARY_BELOW_CHARS = 120
_MEMORIES_MAX, _EDGES_MAX = 5_000, 20_000  # of one file
_PROBLEMS_SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class SourceFile:
    """A file as it was dropped: its canonical path then, where it lies now, and its bytes."""

    dropped_at: str
    path: str
    content: bytes

    @property
    def idempotency_key(self) -> str:
        """SHA-256 of path and bytes, in hex (002, Ingestion)."""
        return self._hashed.hexdigest()

    def memory_id(self, number: int) -> str:
        """The id of the memory of that number that is made of a text."""
        hashed = self._hashed.copy()
        hashed.update(b"\0" + str(number).encode())
        return f"ingest-{hashed.hexdigest()[:24]}"

    def source(self, number: int) -> Source:
        """The source of a memory of the file.

        Each memory has a key of its own; the first one tells whether the file is known.
        """
        key = f"ingest_file:{self.idempotency_key}" + (f":{number}" if number else "")
        return Source(
            type=SourceType.INGEST_FILE, path=self.path, captured_by=CapturedBy.EXTRACTOR, key=key
        )

    @cached_property
    def _hashed(self) -> "hashlib._Hash":
        return hashlib.sha256(os.fsencode(self.dropped_at) + b"\0" + self.content)


@dataclass(frozen=True, kw_only=True, slots=True)
class Extracted:
    """What a file holds."""

    memories: tuple[WriteRequest, ...]
    edges: tuple[EdgeRequest, ...] = ()


def extract(file: SourceFile, space: Space) -> Extracted:
    """What a file holds, all of it.

    Raises:
        RejectedError: it is not in one of the forms.
    """
    ending = PurePath(file.dropped_at).suffix.lower()
    return _from_json(file, space) if ending == JSON_ENDING else _from_text(file, space)


def _from_text(file: SourceFile, space: Space) -> Extracted:
    try:
        text = file.content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"The file is not UTF-8 text: the byte at {error.start:,} is none."
        raise RejectedError(RejectionCode.UNSUPPORTED_FILE_TYPE, message) from error
    content = with_layout(text)
    if not shows_something(content):
        raise RejectedError(RejectionCode.EMPTY_CONTENT, "The file holds no text.")
    if len(content) <= CONTENT_MAX_CHARS:
        return Extracted(memories=(_observation(file, space, 0, content),))
    return _document(file, space, text)


def _document(file: SourceFile, space: Space, text: str) -> Extracted:
    """A long text as a memory of its beginning and one for each part.

    Raises:
        RejectedError: it has too many parts.
    """
    name = PurePath(file.dropped_at).name
    memories = whole_and_parts(
        f"{name}, a document",
        text,
        partial(_observation, file, space),
        max_chars=max(PART_MAX_CHARS, len(text) // (_MEMORIES_MAX // 2)),
    )
    if any(len(memory.content) > CONTENT_MAX_CHARS for memory in memories):
        raise RejectedError(
            RejectionCode.FILE_TOO_LARGE, f"The text has more parts than {_MEMORIES_MAX:,}."
        )
    return Extracted(memories=tuple(memories))


def _observation(file: SourceFile, space: Space, number: int, content: str) -> WriteRequest:
    values: dict[str, Any] = {
        "space": space.name,
        "content": content,
        "summary": leading_words(content),
        "type": MemoryType.OBSERVATION,
        "importance": 50,
        "confidence": 0.6,
        "proposed_uid": file.memory_id(number),
        "source": file.source(number),
    }
    return WriteRequest(**values, given=frozenset(values))


class _Moment(fields.Field[datetime]):
    """Unix seconds, or an ISO 8601 time with a zone."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> datetime:  # noqa: ANN401, ARG002
        try:
            if isinstance(value, int | float) and not isinstance(value, bool):
                return datetime.fromtimestamp(value, UTC)
            if isinstance(value, str) and has_zone(value):
                moment = datetime.fromisoformat(value)
                if moment.tzinfo:
                    return moment.astimezone(UTC)
        except (ValueError, OverflowError, OSError):
            pass
        message = "Must be unix seconds, or an ISO 8601 time with a zone."
        raise ValidationError(message)


class _Number(fields.Float):
    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> float:  # noqa: ANN401
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.make_error("invalid", input=value)
        number: float = super()._deserialize(value, attr, data, **options)
        return number


class _EdgeTypeName(fields.Field[EdgeType]):
    def _deserialize(self, value: Any, attr: str | None, data: Any, **_: Any) -> EdgeType:  # noqa: ANN401, ARG002
        try:
            return edge_type(value if isinstance(value, str) else "")
        except ValueError as error:
            message = f"InvalidEdgeType: {error}"
            raise ValidationError(message) from error


_MISSING: Texts = {
    "required": "MissingField: is required.",
    "null": "MissingField: must not be null.",
}
_NODE_TYPE: Texts = {"unknown": "InvalidNodeType: must be one of {choices}."}
_IMPORTANCE: Texts = {"invalid": "InvalidImportance: must be an integer."}
_CONFIDENCE: Texts = {"invalid": "InvalidConfidence: must be a number."}
_WEIGHT: Texts = {"invalid": "InvalidEdgeWeight: must be a number."}
_STATUSES = {status.value: status for status in Status if status is not Status.ARCHIVED}  # 002
_NO_STATUS = "InvalidStatus: must be one of {choices}."


class _Form(Schema):
    class Meta:
        unknown = RAISE


class _MemoryForm(_Form):
    uid = fields.String(data_key="memoryId", required=True, error_messages=_MISSING)
    orchestrator_id = fields.String(data_key="orchestratorId", load_default=None)
    type = fields.Enum(
        MemoryType, by_value=True, required=True, error_messages=_MISSING | _NODE_TYPE
    )
    importance = fields.Integer(strict=True, required=True, error_messages=_MISSING | _IMPORTANCE)
    content = fields.String(required=True, error_messages=_MISSING)
    summary = fields.String(required=True, error_messages=_MISSING)
    confidence = _Number(required=True, error_messages=_MISSING | _CONFIDENCE)
    status = fields.String(
        required=True,
        validate=validate.OneOf([*_STATUSES], error=_NO_STATUS),
        error_messages=_MISSING,
    )
    created_at = _Moment(data_key="createdAt")
    updated_at = _Moment(data_key="updatedAt")


class _EdgeForm(_Form):
    uid = fields.String(data_key="edgeId", required=True, error_messages=_MISSING)
    from_uid = fields.String(data_key="fromMemoryId", required=True, error_messages=_MISSING)
    to_uid = fields.String(data_key="toMemoryId", required=True, error_messages=_MISSING)
    type = _EdgeTypeName(data_key="edgeType", required=True, error_messages=_MISSING)
    weight = _Number(required=True, error_messages=_MISSING | _WEIGHT)
    created_at = _Moment(data_key="createdAt")
    reason = fields.String(allow_none=True, validate=validate.Length(1, 500))


class _FileForm(_Form):
    memories = Several(fields.Nested(_MemoryForm), most=_MEMORIES_MAX, load_default=list)
    edges = Several(fields.Nested(_EdgeForm), most=_EDGES_MAX, load_default=list)


def _from_json(file: SourceFile, space: Space) -> Extracted:
    try:
        values = json.loads(file.content.decode("utf-8-sig"))
        loaded = _FileForm().load(values)
    except ValidationError as error:
        raise RejectedError(RejectionCode.INVALID_JSON, _sentence(error.messages_dict)) from error
    except (ValueError, RecursionError) as error:
        message = (
            f"The file is not JSON: {error if isinstance(error, ValueError) else 'it is too deep'}."
        )
        raise RejectedError(RejectionCode.INVALID_JSON, message) from error
    for index, memory in enumerate(loaded["memories"]):
        _check_memory(f"memories.{index}", memory, space)
    if len({memory["uid"] for memory in loaded["memories"]}) < len(loaded["memories"]):
        raise RejectedError(RejectionCode.INVALID_JSON, "memories: a memoryId stands there twice.")
    return Extracted(
        memories=tuple(
            _memory(file, space, number, values) for number, values in enumerate(loaded["memories"])
        ),
        edges=tuple(EdgeRequest(space=space, **edge) for edge in loaded["edges"]),
    )


def _check_memory(path: str, memory: Mapping[str, Any], space: Space) -> None:
    if memory["orchestrator_id"] not in {None, space.owner}:
        message = (
            f"{path}.orchestratorId: OrchestratorScopeMismatch, expected {space.owner},"
            f" is {memory['orchestrator_id']}."
        )
        raise RejectedError(RejectionCode.SCOPE_MISMATCH, message)
    if not memory["content"].strip():
        raise RejectedError(
            RejectionCode.EMPTY_CONTENT, f"{path}.content: MissingField, it is blank."
        )
    if not memory["summary"].strip():
        raise RejectedError(
            RejectionCode.EMPTY_SUMMARY, f"{path}.summary: MissingField, it is blank."
        )


def _memory(file: SourceFile, space: Space, number: int, loaded: Mapping[str, Any]) -> WriteRequest:
    values: dict[str, Any] = {
        **{name: value for name, value in loaded.items() if name != "orchestrator_id"},
        "summary": shorten(loaded["summary"], _SUMMARY_BELOW_CHARS),
        "status": _STATUSES[loaded["status"]],
        "space": space.name,
        "source": file.source(number),
    }
    return WriteRequest(**values, upserts=True, given=frozenset(values))


def _sentence(messages: Mapping[Any, Any]) -> str:
    """What is wrong where, the first twenty of it."""
    problems = [
        f"{path}: {text}"
        for path, texts in flat_messages(messages, "file").items()
        for text in texts
    ]
    shown = "; ".join(problems[:_PROBLEMS_SHOWN])
    return shown + ("; and more." if len(problems) > _PROBLEMS_SHOWN else "")
