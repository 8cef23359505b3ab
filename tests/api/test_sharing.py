"""Memories that are shared, and turns that leave their space out, over HTTP."""

from dataclasses import replace

import pytest
from sessions import Session

from graphmem.model.caller import Role
from graphmem.model.policy.overrides import with_overrides
from graphmem.model.space import parse_space

SHARED = "namespace:shared"
FACT = {"space": "user:ada", "uid": "one", "content": "The office dog is called Momo."}
TURN = {"session": "agent:support:7", "role": "user", "content": "FYI we moved to Lyon."}


@pytest.fixture
def fact(api):
    """A memory of Ada that may be shared."""
    return add(api)


def add(api, **changes):
    answer = api.post("/v1/memories", FACT | changes)
    assert 201 == answer.status_code
    return answer.get_json()["memory"]


def own(api):
    """The same words, written in the shared space itself; without a uid they claim their words."""
    answer = api.post("/v1/memories", {"space": SHARED, "content": FACT["content"]})
    return answer.get_json()


def share(api, uid="one", **body):
    return api.post(f"/v1/memories/{uid}/share", body)


def shared(api, uid="one", **body):
    answer = share(api, uid, **body)
    assert answer.status_code in {200, 201}, answer.get_json()
    return answer.get_json()["memory"]


def memory(api, uid, space=SHARED):
    return api.get(f"/v1/memories/{uid}?space={space}").get_json()


def change(api, uid, verb, space="user:ada"):
    answer = api.post(f"/v1/memories/{uid}/{verb}?space={space}", {})
    assert 200 == answer.status_code, answer.get_json()
    return answer.get_json()


def reword(api):
    answer = api.client.patch(
        "/v1/memories/one?space=user:ada",
        json={"content": "The office dog is called Mimi."},
        headers={"X-API-Key": api.key},
    )
    assert 200 == answer.status_code


def found(api, *spaces):
    body = {"spaces": list(spaces), "query": "What is the office dog called?"}
    items = api.post("/v1/recall", body).get_json()["items"]
    return [each["memory"]["uid"] for each in items]


def lineage(api, uid, space=SHARED):
    return api.get(f"/v1/memories/{uid}/history?space={space}").get_json()["lineage"]


def events(api, trace_id):
    answer = api.get(f"/v1/traces/{trace_id}")
    assert 200 == answer.status_code
    return answer.get_json()["events"]


def with_namespaces(api, **values):
    overrides = {"namespaces_enabled": True, "namespaces_prefix": "agent:"} | values
    graphmem = api.house.graphmem
    policy = with_overrides(
        graphmem.policy, {f"lifecycle.{name}": value for name, value in overrides.items()}
    )
    return api.over(replace(graphmem, policy=policy))


def test_a_shared_memory_is_copied_with_what_it_says_and_leads_back(api):
    add(
        api,
        type="Preference",
        importance=70,
        confidence=0.6,
        actor="Ada",
        tags=["dog"],
        entities=["person:ada"],
        summary="Momo",
        occurred_at="2026-01-02T00:00:00Z",
        valid_from="2026-01-01T00:00:00Z",
        metadata={"private": True},
        logical_key="dog",
        source={"conversation_id": "chat-1", "key": "k-1", "captured_by": "system"},
    )
    answer = share(api)
    copy = answer.get_json()["memory"]

    assert 201 == answer.status_code
    assert {"memory", "trace_id"} == set(answer.get_json())
    source = memory(api, "one", "user:ada")
    same = "content type importance confidence actor tags entities summary occurred_at valid_from"
    assert {name: source[name] for name in same.split()} == {
        name: copy[name] for name in same.split()
    }
    assert (SHARED, "active", None, None, {}, []) == tuple(
        copy[name] for name in ("space", "status", "kept_by", "logical_key", "metadata", "turns")
    )
    assert ("manual", "system", None) == tuple(
        copy["source"][name] for name in ("type", "captured_by", "conversation_id")
    )
    assert copy["uid"] != source["uid"]
    assert [("PROMOTED_FROM", copy["uid"], "one")] == [
        (each["type"], each["from"], each["to"]) for each in lineage(api, copy["uid"])
    ]
    assert [] == api.get(f"/v1/conversations?space={SHARED}").get_json()["items"]


def test_sharing_again_changes_nothing_and_its_trace_says_so(api, fact):
    first = share(api).get_json()
    reword(api)
    again = share(api)

    assert (200, first["memory"]) == (again.status_code, again.get_json()["memory"])
    assert [
        {"uid": "one", "outcome": "shared", "into": first["memory"]["uid"]},
        {"uid": first["memory"]["uid"], "outcome": "created"},
    ] == events(api, first["trace_id"])
    assert [{"uid": first["memory"]["uid"], "outcome": "unchanged"}] == events(
        api, again.get_json()["trace_id"]
    )


def test_a_copy_is_recalled_by_who_may_read_it_and_by_nobody_else(api, fact):
    copy = shared(api)
    bob = api.with_key(Role.READER, "user:bob", SHARED)
    eve = api.with_key(Role.READER, "user:eve")

    assert [copy["uid"]] == found(bob, SHARED)
    assert [] == found(bob, "user:bob")
    assert 403 == eve.post("/v1/recall", {"spaces": [SHARED], "query": "dog"}).status_code
    assert 404 == eve.get(f"/v1/memories/{copy['uid']}").status_code
    assert [] == lineage(bob, copy["uid"])  # its far end is nothing that Bob may read
    assert "user:ada" not in str(memory(bob, copy["uid"]))


def test_words_that_are_shared_already_are_reinforced_and_lead_back_too(api, fact):
    there = own(api)["memory"]
    answer = share(api)
    copy = answer.get_json()["memory"]

    assert (201, there["uid"], 2) == (answer.status_code, copy["uid"], copy["mention_count"])
    assert ["one"] == [each["to"] for each in lineage(api, there["uid"])]
    assert 1 == len(api.get(f"/v1/memories?space={SHARED}").get_json()["items"])
    again = share(api)
    assert (200, copy) == (again.status_code, again.get_json()["memory"])


def test_a_copy_is_retracted_and_restored_with_its_source(api, fact):
    uid = shared(api)["uid"]
    done = change(api, "one", "retract")

    gone = memory(api, uid)
    assert ("retracted", "source_retracted") == (gone["status"], gone["status_reason"])
    assert [] == found(api, SHARED)
    assert {"uid": uid, "outcome": "retracted", "reason": "source_retracted"} in events(
        api, done["trace_id"]
    )
    done = change(api, "one", "restore")

    assert ("active", None) == (memory(api, uid)["status"], memory(api, uid)["status_reason"])
    assert [uid] == found(api, SHARED)
    assert {"uid": uid, "outcome": "active", "reason": "source_restored"} in events(
        api, done["trace_id"]
    )
    assert (200, uid) == (share(api).status_code, shared(api)["uid"])


def test_who_may_not_see_the_copy_still_sees_the_trace_of_a_retraction(api, fact):
    uid = shared(api)["uid"]
    ada = api.with_key(Role.WRITER, "user:ada")
    done = change(ada, "one", "retract")

    assert "retracted" == memory(api, uid)["status"]
    assert ["one"] == [each["uid"] for each in events(ada, done["trace_id"])]
    others = api.house.rows(
        "MATCH (t:Trace) WHERE $space IN t.spaces AND t.uid <> $uid AND t.kind = 'status'"
        " RETURN t.uid",
        space=parse_space(SHARED, tenant=api.house.caller.tenant).key,
        uid=done["trace_id"],
    )
    ((other,),) = others
    assert [uid] == [each["uid"] for each in events(api, other)]
    assert 404 == ada.get(f"/v1/traces/{other}").status_code


@pytest.mark.parametrize("verb", ["archive", "retract"])
def test_a_copy_of_two_memories_stays_while_one_of_them_is_not_retracted(api, fact, verb):
    add(api, space="user:bob", uid="two")
    uid = shared(api)["uid"]
    assert uid == shared(api, "two")["uid"]
    change(api, "one", "retract")
    assert "active" == memory(api, uid)["status"]
    change(api, "two", verb, "user:bob")

    assert {"archive": "active", "retract": "retracted"}[verb] == memory(api, uid)["status"]
    change(api, "one", "restore")
    assert "active" == memory(api, uid)["status"]


@pytest.mark.parametrize("comes_first", [True, False])
def test_a_copy_whose_words_came_in_otherwise_too_stays(api, fact, comes_first):
    if comes_first:
        own(api)
    uid = shared(api)["uid"]
    if not comes_first:
        assert "reinforced" == own(api)["outcome"]
    change(api, "one", "retract")

    assert "active" == memory(api, uid)["status"]


def test_a_copy_that_was_taken_back_there_stays_so_and_is_not_shared_again(api, fact):
    uid = shared(api)["uid"]
    change(api, uid, "retract", SHARED)
    change(api, "one", "retract")
    change(api, "one", "restore")

    assert ("retracted", None) == (
        memory(api, uid)["status"],
        memory(api, uid)["status_reason"],
    )
    answer = share(api)
    assert (409, "retracted") == (answer.status_code, answer.get_json()["error"]["code"])


def test_a_copy_does_not_come_back_beside_what_says_the_same_since(api, fact):
    uid = shared(api)["uid"]
    change(api, "one", "retract")
    newer = own(api)["memory"]
    change(api, "one", "restore")

    assert ("retracted", "active") == (
        memory(api, uid)["status"],
        memory(api, newer["uid"])["status"],
    )


def test_correcting_and_archiving_a_source_leave_its_copy(api, fact):
    before = shared(api)
    reword(api)
    change(api, "one", "archive")

    assert before == memory(api, before["uid"])


def test_a_fact_and_its_copy_go_with_the_turn_that_said_it(api):
    session = Session(api.house)
    heeded = session.say("FYI I work at Siemens.")
    (extraction,) = heeded.extractions
    (kept,) = extraction.kept.facts
    copy = shared(api, kept.uid)
    assert ("channel_transcript", "extractor", "chat-1") == tuple(
        copy["source"][name] for name in ("type", "captured_by", "conversation_id")
    )
    assert kept.category == copy["native"]["category"]
    session.delete_turn(extraction.turns[0])

    assert ("retracted", "source_retracted") == (
        memory(api, copy["uid"])["status"],
        memory(api, copy["uid"])["status_reason"],
    )


def test_a_fold_of_copies_says_no_more_what_was_taken_back(api):
    source = {"type": "workflow_output", "workflow_run_id": "w", "step_id": "s"}
    about = {"entities": ["person:ada"], "source": source | {"captured_by": "extractor"}}
    words = {"one": "Ada plays the cello.", "two": "Ada lives by the sea.", "three": "Ada rows."}
    for uid, content in words.items():
        add(api, uid=uid, content=content, **about)
        shared(api, uid)
    house = api.house
    house.graphmem.policies.save(
        parse_space(SHARED, tenant=house.caller.tenant),
        {"upkeep.curate.new_memories": 1, "upkeep.curate.every_hours": 0},
    )
    run = {"space": SHARED}
    assert 200 == api.post("/v1/jobs/curate_fold/runs", run).status_code
    folded = house.rows(
        "MATCH (m:Memory)-[:FOLDED_FROM]->(:Memory) WHERE m.space STARTS WITH $tenant"
        " AND m.status = 'active' RETURN DISTINCT m.content"
    )
    assert 1 == len(folded)
    assert words["one"] in folded[0][0]
    change(api, "one", "retract")

    left = house.rows(
        "MATCH (m:Memory) WHERE m.space = $space AND m.status = 'active' RETURN m.content",
        space=parse_space(SHARED, tenant=house.caller.tenant).key,
    )
    assert left
    assert not any(words["one"] in content for (content,) in left)


def test_what_a_room_keeps_is_not_shared(api):
    body = {"type": "PROFILE", "content": "Born in Lyon."}
    kept = api.post("/v1/companions/ada/memories", body).get_json()
    uid = kept.get("uid") or kept["memory"]["uid"]
    answer = share(api, uid)

    assert (409, "kept_by_room") == (answer.status_code, answer.get_json()["error"]["code"])


@pytest.mark.parametrize("verb", ["retract", "archive"])
def test_only_what_is_active_is_shared(api, fact, verb):
    change(api, "one", verb)
    answer = share(api)

    assert (409, "conflict") == (answer.status_code, answer.get_json()["error"]["code"])
    assert [] == api.get(f"/v1/memories?space={SHARED}").get_json()["items"]


def test_what_lies_in_the_shared_space_already_is_refused(api):
    add(api, space=SHARED)
    answer = share(api)

    assert (409, "conflict") == (answer.status_code, answer.get_json()["error"]["code"])
    assert SHARED in answer.get_json()["error"]["message"]


def test_what_lies_in_an_orchestrator_space_never_leaves_it(api):
    add(api, space="orchestrator:main")
    answer = share(api)

    assert (403, "scope_denied") == (answer.status_code, answer.get_json()["error"]["code"])


def test_sharing_needs_the_memory_to_be_seen_and_the_shared_space_to_be_written(api, fact):
    bob = api.with_key(Role.WRITER, "user:bob", SHARED)
    ada = api.with_key(Role.WRITER, "user:ada")
    reader = api.with_key(Role.READER, "user:ada", SHARED)
    both = api.with_key(Role.WRITER, "user:ada", SHARED)

    assert (404, 404) == (share(bob).status_code, share(bob, "nothing").status_code)
    assert (403, 403) == (share(ada).status_code, share(reader).status_code)
    assert 403 == share(bob, space="user:ada").status_code
    assert [] == api.get(f"/v1/memories?space={SHARED}").get_json()["items"]
    assert 201 == share(both).status_code


def test_a_uid_of_several_spaces_needs_one_in_the_body_or_behind_the_path(api, fact):
    add(api, space="user:bob", content="Bob likes cats.")
    answer = share(api)

    assert (422, ["space"]) == (answer.status_code, list(answer.get_json()["error"]["fields"]))
    assert FACT["content"] == shared(api, space="user:ada")["content"]
    of_bob = api.post("/v1/memories/one/share?space=user:bob", {}).get_json()["memory"]
    assert "Bob likes cats." == of_bob["content"]


@pytest.mark.parametrize(
    ("body", "field"), [({"space": "nowhere"}, "space"), ({"into": SHARED}, "into")]
)
def test_a_bad_request_to_share_names_the_field(api, fact, body, field):
    answer = share(api, **body)

    assert (422, [field]) == (answer.status_code, list(answer.get_json()["error"]["fields"]))


def test_without_a_model_a_copy_waits_for_its_vectors(api, fact):
    api.house.embedder.is_broken = True
    copy = shared(api)

    assert [(False,)] == api.house.rows(
        "MATCH (m:Memory {uid: $uid}) WHERE m.space STARTS WITH $tenant RETURN m.embedded",
        uid=copy["uid"],
    )


def test_a_session_tells_the_space_of_its_turns_where_namespaces_are_on(api):
    api = with_namespaces(api)
    answer = api.post("/v1/turns", TURN)
    batch = api.post(
        "/v1/turns/batch",
        {"session": "chat-9", "turns": [{"role": "user", "content": "FYI I row."}]},
    )

    assert (201, "namespace:support") == (answer.status_code, answer.get_json()["space"])
    assert (201, "namespace:default") == (batch.status_code, batch.get_json()["space"])
    assert 1 == api.get("/v1/spaces/namespace:support/buffers").get_json()["total"]
    named = api.post("/v1/turns", TURN | {"space": "user:ada"}).get_json()
    assert "user:ada" == named["space"]


@pytest.mark.parametrize("space", [{}, {"space": None}])
def test_without_the_switch_a_space_is_needed(api, space):
    answer = api.post("/v1/turns", TURN | space)

    assert (422, {"space": ["Missing data for required field."]}) == (
        answer.status_code,
        answer.get_json()["error"]["fields"],
    )


def test_a_bad_space_and_session_are_named_once(api):
    missing = api.post("/v1/turns", {"role": "user", "content": "Hi"}).get_json()["error"]
    bad = api.post("/v1/turns", TURN | {"space": "nowhere"}).get_json()["error"]

    assert {"space", "session"} == set(missing["fields"])
    assert ["space"] == list(bad["fields"])
    assert 1 == len(bad["fields"]["space"])


def test_the_key_must_be_allowed_where_the_session_leads(api):
    api = with_namespaces(api)
    elsewhere = api.with_key(Role.WRITER, "namespace:sales", "user:*")
    reader = api.with_key(Role.READER, "namespace:support")

    assert 403 == elsewhere.post("/v1/turns", TURN).status_code
    assert 403 == reader.post("/v1/turns", TURN).status_code
    assert 201 == elsewhere.post("/v1/turns", TURN | {"session": "agent:sales"}).status_code
    assert [] == api.get("/v1/spaces/namespace:support/buffers").get_json()["items"]


@pytest.mark.parametrize(
    ("value", "problem"),
    [("(", "regular expression"), ("no group", "group"), ("(ok)", "all spaces")],
)
def test_a_space_sets_no_pattern_and_a_broken_one_is_named(api, value, problem):
    path = "lifecycle.namespaces_pattern"
    answer = api.client.put(
        "/v1/spaces/policy",
        json={"space": "user:ada", "overrides": {path: value}},
        headers={"X-API-Key": api.key},
    )

    fields = answer.get_json()["error"]["fields"]
    assert (422, [f"overrides.{path}"]) == (answer.status_code, list(fields))
    assert problem in fields[f"overrides.{path}"][0]
    policy = api.get("/v1/spaces/policy?space=user:ada").get_json()["policy"]
    assert path not in policy
