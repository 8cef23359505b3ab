"""New items: what is to be stored, with its number, its tick and what it is worth. Pure (004)."""

from graphmem.governance.classify import importance_of
from graphmem.governance.world import World
from graphmem.model.governance import EventType, FactKey, Item, ItemKind, ItemSource, Phase
from graphmem.model.memory import Authority
from graphmem.model.space import SpaceKind
from graphmem.text.dedup_keys import dedup_key, fact_dedup_key

_AUTHORITY = {
    ItemSource.USER: Authority.USER_ASSERTED,
    ItemSource.AI: Authority.AI_INFERRED,
    ItemSource.TOOL: Authority.TOOL_VERIFIED,
    ItemSource.SYSTEM: Authority.SYSTEM_IMPOSED,
}


def new_item(
    world: World,
    space: SpaceKind,
    kind: ItemKind,
    text: str,
    *,
    source: ItemSource,
    event: EventType,
    phase: Phase,
    key: FactKey | None = None,
) -> Item:
    """An item of a space; its number and tick are used up, whatever becomes of it."""
    uid, number, ticked, mark = world.number(space, kind)
    importance, reasons = importance_of(text, event, source)
    return Item(
        uid=uid,
        space=world.places[space].space,
        kind=kind,
        number=number,
        text=text,
        source=source,
        created_at=ticked,
        mark=mark,
        importance=importance,
        importance_reason=reasons,
        event_type=event,
        dedup_key=fact_dedup_key(key) if key else dedup_key(event, text),
        authority=_AUTHORITY[source],
        authority_reason=f"source:{source}",
        phase=phase,
        key=key,
    )
