"""The wall: what belongs to another is not there, not even as a difference between two answers."""

import json

import pytest

from graphmem.model.caller import Role

SECRET = "zanzibar"


@pytest.fixture
def walled(api):
    """Ada's space full of things, and three keys that may see none of it."""
    entities = ["person:ada", "person:eve"]
    for uid in ("one", "two"):
        body = {
            "space": "user:ada",
            "content": f"{SECRET} {uid}.",
            "uid": uid,
            "entities": entities,
            "importance": 90,
        }
        api.post("/v1/memories", body)
    for kind, uid in (("CAUSED_BY", "edge"), ("PART_OF", "edge-2")):
        api.post(
            "/v1/edges", {"space": "user:ada", "from": "one", "to": "two", "type": kind, "uid": uid}
        )
    api.post("/v1/entities/person:eve/merge", {"space": "user:ada", "into": "person:ada"})
    return api


@pytest.fixture(params=["another tenant", "another space", "a persona of another"])
def stranger(request, walled):
    """A key that may do everything elsewhere, with memories of its own of the same names."""
    key = {
        "another tenant": lambda: walled.with_key(
            Role.ADMIN, "*", tenant=f"{walled.house.caller.tenant}-2"
        ),
        "another space": lambda: walled.with_key(Role.ADMIN, "user:bob"),
        "a persona of another": lambda: walled.with_key(Role.ADMIN, "user:bob/ada"),
    }[request.param]()
    space = "user:bob/ada" if "persona" in request.param else "user:bob"
    key.post(
        "/v1/memories",
        {"space": space, "content": "Of Bob.", "uid": "bobs", "entities": ["person:ada"]},
    )
    yield key, space
    walled.house.rows(
        "MATCH (n) WHERE n.space STARTS WITH $other DETACH DELETE n",
        other=f"{walled.house.caller.tenant}-2/",
    )


def call(key, method, path, body=None):
    sent = (
        {"data": json.dumps(body), "content_type": "application/json"} if body is not None else {}
    )
    return key.client.open(path, method=method, headers={"X-API-Key": key.key}, **sent)


OF_ONE = [
    ("GET", "/v1/memories/{uid}", None),
    ("GET", "/v1/memories/{uid}/history", None),
    ("GET", "/v1/memories/{uid}/neighbours", None),
    ("PATCH", "/v1/memories/{uid}", {"importance": 1}),
    ("POST", "/v1/memories/{uid}/retract", {}),
    ("POST", "/v1/memories/{uid}/restore", {}),
    ("POST", "/v1/memories/{uid}/archive", {}),
]


@pytest.mark.parametrize(("method", "path", "body"), OF_ONE)
def test_a_memory_elsewhere_answers_like_one_that_never_was(stranger, method, path, body):
    key, _ = stranger

    there, nowhere = (call(key, method, path.format(uid=uid), body) for uid in ("one", "nothing"))

    assert (404, 404) == (there.status_code, nowhere.status_code)
    assert without_id(there) == without_id(nowhere)


def test_an_edge_elsewhere_answers_like_one_that_never_was(stranger, walled):
    key, space = stranger

    there, nowhere = (call(key, "DELETE", f"/v1/edges/{uid}") for uid in ("edge", "nothing"))

    assert (404, 404) == (there.status_code, nowhere.status_code)
    assert without_id(there) == without_id(nowhere)
    for ends in ({"from": "one", "to": "bobs"}, {"from": "bobs", "to": "one"}):
        drawn = call(key, "POST", "/v1/edges", {"space": space, "type": "RELATED_TO"} | ends)
        missing = call(
            key,
            "POST",
            "/v1/edges",
            {"space": space, "type": "RELATED_TO"}
            | {k: v.replace("one", "zip") for k, v in ends.items()},
        )
        assert 422 == drawn.status_code
        assert without_id(drawn) == without_id(missing)
    assert 2 == walled.get("/v1/edges?space=user:ada").get_json()["total"]


@pytest.mark.parametrize(
    "field", ["updates", "contradicts", "related_to", "caused_by", "part_of", "after"]
)
def test_a_write_cannot_point_over_the_wall(stranger, walled, field):
    key, space = stranger
    target = "one" if field == "after" else ["one"]

    answer = call(key, "POST", "/v1/memories", {"space": space, "content": "Mine.", field: target})

    assert 422 == answer.status_code
    assert "active" == walled.get("/v1/memories/one").get_json()["status"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/memories?space=user:ada", None),
        ("GET", "/v1/edges?space=user:ada", None),
        ("GET", "/v1/entities?space=user:ada", None),
        ("GET", "/v1/entities/person:ada/card?space=user:ada", None),
        ("GET", "/v1/entities/merges?space=user:ada", None),
        ("GET", "/v1/spaces/policy?space=user:ada", None),
        ("PUT", "/v1/spaces/policy", {"space": "user:ada", "overrides": {}}),
        (
            "POST",
            "/v1/recall",
            {"spaces": ["user:ada"], "query": SECRET, "cards": True, "graph": True},
        ),
        ("POST", "/v1/memories", {"space": "user:ada", "content": "Mine."}),
        ("POST", "/v1/edges", {"space": "user:ada", "from": "one", "to": "two", "type": "PART_OF"}),
        ("POST", "/v1/entities/person:eve/merge", {"space": "user:ada", "into": "person:ada"}),
    ],
)
def test_naming_a_space_elsewhere_gives_nothing_of_it(stranger, walled, method, path, body):
    key, _ = stranger

    answer = call(key, method, path, body)

    assert SECRET not in answer.get_data(as_text=True)
    is_other_tenant = key_tenant(walled, key) != walled.house.caller.tenant
    if not is_other_tenant:
        assert 403 == answer.status_code
    assert 2 == walled.get("/v1/memories?space=user:ada").get_json()["total"]
    assert 2 == walled.get("/v1/edges?space=user:ada").get_json()["total"]


def test_own_recalls_cards_lists_and_spaces_hold_nothing_of_another(stranger):
    key, space = stranger

    answers = [
        call(
            key,
            "POST",
            "/v1/recall",
            {"spaces": [space], "query": SECRET, "cards": True, "graph": True, "limit": 200},
        ),
        call(key, "GET", f"/v1/entities/person:ada/card?space={space}"),
        call(key, "GET", f"/v1/entities?space={space}"),
        call(key, "GET", f"/v1/memories?space={space}"),
        call(key, "GET", "/v1/spaces"),
    ]

    assert [200] * 5 == [answer.status_code for answer in answers]
    text = "".join(answer.get_data(as_text=True) for answer in answers)
    assert SECRET not in text
    assert "user:ada" not in text
    assert "Eve" not in text


def test_a_cursor_of_another_key_opens_nothing(stranger, walled):
    key, space = stranger
    walled.post(
        "/v1/memories",
        {"space": "user:ada", "content": "More.", "entities": ["place:x", "place:y"]},
    )
    for noun in ("memories", "edges", "entities"):
        cursor = walled.get(f"/v1/{noun}?space=user:ada&limit=1").get_json()["next_cursor"]
        assert cursor is not None

        answer = call(key, "GET", f"/v1/{noun}?space={space}&cursor={cursor}")

        text = answer.get_data(as_text=True)
        assert not [word for word in (SECRET, "place:x", "place:y", '"edge') if word in text]
        assert answer.status_code in {200, 422}


def test_a_merge_elsewhere_cannot_be_undone(stranger, walled):
    key, _ = stranger
    merge_id = walled.get("/v1/entities/merges?space=user:ada").get_json()["items"][0]["merge_id"]

    there, nowhere = (
        call(key, "POST", f"/v1/entities/merges/{uid}/undo", {}) for uid in (merge_id, "nothing")
    )

    assert (404, 404) == (there.status_code, nowhere.status_code)
    assert without_id(there) == without_id(nowhere)


def test_a_uid_that_is_taken_elsewhere_is_free_here(stranger, walled):
    key, space = stranger

    answer = call(key, "POST", "/v1/memories", {"space": space, "content": "Mine.", "uid": "one"})

    assert (201, "created") == (answer.status_code, answer.get_json()["outcome"])
    assert f"{SECRET} one." == walled.get("/v1/memories/one?space=user:ada").get_json()["content"]


def key_tenant(walled, key):
    return walled.house.graphmem.keys.find(key.key).tenant


def without_id(answer):
    error = answer.get_json()["error"]
    return {name: value for name, value in error.items() if name != "request_id"}
