"""The migration that gives what was said its turns, in batches."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from graphmem.gateway.conversation import conversation_key
from graphmem.gateway.turns import role_of, was_said
from graphmem.model.conversation import (
    Conversation,
    FromTurn,
    Turn,
    TurnChanges,
    turn_key,
    words_digest,
)
from graphmem.model.memory import Memory, Status
from graphmem.model.transcript import message_of
from graphmem.store.connection import Connection, Transaction
from graphmem.store.mapping import memory_from_node
from graphmem.store.migrations import Report
from graphmem.store.pages import every_row
from graphmem.store.turns import change_turns, lock_conversations
from graphmem.text.normalise import content_hash

_CONVERSATIONS, _MEMORIES = 100, 400  # at once; a memory may have 32,000 characters


def turn_what_was_said(connection: Connection, report: Report) -> None:
    """Give each memory that stands in a conversation its turn, in the order of the chain.

    The turns are numbered backwards from the last one, so that it can be cut at any point.
    """
    made = 0
    chained = every_row(connection, "schema.conversations")
    while conversations := list(islice(chained, _CONVERSATIONS)):
        anchors = {row["key"]: row["last"] for row in conversations if row["last"]}
        while anchors:
            made += _turns_of(connection, anchors)
            report(f"{made:,} turns made of memories in conversations")
    after = ""
    while rows := connection.fetch("schema.said_without_turn", after=after, limit=_MEMORIES):
        memories = [memory_from_node(row["m"], row["entities"]) for row in rows]
        memories.sort(key=lambda each: (each.created_at, each.key), reverse=True)
        made += _save(connection, memories)
        after = rows[-1]["m"]["key"]
    report(f"{made:,} turns made")


def _turns_of(connection: Connection, anchors: dict[str, str]) -> int:
    """Make the turns of a part of some chains, and move their anchors; how many."""
    limit = max(2, _MEMORIES // len(anchors))
    rows = connection.fetch(
        "schema.chains",
        anchors=[{"conversation": key, "memory": last} for key, last in anchors.items()],
        limit=limit,
    )
    found = dict.fromkeys(anchors, 0)
    for row in rows:
        found[row["conversation"]] += 1
        anchors[row["conversation"]] = row["m"]["key"]
    for key in [key for key, count in found.items() if count < limit]:
        del anchors[key]
    memories = [memory_from_node(row["m"], row["entities"]) for row in rows if not row["has_turn"]]
    return _save(connection, memories)


def _save(connection: Connection, memories: Sequence[Memory]) -> int:
    """Make turns of memories, the newest first, in one transaction; how many."""
    said = list({each.key: each for each in memories if _is_said(each)}.values())
    if said:
        connection.write(lambda transaction: _write(transaction, said))
    return len(said)


def _is_said(memory: Memory) -> bool:
    is_kept = memory.kept_by or memory.status is Status.RETRACTED
    return was_said(memory.source) and not is_kept


def _write(transaction: Transaction, memories: Sequence[Memory]) -> None:
    keys = {conversation_key(memory) or "" for memory in memories}
    conversations, _ = lock_conversations(transaction, keys)
    turns = []
    for memory in memories:
        conversation = conversations[conversation_key(memory) or ""]
        turns.append(turn := _turn(memory, conversation))
        conversations[conversation.key] = _with(conversation, turn)
    change_turns(
        transaction,
        TurnChanges(
            conversations=tuple(conversations.values()),
            created=tuple(turns),
            links=tuple(_links(memories, turns)),
        ),
    )


def _turn(memory: Memory, conversation: Conversation) -> Turn:
    digest = hashlib.sha256(memory.key.encode()).hexdigest()[:32]
    return Turn(
        uid=f"turn-{digest}",
        space=memory.space,
        conversation_id=conversation.id,
        number=-conversation.turns,
        role=role_of(memory.source),
        content=memory.content,
        digest=words_digest(memory.content),
        at=memory.occurred_at or memory.created_at,
        recorded_at=memory.created_at,
        changed_at=memory.created_at,
        actor=memory.actor,
        message_id=message_of(memory.source.key or "", memory.uid),
    )


def _with(conversation: Conversation, turn: Turn) -> Conversation:
    recorded = turn.recorded_at
    return replace(
        conversation,
        turns=conversation.turns + 1,
        created_at=min(conversation.created_at or recorded, recorded),
        updated_at=max(conversation.updated_at or recorded, recorded),
    )


def _links(memories: Sequence[Memory], turns: Sequence[Turn]) -> Iterator[FromTurn]:
    for memory, turn in zip(memories, turns, strict=True):
        key = turn_key(memory.space, turn.uid)
        words = content_hash(memory.content)
        yield FromTurn(memory=memory.key, turn=key, said_by=memory.source.name, words=words)
