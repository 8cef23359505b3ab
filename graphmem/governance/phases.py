"""Phases: what the ledgers of two phases differ in (004, Phases). Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from graphmem.model.governance import LedgerEntry

_CHANGES_SHOWN = 8
_ID = re.compile(r"phase-([1-9][0-9]{0,17})")


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement:
    """An item whose place another one took."""

    before: LedgerEntry
    after: LedgerEntry


@dataclass(frozen=True, kw_only=True, slots=True)
class PhaseDiff:
    """What a later phase holds that an earlier one does not, and the reverse."""

    added: Sequence[LedgerEntry] = ()
    deleted: Sequence[LedgerEntry] = ()
    replaced: Sequence[Replacement] = ()

    @property
    def shown(self) -> dict[str, Any]:
        """The counts, the first changes and what they say, as the event shows it."""
        changes = [
            *map(_replaced, self.replaced),
            *(_changed("added", each) for each in self.added),
            *(_changed("deleted", each) for each in self.deleted),
        ]
        return {
            "added_count": len(self.added),
            "deleted_count": len(self.deleted),
            "replaced_count": len(self.replaced),
            "top_changes": changes[:_CHANGES_SHOWN],
            "summary_lines": [
                f"Added {len(self.added)} items",
                f"Deleted {len(self.deleted)} items",
                f"Replaced {len(self.replaced)} items",
            ],
        }


def phase_index(text: str) -> int | None:
    """The number of a phase by its id; None where that is none."""
    found = _ID.fullmatch(text)
    return int(found[1]) if found else None


def phase_diff(entries: Iterable[LedgerEntry], before: int, after: int) -> PhaseDiff:
    """What two ledgers differ in; of each key the newest item of both is compared."""
    known = sorted(entries, key=lambda entry: entry.id)
    earlier, later = (_newest(each for each in known if each.is_in(p)) for p in (before, after))
    replaced = [
        Replacement(before=earlier[key], after=later[key])
        for key in sorted(earlier.keys() & later.keys())
        if earlier[key].id != later[key].id
    ]
    of_both = {each.id for pair in replaced for each in (pair.before, pair.after)}
    others = [each for each in known if each.id not in of_both]
    return PhaseDiff(
        added=[each for each in others if each.is_in(after) and not each.is_in(before)],
        deleted=[each for each in others if each.is_in(before) and not each.is_in(after)],
        replaced=replaced,
    )


def _newest(entries: Iterable[LedgerEntry]) -> dict[str, LedgerEntry]:
    """The newest entry of each dedup key."""
    ordered = sorted(entries, key=lambda entry: (entry.created_at, entry.id))
    return {entry.dedup_key: entry for entry in ordered}


def _replaced(each: Replacement) -> dict[str, Any]:
    return {
        "change": "replaced",
        "dedupe_key": each.before.dedup_key,
        "from_id": each.before.id,
        "to_id": each.after.id,
        "from_kind": each.before.kind.value,
        "to_kind": each.after.kind.value,
    }


def _changed(how: str, entry: LedgerEntry) -> dict[str, Any]:
    return {"change": how, "memory_id": entry.id, "kind": entry.kind.value}
