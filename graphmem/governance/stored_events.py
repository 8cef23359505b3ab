"""Stored events: what a trace keeps of a call, without what its contract says, and back. Pure.

A text that was denied is nowhere in it: it stands as ``(redacted)``, also where it was asked for.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graphmem.governance.classify import classified, is_low_signal, profile_fact
from graphmem.governance.contract import Contract
from graphmem.governance.events import REDACTED, TRACE_VERSION, Event, EventKind
from graphmem.governance.phases import phase_index
from graphmem.governance.policy import Attempt, is_semantic, write_verdict
from graphmem.governance.world import Screen
from graphmem.model.governance import ItemKind
from graphmem.model.space import SpaceKind
from graphmem.text.secrets import has_secret

_SHARED = ("trace_version", "ai_profile", "session")
SNAPSHOTS = ("policy", "policy_snapshot")
_OF_PHASES = frozenset({EventKind.PHASE_STARTED, EventKind.DELETED})
_WITHOUT = frozenset({EventKind.WRITE, EventKind.CONFLICT, EventKind.PHASE_DIFF, EventKind.RECALL})


def compact(events: Sequence[Event], *, hides_query: bool) -> list[Event]:
    """Events as a trace keeps them."""
    return [_compact(event, hides_query=hides_query) for event in events]


def _compact(event: Event, *, hides_query: bool) -> Event:
    kept = {name: value for name, value in event.items() if name not in (*_SHARED, *SNAPSHOTS)}
    if hides_query and "query" in kept:
        kept["query"] = REDACTED
    for name in ("from_phase_id", "to_phase_id"):
        if name in kept and phase_index(kept[name]) is None:
            kept[name] = REDACTED
    if "attempted" in kept:
        kept["attempted"] = _hidden(kept["attempted"])
    return kept


def _hidden(item: Mapping[str, Any]) -> dict[str, Any]:
    """A denied item without its words, which its dedup key repeats (trap 24)."""
    event = item["meta"]["event_type"]
    meta = {**item["meta"], "dedup_key": f"{event}:{REDACTED}"}
    return {**item, "text": REDACTED, "meta": meta}


def restored(
    events: Iterable[Event], contract: Contract, *, profile: str, session: str
) -> list[Event]:
    """Events of a trace with what they share, and what their contract says."""
    snapshot, phase = contract.snapshot, {"phase": contract.phase_rules}
    policy = contract.recall_policy
    shared = {"trace_version": TRACE_VERSION, "ai_profile": profile, "session": session}
    return [
        {
            "type": event["type"],
            **shared,
            **event,
            **_said_of_contract(event, snapshot, phase, policy),
        }
        for event in events
    ]


def _said_of_contract(
    event: Event, snapshot: Mapping[str, Any], phase: Mapping[str, Any], policy: Mapping[str, Any]
) -> dict[str, Any]:
    kind = EventKind(event["type"])
    if kind is EventKind.RECALL:
        return {"policy": policy}
    if kind in _WITHOUT:
        return {}
    is_of_phases = kind in _OF_PHASES or str(event.get("action", "")).startswith("phase_")
    return {"policy_snapshot": phase if is_of_phases else snapshot}


def without_snapshots(events: Iterable[Event]) -> list[Event]:
    """Events without what their contract says."""
    return [
        {name: value for name, value in event.items() if name not in SNAPSHOTS} for event in events
    ]


def is_hidden(contract: Contract, text: str, screen: Screen) -> bool:
    """Whether a text that a call asks with may not be kept: a secret, or denied as some item."""
    if has_secret(text) or screen(text) or SpaceKind.SESSION not in contract.write_spaces:
        return True
    return any(
        not write_verdict(contract, attempt).is_allowed for attempt in _attempts(contract, text)
    )


def _attempts(contract: Contract, text: str) -> list[Attempt]:
    """What a call would try to write of what a user said."""
    event, fact = classified(text), profile_fact(text)
    tried = [Attempt(kind=ItemKind.SHORT_TERM, event=event, private=text)]
    if is_semantic(contract, event, is_low_signal=is_low_signal(text)):
        tried.append(Attempt(kind=ItemKind.SEMANTIC, event=event, private=text))
    if fact and contract.profile:
        tried.append(Attempt(kind=ItemKind.PROFILE, event=event, private=text, key=fact.key))
    return tried
