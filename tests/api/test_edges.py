"""Edges over HTTP, and what is around a memory."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from graphmem.errors import Conflict
from graphmem.gateway.edges import DrawEdge, EdgeRequest
from graphmem.model.caller import Role
from graphmem.model.edge import EdgeType
from graphmem.model.space import parse_space


@pytest.fixture
def four(api):
    """Four memories a, b, c, d of one space."""
    for name in "abcd":
        api.post("/v1/memories", {"space": "user:ada", "content": f"Fact {name}.", "uid": name})
    return api


def draw(api, start, end, **more):
    return api.post(
        "/v1/edges", {"space": "user:ada", "from": start, "to": end, "type": "RELATED_TO"} | more
    )


def delete(api, uid, query=""):
    return api.client.delete(f"/v1/edges/{uid}{query}", headers={"X-API-Key": api.key})


def test_a_secret_in_a_reason_is_refused_wherever_one_is_given(four):
    four.post(
        "/v1/memories/batch",
        {
            "items": [
                {"space": "user:ada", "content": f"I met {name}.", "entities": [f"person:{name}"]}
                for name in ("jon", "john")
            ]
        },
    )
    reason = "the password is hunter2hunter2"

    for answer in (
        draw(four, "a", "b", reason=reason),
        four.post("/v1/memories/a/retract?space=user:ada", {"reason": reason}),
        four.post("/v1/memories/a/archive?space=user:ada", {"reason": reason}),
        four.post(
            "/v1/entities/person:jon/merge",
            {"space": "user:ada", "into": "person:john", "reason": reason},
        ),
    ):
        assert (403, "screening_secret") == (
            answer.status_code,
            answer.get_json()["error"]["reason"],
        )
    assert 0 == four.get("/v1/edges?space=user:ada").get_json()["total"]


def test_a_recall_shows_the_newest_hundred_edges_of_a_result_and_says_that_there_are_more(four):
    four.house.rows(
        "MATCH (a:Memory {uid: 'a'}) WHERE a.space STARTS WITH $tenant"
        " MATCH (b:Memory {uid: 'b', space: a.space})"
        " UNWIND range(1, 150) AS n"
        " CREATE (a)-[:RELATED_TO {uid: 'e' + right('00' + n, 3), weight: 0.5,"
        " created_at: datetime({epochSeconds: n})}]->(b)"
    )
    draw(four, "c", "d", uid="only")

    answer = four.post("/v1/recall", {"spaces": ["user:ada"], "query": "Fact", "limit": 4})

    body = answer.get_json()
    shown = {edge["uid"] for edge in body["edges"]}
    assert {"only", *(f"e{n:03}" for n in range(51, 151))} == shown
    assert ["edges_cut: 2"] == body["degraded"]


def test_an_update_against_the_times_of_both_ends_is_a_conflict(four):
    for uid, begin in (("early", "2024-01-01T00:00:00Z"), ("late", "2025-01-01T00:00:00Z")):
        body = {"space": "user:ada", "content": f"Since {begin}.", "uid": uid, "valid_from": begin}
        four.post("/v1/memories", body)

    assert 409 == draw(four, "early", "late", type="UPDATES").status_code
    assert 201 == draw(four, "late", "early", type="UPDATES").status_code


def test_an_edge_is_drawn_and_listed(four):
    answer = draw(four, "a", "b", weight=0.4, reason="both facts")

    edge = answer.get_json()["edge"]
    assert (201, "created") == (answer.status_code, answer.get_json()["outcome"])
    assert ("RELATED_TO", 0.4, "both facts") == (edge["type"], edge["weight"], edge["reason"])
    listed = four.get("/v1/edges?space=user:ada").get_json()
    assert ([edge], 1, None) == (listed["items"], listed["total"], listed["next_cursor"])


@pytest.mark.parametrize("uid", ["mine", None])
def test_a_second_write_of_that_uid_or_of_none_revises_and_keeps_the_uid(four, uid):
    first = draw(four, "a", "b", uid="mine", weight=0.4).get_json()["edge"]
    four.house.clock.advance(days=1)

    answer = draw(four, "a", "b", weight=0.9, **({"uid": uid} if uid else {}))

    edge = answer.get_json()["edge"]
    assert (200, "revised") == (answer.status_code, answer.get_json()["outcome"])
    assert ("mine", 0.9, first["created_at"]) == (edge["uid"], edge["weight"], edge["created_at"])
    assert 1 == four.get("/v1/edges?space=user:ada").get_json()["total"]


def test_the_uid_that_was_given_to_an_unnamed_edge_names_that_edge_alone(four):
    unnamed = draw(four, "a", "b").get_json()["edge"]["uid"]
    draw(four, "a", "b", uid="other", weight=0.4)
    delete(four, unnamed)

    again = draw(four, "a", "b", uid=unnamed, weight=0.9)

    assert 201 == again.status_code
    listed = four.get("/v1/edges?space=user:ada").get_json()["items"]
    assert {("other", 0.4), (unnamed, 0.9)} == {(edge["uid"], edge["weight"]) for edge in listed}


def test_edges_that_are_checked_before_a_write_may_not_share_a_uid(four):
    space = parse_space("user:ada", tenant=four.house.caller.tenant)
    edges = [
        EdgeRequest(space=space, from_uid="a", to_uid=end, type=EdgeType.RELATED_TO, uid="one")
        for end in "bcb"
    ]

    refused = four.house.graphmem.writing.refusals([], edges, caller=four.house.caller)

    assert [Conflict] == [type(error) for error in refused]
    assert () == four.house.graphmem.writing.refusals([], edges[::2], caller=four.house.caller)


def test_edges_of_different_uids_stand_side_by_side_and_each_is_removed_alone(four):
    for uid in ("one", "two"):
        assert 201 == draw(four, "a", "b", uid=uid).status_code

    removed = four.client.delete("/v1/edges/one", headers={"X-API-Key": four.key})

    assert 204 == removed.status_code
    left = four.get("/v1/edges?space=user:ada").get_json()["items"]
    assert ["two"] == [edge["uid"] for edge in left]


def test_without_a_uid_the_oldest_of_parallel_edges_is_revised(four):
    for uid in ("z-first", "a-second"):
        draw(four, "a", "b", uid=uid, weight=0.1)
        four.house.clock.advance(days=1)

    edge = draw(four, "a", "b", weight=0.9).get_json()["edge"]

    weights = {each["uid"]: each["weight"] for each in edges_of(four)}
    assert ("z-first", {"z-first": 0.9, "a-second": 0.1}) == (edge["uid"], weights)


def test_twenty_clients_that_draw_one_uid_at_different_places_leave_one_edge(four):
    def at(number):
        start, end = ("a", "b") if number % 2 else ("c", "d")
        request = EdgeRequest(
            space=parse_space("user:ada", tenant=four.house.caller.tenant),
            from_uid=start,
            to_uid=end,
            type=EdgeType.RELATED_TO,
            uid="one",
        )
        try:
            operation = DrawEdge(request=request)
            return four.house.graphmem.gateway.execute(operation, four.house.caller).answer.edge
        except Conflict:
            return None

    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(at, range(20)))

    assert 10 == len([edge for edge in drawn if edge])
    assert 1 == len(edges_of(four))


def edges_of(four):
    return four.get("/v1/edges?space=user:ada").get_json()["items"]


@pytest.mark.parametrize("name", ["RelatedTo", "relatedTo", "RELATED_TO"])
def test_the_names_of_002_are_accepted(four, name):
    assert "RELATED_TO" == draw(four, "a", "b", type=name).get_json()["edge"]["type"]


@pytest.mark.parametrize("weight", [0, 1, 0.5])
def test_weights_within_the_bounds_are_taken(four, weight):
    assert 201 == draw(four, "a", "b", weight=weight).status_code


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"weight": 1.1}, "weight"),
        ({"weight": -0.1}, "weight"),
        ({"weight": True}, "weight"),
        ({"type": "LIKES"}, "type"),
        ({"type": 3}, "type"),
        ({"to": "a"}, "to"),
        ({"to": "nobody"}, "to"),
        ({"from": "nobody"}, "from"),
        ({"from": "not a uid"}, "from"),
        ({"space": "user"}, "space"),
        ({"colour": "red"}, "colour"),
        ({"uid": ""}, "uid"),
    ],
)
def test_a_bad_edge_names_the_field_and_draws_nothing(four, change, path):
    answer = draw(four, "a", "b", **change)

    assert 422 == answer.status_code
    assert path in answer.get_json()["error"]["fields"]
    assert 0 == four.get("/v1/edges?space=user:ada").get_json()["total"]


def test_an_edge_never_crosses_a_wall(four):
    four.post("/v1/memories", {"space": "user:bob", "content": "Bob.", "uid": "bobs"})

    answer = draw(four, "a", "bobs")

    assert ["to"] == list(answer.get_json()["error"]["fields"])


def test_updates_supersedes_and_contradicts_leaves_both_active(four):
    draw(four, "b", "a", type="UPDATES")
    draw(four, "d", "c", type="CONTRADICTS")

    states = {uid: four.get(f"/v1/memories/{uid}").get_json()["status"] for uid in "abcd"}
    assert {"a": "superseded", "b": "active", "c": "active", "d": "active"} == states
    items = four.post("/v1/recall", {"spaces": ["user:ada"], "query": "fact"}).get_json()["items"]
    assert {"b": False, "c": True, "d": True} == {
        item["memory"]["uid"]: item["contradicted"] for item in items
    }


def test_a_contradiction_is_resolved_when_one_side_is_no_longer_active(four):
    draw(four, "d", "c", type="CONTRADICTS")
    four.post("/v1/memories/c/retract", {})

    items = four.post("/v1/recall", {"spaces": ["user:ada"], "query": "fact d"}).get_json()["items"]

    assert [False, False, False] == [item["contradicted"] for item in items]


def test_a_removed_edge_is_gone_and_its_trace_stays(four):
    edge = draw(four, "a", "b", reason="because").get_json()["edge"]

    answer = delete(four, edge["uid"])

    assert 204 == answer.status_code
    assert 404 == delete(four, edge["uid"]).status_code
    assert 0 == four.get("/v1/edges?space=user:ada").get_json()["total"]
    kept = four.house.rows(
        "MATCH (t:Trace {uid: $uid}) RETURN t.events", uid=answer.headers["X-Trace-ID"]
    )
    assert "edge_removed" in kept[0][0]
    assert "because" in kept[0][0]


def test_a_list_is_paged_and_filtered(four):
    draw(four, "a", "b", type="CAUSED_BY")
    for start, end in (("b", "c"), ("c", "d"), ("d", "a")):
        draw(four, start, end, type="PART_OF")

    first = four.get("/v1/edges?space=user:ada&limit=3").get_json()
    second = four.get(f"/v1/edges?space=user:ada&limit=3&cursor={first['next_cursor']}").get_json()

    assert ["a", "b", "c", "d"] == [edge["from"] for edge in first["items"] + second["items"]]
    assert (4, None) == (first["total"], second["next_cursor"])
    assert 3 == four.get("/v1/edges?space=user:ada&type=PartOf").get_json()["total"]
    touching = four.get("/v1/edges?space=user:ada&memory=b").get_json()
    assert [("a", "b"), ("b", "c")] == [(edge["from"], edge["to"]) for edge in touching["items"]]


def test_a_reader_may_list_and_not_draw(four):
    edge = draw(four, "a", "b").get_json()["edge"]
    reader = four.with_key(Role.READER, "*")

    assert 200 == reader.get("/v1/edges?space=user:ada").status_code
    assert [403, 403] == [
        draw(reader, "b", "c").status_code,
        delete(reader, edge["uid"]).status_code,
    ]


def test_an_edge_of_another_is_not_there(four):
    edge = draw(four, "a", "b").get_json()["edge"]
    stranger = four.with_key(Role.ADMIN, "*", tenant="other")

    assert 404 == delete(stranger, edge["uid"]).status_code
    assert 404 == delete(four.with_key(Role.ADMIN, "user:bob"), edge["uid"]).status_code
    assert 1 == four.get("/v1/edges?space=user:ada").get_json()["total"]


def around(api, uid, query=""):
    answer = api.get(f"/v1/memories/{uid}/neighbours{query}").get_json()
    return [memory["uid"] for memory in answer["memories"]], [
        (e["from"], e["to"]) for e in answer["edges"]
    ]


def test_neighbours_are_nearest_first_and_as_deep_as_asked(four):
    draw(four, "a", "b")
    draw(four, "b", "c", type="CAUSED_BY")
    draw(four, "d", "c", type="PART_OF")

    assert (["b"], [("a", "b")]) == around(four, "a")
    assert (["b", "c"], [("a", "b"), ("b", "c")]) == around(four, "a", "?depth=2")
    assert (["b", "c", "d"], [("a", "b"), ("b", "c"), ("d", "c")]) == around(four, "a", "?depth=3")
    assert (["b"], [("a", "b")]) == around(four, "a", "?depth=3&limit=1")
    assert ([], []) == around(four, "a", "?depth=3&edge_type=PART_OF")
    assert (["b", "d"], [("b", "c"), ("d", "c")]) == around(
        four, "c", "?edge_type=CausedBy&edge_type=PartOf"
    )


@pytest.mark.parametrize(
    "query", ["?depth=0", "?depth=4", "?depth=9", "?edge_type=LIKES", "?limit=0", "?limit=201"]
)
def test_a_bad_question_for_neighbours_is_422(four, query):
    assert 422 == four.get(f"/v1/memories/a/neighbours{query}").status_code


def test_neighbours_stay_inside_the_space_even_where_an_edge_was_forged(four):
    four.post(
        "/v1/memories",
        {"space": "user:bob", "content": "Bob.", "uid": "bobs", "entities": ["person:bob"]},
    )
    draw(four, "a", "b")
    four.house.rows(
        "MATCH (a:Memory {uid: 'a'}), (b:Memory {uid: 'b'}), (x:Memory {uid: 'bobs'})"
        " WHERE a.space STARTS WITH $tenant AND b.space STARTS WITH $tenant AND x.space STARTS"
        " WITH $tenant"
        " CREATE (a)-[:RELATED_TO {uid: 'forged', weight: 1.0, created_at: datetime()}]->(x),"
        " (x)-[:RELATED_TO {uid: 'forged2', weight: 1.0, created_at: datetime()}]->(b)"
    )

    answer = four.get("/v1/memories/a/neighbours?depth=3").get_json()

    assert ["b"] == [memory["uid"] for memory in answer["memories"]]
    assert [("a", "b")] == [(edge["from"], edge["to"]) for edge in answer["edges"]]
    assert [] == answer["entities"]
    assert ["RELATED_TO"] == [
        edge["type"] for edge in four.get("/v1/edges?space=user:ada").get_json()["items"]
    ]
    assert 404 == delete(four, "forged").status_code


def test_a_uid_names_one_edge_of_a_space(four):
    draw(four, "a", "b", uid="mine")

    assert 409 == draw(four, "a", "c", uid="mine").status_code
    assert 200 == draw(four, "a", "b", uid="mine").status_code
    assert 204 == delete(four, "mine").status_code


def test_what_is_not_current_supersedes_nothing(four):
    draw(four, "b", "a", type="UPDATES")

    assert 409 == draw(four, "a", "b", type="UPDATES").status_code
    assert "active" == four.get("/v1/memories/b").get_json()["status"]


def test_updates_said_again_supersedes_what_was_restored(four):
    draw(four, "b", "a", type="UPDATES")
    four.post("/v1/memories/b/retract", {})
    four.post("/v1/memories/a/restore", {})
    four.post("/v1/memories/b/restore", {})

    draw(four, "b", "a", type="UPDATES")

    assert "superseded" == four.get("/v1/memories/a").get_json()["status"]


def test_an_edge_that_was_drawn_by_hand_without_its_properties_breaks_nothing(four):
    four.house.rows(
        "MATCH (a:Memory {uid: 'a'}), (b:Memory {uid: 'b'})"
        " WHERE a.space STARTS WITH $tenant AND b.space STARTS WITH $tenant CREATE"
        " (a)-[:RELATED_TO]->(b)"
    )

    assert ["b"] == around(four, "a")[0]
    for path in ("/v1/edges?space=user:ada", "/v1/memories/a/history"):
        assert 200 == four.get(path).status_code
    assert (
        200
        == four.post(
            "/v1/recall", {"spaces": ["user:ada"], "query": "fact", "graph": True}
        ).status_code
    )
