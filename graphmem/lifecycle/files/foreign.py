"""Foreign: what files of the source system hold that ours tell apart. Pure.

Words of a turn that no file of theirs holds become turns of a conversation of their own.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from graphmem.errors import InvalidInput
from graphmem.lifecycle.artefacts import ARTEFACT_MAX_CHARS
from graphmem.lifecycle.files.dates import EPOCH, moment_text
from graphmem.lifecycle.files.entity_keys import key_of
from graphmem.lifecycle.files.names import made_uid
from graphmem.model.conversation import TurnRole
from graphmem.model.entity import label_from_key
from graphmem.model.notebook import ArtefactType
from graphmem.text.times import iso

SESSION = "imported"
_SECTION = re.compile(
    r"^##[ \t]+(?:Connections|Relationships)[ \t]*$", re.MULTILINE | re.IGNORECASE
)
_BULLET = re.compile(r"^[ \t]*[-*+][ \t]+(.+)$", re.MULTILINE)
_KEY = re.compile(r"\b(?:person|project|tool|company|place|other)-[a-z0-9]+(?:-+[a-z0-9]+)*")
_AROUND = " \t[](){}<>|:,;.\u2192\u2013\u2014-*_`\"'"  # with arrows and dashes
_LABEL = "related"
Records = list[tuple[str, Any]]  # kinds of lines with their values


def connections(entity: Mapping[str, Any], text: str) -> Iterator[dict[str, Any]]:
    """The relations that the file of an entity lists: a target and a label on each line."""
    section = _SECTION.split(text, maxsplit=1)[1:]
    lines = section[0].partition("\n## ")[0] if section else ""
    for line in _BULLET.findall(lines):
        found = _KEY.search(line)
        if found:
            label = f"{line[: found.start()]} {line[found.end() :]}".strip(_AROUND) or _LABEL
            start, end = entity["key"], key_of(found[0])
            yield {
                "uid": made_uid("relation", start, label, end),
                "from": start,
                "from_label": entity["label"],
                "to": end,
                "to_label": label_from_key(end),
                "label": label,
                "created_at": entity["updated_at"],
                "by_hand": True,
            }


def turn_of_artefact(artefact: Mapping[str, Any]) -> Records:
    """The turn that an artefact is of, where its file names none; none where it cannot be one."""
    text, at = artefact["text"], artefact["noted_at"]
    is_short = isinstance(text, str) and 0 < len(text) <= ARTEFACT_MAX_CHARS
    is_sound = is_short and at and artefact["memory"]
    if artefact["turn"] or not is_sound or artefact["type"] not in [*map(str, ArtefactType)]:
        return []
    uid = made_uid("turn", str(artefact["uid"]), text)
    return [_conversation(SESSION, at), _turn(uid, SESSION, TurnRole.USER, text, at)]


def waiting(found: Any) -> Records:  # noqa: ANN401 - any JSON
    """The turns of a buffer that were not extracted yet, and the buffer that they wait in.

    Raises:
        InvalidInput: it holds no turns in a form that can be read.
    """
    turns = found.get("turns") if isinstance(found, Mapping) else None
    if not isinstance(turns, list) or not all(isinstance(each, Mapping) for each in turns):
        message = "Holds no turns that can be read; post them to /v1/turns."
        raise InvalidInput({"buffer": [message]})
    if not turns:
        return []
    session = str(found.get("sessionKey") or SESSION)
    last = moment_text("lastExtractionAt", found.get("lastExtractionAt"))
    said = [_said(each, session, number, last) for number, each in enumerate(turns)]
    times = [value["at"] for _, value in said]
    buffer = {
        "session": session,
        "turns": [value["uid"] for _, value in said],
        "user_turns": sum(value["role"] == TurnRole.USER for _, value in said),
        "characters": sum(len(str(value["content"])) for _, value in said),
        "first_at": min(times),
        "last_at": max(times),
        "last_extraction_at": last,
        "extractions": found.get("extractionCount") or 0,
    }
    return [_conversation(session, min(times)), *said, ("buffer", buffer)]


def _said(
    turn: Mapping[str, Any], session: str, number: int, last: str | None
) -> tuple[str, dict[str, Any]]:
    """A turn of a buffer; one without a time came right after the last extraction."""
    names = ("timestamp", "at", "createdAt")
    at = next((turn[name] for name in names if turn.get(name) is not None), last)
    moment = moment_text("timestamp", at) or iso(EPOCH)
    content = turn.get("content") or turn.get("text")
    uid = made_uid("turn", session, moment, str(number), str(content))
    return _turn(uid, session, turn.get("role"), content, moment)


def _conversation(session: str, at: str) -> tuple[str, dict[str, Any]]:
    return "conversation", {"id": session, "created_at": at, "updated_at": at}


def _turn(
    uid: str,
    session: str,
    role: Any,  # noqa: ANN401 - any JSON
    content: Any,  # noqa: ANN401 - any JSON
    at: str,
) -> tuple[str, dict[str, Any]]:
    value = {"uid": uid, "conversation_id": session, "role": role, "content": content}
    return "turn", value | {"at": at, "recorded_at": at}
