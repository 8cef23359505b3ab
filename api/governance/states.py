"""What is known of governed memory: phases, items, and their lives."""

from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.governance.paths import item_of_path, keeper
from api.governance.schemas import (
    GovernedItemList,
    GovernedItemQuery,
    ItemEventList,
    PhaseDiffAnswer,
    PhaseDiffQuery,
    PhaseList,
    PhaseListQuery,
)
from api.json_blueprint import JsonBlueprint
from api.paging import PageQuery, cursor_of, page_answer
from graphmem.governance.events import Event, item_view
from graphmem.model.caller import Role
from graphmem.model.governance import Phase
from graphmem.model.trace import TraceRecord
from graphmem.store.governance import ListedItem

blueprint = JsonBlueprint(
    "governed items",
    __name__,
    url_prefix="/v1/governed",
    description="Phases, items and their lives (004)",
)


@blueprint.get("/<profile>/phases")
@requires(Role.READER)
@blueprint.query(PhaseListQuery)
@blueprint.response(200, PhaseList)
def phases(query: dict[str, Any], profile: str) -> Response:
    """List the phases of a space, the newest first."""
    keeper().contract(g.caller.tenant, profile)
    page = keeper().phases(query["space"], cursor_of(query, size=1), limit=query["limit"])
    return page_answer(page, _phase_view)


@blueprint.get("/<profile>/phases/diff")
@requires(Role.READER)
@blueprint.query(PhaseDiffQuery)
@blueprint.response(200, PhaseDiffAnswer)
def phases_diff(query: dict[str, Any], profile: str) -> Response:
    """Compare two phases of a space."""
    keeper().contract(g.caller.tenant, profile)
    space, before, after = query["space"], query["from_"], query["to"]
    diff = keeper().diff(space, before, after)
    ends = {"from_phase_id": before, "to_phase_id": after}
    return jsonify({"space": space.kind.value, "owner": space.owner} | ends | diff)


@blueprint.get("/<profile>/items")
@requires(Role.READER)
@blueprint.query(GovernedItemQuery)
@blueprint.response(200, GovernedItemList)
def items(query: dict[str, Any], profile: str) -> Response:
    """List the items of a space and kind, the newest first."""
    keeper().contract(g.caller.tenant, profile)
    page = keeper().items(
        query["space"],
        query["kind"],
        query["status"],
        cursor_of(query, size=1),
        limit=query["limit"],
    )
    return page_answer(page, _listed_view)


@blueprint.get("/<profile>/items/<item_id>/events")
@requires(Role.READER)
@blueprint.query(PageQuery)
@blueprint.response(200, ItemEventList)
def item_events(query: dict[str, Any], profile: str, item_id: str) -> Response:
    """List what happened to an item, the oldest first; of each call the events that name it."""
    keeper().contract(g.caller.tenant, profile)
    space, kind, number = item_of_path(item_id)
    page = keeper().item_events(
        space, kind, number, cursor_of(query, size=2), caller=g.caller, limit=query["limit"]
    )
    return page_answer(page, _told_view)


def _phase_view(listed: tuple[Phase, bool]) -> dict[str, Any]:
    phase, is_dropped = listed
    return {
        "phase_id": phase.id,
        "phase_index": phase.index,
        "phase_started_at": phase.started_at,
        "phase_reason": phase.reason,
        "phase_name": phase.name,
        "has_ledger": not is_dropped,
    }


def _listed_view(listed: ListedItem) -> dict[str, Any]:
    return item_view(listed.item) | {
        "uid": listed.item.uid,
        "status": listed.status.value,
        "reason": listed.reason,
        "is_present": listed.is_present,
    }


def _told_view(told: tuple[TraceRecord, list[Event]]) -> dict[str, Any]:
    trace, events = told
    return {"trace_id": trace.uid, "events": events}
