"""Entities over HTTP: list, card, merge, split, undo."""

import pytest

from graphmem.model.caller import Role

JON, JOHN = "person:jon_doe", "person:john_doe"


def add(api, content, *entities, **more):
    body = {
        "space": "user:ada",
        "content": content,
        "entities": list(entities),
        "importance": 80,
    } | more
    return api.post("/v1/memories", body).get_json()["memory"]["uid"]


def merge(api, key, into, **more):
    return api.post(f"/v1/entities/{key}/merge", {"space": "user:ada", "into": into} | more)


def undo(api, merge_id):
    return api.post(f"/v1/entities/merges/{merge_id}/undo", {})


def keys(api, query=""):
    return [
        item["key"] for item in api.get(f"/v1/entities?space=user:ada{query}").get_json()["items"]
    ]


def mentioned(api, uid):
    return [entity["key"] for entity in api.get(f"/v1/memories/{uid}").get_json()["entities"]]


def graph(api):
    """Everything that a merge may touch, as it stands."""
    return api.house.rows(
        "MATCH (n) WHERE n.space STARTS WITH $tenant AND (n:Memory OR n:Entity)"
        " OPTIONAL MATCH (n)-[r:MENTIONS|FORMERLY_MENTIONED|MERGED_INTO]->(o:Entity)"
        " RETURN n.key, n.space_token, n.label, n.aliases, type(r), properties(r), o.key ORDER"
        " BY n.key, type(r), o.key"
    )


def recalled(api, **options):
    answer = api.post(
        "/v1/recall", {"spaces": ["user:ada"], "query": "anything"} | options
    ).get_json()
    return {item["memory"]["content"] for item in answer["items"]}


def test_entities_are_listed_by_prefix_the_exact_name_first(api):
    add(api, "One.", "person:john_doe", "person:john", "place:johnstown", "person:ann")

    assert ["person:john", "person:john_doe", "place:johnstown"] == keys(api, "&prefix=John")
    assert ["person:john", "person:john_doe"] == keys(api, "&prefix=person:john")
    assert ["place:johnstown"] == keys(api, "&prefix=john&type=place")
    assert 4 == len(keys(api))


def test_a_list_of_entities_is_paged(api):
    add(api, "One.", "person:a", "person:ab", "person:abc", "place:a")

    first = api.get("/v1/entities?space=user:ada&prefix=a&limit=3").get_json()
    second = api.get(
        f"/v1/entities?space=user:ada&prefix=a&limit=3&cursor={first['next_cursor']}"
    ).get_json()

    assert ["person:a", "place:a", "person:ab", "person:abc"] == [
        e["key"] for e in first["items"] + second["items"]
    ]
    assert (4, None) == (first["total"], second["next_cursor"])


def test_an_entity_shows_its_label_and_the_other_names_it_was_called(api):
    add(api, "One.", {"key": JOHN, "label": "John Doe"})
    add(api, "Two.", {"key": JOHN, "label": "Johnny"})
    add(api, "Three.", JOHN)

    item = api.get("/v1/entities?space=user:ada").get_json()["items"][0]
    assert ("John Doe", ["Johnny"], "person", "user:ada") == (
        item["label"],
        item["aliases"],
        item["type"],
        item["space"],
    )


def test_a_card_shows_the_most_important_facts(api):
    add(api, "John is tall.", JOHN, importance=70)
    add(api, "John is pinned.", JOHN, importance=0, pinned=True)
    add(api, "John sneezed.", JOHN, importance=59)
    add(api, "John is kind.", JOHN, importance=60)

    card = api.get(f"/v1/entities/{JOHN}/card?space=user:ada").get_json()

    assert "[person:john_doe]: John is pinned.; John is tall.; John is kind." == card["text"]
    assert (4, "John Doe") == (card["mentions"], card["label"])
    assert 1 == len(api.get(f"/v1/entities/{JOHN}/card?space=user:ada&limit=1").get_json()["facts"])


def test_a_card_is_as_of_its_time(api):
    old = add(api, "John lives in Leeds.", JOHN)
    api.house.clock.advance(days=1)
    add(api, "John lives in Rome.", JOHN, updates=[old])

    def facts(query=""):
        card = api.get(f"/v1/entities/{JOHN}/card?space=user:ada{query}").get_json()
        return [fact["content"] for fact in card["facts"]]

    before = "2026-03-01T12:00:00Z"
    assert ["John lives in Rome."] == facts()
    assert ["John lives in Leeds."] == facts(f"&as_of={before}")
    assert ["John lives in Leeds."] == facts(f"&known_at={before}&as_of={before}")


@pytest.mark.parametrize("key", ["person:nobody", "john", "robot:r2"])
def test_a_card_of_nobody_is_not_there(api, key):
    assert 404 == api.get(f"/v1/entities/{key}/card?space=user:ada").status_code


@pytest.mark.parametrize(
    "query", ["&limit=0", "&limit=31", "&as_of=99999-01-01T00:00:00Z", "&as_of=2026-01-01T00:00:00"]
)
def test_a_bad_question_for_a_card_is_422(api, query):
    assert 422 == api.get(f"/v1/entities/{JOHN}/card?space=user:ada{query}").status_code


def test_a_merge_moves_every_mention_and_shows_its_evidence(api):
    uids = [add(api, "One.", {"key": JON, "label": "Jon"}), add(api, "Two.", JON, JOHN)]
    add(api, "Three.", JOHN)

    change = merge(api, JON, JOHN, reason="same person").get_json()

    assert ("merge", JON, JOHN, 2) == (
        change["kind"],
        change["from"],
        change["into"],
        change["moved"],
    )
    evidence = change["evidence"]
    assert ("nearly_equal", 1, "same person") == (
        evidence["likeness"],
        evidence["mentioned_together"],
        evidence["reason"],
    )
    assert set(uids) == set(evidence["memories"])
    assert [[JOHN], [JOHN]] == [mentioned(api, uid) for uid in uids]
    assert [JOHN] == keys(api)
    assert ["Jon"] == api.get("/v1/entities?space=user:ada").get_json()["items"][0]["aliases"]
    assert change == api.get("/v1/entities/merges?space=user:ada").get_json()["items"][0]


def test_after_a_merge_both_names_mean_the_same(api):
    add(api, "One.", JON)
    add(api, "Two.", JOHN)
    merge(api, JON, JOHN)
    new = add(api, "Three.", JON)

    assert [JOHN] == mentioned(api, new)
    for name in (JON, JOHN):
        assert {"One.", "Two.", "Three."} == recalled(api, entities=[name])
        assert 3 == api.get(f"/v1/entities/{name}/card?space=user:ada").get_json()["mentions"]
        assert 3 == api.get(f"/v1/memories?space=user:ada&entity={name}").get_json()["total"]


def test_an_undone_merge_restores_the_exact_former_graph(api):
    add(api, "One.", {"key": JON, "label": "Jon"})
    add(api, "Two.", JON, JOHN, tags=["t"])
    add(api, "Three.", {"key": JOHN, "label": "Johnny"})
    before = graph(api)

    merge_id = merge(api, JON, JOHN).get_json()["merge_id"]
    assert before != graph(api)
    answer = undo(api, merge_id)

    assert 200 == answer.status_code
    assert answer.get_json()["undone_at"]
    assert before == graph(api)


def test_an_undone_merge_leaves_the_names_that_were_learned_since(api):
    add(api, "One.", {"key": JON, "label": "Jon"})
    add(api, "Two.", {"key": JOHN, "label": "John"})
    merge_id = merge(api, JON, JOHN).get_json()["merge_id"]
    add(api, "Three.", {"key": JOHN, "label": "Johnny"})

    undo(api, merge_id)

    assert ["Johnny"] == api.get(f"/v1/entities/{JOHN}?space=user:ada").get_json()["aliases"]


def test_a_chain_of_merges_is_undone_in_reverse(api):
    for number, key in enumerate(("person:ann", "person:anna", "person:annie")):
        add(api, f"Fact {number}.", key)
    before = graph(api)
    first = merge(api, "person:ann", "person:anna").get_json()["merge_id"]
    api.house.clock.advance(seconds=1)
    second = merge(api, "person:anna", "person:annie").get_json()["merge_id"]

    assert {"Fact 0.", "Fact 1.", "Fact 2."} == recalled(api, entities=["person:ann"])
    assert 409 == undo(api, first).status_code
    assert [200, 200] == [undo(api, uid).status_code for uid in (second, first)]
    assert before == graph(api)


def test_an_undo_twice_is_409(api):
    add(api, "One.", JON, JOHN)
    merge_id = merge(api, JON, JOHN).get_json()["merge_id"]
    undo(api, merge_id)

    assert 409 == undo(api, merge_id).status_code
    assert 404 == undo(api, "nothing").status_code


def test_what_was_rewritten_after_a_merge_is_kept_by_the_undo(api):
    uid = add(api, "One.", JON)
    add(api, "Two.", JOHN)
    merge_id = merge(api, JON, JOHN).get_json()["merge_id"]
    api.client.patch(
        f"/v1/memories/{uid}", json={"entities": ["place:leeds"]}, headers={"X-API-Key": api.key}
    )

    undo(api, merge_id)

    assert ["place:leeds"] == mentioned(api, uid)
    assert set() == recalled(api, entities=[JON])
    assert {"One."} == recalled(api, entities=["place:leeds"])


def test_a_split_moves_the_named_memories_and_can_be_undone(api):
    one, two = add(api, "One.", JOHN), add(api, "Two.", JOHN)
    before = graph(api)
    body = {
        "space": "user:ada",
        "into": {"key": "person:john_smith", "label": "John Smith"},
        "memories": [two],
    }

    change = api.post(f"/v1/entities/{JOHN}/split", body).get_json()

    assert ([JOHN], ["person:john_smith"]) == (mentioned(api, one), mentioned(api, two))
    assert {"Two."} == recalled(api, entities=["person:john_smith"])
    undo(api, change["merge_id"])
    assert before == graph(api)


@pytest.mark.parametrize(
    ("into", "memories", "path"),
    [
        (JOHN, None, "into"),
        ("person:", None, "into"),
        ({"key": "person:x", "label": " "}, None, "into.label"),
        ("person:x", ["nothing"], "memories"),
        ("person:x", [], "memories"),
    ],
)
def test_a_bad_split_names_the_field_and_changes_nothing(api, into, memories, path):
    uid = add(api, "One.", JOHN)
    before = graph(api)

    body = {"space": "user:ada", "into": into, "memories": [uid] if memories is None else memories}
    answer = api.post(f"/v1/entities/{JOHN}/split", body)

    assert (422, [path]) == (answer.status_code, list(answer.get_json()["error"]["fields"]))
    assert before == graph(api)


@pytest.mark.parametrize(
    ("key", "into", "status"),
    [
        (JOHN, JOHN, 422),
        (JOHN, "john", 422),
        ("john", JOHN, 422),
        ("product", JOHN, 422),
        (JOHN, "person:nobody", 404),
        ("person:nobody", JOHN, 404),
        ("other:boeing_737", "other:boeing_747", 422),
    ],
)
def test_a_bad_merge_changes_nothing(api, key, into, status):
    add(api, "One.", JOHN, "other:boeing_737", "other:boeing_747")
    before = graph(api)

    assert status == merge(api, key, into).status_code
    assert before == graph(api)


def test_a_merged_entity_is_not_merged_again(api):
    add(api, "One.", JON, JOHN, "person:jonny")
    merge(api, JON, JOHN)

    assert 409 == merge(api, JON, "person:jonny").status_code


def test_the_same_name_elsewhere_is_another_entity(api):
    add(api, "Of Ada.", JON, JOHN)
    add(api, "Of Bob.", JON, space="user:bob")

    merge(api, JON, JOHN)

    items = api.get("/v1/entities?space=user:bob").get_json()["items"]
    assert [(JON, "user:bob")] == [(item["key"], item["space"]) for item in items]


def test_only_curators_of_the_owner_may_change_entities(api):
    add(api, "One.", JON, JOHN)
    add(api, "Told the coach.", JON, space="user:ada/coach")

    writer = api.with_key(Role.WRITER, "*")
    coach = api.with_key(Role.CURATOR, "user:ada/coach")
    stranger = api.with_key(Role.ADMIN, "*", tenant="other")
    assert 403 == merge(writer, JON, JOHN).status_code
    assert (
        403
        == coach.post(
            f"/v1/entities/{JON}/merge", {"space": "user:ada/coach", "into": JOHN}
        ).status_code
    )
    assert 404 == merge(stranger, JON, JOHN).status_code
    merge_id = merge(api, JON, JOHN).get_json()["merge_id"]
    assert [404, 404] == [
        undo(key, merge_id).status_code for key in (stranger, api.with_key(Role.ADMIN, "user:bob"))
    ]


def test_an_entity_that_only_another_persona_mentions_is_not_listed(api):
    add(api, "Told the lawyer.", "person:secret", space="user:ada/lawyer")
    add(api, "Told the coach.", "person:open", space="user:ada/coach")

    coach = api.with_key(Role.READER, "user:ada/coach")
    listed = coach.get("/v1/entities?space=user:ada/coach").get_json()
    assert (["person:open"], 1) == ([item["key"] for item in listed["items"]], listed["total"])
    assert 404 == coach.get("/v1/entities/person:secret/card?space=user:ada/coach").status_code


def test_an_entity_added_after_a_merge_does_not_keep_the_undo_from_the_others(api):
    uid = add(api, "One.", JON)
    add(api, "Two.", JOHN)
    merge_id = merge(api, JON, JOHN).get_json()["merge_id"]
    add(api, "One.", "place:rome")

    undo(api, merge_id)

    assert [JON, "place:rome"] == mentioned(api, uid)
    assert {"One."} == recalled(api, entities=[JON])


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"into": {"key": "person:x", "label": "\ud800x"}}, "into.label"),
        ({"into": "person:" + "x" * 600}, "into"),
        ({"memories": ["\ud800"]}, "memories.0"),
    ],
)
def test_a_hostile_split_is_422(api, change, path):
    uid = add(api, "One.", JOHN)

    answer = api.post(
        f"/v1/entities/{JOHN}/split",
        {"space": "user:ada", "into": "person:x", "memories": [uid]} | change,
    )

    assert (422, [path]) == (answer.status_code, list(answer.get_json()["error"]["fields"]))


def test_merges_are_paged_newest_first(api):
    for name in ("a", "b", "c"):
        api.post(
            "/v1/memories",
            {"space": "user:ada", "content": f"{name} came.", "entities": [f"person:{name}"]},
        )
    for name in ("a", "b"):
        api.post(f"/v1/entities/person:{name}/merge", {"space": "user:ada", "into": "person:c"})

    first = api.get("/v1/entities/merges?space=user:ada&limit=1").get_json()
    last = api.get(
        f"/v1/entities/merges?space=user:ada&limit=1&cursor={first['next_cursor']}"
    ).get_json()

    assert (2, 2, None) == (first["total"], last["total"], last["next_cursor"])
    assert {"person:a", "person:b"} == {page["items"][0]["from"] for page in (first, last)}
    assert 422 == api.get("/v1/entities/merges?space=user:ada&cursor=bm9uc2Vuc2U").status_code
