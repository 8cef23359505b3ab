"""Why something came back, why something did not, and what is kept of it."""

import json
from dataclasses import replace

import pytest
from screening_corpus import SECRETS
from waiting import eventually

from graphmem.errors import StoreUnavailable
from graphmem.model.caller import Role
from graphmem.store import traces
from graphmem.store.traces import Journal


def add(api, content, **more):
    answer = api.post("/v1/memories", {"space": "user:ada", "content": content} | more)
    return answer.get_json()["memory"]["uid"]


def recall(api, query="tea", **options):
    return api.post("/v1/recall", {"spaces": ["user:ada"], "query": query} | options).get_json()


def why(api, trace_id, uid):
    answer = api.get(f"/v1/traces/{trace_id}/why/{uid}").get_json()
    assert answer["returned"] == (answer["reason"] == "returned")
    return answer["reason"]


def test_what_was_returned_cut_and_below_the_score_is_told_apart(api):
    uids = [add(api, text) for text in ("Tea tea tea.", "Tea and cake.", "Nothing of it.")]

    cut = recall(api, limit=1)
    assert ["returned", "cut_by_limit", "cut_by_limit"] == [
        why(api, cut["trace_id"], uid) for uid in uids
    ]
    low = recall(api, min_score=recall(api)["items"][1]["score"])
    assert ["returned", "returned", "below_min_score"] == [
        why(api, low["trace_id"], uid) for uid in uids
    ]
    detail = api.get(f"/v1/traces/{cut['trace_id']}/why/{uids[1]}").get_json()["detail"]
    assert (2, 1) == (detail["rank"], detail["limit"])
    assert 0 < detail["score"] < 1


@pytest.mark.parametrize(
    ("given", "options", "reason"),
    [
        ({"type": "Goal"}, {"types": ["Fact"]}, "filtered_by_type"),
        ({"tags": ["a"]}, {"tags": ["a", "b"]}, "filtered_by_tag"),
        ({"entities": ["person:ada"]}, {"entities": ["person:bob"]}, "filtered_by_entity"),
        ({}, {"conversation_id": "c-1"}, "filtered_by_conversation"),
        ({}, {"captured_by": ["system"]}, "filtered_by_captured_by"),
        ({"valid_until": "2026-02-01T00:00:00Z"}, {}, "filtered_by_time"),
        ({"valid_from": "2026-04-01T00:00:00Z"}, {}, "filtered_by_time"),
        ({}, {"known_at": "2026-01-01T00:00:00Z"}, "filtered_by_time"),
        ({"expires_at": "2026-02-01T00:00:00Z"}, {}, "expired"),
        ({}, {"query": "Thanks!", "plan": True}, "no_recall"),
    ],
)
def test_every_filter_has_its_reason(api, given, options, reason):
    uid = add(api, "Ada likes tea.", **given)

    assert reason == why(api, recall(api, **options)["trace_id"], uid)


def test_a_status_is_the_reason_as_it_was_then(api):
    old, put_away, wrong = add(api, "Tea one."), add(api, "Tea two."), add(api, "Tea three.")
    before = recall(api)["trace_id"]
    api.house.clock.advance(seconds=1)
    add(api, "Tea four.", updates=[old])
    api.post(f"/v1/memories/{put_away}/archive", {})
    api.post(f"/v1/memories/{wrong}/retract", {})
    after = recall(api)["trace_id"]

    uids = [old, put_away, wrong]
    assert ["returned"] * 3 == [why(api, before, uid) for uid in uids]
    assert ["superseded", "archived", "retracted"] == [why(api, after, uid) for uid in uids]


def test_what_came_later_was_not_there(api):
    trace_id = recall(api)["trace_id"]
    api.house.clock.advance(seconds=1)

    assert "filtered_by_time" == why(api, trace_id, add(api, "Tea."))


def test_what_no_arm_found_was_no_candidate(api):
    for number in range(9):
        add(api, f"Tea number {number}.")
    uid = add(api, "Zebra crossing.")

    assert "not_a_candidate" == why(
        api, recall(api, candidates_vector=1, candidates_text=1)["trace_id"], uid
    )


def test_another_space_is_named_only_to_a_key_that_may_read_it(api):
    uid = add(api, "Tea of Bob.", space="user:bob")
    trace_id = recall(api)["trace_id"]

    assert "other_space" == why(api, trace_id, uid)
    narrow = api.with_key(Role.READER, "user:ada")
    assert 404 == narrow.get(f"/v1/traces/{trace_id}/why/{uid}").status_code
    assert 404 == narrow.get(f"/v1/traces/{trace_id}/why/nothing").status_code


def test_a_trace_of_another_tenant_or_space_is_not_there(api):
    trace_id = recall(api)["trace_id"]

    for key in (
        api.with_key(Role.ADMIN, "*", tenant="other"),
        api.with_key(Role.ADMIN, "user:bob"),
    ):
        assert 404 == key.get(f"/v1/traces/{trace_id}").status_code
    assert 404 == api.get("/v1/traces/nothing").status_code


def test_a_trace_of_a_recall_shows_its_candidates_and_settings(api):
    uid = add(api, "Ada likes tea.")
    trace_id = recall(api, "  what about\n tea ", limit=3, ranker="rrf")["trace_id"]

    trace = api.get(f"/v1/traces/{trace_id}").get_json()

    assert ("recall", ["user:ada"], "what about tea") == (
        trace["kind"],
        trace["spaces"],
        trace["query"],
    )
    assert ("rrf", 3, 1) == tuple(
        trace["request"][name] for name in ("ranker", "limit", "returned")
    )
    assert [(uid, "user:ada", 1, True)] == [
        (event["uid"], event["space"], event["rank"], event["returned"])
        for event in trace["events"]
    ]


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("what is my password", "(redacted)"),
        (f"who pays {SECRETS[0]}", "(redacted)"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 200 + "... (truncated)"),
    ],
)
def test_a_query_is_kept_redacted_and_cut(api, query, kept):
    assert kept == api.get(f"/v1/traces/{recall(api, query)['trace_id']}").get_json()["query"]


def test_a_secret_in_a_filter_is_not_kept(api):
    answer = api.post(
        "/v1/recall",
        {"spaces": ["user:ada"], "query": "tea", "tags": ["tea", SECRETS[0]]},
    ).get_json()
    api.house.graphmem.journal.flush()

    kept = api.house.rows("MATCH (t:Trace {uid: $uid}) RETURN t.request", uid=answer["trace_id"])
    assert ["tea", "(redacted)"] == json.loads(kept[0][0])["tags"]


def test_a_trace_of_a_write_says_what_became_of_each_item(api):
    items = [
        {"space": "user:ada", "content": "Tea."},
        {"space": "user:ada", "content": "password: hunter22hunter"},
    ]
    trace_id = api.post("/v1/memories/batch", {"items": items}).get_json()["trace_id"]

    trace = api.get(f"/v1/traces/{trace_id}").get_json()

    assert ("write", ["created", "refused"]) == (
        trace["kind"],
        [event["outcome"] for event in trace["events"]],
    )
    assert "screening_secret" == trace["events"][1]["code"]
    assert 422 == api.get(f"/v1/traces/{trace_id}/why/{trace['events'][0]['uid']}").status_code


def test_recalls_are_counted_behind_the_answer_and_survive_a_clean_stop(api):
    uid = add(api, "Ada likes tea.")
    version = api.get(f"/v1/memories/{uid}").get_json()["version"]
    for _ in range(3):
        recall(api)
    api.house.graphmem.journal.close()

    memory = api.get(f"/v1/memories/{uid}").get_json()
    assert (3, "2026-03-01T09:30:00Z", version) == (
        memory["recall_count"],
        memory["last_recalled_at"],
        memory["version"],
    )


def test_counts_of_two_processes_add_up_with_writes_between(api, connection):
    uid = add(api, "Ada likes tea.")
    key = f"{api.house.caller.tenant}/user:ada|{uid}"
    journals = [
        Journal(connection, whole_per_second=5, counts_most=1_000),
        api.house.graphmem.journal,
    ]
    trace = recall(api)["trace_id"]
    kept = api.house.graphmem.explainer.trace(api.house.caller.tenant, trace)
    for round_ in range(4):
        for number, journal in enumerate(journals):
            journal.remember(replace(kept, uid=f"{trace}-{round_}-{number}"), [key])
            journal.flush()
        add(api, "Ada likes tea.")
    journals[0].close()

    assert 9 == api.get(f"/v1/memories/{uid}").get_json()["recall_count"]


def test_counts_of_more_memories_than_may_wait_are_written_at_once(api, connection, monkeypatch):
    monkeypatch.setattr(traces, "_FLUSH_SECONDS", 3_600)
    uids = [add(api, f"Ada likes tea number {number}.") for number in range(3)]
    keys = [f"{api.house.caller.tenant}/user:ada|{uid}" for uid in uids]
    kept = api.house.graphmem.explainer.trace(api.house.caller.tenant, recall(api)["trace_id"])
    before = counts_of(api, uids)
    journal = Journal(connection, whole_per_second=5, counts_most=2)
    journal.remember(replace(kept, uid=f"{kept.uid}-few"), keys[:2])
    few = counts_of(api, uids)
    journal.remember(replace(kept, uid=f"{kept.uid}-many"), keys)

    assert before == few
    assert eventually(lambda: counts_of(api, uids) == [n + 2 for n in before[:2]] + [before[2] + 1])
    journal.close()


def counts_of(api, uids):
    return [api.get(f"/v1/memories/{uid}").get_json()["recall_count"] for uid in uids]


def test_old_traces_are_forgotten_by_the_job(api):
    old = recall(api)["trace_id"]
    api.get(f"/v1/traces/{old}")
    api.house.clock.advance(days=31)
    new = recall(api)["trace_id"]
    api.get(f"/v1/traces/{new}")

    runner = api.house.graphmem.runner
    assert runner.run("prune_traces", dry_run=True).counts["forgotten"] >= 1
    assert 200 == api.get(f"/v1/traces/{old}").status_code
    assert runner.run("prune_traces").counts["forgotten"] >= 1
    assert [404, 200] == [api.get(f"/v1/traces/{uid}").status_code for uid in (old, new)]


def test_a_refused_write_is_seen_only_by_who_may_see_its_space(api):
    items = [
        {"space": "user:bob", "content": "password: hunter22hunter"},
        {"space": "user:ada", "content": "Tea."},
    ]
    trace_id = api.post("/v1/memories/batch", {"items": items}).get_json()["trace_id"]

    assert 404 == api.with_key(Role.ADMIN, "user:ada").get(f"/v1/traces/{trace_id}").status_code
    assert ["user:ada", "user:bob"] == api.get(f"/v1/traces/{trace_id}").get_json()["spaces"]


def test_what_was_retracted_since_is_said_so_also_for_a_past_time(api):
    uid = add(api, "Tea.")
    api.house.clock.advance(days=1)
    api.post(f"/v1/memories/{uid}/retract", {})
    api.house.clock.advance(days=1)

    assert "retracted" == why(api, recall(api, known_at="2026-03-01T12:00:00Z")["trace_id"], uid)


def test_a_flush_that_fails_loses_nothing_and_counts_nothing_twice(api, monkeypatch):
    uid = add(api, "Ada likes tea.")
    journal = api.house.graphmem.journal
    journal.close()  # from here on it is flushed by hand
    trace_id = recall(api)["trace_id"]
    connection = api.house.graphmem.connection
    write = connection.write

    def failing(_work):
        raise StoreUnavailable

    monkeypatch.setattr(connection, "write", failing)
    with pytest.raises(StoreUnavailable):
        journal.flush()
    monkeypatch.setattr(connection, "write", write)
    recall(api)
    journal.flush()

    assert 2 == api.get(f"/v1/memories/{uid}").get_json()["recall_count"]
    assert 200 == api.get(f"/v1/traces/{trace_id}").status_code
