"""Governed items beside plain memories, turns of 003 and a hundred days of upkeep."""

from dataclasses import replace

import pytest
from builders import a_request
from sessions import Session

from graphmem.bootstrap import build
from graphmem.governance.keeper import GovernanceKeeper
from graphmem.governance.owners import owners_of
from graphmem.governance.request import CallRequest
from graphmem.model.space import parse_space

SPACES = ("session:ada", "user:ada")
SWITCHES = {
    "upkeep.speculative.enabled": True,
    "upkeep.commitments.enabled": True,
    "upkeep.curate.enabled": True,
    "upkeep.consolidate.enabled": True,
    "upkeep.archive.enabled": True,
}
JOBS = (
    *("expire", "decay_commitments", "archive", "curate_dedupe", "curate_fold"),
    *("consolidate", "detect_contradictions", "integrity"),
)
CONTRACT = {"short_term": 4, "semantic": True, "profile": True}
SAID = (
    "My name is Ada.",
    "Remember this for me: I prefer tabs.",
    "We decided to use Go.",
    "Actually, my name is Bob.",
)
KEPT = """
MATCH (m:Memory) WHERE m.space STARTS WITH $tenant AND m.kept_by = 'governance'
RETURN m {.*, embedded: null} ORDER BY m.key
"""


@pytest.fixture
def awake(house, connection, settings):
    """A service with every switch on."""
    built = build(settings, connection, clock=house.clock, embedder=house.embedder)
    for name in SPACES:
        built.policies.save(parse_space(name, tenant=house.caller.tenant), SWITCHES)
    yield replace(house, graphmem=built)
    built.journal.close()
    built.events.close()


def call(house, said, person="ada"):
    keeper = house.graphmem.of(GovernanceKeeper)
    keeper.save_contract("assistant", CONTRACT, caller=house.caller)
    owners = owners_of(house.caller.tenant, {"user": {"id": person}}, {})
    request = CallRequest(profile="assistant", owners=owners, input=said, output="I see.")
    return keeper.call(request, caller=house.caller)


def without_person(call, person):
    named = str([call.recalled, call.written, call.clock])
    return named.replace(f":{person}:", ":somebody:").replace(f"'{person}'", "'somebody'")


def test_a_hundred_days_of_upkeep_and_of_others_change_no_item_and_no_later_call(awake):
    for text in SAID:
        call(awake, text)
    before = awake.rows(KEPT)
    for name in SPACES:
        for text in (*SAID, "Ada", "Ada"):
            awake.write(a_request(text, space=name, dedupe="none", confidence=0.3))
    Session(awake, "user:ada").read("FYI my name is Ada. I prefer tabs.")
    for _ in range(5):
        awake.clock.advance(days=20)
        for name in SPACES:
            key = parse_space(name, tenant=awake.caller.tenant).key
            for job in JOBS:
                awake.graphmem.runner.run(job, space_key=key)
        awake.graphmem.runner.run("embed_pending")

    assert 8 < len(before)
    assert before == awake.rows(KEPT)
    for text in SAID:  # of a person who was never beside others
        call(awake, text, person="eve")
    asked = [
        without_person(call(awake, "My name is Cid.", person), person) for person in ("ada", "eve")
    ]
    assert asked[0] == asked[1]


def test_traces_of_calls_are_kept_as_long_as_their_contract_says(awake):
    keeper = awake.graphmem.of(GovernanceKeeper)
    kept = {days: [] for days in (1, 400, None)}
    for days, traces in kept.items():
        values = CONTRACT | {"keep_events_days": days}
        keeper.save_contract("assistant", values, caller=awake.caller)
        owners = owners_of(awake.caller.tenant, {"user": {"id": "s"}}, {})
        request = CallRequest(profile="assistant", owners=owners, input="Hm.", output="Hm.")
        traces.append(keeper.call(request, caller=awake.caller).trace_id)
    for days, left in ((40, {400, None}), (400, {None})):
        awake.clock.advance(days=days)
        awake.graphmem.runner.run("prune_traces")
        found = {
            days
            for days, (trace_id,) in kept.items()
            if awake.graphmem.traces.by_uid(awake.caller.tenant, trace_id)
        }
        assert left == found
