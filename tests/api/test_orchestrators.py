"""Write-backs and bulletins over HTTP."""

import json

import pytest
from fakes import Faulty
from parts import with_recall

from graphmem.errors import StoreUnavailable
from graphmem.model.caller import Role

SPACE = "orchestrator:main"


def write_back(api, kind, **body):
    return api.post(f"/v1/write-backs/{kind}", {"space": SPACE} | body)


def say(api, content, message="m-1"):
    return write_back(
        api, "transcript", message_id=message, conversation_id="c-1", content=content
    ).get_json()


def work(api, attempt=1, **outputs):
    body = {"workflow_run_id": "run-1", "step_id": "step-1", "attempt": attempt, "outputs": outputs}
    return write_back(api, "workflow-output", **body).get_json()


def bulletin(api, query="tea", message="m-9", **more):
    return api.post(
        "/v1/bulletins", {"space": SPACE, "message_id": message, "query": query} | more
    ).get_json()


def test_a_message_creates_memory_and_another_message_recalls_it(api):
    assert "created" == say(api, "We drink green tea at noon.")["outcome"]
    assert "unchanged" == say(api, "We drink green tea at noon.")["outcome"]
    assert "nothing" == say(api, "  ", message="m-2")["outcome"]

    found = api.post("/v1/recall", {"spaces": [SPACE], "query": "what do we drink?"}).get_json()

    assert ["We drink green tea at noon."] == [item["memory"]["content"] for item in found["items"]]
    assert "c-1" == found["items"][0]["citation"]["conversation_id"]


def test_a_later_attempt_revises_the_memory_and_leaves_two_sources(api):
    first = work(api, decision="Ship on Friday.", note=" ")
    again = work(api, decision="Ship on Friday.", note=" ")
    later = work(api, attempt=2, decision="Ship on Monday.", note=" ")

    assert [["created", "nothing"], ["unchanged", "nothing"], ["revised", "nothing"]] == [
        [result["outcome"] for result in answer["results"]] for answer in (first, again, later)
    ]
    uid = first["results"][0]["uid"]
    memory = api.get(f"/v1/memories/{uid}?space={SPACE}").get_json()
    assert ("Ship on Monday.", "Decision", 75) == (
        memory["content"],
        memory["type"],
        memory["importance"],
    )
    assert [(2,)] == api.house.rows(
        "MATCH (k:ClaimKey)-[:CLAIMS]->(m:Memory {uid: $uid}) WHERE k.key CONTAINS '|source|'"
        " RETURN count(k)",
        uid=uid,
    )


def test_a_retracted_output_is_refused_by_name_and_the_others_are_kept(api):
    first = work(api, decision="Ship on Friday.", note="Tea is hot.")["results"]
    api.post(f"/v1/memories/{first[0]['uid']}/retract?space={SPACE}", {})

    decision, note = work(api, attempt=2, decision="Ship on Monday.", note="Tea is cold.")[
        "results"
    ]

    assert ("refused", "retracted") == (decision["outcome"], decision["error"]["code"])
    assert first[0]["uid"] in decision["error"]["message"]
    assert "revised" == note["outcome"]


def test_a_later_attempt_is_written_over_what_was_superseded_meanwhile(api):
    uid = work(api, decision="Ship on Friday.")["results"][0]["uid"]
    body = {"space": SPACE, "content": "Ship on Tuesday.", "uid": "new", "updates": [uid]}
    api.post("/v1/memories", body)

    (later,) = work(api, attempt=2, decision="Ship on Monday.")["results"]

    assert ("revised", uid) == (later["outcome"], later["uid"])
    memory = api.get(f"/v1/memories/{uid}?space={SPACE}").get_json()
    assert ("Ship on Monday.", "superseded") == (memory["content"], memory["status"])


def test_a_long_output_is_split_and_a_shorter_attempt_leaves_no_part_of_it(api):
    long = "\n\n".join(f"Paragraph {number} of the report. " * 40 for number in range(40))
    whole, other = work(api, result=long, note="Tea is hot.")["results"][::-1]

    assert ["created", "created"] == [whole["outcome"], other["outcome"]]
    edges = api.get(f"/v1/edges?space={SPACE}&type=PART_OF&limit=200").get_json()
    assert edges["total"] > 8
    assert {whole["uid"]} == {edge["to"] for edge in edges["items"]}
    recall = {"spaces": [SPACE], "query": "paragraph 33", "limit": 50}
    assert any("Paragraph 33" in item["memory"]["content"] for item in recalled(api, recall))

    work(api, attempt=2, result="In short: ship.", note="Tea is hot.")

    assert not any("Paragraph" in item["memory"]["content"] for item in recalled(api, recall))


def long_text(word, paragraphs=40):
    return "\n\n".join(f"{word} {number} of the report. " * 40 for number in range(paragraphs))


def test_a_long_output_after_a_short_one_is_recalled_again(api):
    body = {"spaces": [SPACE], "query": "paragraph 33 line 33", "limit": 50}
    for attempt, text in enumerate((long_text("Paragraph"), "Short.", long_text("Line"))):
        work(api, attempt=attempt, result=text, note="Tea.")

    found = " ".join(item["memory"]["content"] for item in recalled(api, body))

    assert "Line 33" in found
    assert "Paragraph" not in found


def test_a_short_attempt_after_more_parts_than_a_memory_may_update(api):
    work(api, result=long_text("Paragraph", 180)[:190_000], note="Tea.")

    (note, result) = work(api, attempt=2, result="Short.", note="Tea.")["results"]

    assert ["unchanged", "revised"] == [note["outcome"], result["outcome"]]
    body = {"spaces": [SPACE], "query": "paragraph of the report", "limit": 50}
    assert not any("Paragraph" in item["memory"]["content"] for item in recalled(api, body))


def test_a_message_may_be_edited_across_the_limit(api):
    body = {"spaces": [SPACE], "query": "paragraph 33 short", "limit": 50}
    assert "created" == say(api, "Short at first.")["outcome"]

    assert "revised" == say(api, long_text("Paragraph"))["outcome"]
    assert any("Paragraph 33" in item["memory"]["content"] for item in recalled(api, body))
    assert "revised" == say(api, "Short at last.")["outcome"]

    assert ["Short at last."] == [item["memory"]["content"] for item in recalled(api, body)]


def test_an_output_with_a_retracted_part_is_refused_by_its_name_alone(api):
    uid = work(api, result=long_text("Paragraph"), note="Tea.")["results"][1]["uid"]
    api.post(f"/v1/memories/{uid}-3/retract?space={SPACE}", {})

    note, result = work(api, attempt=2, result=long_text("Line"), note="Hot tea.")["results"]

    assert ("refused", "revised") == (result["outcome"], note["outcome"])
    assert f"{uid}-3" in result["error"]["message"]


def test_a_message_that_repeats_an_older_memory_does_not_hide_it(api):
    api.post("/v1/memories", {"space": SPACE, "content": "Ship on Friday.", "type": "Observation"})

    context = {"purpose": "selector", "message_id": "m-1", "conversation_id": "c-1"}
    answer = api.post("/v1/context", {"space": SPACE, "content": "Ship on Friday."} | context)

    assert "Ship on Friday." in answer.get_json()["rendered"]


def recalled(api, body):
    return api.post("/v1/recall", body).get_json()["items"]


def test_a_long_message_is_split_and_not_cited_in_its_own_context(api):
    long = "\n\n".join(f"Paragraph {number} of the report. " * 40 for number in range(40))

    assert "created" == say(api, long)["outcome"]
    assert "unchanged" == say(api, long)["outcome"]

    context = api.post(
        "/v1/context",
        {
            "space": SPACE,
            "purpose": "selector",
            "message_id": "m-1",
            "conversation_id": "c-1",
            "content": long,
        },
    ).get_json()
    assert [] == context["citations"]


def test_a_typed_graph_has_three_statuses(api):
    uid = work(api, decision="Ship on Friday.")["results"][0]["uid"]
    answer = api.post(f"/v1/memories/{uid}/archive?space={SPACE}", {"reason": "old"}).get_json()

    assert ("superseded", "old") == (answer["memory"]["status"], answer["memory"]["status_reason"])
    listed = {
        status: api.get(f"/v1/memories?space={SPACE}&status={status}")
        for status in ("active", "superseded", "retracted", "archived")
    }
    assert [0, 1, 0] == [listed[name].get_json()["total"] for name in [*listed][:3]]
    assert 422 == listed["archived"].status_code
    assert "InvalidStatus" in str(listed["archived"].get_json())
    (space,) = api.get("/v1/spaces").get_json()["items"]
    assert {"Decision": {"superseded": 1}} == space["counts"]
    body = {"spaces": [SPACE], "query": "ship"}
    assert [] == recalled(api, body)
    (item,) = recalled(api, body | {"include_superseded": True})
    assert "superseded" == item["memory"]["status"]
    trace = api.post("/v1/recall", body).get_json()["trace_id"]
    why = api.get(f"/v1/traces/{trace}/why/{uid}?space={SPACE}").get_json()
    assert "superseded" == why["reason"]


def test_what_is_superseded_or_retracted_is_logged_with_both_ids(api, capsys):
    for uid in ("a", "b"):
        api.post("/v1/memories", {"space": SPACE, "content": f"Memory {uid}.", "uid": uid})
    capsys.readouterr()

    body = {"space": SPACE, "content": "Memory c.", "uid": "c", "updates": ["a"]}
    superseding = api.post("/v1/memories", body).get_json()["trace_id"]
    api.post("/v1/edges", {"space": SPACE, "from": "c", "to": "b", "type": "UPDATES"})
    retracting = api.post(f"/v1/memories/c/retract?space={SPACE}", {}).get_json()["trace_id"]
    api.post("/v1/memories", {"space": "user:ada", "content": "One.", "uid": "one"})
    api.post("/v1/memories/one/retract?space=user:ada", {})

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines() if line[:1] == "{"]
    events = [line for line in lines if str(line.get("event")).startswith("memory.status.")]
    assert [
        ("memory.status.superseded", "a", "c"),
        ("memory.status.superseded", "b", "c"),
        ("memory.status.retracted", "c", None),
    ] == [(line["event"], line["memory_id"], line["replaced_by"]) for line in events]
    assert {"orchestrator_id": "main"}.items() <= events[0].items()
    shown = api.get(f"/v1/traces/{superseding}").get_json()["events"]
    assert ("a", "superseded", "c") == (
        shown[-1]["uid"],
        shown[-1]["outcome"],
        shown[-1]["replaced_by"],
    )
    (shown,) = api.get(f"/v1/traces/{retracting}").get_json()["events"]
    assert ("c", "retracted") == (shown["uid"], shown["outcome"])


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("memories", {"space": SPACE}, "content"),
        ("memories", {"content": "Tea."}, "space"),
        ("memories", {"space": SPACE, "content": " "}, "content"),
        ("memories", {"space": SPACE, "content": "Tea.", "summary": " "}, "summary"),
        ("edges", {"space": SPACE, "from": "a", "type": "UPDATES"}, "to"),
        ("edges", {"space": SPACE, "to": "a", "type": "UPDATES"}, "from"),
    ],
)
def test_a_missing_field_is_named_as_002_names_it(api, path, body, field):
    answer = api.post(f"/v1/{path}", body)

    assert 422 == answer.status_code
    assert "MissingField" in str(answer.get_json()["error"]["fields"][field])


def test_outputs_are_written_all_or_none(api):
    answer = write_back(
        api,
        "workflow-output",
        workflow_run_id="r",
        step_id="s",
        attempt=1,
        outputs={"a": "Fine.", "b": "password: hunter22hunter"},
    )

    assert 403 == answer.status_code
    assert 0 == api.get(f"/v1/memories?space={SPACE}").get_json()["total"]


def test_a_finding_is_joined_with_what_it_is_about(api):
    cause = work(api, result="The disk was full.")["results"][0]["uid"]

    found = write_back(
        api, "diagnostics", finding_id="f-1", content="Writes failed at noon.", related=[cause]
    )

    uid = found.get_json()["memory"]["uid"]
    (edge,) = api.get(f"/v1/edges?space={SPACE}").get_json()["items"]
    assert (cause, uid, "RELATED_TO", 0.7) == (
        edge["from"],
        edge["to"],
        edge["type"],
        edge["weight"],
    )


def test_a_finding_about_a_missing_memory_is_not_written(api):
    answer = write_back(
        api, "diagnostics", finding_id="f-1", content="Writes failed.", related=["nothing"]
    )

    assert 422 == answer.status_code
    assert "related.0" in answer.get_json()["error"]["fields"]
    assert 0 == api.get(f"/v1/memories?space={SPACE}").get_json()["total"]


@pytest.mark.parametrize("kind", ["transcript", "workflow-output", "diagnostics"])
def test_only_orchestrators_have_write_backs_and_fields_are_named(api, kind):
    answer = api.post(f"/v1/write-backs/{kind}", {"space": "user:ada"}).get_json()["error"]
    assert {"content"} <= set(answer["fields"]) or {"outputs"} <= set(answer["fields"])
    body = {"message_id": "m", "conversation_id": "c", "content": "Hi."}
    assert 422 == api.post("/v1/write-backs/transcript", {"space": "user:ada"} | body).status_code
    assert (
        403
        == api.with_key(Role.READER, "*")
        .post("/v1/write-backs/transcript", {"space": SPACE} | body)
        .status_code
    )


def test_a_bulletin_has_six_sections_with_citations_and_is_kept(api):
    work(
        api,
        decision="We decided on green tea.",
        goal="Drink more tea.",
        todo="Buy tea.",
        note="Tea is hot.",
    )

    made = bulletin(api)

    assert (
        "knowledge_summary active_goals open_todos recent_decisions preference_profile"
        " conflicts_and_uncertainties"
    ) == " ".join(section["name"] for section in made["sections"])
    assert 4 == len(made["citations"])
    assert (None, "hybrid") == (made["fallback"], made["mode"])
    assert all(f"[{uid}]" in made["rendered"] for uid in made["citations"])
    assert made == api.get(f"/v1/bulletins/m-9?space={SPACE}").get_json()


def test_a_bulletin_is_bounded(api):
    work(api, decision="We decided on green tea.", note="Tea is hot. " * 20)

    assert 180 >= len(bulletin(api, limit_chars=180)["rendered"])
    assert 124 == len(bulletin(api, query="tea", message="m-3", limit_chars=124)["rendered"])
    assert "" == bulletin(api, limit_chars=8)["rendered"]


def test_a_kept_bulletin_no_longer_cites_what_was_retracted(api):
    uid = work(api, decision="We decided on green tea.")["results"][0]["uid"]
    bulletin(api)

    api.post(f"/v1/memories/{uid}/retract?space={SPACE}", {})

    kept = api.get(f"/v1/bulletins/m-9?space={SPACE}").get_json()
    assert ([], 124) == (kept["citations"], len(kept["rendered"]))


def test_a_recall_that_fails_falls_back_to_the_newest_bulletin_or_an_empty_one(api):
    uid = work(api, decision="We decided on green tea.")["results"][0]["uid"]
    whole = api.house.graphmem
    faulty = with_recall(whole, Faulty(whole.recall, "recall", StoreUnavailable()))

    empty = bulletin(api.over(faulty), message="m-1")
    bulletin(api.over(whole), message="m-2")
    previous = bulletin(api.over(faulty), message="m-3")
    api.over(whole)

    assert ("empty_bulletin", 124) == (empty["fallback"], len(empty["rendered"]))
    assert ("previous_snapshot", [uid]) == (previous["fallback"], previous["citations"])
    assert "previous_snapshot" == api.get(f"/v1/bulletins/m-3?space={SPACE}").get_json()["fallback"]


def test_bulletins_stay_within_their_orchestrator(api):
    bulletin(api)

    assert 404 == api.get("/v1/bulletins/m-9?space=orchestrator:other").status_code
    assert 422 == api.get("/v1/bulletins/m-9?space=user:ada").status_code
    other = api.with_key(Role.READER, "orchestrator:other")
    assert 403 == other.get(f"/v1/bulletins/m-9?space={SPACE}").status_code
    assert (
        403
        == other.post(
            "/v1/bulletins", {"space": SPACE, "message_id": "m", "query": "q"}
        ).status_code
    )


def test_old_bulletins_are_forgotten(api):
    bulletin(api)
    api.house.clock.advance(days=31)

    assert api.house.graphmem.runner.run("prune_traces").counts["bulletins_forgotten"] >= 1
    assert 404 == api.get(f"/v1/bulletins/m-9?space={SPACE}").status_code
