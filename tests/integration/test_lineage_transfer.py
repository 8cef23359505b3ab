"""Lineage in exports: what memories were made from comes along, and counts in the new store."""

import json
from dataclasses import replace

import pytest
from builders import a_request

from graphmem.gateway.status import ChangeStatus
from graphmem.intake.export_import import export_lines, import_lines
from graphmem.model.caller import Role
from graphmem.model.memory import Status
from graphmem.model.space import parse_space

AT = "2026-01-01T00:00:00Z"


def the_space(house, name):
    return parse_space(name, tenant=house.caller.tenant)


def lines_of(house, name):
    return list(export_lines(house.graphmem.transfers, the_space(house, name)))


def lineage_lines(house, name):
    lines = (json.loads(line) for line in lines_of(house, name))
    return [line["lineage"] for line in lines if "lineage" in line]


def bring(house, lines, name, caller=None):
    *_, done = import_lines(
        house.graphmem.transfers, lines, the_space(house, name), caller=caller or house.caller
    )
    return done


def a_line(**values):
    return json.dumps({"lineage": values})


@pytest.fixture
def two_made(house):
    for uid in ("fold", "member"):
        house.write(a_request(f"The {uid} is about tea.", uid=uid))
    house.write(a_request("Tea in the project.", uid="copy", space="project:p"))
    return house


FOLD = {"from": "fold", "type": "FOLDED_FROM", "to": "member", "created_at": AT}
COPY = {
    "from": "copy",
    "from_space": "project:p",
    "type": "PROMOTED_FROM",
    "to": "member",
    "to_space": "user:ada",
    "created_at": AT,
}


def test_lineage_is_drawn_once_and_exported_as_it_came(two_made):
    line = a_line(**FOLD)

    first = bring(two_made, [line, line], "user:ada")
    again = bring(two_made, [line], "user:ada")

    assert {"lineage": 2} == dict(first.counts)
    assert {"unchanged": 1} == dict(again.counts)
    assert [FOLD] == lineage_lines(two_made, "user:ada")


def test_both_spaces_of_a_promotion_carry_it_and_either_brings_it(two_made):
    bring(two_made, [a_line(**COPY)], "project:p")

    of_copy, of_member = (lineage_lines(two_made, name) for name in ("project:p", "user:ada"))
    two_made.rows("MATCH (m:Memory {key: $tenant + 'project:p|copy'}) DETACH DELETE m")
    missing = bring(two_made, [a_line(**of_member[0])], "user:ada")
    two_made.write(a_request("Tea in the project.", uid="copy", space="project:p"))
    there = bring(two_made, [a_line(**of_member[0])], "user:ada")

    assert [COPY] == of_copy == of_member
    assert {"left_out": 1} == dict(missing.counts)
    assert {"lineage": 1} == dict(there.counts)
    assert [COPY] == lineage_lines(two_made, "project:p")


def test_what_leads_to_another_space_is_left_out_under_another_name(two_made):
    bring(two_made, [a_line(**COPY)], "project:p")

    done = bring(two_made, lines_of(two_made, "user:ada"), "user:again")

    assert (1, []) == (done.counts["left_out"], done.problems)
    assert [] == lineage_lines(two_made, "user:again")


def test_lineage_stays_in_its_tenant_and_its_space(two_made):
    two_made.write(a_request("Tea with the coach.", uid="of-coach", space="user:ada/coach"))
    two_made.rows(
        "MATCH (m:Memory {key: $tenant + 'user:ada|member'})"
        " CREATE (o:Memory {key: 'elsewhere' + $tenant + 'user:ada|x', uid: 'x',"
        "   space: 'elsewhere' + $tenant + 'user:ada'})"
        " CREATE (o)-[:FOLDED_FROM]->(m) CREATE (m)-[:FOLDED_FROM]->(o)"
    )
    try:
        assert [] == lineage_lines(two_made, "user:ada")
        assert [] == lineage_lines(two_made, "user:ada/coach")
    finally:
        two_made.rows("MATCH (o:Memory) WHERE o.space STARTS WITH 'elsewhere' DETACH DELETE o")


def test_lineage_that_was_drawn_by_hand_has_the_time_of_its_import(two_made):
    two_made.rows(
        "MATCH (f:Memory {key: $tenant + 'user:ada|fold'})"
        " MATCH (m:Memory {key: $tenant + 'user:ada|member'}) CREATE (f)-[:FOLDED_FROM]->(m)"
    )
    lines = lines_of(two_made, "user:ada")

    done = bring(two_made, lines, "user:again")

    assert (1, []) == (done.counts["lineage"], done.problems)
    (line,) = lineage_lines(two_made, "user:again")
    assert two_made.clock.now().isoformat()[:19] == line["created_at"][:19]


def test_a_fold_that_was_imported_is_taken_apart_with_its_member(two_made):
    bring(two_made, [a_line(**FOLD)], "user:ada")
    two_made.rows(
        "MATCH (m:Memory {key: $tenant + 'user:ada|member'})"
        " SET m.status = 'archived', m.status_reason = 'fold'"
    )
    lines = lines_of(two_made, "user:ada")
    bring(two_made, lines, "user:again")

    key = the_space(two_made, "user:again").key + "|member"
    member = two_made.graphmem.memories.by_key([key])[key]
    change = ChangeStatus(memory=member, status=Status.RETRACTED, reason=None)
    two_made.graphmem.gateway.execute(change, two_made.caller)

    rows = two_made.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant + 'user:a' AND m.uid = 'fold'"
        " RETURN m.space, m.status ORDER BY m.space"
    )
    assert ["active", "archived"] == [status for _, status in rows]


def test_a_line_of_lineage_that_is_wrong_names_its_field(two_made):
    wrong = [
        a_line(**FOLD | {"type": "UPDATES"}),
        a_line(**FOLD | {"to": "fold"}),
        a_line(**FOLD | {"from": "a b|c"}),
        a_line(**FOLD, to_space="user"),
        a_line(**FOLD | {"type": "SUMMARY_OF"}, to_space="project:p"),
        a_line(**FOLD | {"created_at": "soon"}),
    ]

    done = bring(two_made, wrong, "user:ada")

    assert [
        "line 1: lineage.type",
        "line 2: lineage.to",
        "line 3: lineage.from",
        "line 4: lineage.to_space",
        "line 5: lineage.type",
        "line 6: lineage.created_at",
    ] == [problem.split(": ")[0] + ": " + problem.split(": ")[1] for problem in done.problems]
    assert {"failed": 6} == dict(done.counts)


def test_lineage_needs_a_key_for_both_of_its_spaces(two_made):
    caller = replace(two_made.caller, role=Role.WRITER, spaces=("project:p",))

    done = bring(two_made, [a_line(**COPY)], "project:p", caller)

    assert {"failed": 1} == dict(done.counts)
    assert [] == lineage_lines(two_made, "project:p")
