"""Migration steps in Python: what needs more than Cypher, in batches."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from graphmem.errors import ValueDamaged
from graphmem.gateway.claims import content_claims, source_claim
from graphmem.gateway.indexing import kind_fields, statement_fields
from graphmem.gateway.preparation import in_nfc
from graphmem.gateway.sources import words_digest
from graphmem.gateway.turn_migration import turn_what_was_said
from graphmem.model.memory import Memory, Status
from graphmem.model.source import Source
from graphmem.model.space import FIRST_TENANT
from graphmem.model.state import MORE_SOURCES, Decision, SourcePlace
from graphmem.model.tokens import epoch_ms, memory_tokens, salted, term_salt
from graphmem.store.connection import Connection, Row
from graphmem.store.entities import index_row
from graphmem.store.mapping import (
    chunk_copies,
    memory_from_node,
    memory_from_revision,
    memory_properties,
)
from graphmem.store.migrations import MigrationStep, Report
from graphmem.store.sources import change_sources
from graphmem.store.spaces import ORCHESTRATORS
from graphmem.text.normalise import nfc

_BATCH, _MANY = 1_000, 20_000
_BEHIND_SLASH, _LAST = "0", "\uffff"  # the character behind / and behind all
_WORDS = ("search_text", "search_context", "search_actor")
_DOUBTED, _DOUBTED_DAYS = 0.40, 30  # what made a memory expire by itself (003, Confidence tiers)


def keep_what_orchestrators_doubt(connection: Connection, report: Report) -> None:
    """Take away the expiry that only doubt gave in orchestrator spaces."""
    seen, lifted = 0, 0
    query = "schema.expiring_of_orchestrators"
    for rows in _batches(connection, query, space_part=ORCHESTRATORS):
        memories = list(_whole(rows, report))
        doubted = [replace(each, expires_at=None) for each in memories if _is_doubted(each)]
        space_rows = [{"key": each.key, "tokens": memory_tokens(each)} for each in doubted]
        seen += len(rows)
        lifted += _write(connection, "schema.keep_memories", space_rows)
        report(f"{seen:,} expiring memories of orchestrators seen, {lifted:,} are kept")


def _batches(
    connection: Connection, query: str, *, after: str = "", **parameters: str
) -> Iterator[Sequence[Row]]:
    """All rows that a query gives, a thousand memories at a time, by their keys.

    Each batch is asked for when the one before is done, so what it changed is seen.
    """
    while rows := connection.fetch(query, after=after, limit=_BATCH, **parameters):
        yield rows
        after = rows[-1]["m"]["key"]


def _write(connection: Connection, query: str, space_rows: Sequence[Mapping[str, Any]]) -> int:
    """Write some rows, if there are any, in a transaction of their own; how many."""
    if space_rows:
        connection.run(query, space_rows=space_rows)
    return len(space_rows)


def _whole(rows: Sequence[Row], report: Report) -> Iterator[Memory]:
    """The memories of rows; one that cannot be read stays as it is, and is named."""
    return (memory for memory, _ in _with_rows(rows, report))


def _with_rows(rows: Sequence[Row], report: Report) -> Iterator[tuple[Memory, Row]]:
    """The memories of rows that can be read, each with its row."""
    for row in rows:
        try:
            yield memory_from_node(row["m"], row["entities"]), row
        except ValueDamaged as error:
            report(f"{row['m']['key']} stays as it is: {error.message}")


def _is_doubted(memory: Memory) -> bool:
    ends = memory.created_at + timedelta(days=_DOUBTED_DAYS)
    is_end = epoch_ms(memory.expires_at) == epoch_ms(ends)
    return memory.confidence < _DOUBTED and is_end


def claim_by_what_counts(connection: Connection, report: Report) -> None:
    """Give memories their content claims under the identity that heeds signs, type and layout."""
    seen, changed = 0, 0
    for rows in _batches(connection, "schema.content_claims"):
        claims = {row["m"]["key"]: row["claims"] for row in rows}
        space_rows = [
            {"key": each.key, "old": claims[each.key], "new": list(content_claims(each))}
            for each in _whole(rows, report)
            if claims[each.key] and not set(content_claims(each)) <= set(claims[each.key])
        ]
        seen += len(rows)
        changed += _write(connection, "schema.claim_content", space_rows)
        report(f"{seen:,} memories seen, {changed:,} have a new content claim")


def join_unicode_forms(connection: Connection, report: Report) -> None:
    """Write tags and ids of sources in NFC; two forms of one conversation or key become one."""
    changed = 0
    for rows in _batches(connection, "schema.not_in_nfc"):
        space_rows = [_in_nfc(each) for each in _whole(rows, report)]
        changed += _write(connection, "schema.write_in_nfc", space_rows)
        report(f"{changed:,} memories have their tags and ids in NFC")
    for row in connection.fetch("schema.conversations_not_in_nfc"):
        space, _, name = row["key"].partition("|")
        if (new := f"{space}|{nfc(name)}") != row["key"]:
            connection.run("schema.join_conversation", space_key=row["key"], new_key=new)


def _in_nfc(memory: Memory) -> dict[str, Any]:
    source = in_nfc(memory.source)
    tags = tuple(dict.fromkeys(nfc(tag) for tag in memory.tags))
    renamed = replace(memory, source=source, tags=tags)
    properties = memory_properties(renamed)
    names = ("tags", "conversation_id", "workflow_run_id", "step_id", "source_key")
    keys = (memory.source.key, source.key)
    old, new = (source_claim(memory.space, key or "", memory.kept_by) for key in keys)
    return {
        "key": memory.key,
        "properties": {name: properties[name] for name in names}
        | {"space_token": memory_tokens(renamed)},
        "conversation_id": chunk_copies(renamed)["conversation_id"],
        "old": old if source.key != memory.source.key else "",
        "new": new,
    }


def end_what_is_superseded(connection: Connection, report: Report) -> None:
    """Let superseded memories without an end be true until they were superseded."""
    ended = 0
    for rows in _batches(connection, "schema.superseded_without_end"):
        space_rows = [_ended(each) for each in _whole(rows, report)]
        ended += _write(connection, "schema.end_memories", space_rows)
        report(f"{ended:,} superseded memories have an end")


def _ended(memory: Memory) -> dict[str, Any]:
    end = max(memory.began, memory.status_at or memory.updated_at)
    ended = replace(memory, valid_until=end)
    return {
        "key": memory.key,
        "valid_until": end,
        "tokens": memory_tokens(ended),
        "chunk_until": chunk_copies(ended)["valid_until"],
    }


def name_further_sources(connection: Connection, report: Report) -> None:
    """Make sources of the source claims that memories hold beyond their first, as far as they tell.

    What each source said is noted where it is certain, and which words were taken back.
    """
    seen, made = 0, 0
    for rows in _batches(connection, "schema.sources_of_claims"):
        sourced = [_sourced(memory, row) for memory, row in _with_rows(rows, report)]
        retracted = [each.memory for each in sourced if each.memory.status is Status.RETRACTED]
        sources = {place: source for each in sourced for place, source in each.sources.items()}
        decision = Decision(
            sources=sources,
            sourced=tuple(each.memory for each in sourced if each.sources),
            retracted=tuple((content_claims(memory)[0], memory.key) for memory in retracted),
        )
        connection.write(lambda transaction, each=decision: change_sources(transaction, each))  # type: ignore[misc]
        _write(connection, "schema.note_digests", [row for each in sourced for row in each.digests])
        seen += len(rows)
        made += len(sources)
        report(f"{seen:,} memories with a source key seen, {made:,} further sources made")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sourced:
    """A memory with the further sources that its claims and earlier versions tell of."""

    memory: Memory
    sources: Mapping[SourcePlace, Source]
    digests: Sequence[Mapping[str, str]]


def _sourced(memory: Memory, row: Row) -> _Sourced:
    versions = [*_read_versions(row["versions"] or row["oldest"]), memory]
    contents = {version.content for version in versions}
    wall = source_claim(memory.space, "", memory.kept_by)
    sources: dict[SourcePlace, Source] = {}
    digests: list[Mapping[str, str]] = []
    for claim in row["claims"]:
        key = claim.removeprefix(wall)
        said = next((each for each in versions if each.source.key == key), None)
        if key != memory.source.key:
            own = said.source if said else _unknown_source(memory, key)
            own = replace(own, at=said.updated_at if said else memory.updated_at)
            sources[memory.key, own.name] = own
        if said or len(contents) == 1:
            content = said.content if said else memory.content
            digests.append({"claim": claim, "digest": words_digest(content)})
    more = tuple(sorted(sources.values(), key=lambda each: str(each.at)))[-MORE_SOURCES:]
    return _Sourced(memory=replace(memory, more_sources=more), sources=sources, digests=digests)


def _read_versions(texts: Sequence[str]) -> Iterator[Memory]:
    """The versions that can be read; from a damaged one nothing is learned."""
    for text in texts:
        with suppress(ValueError, TypeError, KeyError):
            yield memory_from_revision(text)


def _unknown_source(memory: Memory, key: str) -> Source:
    """A source of which only the key is known; its kind was that of the first, or much like it."""
    kind, captured_by = memory.source.type, memory.source.captured_by
    return Source(type=kind, captured_by=captured_by, key=key)


def give_spaces_nodes(connection: Connection, report: Report) -> None:
    """Let there be a node for each space with memories: spaces are listed by their nodes."""
    _walk(connection, "schema.add_spaces", lambda key: report(f"spaces have nodes up to {key}"))


def _walk(connection: Connection, query: str, report: Report) -> None:
    """Run a query that does many nodes at a time, by their keys, until there are no more."""
    after = ""
    while last := connection.run(query, after=after, limit=_MANY)[0]["last"]:
        after = last
        report(after)


def salt_words(connection: Connection, report: Report) -> None:
    """Index the memories of all tenants but the first under words of their own."""
    done = 0
    for after, until in (("", f"{FIRST_TENANT}/"), (f"{FIRST_TENANT}{_BEHIND_SLASH}", _LAST)):
        for rows in _batches(connection, "schema.indexed_words", after=after, until=until):
            space_rows = [_salted(row["m"]) for row in rows]
            done += _write(connection, "schema.index_words", [row for row in space_rows if row])
            report(f"{done:,} memories of other tenants are indexed under words of their own")


def _salted(memory: Row) -> dict[str, Any] | None:
    """The row that salts the words of a memory; None where they are."""
    tenant = memory["space"].partition("/")[0]
    words = {name: memory[name] or "" for name in _WORDS}
    if any(term_salt(tenant) in text for text in words.values()):
        return None
    return {
        "key": memory["key"],
        "words": {name: salted(text, tenant) for name, text in words.items()},
    }


def date_former_vectors(connection: Connection, report: Report) -> None:
    """Note of the vectors of earlier versions when they were replaced: they go by their age."""
    _walk(
        connection,
        "schema.date_former_vectors",
        lambda key: report(f"vectors of earlier versions have their date up to {key}"),
    )


def index_names(connection: Connection, report: Report) -> None:
    """Index entities under the words of their names."""
    done = 0
    for rows in _batches(connection, "schema.named_entities"):
        named = [row["m"] for row in rows if row["m"]["label"]]
        done += _write(connection, "entities.save", [index_row(each) for each in named])
        report(f"{done:,} entities are indexed under their names")


def note_statements(connection: Connection, report: Report) -> None:
    """Let plain memories be known by what they state: facts are not stored beside them again."""
    done = 0
    for rows in _batches(connection, "schema.without_statement"):
        space_rows: list[dict[str, Any]] = [
            {"key": each.key, **statement_fields(each)} for each in _whole(rows, report)
        ]
        done += _write(connection, "schema.note_statements", space_rows)
        report(f"{done:,} memories are known by what they state")


def note_kinds(connection: Connection, report: Report) -> None:
    """Let jobs choose memories by the category that their room gave them."""
    done = 0
    for rows in _batches(connection, "schema.with_native_values"):
        kinds = [{"key": each.key, **kind_fields(each)} for each in _whole(rows, report)]
        done += _write(connection, "schema.note_kinds", kinds)
        report(f"{done:,} memories are known by their category")


CORE_STEPS: Mapping[int, MigrationStep] = {
    7: keep_what_orchestrators_doubt,
    8: claim_by_what_counts,
    9: join_unicode_forms,
    11: end_what_is_superseded,
    13: name_further_sources,
    16: give_spaces_nodes,
    17: salt_words,
    19: date_former_vectors,
    21: turn_what_was_said,
    23: index_names,
    26: note_statements,
    27: index_names,  # also as they are spelled without what divides their words
    31: note_kinds,
}
