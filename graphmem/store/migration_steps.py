"""Migration steps in Python: what needs more than Cypher, in batches."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from graphmem.errors import ValueDamaged
from graphmem.model.memory import Memory
from graphmem.model.tokens import epoch_ms, memory_tokens
from graphmem.store.connection import Connection, Row
from graphmem.store.mapping import memory_from_node
from graphmem.store.migrations import MigrationStep, Report
from graphmem.store.spaces import ORCHESTRATORS

_BATCH = 1_000
_DOUBTED, _DOUBTED_DAYS = 0.40, 30  # what made a memory expire by itself (003, Confidence tiers)


def keep_what_orchestrators_doubt(connection: Connection, report: Report) -> None:
    """Take away the expiry that only doubt gave in orchestrator spaces."""
    after, seen, lifted = "", 0, 0
    while rows := connection.fetch(
        "schema.expiring_of_orchestrators", after=after, limit=_BATCH, space_part=ORCHESTRATORS
    ):
        memories = list(_whole(rows, report))
        after, seen = rows[-1]["m"]["key"], seen + len(rows)
        doubted = [replace(each, expires_at=None) for each in memories if _is_doubted(each)]
        if doubted:
            space_rows = [{"key": each.key, "tokens": memory_tokens(each)} for each in doubted]
            connection.run("schema.keep_memories", space_rows=space_rows)
        lifted += len(doubted)
        report(f"{seen:,} expiring memories of orchestrators seen, {lifted:,} are kept")


def _whole(rows: Sequence[Row], report: Report) -> Iterator[Memory]:
    """The memories of rows; one that cannot be read stays as it is, and is named."""
    for row in rows:
        try:
            yield memory_from_node(row["m"], row["entities"])
        except ValueDamaged as error:
            report(f"{row['m']['key']} stays as it is: {error.message}")


def _is_doubted(memory: Memory) -> bool:
    ends = memory.created_at + timedelta(days=_DOUBTED_DAYS)
    is_end = epoch_ms(memory.expires_at) == epoch_ms(ends)
    return memory.confidence < _DOUBTED and is_end


CORE_STEPS: Mapping[int, MigrationStep] = {7: keep_what_orchestrators_doubt}
