"""Only new: transfers that leave alone what is there already.

Records of rooms are left alone by their own transfers; memories, entities, edges and relations that
come again under their uids would be written over.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphmem.errors import GraphmemError
from graphmem.intake.record_transfer import UNCHANGED
from graphmem.model.caller import Caller
from graphmem.model.edge import EdgeType, edge_uid
from graphmem.model.memory import memory_key
from graphmem.model.relation import relation_key
from graphmem.model.space import Space
from graphmem.rooms import Core, Transfer
from graphmem.store.relations import Relations
from graphmem.text.normalise import is_storable

KeyOf = Callable[[Space, Mapping[str, Any]], str | None]
There = Callable[[Space, Sequence[str]], Collection[str]]


@dataclass(frozen=True, kw_only=True)
class OnlyNew:
    """A transfer that writes only records whose keys are not there."""

    transfer: Transfer
    key_of: KeyOf
    there: There

    @property
    def kind(self) -> str:
        """The name of its lines."""
        return self.transfer.kind

    def lines(self, space: Space) -> Iterator[Mapping[str, Any]]:
        """What a space holds of it."""
        return self.transfer.lines(space)

    def write(
        self, space: Space, values: Sequence[Any], *, caller: Caller
    ) -> Iterable[str | GraphmemError]:
        """Write what is not here; the rest is unchanged."""
        keys = [self._key(space, value) for value in values]
        here = self.there(space, sorted({key for key in keys if key}))
        new = [value for key, value in zip(keys, values, strict=True) if key not in here]
        outcomes = iter(self.transfer.write(space, new, caller=caller) if new else ())
        return [UNCHANGED if key in here else next(outcomes) for key in keys]

    def _key(self, space: Space, value: Any) -> str | None:  # noqa: ANN401 - any JSON
        """The key of a record, if what holds it is in the form of one."""
        if not isinstance(value, Mapping):
            return None
        try:
            key = self.key_of(space, value)
        except (KeyError, TypeError, ValueError):
            return None
        return key if key and is_storable(key) else None


def only_new(core: Core, transfers: Iterable[Transfer]) -> list[Transfer]:
    """The transfers of an import that changes nothing of what is there."""
    relations = Relations(core.connection)

    def edges(space: Space, uids: Sequence[str]) -> Collection[str]:
        found = core.edges.by_uids(space.tenant, uids)
        return {edge.uid for within, edge in found if within == space}

    looks: dict[str, tuple[KeyOf, There]] = {
        "entity": (_entity_key, lambda _, keys: core.entities.declared_there(keys)),
        "memory": (_memory_key, lambda _, keys: core.memories.by_key(keys)),
        "edge": (_edge_uid, edges),
        "relation": (_relation_key, lambda _, keys: relations.there(keys)),
    }
    return [
        OnlyNew(transfer=each, key_of=looks[each.kind][0], there=looks[each.kind][1])
        if each.kind in looks
        else each
        for each in transfers
    ]


def _entity_key(space: Space, value: Mapping[str, Any]) -> str:
    return f"{space.without_persona.key}|{value['key']}"


def _memory_key(space: Space, value: Mapping[str, Any]) -> str:
    return memory_key(space, str(value["uid"]))


def _relation_key(space: Space, value: Mapping[str, Any]) -> str:
    return relation_key(space, str(value["uid"]))


def _edge_uid(space: Space, value: Mapping[str, Any]) -> str:
    """The uid of an edge; one that came without has that of its place."""
    if uid := value.get("uid"):
        return str(uid)
    ends = (memory_key(space, str(value[name])) for name in ("from", "to"))
    return edge_uid(next(ends), EdgeType(value["type"]), next(ends))
