"""Contexts over HTTP: what prompts and investigations are given for a message."""

import json
import os
from unittest.mock import patch

import pytest
from fakes import Faulty
from parts import with_recall

from graphmem.errors import StoreUnavailable
from graphmem.model.caller import Role
from graphmem.store.connection import Connection

SPACE = "orchestrator:main"


def context(
    api,
    content="Which tea do we drink?",
    purpose="selector",
    message="m-9",
    conversation="c-2",
    **more,
):
    body = {"space": SPACE, "purpose": purpose, "message_id": message, "content": content}
    return api.post(
        "/v1/context", body | ({"conversation_id": conversation} if conversation else {}) | more
    )


def work(api, **outputs):
    body = {
        "space": SPACE,
        "workflow_run_id": "run-1",
        "step_id": "step-1",
        "attempt": 1,
        "outputs": outputs,
    }
    return {
        each["key"]: each["uid"]
        for each in api.post("/v1/write-backs/workflow-output", body).get_json()["results"]
    }


def workspace(api):
    folder = api.house.graphmem.settings.server.data_dir
    return folder / "tenants" / api.house.caller.tenant / "orchestrators" / "main" / "memory"


def events(api):
    return [
        json.loads(line)
        for line in (workspace(api) / "logs" / "memory.log").read_text("utf-8").splitlines()
    ]


@pytest.mark.parametrize("purpose", ["selector", "step"])
def test_bulletin_is_injected_into_the_context_of_every_message(api, purpose):
    uid = work(api, decision="We decided on green tea.")["decision"]

    for number in range(2):
        answer = context(
            api, purpose=purpose, message=f"m-{number}", content=f"Which tea? Message {number}."
        ).get_json()

        assert uid in answer["citations"]
        assert f"recent_decisions:\n- We decided on green tea. [{uid}]" in answer["rendered"]
        assert ("created", None) == (answer["written"]["outcome"], answer["fallback"])
        kept = json.loads((workspace(api) / "bulletins" / f"m-{number}.json").read_text("utf-8"))
        assert {"messageId", "rendered", "citations", "sections", "generatedAt"} == set(kept)
        assert (answer["rendered"], answer["citations"]) == (kept["rendered"], kept["citations"])


def test_the_message_is_written_down_before_the_recall_and_does_not_cite_itself(api):
    first = context(api, "Tea at noon, says Ada.", message="m-1").get_json()
    again = context(api, "Tea at noon, says Ada.", message="m-1").get_json()
    later = context(api, "When is tea?", message="m-2", conversation="c-3").get_json()

    assert ("created", "unchanged") == (first["written"]["outcome"], again["written"]["outcome"])
    assert [] == first["citations"] == again["citations"]
    assert [first["written"]["uid"]] == later["citations"]


def test_without_a_conversation_the_message_is_not_written_down(api):
    assert context(api, conversation=None).get_json()["written"] is None
    assert 0 == api.get(f"/v1/memories?space={SPACE}").get_json()["total"]


def test_diagnostics_are_given_eight_memories_found_by_words_with_their_provenance(api):
    uids = work(
        api, **{f"note {number}": f"Run {number} failed at the gateway." for number in range(10)}
    )

    answer = context(
        api, "why did the gateway fail?", purpose="diagnostics", conversation=None
    ).get_json()

    assert 8 == len(answer["evidence"]) == len(answer["citations"])
    assert {item["uid"] for item in answer["evidence"]} <= set(uids.values())
    assert {"workflow_output"} == {item["citation"]["source_type"] for item in answer["evidence"]}
    assert {("run-1", "step-1")} == {
        (item["citation"]["workflow_run_id"], item["citation"]["step_id"])
        for item in answer["evidence"]
    }
    assert all(len(item["content"]) <= 500 for item in answer["evidence"])
    assert ("full_text_only", None) == (answer["mode"], answer["failure"])
    kept = json.loads((workspace(api) / "diagnostics" / "m-9.json").read_text("utf-8"))
    assert ("succeeded", answer["citations"]) == (
        kept["status"],
        [each["memoryId"] for each in kept["evidence"]],
    )


@pytest.mark.parametrize(
    ("problem", "kind"),
    [(StoreUnavailable(), "repository"), ("outside", "recall")],
    ids=["repository", "recall"],
)
def test_an_investigation_that_gets_nothing_says_why_and_keeps_it(api, problem, kind):
    uid = work(api, note="The gateway failed.")["note"]
    if problem == "outside":
        cite(api, uid, "/etc/hostname")
        answer = context(api, "gateway", purpose="diagnostics", conversation=None).get_json()
    else:
        graphmem = api.house.graphmem
        failing = api.over(with_recall(graphmem, Faulty(graphmem.recall, "recall", problem)))
        answer = context(failing, "gateway", purpose="diagnostics", conversation=None).get_json()

    assert ([], kind, "empty_bulletin") == (
        answer["evidence"],
        answer["failure"]["kind"],
        answer["fallback"],
    )
    kept = json.loads((workspace(api) / "diagnostics" / "m-9.json").read_text("utf-8"))
    assert ("failed", kind) == (kept["status"], kept["failureKind"])


def test_a_store_that_is_away_leaves_the_context_empty_and_says_that_the_message_was_not_written(
    api,
):
    api.get("/v1/jobs")  # the key was used before
    with (
        patch.object(Connection, "read", side_effect=StoreUnavailable()),
        patch.object(Connection, "write", side_effect=StoreUnavailable()),
    ):
        answer = context(api)

    body = answer.get_json()
    assert (200, "empty_bulletin", 124) == (
        answer.status_code,
        body["fallback"],
        len(body["rendered"]),
    )
    assert ("refused", "store_unavailable") == (
        body["written"]["outcome"],
        body["written"]["error"]["code"],
    )
    assert "created" == context(api).get_json()["written"]["outcome"]


def test_a_message_that_may_not_be_stored_is_said_and_still_gets_its_bulletin(api):
    uid = work(api, decision="We decided on green tea.")["decision"]

    answer = context(api, "password: hunter22hunter and green tea").get_json()

    assert ("refused", "policy_refused") == (
        answer["written"]["outcome"],
        answer["written"]["error"]["code"],
    )
    assert [uid] == answer["citations"]


def test_contexts_are_for_writers_of_an_orchestrator_and_every_bad_field_is_named(api):
    assert 403 == context(api.with_key(Role.READER, "*")).status_code
    assert 403 == context(api.with_key(Role.WRITER, "orchestrator:other")).status_code
    answer = context(api, " ", purpose="fun", message="", more=1)
    assert 422 == answer.status_code
    assert {"content", "purpose", "message_id", "more"} == set(answer.get_json()["error"]["fields"])


def test_a_message_that_repeats_a_decision_is_an_observation_and_does_not_hide_it(api):
    uid = work(api, decision="We decided on green tea.")["decision"]
    plain = api.post(
        "/v1/memories", {"space": SPACE, "content": "Ship on Friday.", "type": "Decision"}
    ).get_json()

    answer = context(api, "Ship on Friday.").get_json()

    assert "created" == answer["written"]["outcome"]
    assert plain["memory"]["uid"] in answer["citations"]
    assert uid != plain["memory"]["uid"]


def test_a_secret_that_an_investigation_asks_about_is_not_kept(api):
    context(
        api, "password: hunter22hunter for the gateway", purpose="diagnostics", conversation=None
    )

    assert "hunter22" not in (workspace(api) / "diagnostics" / "m-9.json").read_text("utf-8")


def test_files_of_bulletins_and_investigations_are_forgotten_in_time(api):
    context(api, message="m-1")
    context(api, message="m-2", purpose="diagnostics")
    api.house.clock.advance(days=31)
    past = api.house.clock.now().timestamp() - 40 * 86_400
    os.utime(workspace(api) / "bulletins" / "m-1.json", (past, past))

    assert (
        1 == api.house.graphmem.runner.run("prune_traces", dry_run=True).counts["files_forgotten"]
    )
    assert 1 == api.house.graphmem.runner.run("prune_traces").counts["files_forgotten"]
    assert not (workspace(api) / "bulletins" / "m-1.json").exists()
    assert (workspace(api) / "diagnostics" / "m-2.json").exists()


@pytest.mark.parametrize("inside", [True, False])
def test_a_recall_that_would_cite_a_file_outside_fails_whole_and_is_logged(api, inside):
    uids = work(api, decision="We decided on green tea.", note="Green tea is hot.")
    assert 2 == len(context(api).get_json()["citations"])
    path = workspace(api) / "ingest" / "processed" / "notes.txt" if inside else "/etc/hostname"
    cite(api, uids["note"], str(path))

    answer = api.post("/v1/recall", {"spaces": [SPACE], "query": "green tea"})
    bulletin = context(api, message="m-10", conversation=None).get_json()

    if inside:
        assert (200, None) == (answer.status_code, bulletin["fallback"])
        return
    assert (403, "source_path_denied") == (answer.status_code, answer.get_json()["error"]["code"])
    assert ("previous_snapshot", [uids["decision"]]) == (
        bulletin["fallback"],
        bulletin["citations"],
    )
    found = events(api)
    assert [{"path": "/etc/hostname"}, {"path": "/etc/hostname"}] == [
        {"path": line["path"]}
        for line in found
        if line["event"] == "memory.recall.source_path_denied"
    ]
    assert ["memory.bulletin.generation_failed", "memory.bulletin.fallback"] == [
        line["event"] for line in found if line["event"].startswith("memory.bulletin")
    ]


def test_a_link_that_leads_outside_is_denied_too(api, tmp_path):
    uid = work(api, note="Green tea is hot.")["note"]
    context(api)
    link = workspace(api) / "ingest" / "processed" / "link.txt"
    link.symlink_to("/etc/hostname")
    cite(api, uid, str(link))

    assert 403 == api.post("/v1/recall", {"spaces": [SPACE], "query": "green tea"}).status_code


def cite(api, uid, path):
    """Let a memory cite a file, as one that was written before the folders changed."""
    api.house.rows(
        "MATCH (m:Memory {uid: $uid}) WHERE m.space STARTS WITH $tenant SET m.source_path = $path",
        uid=uid,
        path=path,
    )
