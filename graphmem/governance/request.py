"""Request: one call of an AI, as it is asked for, and what it gives."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphmem.governance.classify import classified, profile_fact
from graphmem.governance.events import Event, Recalled
from graphmem.governance.owners import Owners
from graphmem.governance.promotion import Hint, promotion_hint
from graphmem.model.governance import EventType, Item, ItemKind
from graphmem.model.space import Space, SpaceKind
from graphmem.text.dedup_keys import dedup_key, fact_dedup_key

MANUAL = "manual"  # why a phase starts, where the token does not say
_TOOL_TEXT = "tool_events:"


@dataclass(frozen=True, kw_only=True, slots=True)
class PhaseToken:
    """What asks for a phase: another token than the last one starts one."""

    token: str
    name: str | None = None
    reason: str = MANUAL


@dataclass(frozen=True, kw_only=True, slots=True)
class DiffRequest:
    """Two phases of a space, by id, that are to be compared."""

    before: str
    after: str
    space: SpaceKind = SpaceKind.SESSION


@dataclass(frozen=True, kw_only=True, slots=True)
class CallRequest:
    """One call of an AI: what the user said, what it answered, and what its tools did.

    One that records has an output.
    """

    profile: str
    owners: Owners
    input: str
    output: str = ""
    tool_events: Sequence[Mapping[str, Any]] = ()
    token: PhaseToken | None = None
    diff: DiffRequest | None = None
    recalls: bool = True
    records: bool = True

    @property
    def tool_text(self) -> str:
        """The text of the item that tells what tools did; empty where they did nothing."""
        return tool_text(self.tool_events)

    @property
    def said_keys(self) -> list[tuple[ItemKind, str]]:
        """The dedup keys of what the user said, as a snippet and as a fact."""
        fact = profile_fact(self.input)
        of_fact = [(ItemKind.PROFILE, fact_dedup_key(fact.key))] if fact else []
        return [(ItemKind.SEMANTIC, dedup_key(classified(self.input), self.input)), *of_fact]

    @property
    def tool_key(self) -> str | None:
        """The dedup key of what tools did, if they did anything."""
        text = self.tool_text
        return dedup_key(EventType.EXECUTION, text) if text else None

    def keys_in(self, allowed: Collection[SpaceKind]) -> list[tuple[Space, ItemKind, str]]:
        """The keys that the call may write, also in an allowed space that it may promote to."""
        owners, said = self.owners, self.said_keys
        keys = [(owners.session, kind, key) for kind, key in said]
        if self.tool_key:
            keys.append((owners.session, ItemKind.SEMANTIC, self.tool_key))
        if self.hint and self.hint.target in allowed:
            target = owners.by_kind[self.hint.target]
            keys += [(target, kind, key) for kind, key in said]
        return keys

    @property
    def hint(self) -> Hint | None:
        """Where the user asks to be remembered."""
        return promotion_hint(self.input)


def tool_text(tool_events: Sequence[Mapping[str, Any]]) -> str:
    """What tools did, as canonical JSON (trap 61)."""
    if not tool_events:
        return ""
    shown = json.dumps(list(tool_events), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return f"{_TOOL_TEXT}{shown}"


@dataclass(frozen=True, kw_only=True, slots=True)
class CallAnswer:
    """What a call gave: what came back, what was stored, what happened in order, and the clock."""

    recalled: Sequence[Recalled] = ()
    written: Sequence[Item] = ()
    events: Sequence[Event] = ()
    clock: int = 1
