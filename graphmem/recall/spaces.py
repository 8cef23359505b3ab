"""Spaces of a recall: which ones a request reads, and refusal of all others."""

import logging
import unicodedata
from collections.abc import Iterable, Sequence

from graphmem.errors import Forbidden, InvalidInput, ScopeDenied
from graphmem.model.caller import Caller, Role
from graphmem.model.space import Space, SpaceKind, parse_space, space_from_key
from graphmem.ports import Events

log = logging.getLogger(__name__)


def readable_spaces(
    names: Sequence[str], caller: Caller, *, field: str = "spaces", events: Events | None = None
) -> tuple[Space, ...]:
    """The spaces that a request reads: those it names, and behind a persona its owner's (001).

    Raises:
        InvalidInput: a name is not valid.
        Forbidden: the key may not read one.
        ScopeDenied: an orchestrator space beside any other (002).
    """
    named = [_space(name, caller, f"{field}.{index}") for index, name in enumerate(names)]
    for space in named:
        if not caller.may(Role.READER, space):
            log.warning(
                "recall denied: key %s may not read a space of kind %s", caller.key_id, space.kind
            )
            _note_denied(space, named, caller, events)
            raise Forbidden
    _check_alone(named, caller, events)
    stored = [*named, *_in_older_forms(names, caller)]
    wider = (each for space in stored for each in space.readable_with_it())
    return tuple(dict.fromkeys(each for each in wider if caller.may(Role.READER, each)))


def _in_older_forms(names: Iterable[str], caller: Caller) -> list[Space]:
    """The spaces of names that are not in NFC, as an older version stored them."""
    return [
        space_from_key(f"{caller.tenant}/{name}")
        for name in names
        if not unicodedata.is_normalized("NFC", name)
    ]


def _space(name: str, caller: Caller, path: str) -> Space:
    try:
        return parse_space(name, tenant=caller.tenant)
    except ValueError as error:
        raise InvalidInput({path: [str(error)]}) from error


def _check_alone(named: Sequence[Space], caller: Caller, events: Events | None) -> None:
    """Refuse an orchestrator space beside any other."""
    orchestrators = [space for space in named if space.kind is SpaceKind.ORCHESTRATOR]
    if orchestrators and len(set(named)) > 1:
        other = next(space for space in named if space != orchestrators[0])
        _note_denied(other, orchestrators[:1], caller, events)
        raise ScopeDenied


def _note_denied(
    requested: Space, named: Iterable[Space], caller: Caller, events: Events | None
) -> None:
    """Leave an event where a recall would cross the wall of an orchestrator."""
    around = [space for space in (requested, *named) if space.kind is SpaceKind.ORCHESTRATOR]
    if not events or not around:
        return
    visible = (space for space in around if space != requested and caller.may_see(space))
    available = next(visible, None)
    events.emit(
        "memory.recall.scope_denied",
        available or requested,
        requested_orchestrator_id=requested.owner,
        available_orchestrator_id=available.owner if available else None,
        key_id=caller.key_id,
    )


def has_orchestrator(spaces: Iterable[Space]) -> bool:
    """Whether the typed graph's own space is read, which has rules of its own (002)."""
    return any(space.kind is SpaceKind.ORCHESTRATOR for space in spaces)
