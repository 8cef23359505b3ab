"""Record forms: boxes, artefacts, questions and threads as files, and back. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphmem.errors import InvalidInput
from graphmem.lifecycle.files.dates import moment_text
from graphmem.lifecycle.files.differences import is_ours, unsaid, with_ours, with_unsaid, with_value
from graphmem.lifecycle.files.front_matter import Page, page_text
from graphmem.lifecycle.files.names import box_path, dated_path, made_uid, timed_name
from graphmem.model.notebook import ArtefactType, SealReason
from graphmem.text.normalise import one_line

_PRIORITY = 0.5
Line = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class FileForm:
    """How records of one kind are files.

    ``front`` and ``text`` make a file of the value of a line, ``said`` reads such a value.
    """

    kind: str
    path: Callable[[Line], str]
    front: Callable[[Line], dict[str, Any]]
    text: Callable[[Line], str]
    said: Callable[[Mapping[str, Any], str], dict[str, Any]]

    def file(self, line: Line, shown: Sequence[str] = ()) -> str:
        """The file of a record; ``shown`` are lines below its text that only people read."""
        listed = "".join(f"\n- {one_line(each)}" for each in shown)
        front = with_value(self.front(line))
        text = f"{self.text(line)}\n{listed}" if listed else self.text(line)
        return page_text(with_ours(front, unsaid(line, self.said(front, text))), text)

    def value(self, page: Page) -> dict[str, Any]:
        """The value of the line that a file holds.

        Raises:
            InvalidInput: it has no front matter, or what that says cannot be read.
        """
        if page.front is None:
            raise InvalidInput({"front matter": ["Is not there."]})
        text = page.text if is_ours(page.front) else page.text.strip()
        return with_unsaid(self.said(page.front, text), page.front)


def _first(front: Mapping[str, Any], *names: str) -> Any:  # noqa: ANN401 - any value of YAML
    """The value of the first of some names that has one."""
    return next((front[name] for name in names if front.get(name) is not None), None)


def _moment(front: Mapping[str, Any], *names: str) -> str | None:
    return moment_text(names[0], _first(front, *names))


def _box_front(line: Line) -> dict[str, Any]:
    return {
        "id": line["uid"],
        "memoryKind": "box",
        "createdAt": line["created_at"],
        "sealedAt": line["sealed_at"],
        "sealReason": line["seal_reason"],
        "sessionKey": line["session"],
        "topics": line["topics"],
        "memoryIds": [member["memory"] for member in line["members"]],
        "traceId": line["trace"],
    }


def _box_said(front: Mapping[str, Any], _: str) -> dict[str, Any]:
    created = _moment(front, "createdAt", "created")
    sealed = _moment(front, "sealedAt")
    reason = front.get("sealReason") or (SealReason.FORCED.value if sealed else None)
    memories = front.get("memoryIds")
    return {
        "uid": front.get("id"),
        "session": front.get("sessionKey") or "imported",
        "created_at": created,
        "last_at": sealed or created,
        "kept_at": sealed or created,
        "sealed_at": sealed,
        "seal_reason": reason,
        "topics": front.get("topics") or [],
        "trace": front.get("traceId"),
        "members": [
            {"memory": uid, "topics": []}
            for uid in (memories if isinstance(memories, list) else [])
        ],
    }


def _box_text(line: Line) -> str:
    return f"# {one_line(', '.join(line['topics']))}"


def _artefact_front(line: Line) -> dict[str, Any]:
    return {
        "id": line["uid"],
        "type": line["type"],
        "created": line["noted_at"],
        "memoryId": line["memory"],
        "turnId": line["turn"],
    }


def _artefact_said(front: Mapping[str, Any], text: str) -> dict[str, Any]:
    type_ = _first(front, "type", "artifactType", "category")
    return {
        "uid": front.get("id"),
        "memory": _first(front, "memoryId", "sourceMemoryId", "sourceId"),
        "turn": front.get("turnId"),
        "type": ArtefactType.CONSTRAINT.value if type_ == "principle" else type_,
        "text": text,
        "noted_at": _moment(front, "created", "createdAt"),
    }


def _question_front(line: Line) -> dict[str, Any]:
    return {
        "id": line["uid"],
        "created": line["noted_at"],
        "status": "resolved" if line["resolved_at"] else "open",
        "priority": line["priority"],
        "context": line["context"],
        "memoryIds": line["memories"],
        "resolved": line["resolved_at"],
        "answer": line["answer"],
    }


def _question_said(front: Mapping[str, Any], text: str) -> dict[str, Any]:
    created = _moment(front, "created", "createdAt")
    priority = front.get("priority")
    return {
        "uid": front.get("id") or made_uid("question", text),
        "question": text,
        "context": front.get("context") or "",
        "priority": _PRIORITY if priority is None else priority,
        "memories": front.get("memoryIds") or [],
        "noted_at": created,
        "extraction": None,
        "resolved_at": _moment(front, "resolved", "resolvedAt"),
        "resolved_by": None,
        "answer": front.get("answer"),
    }


def _thread_front(line: Line) -> dict[str, Any]:
    return {
        "id": line["uid"],
        "title": line["title"],
        "created": line["first_at"],
        "updated": line["last_at"],
        "sessionKey": line["session"],
        "turnCount": line["turn_count"],
        "turnIds": line["turns"],
        "words": line["words"],
    }


def _thread_said(front: Mapping[str, Any], text: str) -> dict[str, Any]:
    created = _moment(front, "created", "createdAt")
    turns = front.get("turnIds")
    turns = turns if isinstance(turns, list) else []
    count = front.get("turnCount")
    return {
        "uid": front.get("id"),
        "session": front.get("sessionKey"),
        "title": front.get("title") or text.lstrip("# "),
        "turn_count": len(turns) if count is None else count,
        "first_at": created,
        "last_at": _moment(front, "updated", "updatedAt") or created,
        "words": front.get("words") or {},
        "turns": turns,
    }


BOX = FileForm(
    kind="box",
    path=lambda line: box_path(line["uid"], line["created_at"]),
    front=_box_front,
    text=_box_text,
    said=_box_said,
)
ARTEFACT = FileForm(
    kind="artefact",
    path=lambda line: dated_path("artifacts", line["type"], line["noted_at"], line["uid"]),
    front=_artefact_front,
    text=lambda line: str(line["text"]),
    said=_artefact_said,
)
QUESTION = FileForm(
    kind="question",
    path=lambda line: f"questions/{timed_name('question', line['noted_at'], line['uid'])}",
    front=_question_front,
    text=lambda line: str(line["question"]),
    said=_question_said,
)
THREAD = FileForm(
    kind="thread",
    path=lambda line: f"threads/{timed_name('thread', line['first_at'], line['uid'])}",
    front=_thread_front,
    text=lambda line: f"# {one_line(line['title'])}",
    said=_thread_said,
)
