"""Governed spaces in exports: after an import the next call gives what it gives at home."""

import json
from dataclasses import replace

import pytest

from graphmem.governance.keeper import GovernanceKeeper
from graphmem.governance.owners import owners_of
from graphmem.governance.request import CallRequest, DiffRequest, PhaseToken
from graphmem.intake.export_import import export_lines, import_lines
from graphmem.model.caller import Role
from graphmem.model.space import parse_space

STATE, IDENTITY = {"user": {"id": "s1"}}, {"id": "ada"}
SPACES = ("session:s1", "user:ada")
CONTRACT = {"short_term": 2, "semantic": True, "profile": True}


class Governed:
    """Calls of one person in a tenant."""

    def __init__(self, house, tenant):
        self.house = house
        self.caller = replace(house.caller, tenant=tenant)
        self.keeper = house.graphmem.of(GovernanceKeeper)

    def call(self, said, **more):
        owners = owners_of(self.caller.tenant, STATE, IDENTITY)
        request = CallRequest(
            profile="assistant", owners=owners, input=said, output="I see.", **more
        )
        return self.keeper.call(request, caller=self.caller)

    def space(self, name):
        return parse_space(name, tenant=self.caller.tenant)

    def export(self, name):
        return list(export_lines(self.house.graphmem.transfers, self.space(name)))

    def take_in(self, name, lines, caller=None):
        *_, done = import_lines(
            self.house.graphmem.transfers, lines, self.space(name), caller=caller or self.caller
        )
        return done


@pytest.fixture
def home(house):
    found = Governed(house, house.caller.tenant)
    found.keeper.save_contract("assistant", CONTRACT, caller=found.caller)
    found.call("My name is Ada.")
    found.call("Remember this for me: I prefer tabs.")
    found.call("Actually, my name is Bob.", token=PhaseToken(token="b", name="B"))
    found.call("We decided to use Go.")
    return found


@pytest.fixture
def abroad(house):
    tenant = f"{house.caller.tenant}-2"
    yield Governed(house, tenant)
    house.rows(
        "MATCH (n) WHERE n.space STARTS WITH $other + '/' OR n.tenant = $other DETACH DELETE n",
        other=tenant,
    )


def test_after_an_import_calls_give_what_they_give_at_home(home, abroad):
    for name in SPACES:
        done = abroad.take_in(name, home.export(name))
        assert [] == done.problems
    asked = (
        ("Which tabs do I prefer?", {}),
        ("My name is Cid.", {}),
        ("And now?", {"diff": DiffRequest(before="phase-1", after="phase-2")}),
    )

    for said, more in asked:
        here, there = home.call(said, **more), abroad.call(said, **more)
        assert (here.recalled, here.written) == (there.recalled, there.written)
        assert (here.events, here.clock) == (there.events, there.clock)


def test_the_same_import_again_changes_nothing_and_clocks_rise_to_the_highest(home, abroad):
    lines = home.export("session:s1")
    first = abroad.take_in("session:s1", lines)
    again = abroad.take_in("session:s1", lines)
    home.call("We decided to use Rust.")
    more = abroad.take_in("session:s1", home.export("session:s1"))

    assert first.counts["governed_items"] == first.counts["created"]
    assert (1, 1) == (first.counts["contracts"], first.counts["governed_places"])
    assert 0 == again.counts["governed_items"] + again.counts["governed_places"]
    assert 0 == again.counts["failed"] + again.counts["contracts"]
    assert 1 == more.counts["governed_places"]
    last = [home.call("Hello."), abroad.call("Hello.")]
    assert last[0].clock == last[1].clock


def test_a_writer_brings_no_contract_and_a_line_that_is_wrong_names_its_field(home, abroad):
    writer = replace(abroad.caller, role=Role.WRITER)
    contract = json.dumps({"contract": {"profile": "assistant", "contract": {"short_term": 1}}})
    wrong = [
        json.dumps({"contract": {"profile": "a b", "contract": {}}}),
        json.dumps({"contract": {"profile": "a", "contract": {"short_term": -1}}}),
        json.dumps({"governed_place": {"clock": 0}}),
        json.dumps({"governed_item": {"uid": "x", "until": "now"}}),
    ]

    assert 1 == abroad.take_in("session:s1", [contract], writer).counts["failed"]
    done = abroad.take_in("session:s1", wrong)
    assert [
        "line 1: contract.profile",
        "line 2: contract.contract.short_term",
        "line 3: governed_place.clock",
        "line 4: governed_item.until",
    ] == [problem.rpartition(": ")[0] for problem in done.problems]
    lies = abroad.take_in("namespace:x", [json.dumps({"governed_place": {}})])
    assert "Lies in a space such as" in lies.problems[0]


def test_lineage_comes_along_also_from_one_space_to_another(home, abroad):
    for name in SPACES:
        assert [] == abroad.take_in(name, home.export(name)).problems

    here, there = ([lineage(each, name) for name in SPACES] for each in (home, abroad))

    assert {"PROMOTED_FROM", "SUMMARY_OF"} == {line["type"] for lines in here for line in lines}
    assert here == there


def lineage(governed, name):
    lines = (json.loads(line) for line in governed.export(name))
    return [line["lineage"] for line in lines if "lineage" in line]
