"""Corrections over HTTP: patch, status, history."""

import pytest

from graphmem.model.caller import Role

COLA = {"space": "user:ada", "content": "Ada drinks cola."}


def add(api, content, **more):
    return api.post("/v1/memories", COLA | {"content": content} | more).get_json()["memory"]


def patch(api, uid, body, **headers):
    return api.client.patch(
        f"/v1/memories/{uid}", json=body, headers={"X-API-Key": api.key} | headers
    )


def recalled(api, query, **options):
    answer = api.post("/v1/recall", {"spaces": ["user:ada"], "query": query} | options).get_json()
    return [item["memory"]["content"] for item in answer["items"]]


def test_a_patch_changes_what_it_names_and_keeps_the_rest(api):
    kept = {
        "tags": ["drink"],
        "metadata": {"a": 1},
        "pinned": True,
        "expires_at": "2030-01-01T00:00:00Z",
    }
    uid = add(api, "Ada drinks cola.", **kept)["uid"]

    answer = patch(api, uid, {"content": "Ada drinks coffee.", "importance": 80})

    memory = answer.get_json()["memory"]
    assert (200, "revised", '"2"') == (
        answer.status_code,
        answer.get_json()["outcome"],
        answer.headers["ETag"],
    )
    changed = {"content": "Ada drinks coffee.", "summary": "Ada drinks coffee.", "importance": 80}
    assert (kept | changed) == {name: memory[name] for name in kept | changed}
    assert ["Ada drinks coffee."] == recalled(api, "coffee")


def test_null_empties_what_may_be_empty(api):
    given = {
        "tags": ["x"],
        "metadata": {"a": 1},
        "entities": ["person:ada"],
        "valid_until": "2030-01-01T00:00:00Z",
    }
    uid = add(api, "Ada.", **given)["uid"]

    memory = patch(api, uid, dict.fromkeys(given)).get_json()["memory"]

    assert {"tags": [], "metadata": {}, "entities": [], "valid_until": None} == {
        name: memory[name] for name in given
    }


def test_a_patch_that_changes_nothing_writes_no_history(api):
    uid = add(api, "Ada.", importance=40)["uid"]

    assert "unchanged" == patch(api, uid, {"importance": 40}).get_json()["outcome"]
    assert 1 == api.get(f"/v1/memories/{uid}/history").get_json()["total"]


@pytest.mark.parametrize("method", ["patch", "retract", "archive", "restore"])
def test_a_stale_if_match_is_409_and_changes_nothing(api, method):
    uid = add(api, "Ada.")["uid"]
    patch(api, uid, {"importance": 60})
    stale = {"If-Match": '"1"'}

    if method == "patch":
        answer = patch(api, uid, {"importance": 70}, **stale)
    else:
        answer = api.post(f"/v1/memories/{uid}/{method}", {}, **stale)

    assert (409, "conflict") == (answer.status_code, answer.get_json()["error"]["code"])
    memory = api.get(f"/v1/memories/{uid}").get_json()
    assert (60, 2, "active") == (memory["importance"], memory["version"], memory["status"])


def test_the_right_if_match_is_taken(api):
    uid = add(api, "Ada.")["uid"]

    assert 200 == patch(api, uid, {"importance": 70}, **{"If-Match": '"1"'}).status_code


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "body"),
        ({"content": ""}, "content"),
        ({"content": None}, "content"),
        ({"importance": 101}, "importance"),
        ({"status": "retracted"}, "status"),
        (
            {"valid_from": "2026-02-02T00:00:00Z", "valid_until": "2026-02-01T00:00:00Z"},
            "valid_until",
        ),
        ({"valid_from": "2026-02-02T00:00:00"}, "valid_from"),
        ({"entities": ["ada"]}, "entities.0.key"),
        ({"metadata": {"space": 1}}, "metadata.space"),
        ({"tags": [""]}, "tags.0"),
    ],
)
def test_a_bad_patch_names_the_field_and_changes_nothing(api, body, path):
    uid = add(api, "Ada.")["uid"]

    answer = patch(api, uid, body)

    assert 422 == answer.status_code
    assert path in answer.get_json()["error"]["fields"]
    assert 1 == api.get(f"/v1/memories/{uid}").get_json()["version"]


def test_an_interval_is_checked_against_what_stays(api):
    uid = add(api, "Ada.", valid_from="2026-02-02T00:00:00Z")["uid"]

    answer = patch(api, uid, {"valid_until": "2026-02-01T00:00:00Z"})

    assert ["valid_until"] == list(answer.get_json()["error"]["fields"])


def test_a_secret_is_refused_in_a_patch_too(api):
    uid = add(api, "Ada.")["uid"]

    answer = patch(api, uid, {"content": "password: hunter22hunter"})

    assert (403, "policy_refused") == (answer.status_code, answer.get_json()["error"]["code"])
    assert "Ada." == api.get(f"/v1/memories/{uid}").get_json()["content"]


def test_what_is_retracted_is_never_recalled_and_can_be_restored(api):
    uid = add(api, "Ada drinks cola.")["uid"]

    memory = api.post(f"/v1/memories/{uid}/retract", {"reason": "misheard"}).get_json()["memory"]

    assert ("retracted", "misheard") == (memory["status"], memory["status_reason"])
    assert [] == recalled(api, "cola", include_superseded=True, include_archived=True)
    assert "unchanged" == api.post(f"/v1/memories/{uid}/retract", {}).get_json()["outcome"]

    api.post(f"/v1/memories/{uid}/restore", {})
    assert ["Ada drinks cola."] == recalled(api, "cola")
    assert "reinforced" == api.post("/v1/memories", COLA).get_json()["outcome"]


def test_the_same_words_after_a_retraction_are_a_memory_of_their_own(api):
    uid = add(api, "Ada drinks cola.")["uid"]
    api.post(f"/v1/memories/{uid}/retract", {})

    assert "created" == api.post("/v1/memories", COLA).get_json()["outcome"]


def test_an_archived_memory_is_found_only_when_asked_for_and_a_patch_leaves_it_there(api):
    uid = add(api, "Ada drinks cola.")["uid"]
    api.post(f"/v1/memories/{uid}/archive", {"reason": "old"})
    patch(api, uid, {"content": "Ada drank cola."})

    assert [] == recalled(api, "cola")
    assert ["Ada drank cola."] == recalled(api, "cola", include_archived=True)


def test_a_memory_of_another_type_is_known_again_by_that_type(api):
    uid = add(api, "Ada drinks tea.")["uid"]

    assert 200 == patch(api, uid, {"type": "Preference"}).status_code

    again = COLA | {"content": "Ada drinks tea."}
    reinforced = api.post("/v1/memories", again | {"type": "Preference"}).get_json()
    assert ("reinforced", uid) == (reinforced["outcome"], reinforced["memory"]["uid"])
    assert "created" == api.post("/v1/memories", again).get_json()["outcome"]


def test_a_correction_to_the_words_of_another_memory_is_a_conflict_that_names_it(api):
    other = add(api, "Ada drinks tea.")["uid"]
    uid = add(api, "Ada drinks coffee.")["uid"]

    answer = patch(api, uid, {"content": "Ada drinks tea"})

    assert 409 == answer.status_code
    assert other in answer.get_json()["error"]["message"]
    assert 200 == patch(api, uid, {"content": "Ada drinks cocoa."}).status_code


def test_what_is_superseded_is_restored_only_after_its_successor_went(api):
    old = add(api, "Ada drinks cola.")["uid"]
    new = add(api, "Ada drinks tea.", updates=[old])["uid"]

    assert 409 == api.post(f"/v1/memories/{old}/restore", {}).status_code

    api.post(f"/v1/memories/{new}/retract", {})
    restored = api.post(f"/v1/memories/{old}/restore", {}).get_json()["memory"]
    assert ("active", None) == (restored["status"], restored["valid_until"])


def test_a_value_that_changes_back_leaves_three_intervals(api):
    first = add(api, "Ada drinks cola.", valid_from="2026-01-01T00:00:00Z")["uid"]
    second = add(api, "Ada drinks coffee.", valid_from="2026-02-01T00:00:00Z", updates=[first])[
        "uid"
    ]
    third = add(api, "Ada drinks cola.", valid_from="2026-03-01T00:00:00Z", updates=[second])["uid"]

    intervals = [
        tuple(
            api.get(f"/v1/memories/{uid}").get_json()[name]
            for name in ("status", "valid_from", "valid_until")
        )
        for uid in (first, second, third)
    ]
    assert [
        ("superseded", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"),
        ("superseded", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"),
        ("active", "2026-03-01T00:00:00Z", None),
    ] == intervals
    assert ["Ada drinks cola."] == recalled(api, "drinks")


def test_a_history_shows_each_version_what_changed_and_the_lineage(api):
    old = add(api, "Ada drinks cola.")["uid"]
    api.house.clock.advance(days=1)
    patch(api, old, {"content": "Ada drinks coffee."})
    api.house.clock.advance(days=1)
    new = add(api, "Ada drinks tea.", updates=[old])["uid"]

    history = api.get(f"/v1/memories/{old}/history").get_json()

    items = history["items"]
    assert ([3, 2, 1], 3) == ([item["version"] for item in items], history["total"])
    assert {"from": "active", "to": "superseded"} == items[0]["changes"]["status"]
    assert {"from": "Ada drinks cola.", "to": "Ada drinks coffee."} == items[1]["changes"][
        "content"
    ]
    times = ["2026-03-03T09:30:00Z", "2026-03-02T09:30:00Z", "2026-03-01T09:30:00Z"]
    assert times == [item["recorded_from"] for item in items]
    assert [None, *times[:2]] == [item["recorded_until"] for item in items]
    assert [(new, old, "UPDATES")] == [
        (edge["from"], edge["to"], edge["type"]) for edge in history["lineage"]
    ]


def test_a_history_is_paged(api):
    uid = add(api, "Ada.")["uid"]
    for importance in (1, 2, 3, 4):
        patch(api, uid, {"importance": importance})

    first = api.get(f"/v1/memories/{uid}/history?limit=2").get_json()
    second = api.get(f"/v1/memories/{uid}/history?limit=2&cursor={first['next_cursor']}").get_json()

    assert [5, 4, 3, 2, 1] == [item["version"] for item in first["items"] + second["items"]]
    assert second["next_cursor"] is None


def test_every_step_of_a_batch_is_in_the_history(api):
    items = [
        {"space": "user:ada", "content": text, "logical_key": "drink"}
        for text in ("cola", "coffee", "cola")
    ]

    results = api.post("/v1/memories/batch", {"items": items}).get_json()["results"]

    history = api.get(f"/v1/memories/{results[0]['uid']}/history").get_json()
    assert ["cola", "coffee", "cola"] == [item["memory"]["content"] for item in history["items"]]


def test_a_reader_may_not_correct(api):
    uid = add(api, "Ada.")["uid"]
    reader = api.with_key(Role.READER, "*")

    assert 403 == patch(reader, uid, {"importance": 1}).status_code
    assert 403 == reader.post(f"/v1/memories/{uid}/retract", {}).status_code


@pytest.mark.parametrize("path", ["history", "neighbours"])
def test_what_a_key_may_not_see_is_not_there(api, path):
    uid = add(api, "Ada.")["uid"]
    stranger = api.with_key(Role.ADMIN, "*", tenant="other")
    neighbour = api.with_key(Role.ADMIN, "user:bob")

    assert [404, 404] == [
        key.get(f"/v1/memories/{uid}/{path}").status_code for key in (stranger, neighbour)
    ]
    assert 404 == patch(stranger, uid, {"importance": 1}).status_code
    assert 404 == stranger.post(f"/v1/memories/{uid}/retract", {}).status_code


def test_a_memory_whose_update_was_withdrawn_is_true_again_when_it_is_restored(api):
    old = add(api, "Ada drinks cola.")["uid"]
    new = add(api, "Ada drinks tea.", updates=[old])["uid"]
    edge = api.get(f"/v1/edges?space=user:ada&memory={old}").get_json()["items"][0]["uid"]
    patch(api, new, {"valid_from": "2026-01-01T00:00:00Z"})
    api.client.delete(f"/v1/edges/{edge}", headers={"X-API-Key": api.key})

    restored = api.post(f"/v1/memories/{old}/restore", {}).get_json()["memory"]

    assert ("active", None) == (restored["status"], restored["valid_until"])
    assert "Ada drinks cola." in recalled(api, "cola")


def test_a_restored_memory_is_true_as_long_as_it_was_said_to_be(api):
    old = add(api, "Ada drinks cola.", valid_until="2027-01-01T00:00:00Z")["uid"]
    new = add(api, "Ada drinks tea.", updates=[old])["uid"]
    api.post(f"/v1/memories/{new}/retract", {})

    assert (
        "2027-01-01T00:00:00Z"
        == api.post(f"/v1/memories/{old}/restore", {}).get_json()["memory"]["valid_until"]
    )
