"""Golden files of our own: contracts with calls and the events that they give, in an empty tenant.

``GRAPHMEM_TEST_WRITE_GOLDEN=1`` writes the events anew; read them before they are committed.
"""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from graphmem.governance.conflict import Rule
from graphmem.governance.events import Action, EventKind
from graphmem.governance.keeper import GovernanceKeeper
from graphmem.governance.policy import Border, Refusal
from graphmem.governance.promotion import PromotionRefusal
from graphmem.governance.replay import (
    TENANT_PREFIX,
    ForgetReplay,
    first_difference,
    read_replay,
    replayed,
)
from graphmem.governance.retention import Forgotten
from graphmem.governance.stored_events import without_snapshots
from graphmem.model.governance import Gone

FILES = sorted((Path(__file__).parents[1] / "golden" / "governance").glob("*.json"))
# what no call can reach (sources, 5.5); unit tests show these
UNREACHED = {Refusal.LOW_SIGNAL, Refusal.WRITE_POLICY_CONTEXT, Rule.IMPORTANCE}


@pytest.fixture
def replay(house):
    caller = replace(house.caller, tenant=f"{TENANT_PREFIX}{house.caller.tenant}")
    keeper = house.graphmem.of(GovernanceKeeper)
    yield lambda file: replayed(keeper, file, caller=caller)
    house.graphmem.gateway.execute(ForgetReplay(tenant=caller.tenant), caller)
    left = house.rows(
        "MATCH (n) WHERE n.space STARTS WITH $other OR n.tenant = $name RETURN labels(n)",
        other=f"{caller.tenant}/",
        name=caller.tenant,
    )
    assert [] == left


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_calls_of_a_file_give_its_events(replay, path):
    file = read_replay(path.read_text("utf-8"))
    done = list(replay(file))
    if os.environ.get("GRAPHMEM_TEST_WRITE_GOLDEN"):
        for call, each in zip(file["calls"], done, strict=True):
            call["events"] = without_snapshots(each.events)
        path.write_text(json.dumps(file, ensure_ascii=False, indent=1) + "\n", "utf-8")

    assert [] == [each.difference for each in done if each.difference]
    assert all(each.is_compared for each in done)


def all_events():
    for path in FILES:
        for call in json.loads(path.read_text("utf-8"))["calls"]:
            yield from call.get("events", ())


def test_the_files_show_every_event_and_every_code_that_a_call_can_reach():
    events = list(all_events())
    shown = {value for event in events for value in (event.get("reason"), event.get("rule"))}
    codes = {
        *Refusal,
        *Border,
        *PromotionRefusal,
        *Forgotten,
        *Gone,
        *Rule,
    }

    assert set(EventKind) == {event["type"] for event in events}
    assert set(Action) == {event["action"] for event in events if "action" in event}
    assert {code.value for code in UNREACHED} == {code.value for code in codes} - shown


@pytest.mark.parametrize(
    ("expected", "found", "difference"),
    [
        ([{"a": 1}], [{"a": 1}], None),
        ([{"a": 1}], [{"a": 2}], "events.1.a: expected 1, found 2"),
        ([{"a": 1}], [{"a": True}], "events.1.a: expected 1, found true"),
        ([{"a": 1}], [{}], "events.1.a: is missing"),
        ([{}], [{"a": 1}], "events.1.a: is not expected"),
        ([1], [1, 2], "events: 1 expected, 2 found"),
    ],
)
def test_the_first_difference_is_named_by_its_place(expected, found, difference):
    assert difference == first_difference(expected, found)
