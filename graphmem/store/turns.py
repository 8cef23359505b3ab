"""Turns: conversations, and what was said in them."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from graphmem.model.conversation import (
    Conversation,
    Turn,
    TurnChanges,
    TurnRole,
    TurnVersion,
)
from graphmem.model.memory import Memory
from graphmem.model.page import Cursor, Page
from graphmem.model.space import Space, space_from_key
from graphmem.model.state import Message, SaidPlace, Selection
from graphmem.store.connection import Connection, Row, Transaction
from graphmem.store.mapping import memory_from_revision
from graphmem.store.pages import read_page
from graphmem.text.times import moment_of

_LAST_TIME = datetime(9999, 12, 31, tzinfo=UTC)
_CHARS_AT_ONCE = 4_000_000  # of the contents of turns that are read together
_NO_NUMBER = 2**62  # behind every turn
_HEAD = ("uid", "actor", "digest", "message_id", "version", "number")
_NATIVE_TIMES = ("at", "recorded_at", "changed_at")


def lock_conversations(
    transaction: Transaction, keys: Iterable[str]
) -> tuple[dict[str, Conversation], dict[str, str]]:
    """Lock conversations; what they are and the last memory of each, by their keys."""
    wanted = [{"key": key, "space": key.partition("|")[0]} for key in sorted(keys)]
    if not wanted:
        return {}, {}
    rows = transaction.run("turns.lock_conversations", conversations=wanted)
    conversations = [(_conversation(row["conversation"]), row["last"]) for row in rows]
    return (
        {each.key: each for each, _ in conversations},
        {each.key: last for each, last in conversations if last},
    )


def read_turns(
    transaction: Transaction, selection: Selection, claims: Mapping[str, str]
) -> tuple[dict[Message, Turn], dict[SaidPlace, Turn]]:
    """The turns of message ids, and those in which sources said some memories before."""
    messages: dict[Message, Turn] = {}
    if selection.messages:
        rows = [
            {"conversation": conversation, "message_id": message_id}
            for conversation, message_id in sorted(selection.messages)
        ]
        found = transaction.run("turns.of_messages", space_rows=rows)
        turns = [turn_from_row(row["turn"]) for row in found]
        messages = {(each.conversation_key, each.message_id or ""): each for each in turns}
    places = {
        (memory, each.conversation, each.said_by)
        for each in selection.said_at
        if (memory := each.memory or claims.get(each.claim or ""))
    }
    said: dict[SaidPlace, Turn] = {}
    if places:
        names = ("memory", "conversation", "said_by")
        rows = [dict(zip(names, place, strict=True)) for place in sorted(places)]
        for row in transaction.run("turns.said_by", space_rows=rows):
            said[row["memory"], row["conversation"], row["said_by"]] = turn_from_row(row["turn"])
    return messages, said


def change_turns(transaction: Transaction, changes: TurnChanges) -> None:
    """Write what a decision does to conversations."""
    links = defaultdict(list)
    for link in changes.links:
        links[link.turn].append(asdict(link))
    created = [_new_row(turn, links.pop(turn.key, [])) for turn in changes.created]
    if changes.conversations:
        conversations = [_conversation_row(each) for each in changes.conversations]
        begun = sorted({turn.space.key for turn in changes.created if turn.number == 1})
        transaction.run("turns.save", conversations=conversations, space_rows=created, spaces=begun)
    more = [link for _, each in sorted(links.items()) for link in each]
    unlinked = [asdict(each) for each in changes.unlinked]
    reworded = [_reworded_row(after) for _, after in changes.reworded]
    left = [{"memory": key, "said_by": name} for key, name in sorted(changes.left_sources)]
    taken = [{"memory": key, "words": list(words)} for key, words in changes.taken_words]
    _run(transaction, "turns.unlink", unlinked)
    _run(transaction, "turns.unlink_sources", left)
    _run(transaction, "turns.note_taken", taken)
    _run(transaction, "turns.link", more)
    _run(transaction, "turns.reword", reworded)
    _run(transaction, "turns.retract", [_retracted_row(turn) for turn in changes.retracted])
    note_turns(transaction, {each["memory"] for each in (*more, *unlinked, *left)})


def _run(transaction: Transaction, query: str, rows: Sequence[Mapping[str, Any]]) -> None:
    if rows:
        transaction.run(query, space_rows=rows)


@dataclass(frozen=True, kw_only=True, slots=True)
class Resting:
    """That a memory is of a turn, and what else carries it: by keys.

    ``again`` says that the same source said it in another turn, ``others`` that another turn did,
    and ``in_words`` that one did in the same words, which ``words`` stands for. ``said_at`` is when
    the turn got its words.
    """

    memory: str
    turn: str
    said_by: str
    words: str | None
    said_at: datetime
    again: bool
    others: bool
    in_words: bool


def resting_on(
    transaction: Transaction, turns: Iterable[Turn], *, limit: int
) -> tuple[Resting, ...]:
    """What is remembered of some turns: all of the first memories, by their keys."""
    keys = sorted(turn.key for turn in turns)
    rows = transaction.run("turns.resting", space_keys=keys, limit=limit) if keys else ()
    return tuple(Resting(**{**row, "said_at": moment_of(row["said_at"])}) for row in rows)


@dataclass(frozen=True, kw_only=True, slots=True)
class Former:
    """Earlier versions of a memory, newest first, each with when it was replaced.

    ``taken_words`` stand for what was taken back of it.
    """

    versions: tuple[tuple[Memory, datetime], ...] = ()
    taken_words: frozenset[str] = frozenset()


def former_versions(transaction: Transaction, memories: Iterable[str]) -> dict[str, Former]:
    """What memories were before, by their keys."""
    keys = sorted(memories)
    rows = transaction.run("turns.former_versions", space_keys=keys) if keys else ()
    return {
        row["key"]: Former(
            versions=tuple(
                (memory_from_revision(text), moment_of(until)) for text, until in row["versions"]
            ),
            taken_words=frozenset(row["taken_words"]),
        )
        for row in rows
    }


def turns_by_key(transaction: Transaction, keys: Iterable[str]) -> dict[str, Turn]:
    """Turns by their keys, also those that were taken back, without their words."""
    rows = transaction.run("turns.by_keys", space_keys=sorted(keys))
    turns = [turn_from_row(row["turn"]) for row in rows]
    return {turn.key: turn for turn in turns}


def note_turns(transaction: Transaction, memories: Iterable[str]) -> None:
    """Note on memories, by their keys, the newest turns that they are of."""
    if keys := sorted(memories):
        transaction.run("turns.note", space_keys=keys)


def newest_turn(transaction: Transaction, conversation: str) -> Turn | None:
    """The newest turn of a conversation."""
    rows = transaction.run(
        "turns.before", space_key=conversation, number=_NO_NUMBER, limit=1, chars=0
    )
    return turn_from_row(rows[0]["turn"]) if rows else None


def turn_heads(
    transaction: Transaction, conversation: str, *, upto: int, limit: int
) -> tuple[Turn, ...]:
    """The newest turns of a conversation up to a number, newest first, without their words."""
    rows = transaction.run("turns.heads", space_key=conversation, number=upto, limit=limit)
    return tuple(turn_from_row(row["turn"]) for row in rows)


def find_turn(transaction: Transaction, conversation: str, key: str) -> Turn | None:
    """A turn of a conversation, by their keys."""
    rows = transaction.run("turns.find", conversation=conversation, space_key=key)
    return turn_from_row(rows[0]["turn"]) if rows else None


@dataclass(frozen=True, kw_only=True, slots=True)
class SomeTurns:
    """Some turns of a conversation, and whether there are more that way."""

    turns: tuple[Turn, ...]
    has_more: bool


class Conversations:
    """Reads conversations and their turns."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def page(self, space: Space, after: Cursor | None = None, *, limit: int) -> Page[Conversation]:
        """One page of the conversations of exactly one space, the latest first.

        A cursor is when a conversation was changed, in ISO form, and its key.
        """
        changed, key = after or (_LAST_TIME.isoformat(), "")
        return read_page(
            self._connection,
            "turns.conversations",
            "turns.count_conversations",
            filters={"space": space.key},
            cursor={"cursor_time": datetime.fromisoformat(str(changed)), "cursor_key": key},
            limit=limit,
            item_of=lambda row: _conversation(row["conversation"]),
            cursor_of=lambda row: (row["conversation"]["updated_at"], row["conversation"]["key"]),
        )

    def find(self, key: str) -> Conversation | None:
        """The conversation of a key."""
        rows = self._connection.fetch("turns.find_conversation", space_key=key)
        return _conversation(rows[0]["conversation"]) if rows else None

    def find_turn(self, conversation: str, key: str) -> Turn | None:
        """A turn of a conversation, by their keys."""
        rows = self._connection.fetch("turns.find", conversation=conversation, space_key=key)
        return turn_from_row(rows[0]["turn"]) if rows else None

    def sources_of(self, turns: Iterable[Turn]) -> dict[str, list[tuple[str, str]]]:
        """Of which memories some turns are, by key: their uids and the names of the sources."""
        keys = sorted(turn.key for turn in turns)
        found: dict[str, list[tuple[str, str]]] = {key: [] for key in keys}
        for row in self._connection.fetch("turns.sources_of", space_keys=keys):
            found[row["key"]].append((row["memory"], row["said_by"]))
        return found

    def number_of(self, conversation: str, key: str) -> int | None:
        """The number of a turn of a conversation, also of one that was taken back."""
        rows = self._connection.fetch("turns.place", conversation=conversation, space_key=key)
        return rows[0]["number"] if rows else None

    def turns_before(
        self, conversation: str, number: int | None = None, *, limit: int
    ) -> SomeTurns:
        """The newest turns before a number, or of all, oldest first."""
        before = _NO_NUMBER if number is None else number
        found = self._some("turns.before", conversation, before, limit)
        return replace(found, turns=found.turns[::-1])

    def turns_after(self, conversation: str, number: int, *, limit: int) -> SomeTurns:
        """The first turns behind a number, oldest first."""
        return self._some("turns.after", conversation, number, limit)

    def _some(self, query: str, conversation: str, number: int, limit: int) -> SomeTurns:
        """At most so many turns, fewer where their contents are long."""
        rows = self._connection.fetch(
            query, space_key=conversation, number=number, limit=limit + 1, chars=_CHARS_AT_ONCE
        )
        turns = tuple(turn_from_row(row["turn"]) for row in rows[:limit])
        return SomeTurns(turns=turns, has_more=bool(rows) and rows[0]["seen"] > len(turns))

    def versions(self, turn: Turn, after: Cursor | None = None, *, limit: int) -> Page[TurnVersion]:
        """One page of the words that a turn has and had, newest first; a cursor is a version."""
        now = TurnVersion(content=turn.content, recorded_from=turn.changed_at, recorded_until=None)
        (version,) = after or (turn.version,)
        first = () if after else (now,)
        if limit == len(first):
            is_last = turn.version == 1
            return Page(items=first, total=turn.version, next=None if is_last else (version,))
        page = read_page(
            self._connection,
            "turns.versions",
            "turns.count_versions",
            filters={"space_key": turn.key},
            cursor={"cursor_version": version},
            limit=limit - len(first),
            item_of=_version,
            cursor_of=lambda row: (row["version"],),
        )
        return Page(items=(*first, *page.items), total=page.total, next=page.next)


def _version(row: Row) -> TurnVersion:
    return TurnVersion(
        content=row["content"],
        recorded_from=moment_of(row["recorded_from"]),
        recorded_until=moment_of(row["recorded_until"]),
    )


def _conversation(node: Row) -> Conversation:
    space, _, conversation_id = node["key"].partition("|")
    created_at, updated_at = node["created_at"], node["updated_at"]
    return Conversation(
        id=conversation_id,
        space=space_from_key(space),
        title=node.get("title"),
        user=node.get("user"),
        kept_by=node.get("kept_by"),
        created_at=moment_of(created_at),
        updated_at=moment_of(updated_at),
        turns=node.get("turns") or 0,
        numbered=node.get("numbered") or 0,
    )


def _conversation_row(conversation: Conversation) -> dict[str, Any]:
    times = {
        name: moment.isoformat() if moment else None
        for name in ("created_at", "updated_at")
        for moment in [getattr(conversation, name)]
    }
    names = ("title", "user", "kept_by", "turns", "numbered")
    properties = {name: getattr(conversation, name) for name in names}
    own = {"conversation_id": conversation.id, "space": conversation.space.key}
    return times | {"key": conversation.key, "properties": properties | own}


def turn_from_row(node: Row) -> Turn:
    """The turn of a row."""
    space, _, conversation_id = node["conversation"].partition("|")
    plain: dict[str, Any] = {name: node.get(name) for name in _HEAD}
    times: dict[str, Any] = {name: moment_of(node[name]) for name in _NATIVE_TIMES}
    return Turn(
        **plain,
        **times,
        role=TurnRole(node["role"]),
        space=space_from_key(space),
        conversation_id=conversation_id,
        content=node.get("content") or "",
        metadata=json.loads(node.get("metadata") or "{}"),
        native=json.loads(node["native"]) if node.get("native") else None,
        is_retracted=node["status"] != "active",
        is_forgotten=bool(node.get("forgotten")),
        memories=tuple(node["memories"]),
    )


def _new_row(turn: Turn, links: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    return {
        "properties": turn_properties(turn),
        "at": turn.at.isoformat(),
        "recorded_at": turn.recorded_at.isoformat(),
        "links": links,
    }


def turn_properties(turn: Turn) -> dict[str, Any]:
    """The properties of the node of a turn, without its times."""
    values = {name: getattr(turn, name) for name in _HEAD}
    return (
        values
        | _words(turn)
        | {
            "key": turn.key,
            "space": turn.space.key,
            "conversation": turn.conversation_key,
            "role": turn.role.value,
            "status": "retracted" if turn.is_retracted else "active",
            "metadata": _json(turn.metadata) if turn.metadata else None,
            "native": _json(turn.native) if turn.native is not None else None,
            "forgotten": turn.is_forgotten or None,
        }
    )


def _words(turn: Turn) -> dict[str, Any]:
    content = None if turn.is_forgotten else turn.content
    return {"content": content, "chars": len(turn.content), "digest": turn.digest}


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _retracted_row(turn: Turn) -> dict[str, Any]:
    return {
        "key": turn.key,
        "message_id": turn.message_id,
        "changed_at": turn.changed_at.isoformat(),
    }


def _reworded_row(turn: Turn) -> dict[str, Any]:
    return {
        "key": turn.key,
        "changed_at": turn.changed_at.isoformat(),
        "properties": _words(turn) | {"version": turn.version},
    }
