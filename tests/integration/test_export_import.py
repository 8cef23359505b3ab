"""Export and import: a space as lines, and the same space again elsewhere."""

import json
from dataclasses import replace

import pytest
from builders import a_request

from graphmem.gateway.declaring import EntityRequest
from graphmem.gateway.edges import DrawEdge, EdgeRequest
from graphmem.intake.export_import import export_lines, import_lines
from graphmem.model.caller import Caller, Role
from graphmem.model.edge import EdgeType
from graphmem.model.entity import EntityRef
from graphmem.model.source import Source
from graphmem.model.space import Space, SpaceKind

SECRET = "the password is hunter2-Xk29!pq"
ADA_AGAIN = "user:again"


def the_space(house, name="ada"):
    return Space(tenant=house.caller.tenant, kind=SpaceKind.USER, owner=name)


def lines_of(house, name="ada"):
    return list(export_lines(house.graphmem.transfers, the_space(house, name)))


def bring(house, lines, name="again"):
    *_, done = [
        None,
        *import_lines(house.graphmem.transfers, lines, the_space(house, name), caller=house.caller),
    ]
    return dict(done.counts), done.problems


def a_history(house):
    for number in range(3):
        house.write(a_request(f"Turn {number} is about tea.", source=Source(conversation_id="c-1")))
        house.clock.advance(minutes=1)
    house.write(
        a_request("Ada lives in Rome.", uid="rome", tags=("home",), metadata={"n": 1}, pinned=True)
    )
    house.write(a_request("Ada lives in Bonn.", uid="bonn", updates=("rome",), importance=80))
    edge = EdgeRequest(
        space=the_space(house),
        from_uid="bonn",
        to_uid="rome",
        type=EdgeType.RELATED_TO,
        weight=0.3,
        reason="cities",
    )
    house.graphmem.gateway.execute(DrawEdge(request=edge), house.caller)


def test_a_space_that_is_exported_and_imported_is_the_same_space(house):
    a_history(house)
    lines = lines_of(house)

    counts, problems = bring(house, lines)

    said = {"conversations": 1, "turns": 3}
    assert ({"created": 5, "edges": 2} | said, []) == (counts, problems)
    assert sorted(lines) == sorted(lines_of(house, "again"))
    assert house.contents("Where does Ada live?", ADA_AGAIN)[0] == "Ada lives in Bonn."
    turns = house.rows(
        "MATCH (a:Memory)-[:NEXT]->(b:Memory) WHERE a.space = $tenant + 'user:again'"
        " RETURN a.content, b.content ORDER BY a.content"
    )
    assert [(f"Turn {n} is about tea.", f"Turn {n + 1} is about tea.") for n in range(2)] == turns


def test_importing_again_changes_nothing_and_content_is_still_known(house):
    a_history(house)
    lines = lines_of(house)
    bring(house, lines)

    assert {"unchanged": 9, "edges": 2} == bring(house, lines)[0]
    again = house.write(a_request("Turn 0 is about tea.", space=ADA_AGAIN))
    assert "reinforced" == again.results[0].outcome.value


def test_a_bad_line_is_named_by_its_number_and_takes_no_other_with_it(house):
    good = json.dumps({"memory": {"uid": "a", "content": "Tea."}})
    bad = [
        "{",
        "[]",
        json.dumps({"memory": {"uid": "b"}}),
        json.dumps({"memory": {"uid": "b", "content": "x", "more": 1}}),
        json.dumps({"memory": {"uid": "b", "content": "x", "importance": 101}}),
        json.dumps({"edge": {"from": "a", "to": "gone", "type": "RELATED_TO"}}),
        json.dumps({}),
    ]

    counts, problems = bring(
        house, [good, *bad, "\n", json.dumps({"memory": {"uid": "c", "content": "Coffee."}})]
    )

    assert {"created": 2, "failed": len(bad)} == counts
    assert [f"line {number}:" for number in range(2, 9)] == sorted(
        problem[:7] for problem in problems
    )


def test_what_a_line_says_not_to_be_there_is_not_made_up(house):
    doubtful = {"uid": "a", "content": "Perhaps tea.", "confidence": 0.2, "status": "archived"}
    none = {"status_reason": None, "expires_at": None, "created_at": "2026-01-02T00:00:00Z"}
    bring(house, [json.dumps({"memory": doubtful | none})])
    bring(house, [json.dumps({"memory": doubtful | {"uid": "b"}})])
    said, unsaid = (json.loads(line)["memory"] for line in lines_of(house, "again"))

    assert (None, None) == (said["status_reason"], said["expires_at"])
    assert "import" == unsaid["status_reason"]
    assert unsaid["expires_at"]


def test_an_import_needs_a_key_for_the_space(house):
    stranger = Caller(
        key_id="x", tenant=house.caller.tenant, role=Role.WRITER, spaces=("user:other",)
    )
    line = json.dumps({"memory": {"uid": "a", "content": "Tea."}})

    *_, done = import_lines(
        house.graphmem.transfers, [line], the_space(house, "again"), caller=stranger
    )

    assert {"failed": 1} == dict(done.counts)


@pytest.mark.parametrize("count", [199, 200, 201])
def test_pages_and_batches_lose_nothing(house, count):
    lines = [
        json.dumps({"memory": {"uid": f"m-{n}", "content": f"Memory number {n}."}})
        for n in range(count)
    ]
    bring(house, lines, "many")

    assert count == len(lines_of(house, "many"))


def test_an_import_goes_on_after_a_bad_line_and_says_which(house):
    def line(**memory):
        return json.dumps({"memory": {"uid": memory["content"][:1], **memory}})

    lines = [
        line(content="Ada likes tea."),
        line(content="Before all years.", created_at="0001-01-01T00:00:00+14:00"),
        b'{"memory": {"uid": "x", "content": "\xff"}}'.decode("utf-8", "surrogateescape"),
        b'{"memory": \xfe}'.decode("utf-8", "surrogateescape"),
        line(content="Zoe too."),
    ]

    counts, problems = bring(house, lines)

    assert {"created": 2, "failed": 3} == counts
    assert ["line 2", "line 3", "line 4"] == sorted(each.partition(":")[0] for each in problems)
    assert any("years 1 to 9999" in each for each in problems)


def declare(house, name, type_="person", **said):
    request = EntityRequest(name=name, **said, given=frozenset(said))
    space = the_space(house)
    house.graphmem.entity_register.declare(space, type_, request, caller=house.caller)


def a_world_of_entities(house):
    """Declared ones: mentioned or not, with signs, under a plain key of before, merged into one."""
    old = EntityRef(key="org:johnson_johnson", label="Johnson & Johnson")
    house.write(a_request("They sell plasters.", uid="a", entities=(old,)))
    attributes = {"z": 1, "a": [True, 1.0, None], "é": {"b": "ß"}}
    declare(house, "Johnson & Johnson", "org", description="Founded in 1886")
    declare(house, "C++", "tool", aliases=["Cpp", "C plus plus"], attributes=attributes)
    declare(house, "John Doe")
    declare(house, "Jon Doe", description="gone by then")
    house.clock.advance(days=1)
    declare(house, "C++", "tool", description="A language")
    keeper = house.graphmem.entity_keeper
    space = the_space(house)
    keeper.merge(space, "person:jon_doe", "person:john_doe", caller=house.caller)
    spoken = EntityRef(key="person:john_doe", label="Johnny")
    house.write(a_request("Johnny uses it.", uid="b", entities=(spoken, EntityRef(key="tool:C++"))))


def test_declared_entities_come_back_as_they_were(house):
    a_world_of_entities(house)
    lines = lines_of(house)

    counts, problems = bring(house, lines)

    assert ({"entities": 3, "created": 2}, []) == (counts, problems)
    assert lines == lines_of(house, "again")
    assert ["org:johnson_johnson", "person:john_doe", "tool:c__plus__plus"] == [
        json.loads(line)["entity"]["key"] for line in lines[:3]
    ]
    assert ({"unchanged": 5}, []) == bring(house, lines)
    assert lines == lines_of(house, "again")
    fields = "RETURN e.entity_key, e.search_names, size(split(e.space_token, ' ')) ORDER BY e.key"
    ada, again = (
        house.rows(
            "MATCH (e:Entity) WHERE e.space = $tenant + $space AND e.declared"
            f" AND NOT EXISTS {{ (e)-[:MERGED_INTO]->() }} {fields}",
            space=f"user:{name}",
        )
        for name in ("ada", "again")
    )
    assert ada == again


def test_a_bad_entity_takes_no_other_with_it_and_one_twice_is_written_over(house):
    entities = [
        {"key": "person:ann", "label": "Ann"},
        {"key": "person:bob", "label": "Bob", "description": SECRET},
        {"key": "person:ann", "label": "Anna", "description": "Ada's sister"},
        {"key": "person:ann", "label": "Ann", "description": "Ada's sister"},
    ]

    counts, problems = bring(house, [json.dumps({"entity": each}) for each in entities])
    again = bring(house, [json.dumps({"entity": each}) for each in entities[::2]])

    assert {"entities": 2, "unchanged": 1, "failed": 1} == counts
    assert ["line 2"] == [problem.partition(":")[0] for problem in problems]
    assert ({"entities": 2}, []) == again
    (line,) = lines_of(house, "again")
    assert ("Ann", "Ada's sister") == tuple(
        json.loads(line)["entity"][name] for name in ("label", "description")
    )


def test_a_persona_has_no_declared_entities_of_its_own(house):
    declare(house, "John Doe")
    coach = replace(the_space(house), persona="coach")

    assert [] == list(export_lines(house.graphmem.transfers, coach))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"key": "person:John Doe"}, "entity.key: Must be a key, such as person:john_doe."),
        ({"key": "john"}, "entity.key: Must be type:name"),
        ({"label": ""}, "name: Must be 1 to"),
        ({"attributes": {"a": "x" * 5_000}}, "attributes: At most 4,096 bytes"),
        ({"bogus": 1}, "entity.bogus: Unknown field."),
    ],
)
def test_a_bad_line_of_an_entity_is_named(house, change, said):
    entity = {"key": "person:john_doe", "label": "John Doe"} | change

    counts, problems = bring(house, [json.dumps({"entity": entity})])

    assert {"failed": 1} == counts
    assert problems[0].startswith(f"line 1: {said}")
