"""Spaces over HTTP: counts, and the policy that holds in them."""

import pytest

from graphmem.model.caller import Role


def add(api, content, space="user:ada", **more):
    return api.post("/v1/memories", {"space": space, "content": content} | more)


def put(api, overrides, space="user:ada"):
    body = {"space": space, "overrides": overrides}
    return api.client.put("/v1/spaces/policy", json=body, headers={"X-API-Key": api.key})


def listed(api, query=""):
    return [item["space"] for item in api.get(f"/v1/spaces{query}").get_json()["items"]]


def test_spaces_are_listed_with_their_counts(api):
    uid = add(api, "One.").get_json()["memory"]["uid"]
    add(api, "Two.", updates=[uid])
    add(api, "Three.", type="Goal")
    add(api, "Of Bob.", "user:bob")

    items = api.get("/v1/spaces").get_json()["items"]

    assert [
        {
            "space": "user:ada",
            "memories": 3,
            "counts": {"Fact": {"active": 1, "superseded": 1}, "Goal": {"active": 1}},
        },
        {"space": "user:bob", "memories": 1, "counts": {"Fact": {"active": 1}}},
    ] == items


def test_a_key_sees_only_the_spaces_of_its_patterns(api):
    for space in ("user:ada", "user:ada/coach", "user:adam", "project:apollo"):
        add(api, "One.", space)

    assert ["user:ada", "user:ada/coach"] == listed(api.with_key(Role.READER, "user:ada"))
    assert ["project:apollo"] == listed(api.with_key(Role.READER, "project:*"))
    assert [] == listed(api.with_key(Role.READER, "*", tenant="other"))


@pytest.mark.parametrize("limit", [1, 2, 3, 5])
def test_spaces_are_paged_without_gaps_or_repeats(api, limit):
    for number in range(5):
        add(api, "One.", f"user:{number}")

    seen, cursor = [], ""
    for _ in range(9):
        page = api.get(f"/v1/spaces?limit={limit}{cursor}").get_json()
        seen += [item["space"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = f"&cursor={page['next_cursor']}"

    assert [f"user:{number}" for number in range(5)] == seen


def test_the_policy_of_a_space_lies_over_the_defaults(api):
    answer = put(api, {"recall.fused.k": 12, "write.refuse_secrets": False})

    assert 200 == answer.status_code
    shown = api.get("/v1/spaces/policy?space=user:ada/coach").get_json()
    assert (12, False, 1.5) == tuple(
        shown["policy"][path]
        for path in ("recall.fused.k", "write.refuse_secrets", "recall.fused.text_weight")
    )
    assert {"recall.fused.k": 12, "write.refuse_secrets": False} == shown["overrides"]
    assert 10 == api.get("/v1/spaces/policy?space=user:bob").get_json()["policy"]["recall.fused.k"]


def test_the_policy_holds_in_writes_and_recalls(api):
    secret = "The password: hunter22hunter"
    add(api, "Tea one.")
    before = api.post(
        "/v1/recall", {"spaces": ["user:ada"], "query": "tea", "ranker": "rrf"}
    ).get_json()
    assert 403 == add(api, secret).status_code

    put(api, {"recall.rrf.k": 1, "write.refuse_secrets": False})

    after = api.post(
        "/v1/recall", {"spaces": ["user:ada"], "query": "tea", "ranker": "rrf"}
    ).get_json()
    assert after["items"][0]["score"] > 5 * before["items"][0]["score"]
    assert 201 == add(api, secret).status_code
    assert 403 == add(api, secret, "user:bob").status_code
    put(api, {})
    assert 403 == add(api, "The password: hunter33hunter").status_code


@pytest.mark.parametrize(
    ("overrides", "path"),
    [
        ({"recall.fused.k": -1}, "overrides.recall.fused.k"),
        ({"colour": 1}, "overrides.colour"),
        ([], "overrides"),
    ],
)
def test_a_bad_policy_names_the_value_and_changes_nothing(api, overrides, path):
    answer = put(api, overrides)

    assert (422, [path]) == (answer.status_code, list(answer.get_json()["error"]["fields"]))
    assert {} == api.get("/v1/spaces/policy?space=user:ada").get_json()["overrides"]


def test_only_curators_of_the_space_set_its_policy(api):
    assert 403 == put(api.with_key(Role.WRITER, "*"), {}).status_code
    assert 403 == put(api.with_key(Role.ADMIN, "user:bob"), {}).status_code


def test_a_list_is_as_of_its_time(api):
    old = add(api, "Ada drinks cola.").get_json()["memory"]["uid"]
    api.house.clock.advance(days=1)
    add(api, "Ada drinks tea.", updates=[old])
    api.house.clock.advance(days=1)
    api.client.patch(
        f"/v1/memories/{old}", json={"content": "Ada drank cola."}, headers={"X-API-Key": api.key}
    )

    def contents(query=""):
        page = api.get(f"/v1/memories?space=user:ada{query}").get_json()
        assert len(page["items"]) == page["total"]
        return [item["content"] for item in page["items"]]

    then, later = "2026-03-01T12:00:00Z", "2026-03-02T12:00:00Z"
    assert ["Ada drinks tea."] == contents()
    assert ["Ada drank cola."] == contents(f"&as_of={then}")
    assert ["Ada drinks cola."] == contents(f"&as_of={then}&known_at={then}")
    assert ["Ada drinks cola."] == contents(f"&as_of={then}&known_at={later}")
    assert ["Ada drinks tea."] == contents(f"&as_of={later}&known_at={later}")
    assert [] == contents("&known_at=2026-02-01T00:00:00Z")
    assert 422 == api.get("/v1/memories?space=user:ada&as_of=99999-01-01T00:00:00Z").status_code


@pytest.mark.parametrize("value", [10**400, -1, 101])
def test_a_number_that_would_make_endless_work_is_refused(api, value):
    assert 422 == put(api, {"recall.graph.seeds": value}).status_code


def test_a_policy_without_any_weight_breaks_no_recall(api):
    add(api, "Tea.")
    put(api, {"recall.fused.text_weight": 0, "recall.fused.vector_weight": 0})

    assert 200 == api.post("/v1/recall", {"spaces": ["user:ada"], "query": "tea"}).status_code


def test_the_cursor_of_spaces_names_only_what_the_key_may_read(api):
    for number in range(4):
        add(api, "One.", f"user:adam{number}")
    add(api, "One.", "user:ada")
    add(api, "One.", "user:ada/coach")
    key = api.with_key(Role.READER, "user:ada")

    page = key.get("/v1/spaces?limit=1").get_json()
    assert ["user:ada"] == [item["space"] for item in page["items"]]
    last = key.get(f"/v1/spaces?limit=1&cursor={page['next_cursor']}").get_json()
    assert (["user:ada/coach"], None) == (
        [item["space"] for item in last["items"]],
        last["next_cursor"],
    )
