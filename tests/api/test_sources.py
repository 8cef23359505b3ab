"""Sources (design, Sources): who said a memory, what each said last, and what becomes of it."""

import json

import pytest

from graphmem.intake.export_import import export_lines, import_lines
from graphmem.model.space import Space, SpaceKind

SPACE = "user:ada"


def add(api, content="Ada likes tea.", expected=(200, 201), **fields):
    answer = api.post("/v1/memories", {"space": SPACE, "content": content} | fields)
    assert answer.status_code in expected, answer.json
    return answer.json


def by(key, **more):
    return {"source": {"key": key} | more}


def keys(memory):
    return [source["key"] for source in memory["sources"]]


def get(api, uid):
    return api.get(f"/v1/memories/{uid}?space={SPACE}").json


def recalled(api, query, **fields):
    answer = api.post("/v1/recall", {"spaces": [SPACE], "query": query} | fields)
    assert 200 == answer.status_code, answer.json
    return [item["memory"]["content"] for item in answer.json["items"]]


def status(api, uid, what):
    answer = api.post(f"/v1/memories/{uid}/{what}?space={SPACE}", {"reason": "test"})
    assert 200 == answer.status_code, answer.json


# --- several sources of one memory


def test_a_repeat_adds_its_source_with_all_its_fields(api):
    whole = {
        "type": "workflow_output",
        "path": None,
        "conversation_id": "c-2",
        "workflow_run_id": "run-1",
        "step_id": "step-1",
        "captured_by": "extractor",
        "key": "b",
    }
    add(api, **by("a", conversation_id="c-1"))
    api.house.clock.advance(minutes=5)

    memory = add(api, source=whole)["memory"]

    assert ["a", "b"] == keys(memory)
    assert 2 == memory["sources_total"]
    assert "a" == memory["source"]["key"]
    assert whole | {"at": "2026-03-01T09:35:00Z"} == memory["sources"][1]
    assert memory["sources"] == get(api, memory["uid"])["sources"]


def test_a_recall_cites_every_source(api):
    add(api, **by("a", conversation_id="c-1"))
    uid = add(api, **by("b", conversation_id="c-2"))["memory"]["uid"]

    answer = api.post("/v1/recall", {"spaces": [SPACE], "query": "tea"}).json

    item = answer["items"][0]
    assert ["c-1", "c-2"] == [each["conversation_id"] for each in item["citations"]]
    assert {uid} == {each["uid"] for each in item["citations"]}
    assert item["citation"] == item["citations"][0]


def test_the_same_source_without_a_key_is_added_once(api):
    add(api, **by("a"))
    for _ in range(2):
        memory = add(api, source={"conversation_id": "c-2"})["memory"]

    assert ["a", None] == keys(memory)
    assert 3 == memory["mention_count"]


def test_a_repeat_that_names_no_source_adds_none(api):
    add(api, **by("a"))

    assert 1 == add(api)["memory"]["sources_total"]


def test_a_memory_shows_the_first_and_the_newest_31_of_its_sources_and_pages_through_all(api):
    for number in range(40):
        api.house.clock.advance(seconds=1)
        memory = add(api, **by(f"s-{number:02}"))["memory"]

    assert 40 == memory["sources_total"]
    assert ["s-00", *(f"s-{number:02}" for number in range(9, 40))] == keys(memory)
    found, cursor = [], ""
    while cursor is not None:
        answer = api.get(f"/v1/memories/{memory['uid']}/sources?space={SPACE}&limit=7{cursor}").json
        assert 40 == answer["total"]
        found += [source["key"] for source in answer["items"]]
        following = answer["next_cursor"]
        cursor = f"&cursor={following}" if following else None
    assert [f"s-{number:02}" for number in range(40)] == found


def test_pages_of_one_source_give_each_once(api):
    for key in ("a", "b", "c"):
        uid = add(api, **by(key))["memory"]["uid"]
        api.house.clock.advance(seconds=1)

    path = f"/v1/memories/{uid}/sources?space={SPACE}&limit=1"
    first = api.get(path).json
    second = api.get(f"{path}&cursor={first['next_cursor']}").json

    assert ["a", "b"] == [page["items"][0]["key"] for page in (first, second)]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"conversation_id": "c-2"}, ["Ada likes tea."]),
        ({"conversation_id": "c-1"}, ["Ada likes tea."]),
        ({"conversation_id": "c-3"}, []),
        ({"captured_by": ["extractor"]}, ["Ada likes tea."]),
        ({"captured_by": ["system"]}, []),
        ({"conversation_id": "c-2", "captured_by": ["extractor"]}, ["Ada likes tea."]),
        # no single source is both
        ({"conversation_id": "c-1", "captured_by": ["extractor"]}, []),
        ({"conversation_id": "c-2", "tags": ["drinks"]}, ["Ada likes tea."]),
        (
            {"conversation_id": "c-1", "captured_by": ["extractor"], "tags": ["drinks"]},
            [],
        ),
    ],
)
@pytest.mark.parametrize("query", ["tea", "zzz"])  # by words, and by meaning alone
def test_a_recall_finds_a_memory_by_each_of_its_sources(api, filters, expected, query):
    add(api, tags=["drinks"], **by("a", conversation_id="c-1"))
    add(api, **by("b", conversation_id="c-2", captured_by="extractor"))
    add(api, "Bob sails.", **by("c"))

    assert expected == recalled(api, query, **filters)


def test_a_list_finds_a_memory_by_each_of_its_conversations(api):
    uid = add(api, **by("a", conversation_id="c-1"))["memory"]["uid"]
    add(api, **by("b", conversation_id="c-2"))

    for conversation, expected in (("c-1", [uid]), ("c-2", [uid]), ("c-3", [])):
        path = f"/v1/memories?space={SPACE}&conversation_id={conversation}"
        assert expected == [item["uid"] for item in api.get(path).json["items"]]


def test_why_names_a_conversation_only_where_no_source_has_it(api):
    uid = add(api, **by("a", conversation_id="c-1"))["memory"]["uid"]
    add(api, **by("b", conversation_id="c-2"))
    why = {}
    for conversation in ("c-2", "c-3"):
        body = {"spaces": [SPACE], "query": "tea", "conversation_id": conversation}
        trace = api.post("/v1/recall", body).json["trace_id"]
        why[conversation] = api.get(f"/v1/traces/{trace}/why/{uid}").json

    assert why["c-2"]["returned"]
    assert "filtered_by_conversation" == why["c-3"]["reason"]


def test_a_write_under_a_known_uid_adds_its_source(api):
    add(api, uid="out-1", **by("attempt-1"))
    again = add(api, uid="out-1", **by("attempt-2"))
    other = add(api, "Ada likes coffee.", uid="out-1", **by("attempt-3"))

    assert ["unchanged", "revised"] == [again["outcome"], other["outcome"]]
    assert ["attempt-1", "attempt-2", "attempt-3"] == keys(other["memory"])


# --- the same source again


def test_the_same_from_a_source_is_unchanged_whatever_became_of_the_memory(api):
    uid = add(api, importance=60, **by("a"))["memory"]["uid"]
    api.client.patch(
        f"/v1/memories/{uid}?space={SPACE}",
        json={"content": "Ada likes green tea."},
        headers={"X-API-Key": api.key},
    )

    again = add(api, importance=60, **by("a"))

    assert ("unchanged", uid) == (again["outcome"], again["memory"]["uid"])
    assert "Ada likes green tea." == again["memory"]["content"]


@pytest.mark.parametrize(
    "changed",
    [
        {"content": "Ada likes coffee."},
        {"importance": 90},
        {"tags": ["drinks"]},
        {"entities": ["person:ada"]},
        {"valid_until": "2030-01-01T00:00:00Z"},
        {"metadata": {"a": 1}},
        {"source": {"key": "a", "step_id": "s-2"}},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_anything_else_from_a_source_replaces_what_is_there(api, changed):
    first = add(api, **by("a"))["memory"]

    told = add(api, **(by("a") | changed))

    assert "revised" == told["outcome"]
    assert first["uid"] == told["memory"]["uid"]
    assert 1 == told["memory"]["sources_total"]
    again = add(api, **(by("a") | changed))
    assert "unchanged" == again["outcome"]


def test_an_edited_message_leaves_what_it_does_not_speak_of(api):
    add(api, tags=["drinks"], importance=80, **by("a"))

    memory = add(api, "Ada likes coffee.", **by("a"))["memory"]

    assert (["drinks"], 80) == (memory["tags"], memory["importance"])
    assert ["Ada likes coffee."] == recalled(api, "Ada likes")


def test_a_superseded_memory_is_revised_by_its_source_and_stays_superseded(api):
    old = add(api, uid="old", **by("a"))["memory"]["uid"]
    add(api, "Ada likes coffee.", updates=[old])

    told = add(api, "Ada likes black tea.", **by("a"))

    assert ("revised", "superseded") == (told["outcome"], told["memory"]["status"])


def test_a_source_that_says_something_else_leaves_what_others_say(api):
    first = add(api, **by("a"))["memory"]["uid"]
    add(api, **by("b"))

    told = add(api, "Ada likes coffee.", **by("a"))

    assert "revised" == told["outcome"]
    assert first != told["memory"]["uid"]
    assert ["a"] == keys(told["memory"])
    left = get(api, first)
    assert (["b"], "active", "Ada likes tea.") == (keys(left), left["status"], left["content"])
    assert "b" == left["source"]["key"]
    # each key now stands for its own memory
    assert first == add(api, **by("b"))["memory"]["uid"]
    assert "unchanged" == add(api, "Ada likes coffee.", **by("a"))["outcome"]


def test_a_further_source_that_says_something_else_leaves_too(api):
    first = add(api, **by("a"))["memory"]["uid"]
    add(api, **by("b"))

    told = add(api, "Ada likes coffee.", **by("b"))

    assert (["b"], ["a"]) == (keys(told["memory"]), keys(get(api, first)))


def test_a_source_goes_to_the_memory_that_says_its_new_words(api):
    old = add(api, **by("a"))["memory"]["uid"]
    coffee = add(api, "Ada likes coffee.", **by("b"))["memory"]["uid"]

    told = add(api, "Ada likes coffee.", **by("a"))

    assert ("revised", coffee) == (told["outcome"], told["memory"]["uid"])
    assert ["b", "a"] == keys(told["memory"])
    assert "superseded" == get(api, old)["status"]
    assert ["Ada likes coffee."] == recalled(api, "Ada likes")


def test_an_edited_turn_takes_the_place_of_what_others_say_too(api):
    add(api, "Hello.", **by("t-1", conversation_id="c"))
    yes = add(api, "Yes.", **by("t-2", conversation_id="c"))["memory"]["uid"]
    add(api, "Bye.", **by("t-3", conversation_id="c"))
    add(api, "Yes.", **by("x", conversation_id="d"))

    edited = add(api, "No.", **by("t-2", conversation_id="c"))["memory"]

    turns = api.house.rows(
        "MATCH (a:Memory)-[:NEXT]->(b:Memory) WHERE a.space STARTS WITH $tenant"
        " RETURN a.content, b.content ORDER BY a.content"
    )
    assert [("Hello.", "No."), ("No.", "Bye.")] == turns
    assert ["d"] == [each["conversation_id"] for each in get(api, yes)["sources"]]
    assert get(api, yes)["context"] is None
    assert "Hello.\nBye." == edited["context"]


def test_words_that_were_kept_away_claim_no_source(api):
    add(api, logical_key="drink", **by("a"))

    told = add(api, "Ada likes coffee.", logical_key="drink", on_same_key="keep", **by("b"))

    assert ("unchanged", ["content"]) == (told["outcome"], told["not_taken"])
    assert ["a"] == keys(told["memory"])
    assert "created" == add(api, "Ada likes milk.", **by("b"))["outcome"]


def test_a_source_key_of_another_uid_is_a_conflict(api):
    add(api, uid="one", **by("a"))

    answer = api.post("/v1/memories", {"space": SPACE, "content": "Other.", "uid": "two"} | by("a"))

    assert (409, "conflict") == (answer.status_code, answer.json["error"]["code"])
    assert "one" in answer.json["error"]["message"]


def test_items_of_one_batch_share_their_sources(api):
    items = [
        {"space": SPACE, "content": content} | by(key)
        for content, key in (("Tea.", "a"), ("Tea.", "b"), ("Tea.", "a"), ("Milk.", "a"))
    ]

    answer = api.post("/v1/memories/batch", {"items": items}).json

    outcomes = [result["outcome"] for result in answer["results"]]
    assert ["created", "reinforced", "unchanged", "revised"] == outcomes
    uids = [result["uid"] for result in answer["results"]]
    assert (["b"], ["a"]) == (keys(get(api, uids[0])), keys(get(api, uids[3])))


@pytest.mark.parametrize("others", [0, 1])
def test_a_key_that_is_kept_keeps_what_its_source_said_too(api, others):
    first = add(api, logical_key="drink", **by("a"))["memory"]["uid"]
    for number in range(others):
        add(api, logical_key="drink", **by(f"b-{number}"))

    for _ in range(2):
        told = add(api, "Coffee.", logical_key="drink", on_same_key="keep", **by("a"))
        assert ("unchanged", ["content"]) == (told["outcome"], told["not_taken"])

    assert (first, "Ada likes tea.") == (told["memory"]["uid"], told["memory"]["content"])
    assert "a" in keys(told["memory"])


@pytest.mark.parametrize("uid", [{}, {"uid": "out-1"}])
def test_the_same_words_with_another_field_stay_where_others_say_them(api, uid):
    add(api, **uid, **by("a"))
    first = add(api, **uid, **by("b"))["memory"]["uid"]

    told = add(api, importance=90, **by("a"))

    assert ("revised", first, 90) == (
        told["outcome"],
        told["memory"]["uid"],
        told["memory"]["importance"],
    )
    assert ["a", "b"] == keys(told["memory"])


def test_what_a_source_does_not_tell_of_itself_stays(api):
    add(api, "Hi.", **by("m-1", conversation_id="c", captured_by="extractor"))

    told = add(api, "Hi there.", **by("m-1"))

    assert "revised" == told["outcome"]
    source = told["memory"]["source"]
    assert ("c", "extractor") == (source["conversation_id"], source["captured_by"])


def test_a_refused_revision_by_a_source_changes_nothing(api):
    memory = add(api, valid_from="2026-01-01T00:00:00Z", **by("a"))["memory"]
    body = {"space": SPACE, "content": "Ada likes tea.", "valid_until": "2025-01-01T00:00:00Z"}

    answer = api.post("/v1/memories", body | {"source": {"key": "a", "step_id": "s-2"}})

    assert 422 == answer.status_code
    assert memory == get(api, memory["uid"])


def test_equal_values_of_two_keys_are_two_claims(api):
    add(api, "Yes.", logical_key="mail")
    add(api, "No.", logical_key="calls")

    assert "revised" == add(api, "Yes.", logical_key="calls")["outcome"]


def test_a_superseded_memory_that_expired_is_revised_by_its_source(api):
    old = add(api, uid="old", expires_at="2026-03-02T00:00:00Z", **by("a"))["memory"]["uid"]
    add(api, "Ada likes coffee.", updates=[old])
    api.house.clock.advance(days=3)

    told = add(api, "Ada likes black tea.", **by("a"))

    assert ("revised", "superseded") == (told["outcome"], told["memory"]["status"])


def test_a_history_shows_versions_whose_first_source_had_left(api):
    for key in ("a", "b", "c"):
        uid = add(api, **by(key))["memory"]["uid"]
    items = [{"space": SPACE, "content": f"Other words of {key}."} | by(key) for key in ("a", "b")]
    api.post("/v1/memories/batch", {"items": items})

    history = api.get(f"/v1/memories/{uid}/history?space={SPACE}")

    assert 200 == history.status_code
    assert ["c"] == keys(get(api, uid))
    for version in history.json["items"]:
        assert not {"sources", "sources_total"} & set(version["changes"] or {})


def test_the_only_turn_of_a_conversation_that_leaves_is_not_its_last(api):
    add(api, "Yes.", **by("t-1", conversation_id="c"))
    add(api, "Yes.", **by("x", conversation_id="d"))
    add(api, "No.", **by("y"))

    add(api, "No.", **by("t-1", conversation_id="c"))

    following = add(api, "And now?", **by("t-2", conversation_id="c"))["memory"]
    assert following["context"] is None


@pytest.mark.parametrize("is_older", [False, True])
def test_a_space_whose_sources_moved_is_imported_whole(api, is_older):
    said = [("x", "b"), ("y", "a")]
    for content, key in said if is_older else said[::-1]:
        add(api, f"Ada said {content}.", **by(key))
        api.house.clock.advance(seconds=1)
    add(api, "Ada said x.", **by("a"))
    graphmem, tenant = api.house.graphmem, api.house.caller.tenant
    ada, bob = (Space(tenant=tenant, kind=SpaceKind.USER, owner=name) for name in ("ada", "bob"))
    lines = list(export_lines(graphmem.transfers, ada))

    for _ in range(2):
        *_, done = import_lines(graphmem.transfers, lines, bob, caller=api.house.caller)
        assert [] == done.problems

    told = api.post("/v1/memories", {"space": "user:bob", "content": "Ada said z."} | by("a")).json[
        "memory"
    ]
    assert "active" == told["status"]
    body = {"spaces": ["user:bob"], "query": "Ada said"}
    found = api.post("/v1/recall", body).json["items"]
    assert {"Ada said x.", "Ada said z."} == {item["memory"]["content"] for item in found}


# --- what was taken back


def test_retracted_words_stay_away_from_their_source(api):
    uid = add(api, **by("a"))["memory"]["uid"]
    status(api, uid, "retract")

    again = add(api, **by("a"))

    outcome, memory = again["outcome"], again["memory"]
    assert ("unchanged", uid, "retracted") == (outcome, memory["uid"], memory["status"])
    assert [] == recalled(api, "tea")


def test_a_source_of_a_retracted_memory_says_nothing_else(api):
    uid = add(api, **by("a"))["memory"]["uid"]
    status(api, uid, "retract")

    answer = api.post("/v1/memories", {"space": SPACE, "content": "Ada likes milk."} | by("a"))

    assert (409, "retracted") == (answer.status_code, answer.json["error"]["code"])


@pytest.mark.parametrize("fields", [by("b"), {}, {"uid": "mine"}], ids=["key", "none", "uid"])
def test_retracted_words_from_elsewhere_are_a_new_memory_that_says_so(api, fields):
    uid = add(api, **by("a"))["memory"]["uid"]
    status(api, uid, "retract")

    told = add(api, **fields)

    assert ("created", uid) == (told["outcome"], told["retracted_before"])
    trace = api.get(f"/v1/traces/{told['trace_id']}").json
    assert uid == trace["events"][0]["retracted_before"]
    assert "retracted_before" not in add(api, **by("c") if "uid" not in fields else fields)


def test_restored_words_were_never_retracted(api):
    uid = add(api, uid="one")["memory"]["uid"]
    status(api, uid, "retract")
    status(api, uid, "restore")

    assert "retracted_before" not in add(api)


def test_a_batch_says_retracted_before(api):
    uid = add(api)["memory"]["uid"]
    status(api, uid, "retract")

    answer = api.post(
        "/v1/memories/batch", {"items": [{"space": SPACE, "content": "Ada likes tea."}]}
    ).json

    assert uid == answer["results"][0]["retracted_before"]


# --- leaving and coming back


def test_an_export_keeps_every_source_and_a_second_import_changes_nothing(api):
    for number in range(35):
        add(api, **by(f"s-{number:02}", conversation_id=f"c-{number}"))
        api.house.clock.advance(seconds=1)
    uid = add(api, "Ada sails.", **by("gone"))["memory"]["uid"]
    status(api, uid, "retract")
    graphmem, tenant = api.house.graphmem, api.house.caller.tenant
    ada, bob = (Space(tenant=tenant, kind=SpaceKind.USER, owner=name) for name in ("ada", "bob"))
    lines = list(export_lines(graphmem.transfers, ada))

    imports = [
        list(import_lines(graphmem.transfers, lines, bob, caller=api.house.caller))[-1]
        for _ in range(2)
    ]

    assert [[], []] == [done.problems for done in imports]
    assert [{"created": 2, "conversations": 35, "turns": 35}, {"unchanged": 72}] == [
        dict(done.counts) for done in imports
    ]
    assert [json.loads(line) for line in lines] == [
        json.loads(line) for line in export_lines(graphmem.transfers, bob)
    ]
    # what the sources said is known there too
    told = api.post(
        "/v1/memories",
        {"space": "user:bob", "content": "Ada likes tea."} | by("s-07", conversation_id="c-7"),
    ).json
    assert "unchanged" == told["outcome"]
    gone = api.post("/v1/memories", {"space": "user:bob", "content": "Ada sails."}).json
    assert uid == gone["retracted_before"]
