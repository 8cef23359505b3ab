"""Turns that become facts, over HTTP: the walk through of the docs, forms, and bad input."""

import pytest
from doc_examples import walk_through

from graphmem.model.caller import Role

TURN = {"space": "user:ada", "session": "chat-1", "role": "user", "content": "FYI we moved."}


def turn(**changes):
    return TURN | changes


def test_the_walk_through_of_the_docs_is_a_day_of_two_calls_a_turn(api):
    answers = list(walk_through(api, "lifecycle.md"))

    assert [200, 200, *[201] * 3, 200, 201, *[200] * 6] == [each.status_code for each in answers]
    _, empty, first, waiting, decided, noon, correction, late, read, turns, flushed, boxes, kept = (
        each.get_json() for each in answers
    )
    (fact,) = first["extraction"]["facts"]
    assert ["company-siemens", "person-ada", "place-lyon"] == sorted(
        each["key"] for each in first["extraction"]["entities"]
    )
    assert 2 == len(first["extraction"]["relationships"])
    assert ("", []) == (empty["text"], empty["memories"])
    assert (None, "keep") == (waiting["extraction"], waiting["buffer"]["decision"])
    assert {"fact", "preference", "decision"} <= {
        each["category"] for each in decided["extraction"]["facts"]
    }
    shown = {each["name"]: each["text"] for each in noon["sections"]}
    assert "We decided to use Neo4j for storage." in shown["artefacts"]
    assert "I prefer short answers." in shown["profile"]
    assert fact["uid"] in noon["memories"]
    assert shown["boxes"]
    assert noon["tokens"] <= 500
    assert ["superseded"] == [each["outcome"] for each in correction["extraction"]["facts"]]
    assert "July 3" in late["text"]
    assert "My birthday is June 3." not in late["text"]
    assert 1 == read["total"]
    assert [correction["extraction"]["facts"][0]["uid"]] == turns["items"][0]["memories"]
    assert [] == flushed["extractions"]
    assert "flush" == boxes["items"][0]["seal_reason"]
    assert "I prefer short answers." in kept["text"]


def test_an_answer_has_exactly_the_documented_fields(api):
    document = api.get("/openapi.json").get_json()["components"]["schemas"]
    answer = api.post("/v1/turns", turn(content="FYI I work at Siemens.", actor="Ada")).get_json()
    extraction = answer["extraction"]
    one = api.get(f"/v1/extractions/{extraction['uid']}?space=user:ada").get_json()
    buffer = api.get("/v1/spaces/user:ada/buffers").get_json()["items"][0]
    activity = api.get("/v1/entities/company-siemens/activity?space=user:ada").get_json()

    for name, found in {
        "HeedAnswer": answer,
        "TurnAnswer": answer["turn"],
        "SignalAnswer": answer["signal"],
        "BufferDecision": answer["buffer"],
        "ExtractionAnswer": extraction,
        "FactAnswer": extraction["facts"][0],
        "NamedEntityAnswer": extraction["entities"][0],
        "RelationshipAnswer": extraction["relationships"][0],
        "ExtractionWithTurns": one,
        "BufferAnswer": buffer,
        "ActivityAnswer": activity["items"][0],
    }.items():
        assert set(document[name]["properties"]) == set(found), name
    assert "FYI I work at Siemens." == one["said"][0]["content"]


def test_a_batch_answers_for_each_turn_and_waits_only_if_asked(api):
    turns = [{"role": "user", "content": f"FYI number {n} is mine."} for n in range(3)]
    body = {"space": "user:ada", "session": "chat-1", "turns": turns}
    later = api.post("/v1/turns/batch", body)
    now = api.post("/v1/turns/batch", body | {"session": "chat-2", "wait": True}).get_json()

    assert (201, []) == (later.status_code, later.get_json()["extractions"])
    assert ["extract_now"] * 3 == [each["decision"] for each in later.get_json()["turns"]]
    assert 3 == len(now["extractions"])
    waiting = api.get("/v1/spaces/user:ada/buffers").get_json()["items"]
    assert [("chat-1", 3), ("chat-2", 0)] == [(each["session"], each["turns"]) for each in waiting]


def test_a_message_that_was_there_is_200(api):
    first = api.post("/v1/turns", turn(message_id="m-1"))
    again = api.post("/v1/turns", turn(message_id="m-1"))
    other = api.post("/v1/turns", turn(message_id="m-1", content="FYI other."))

    assert [201, 200, 409] == [each.status_code for each in (first, again, other)]
    assert first.get_json()["turn"]["uid"] == again.get_json()["turn"]["uid"]


@pytest.mark.parametrize("session", ["a b", "a/b", "\u4f60\u597d", ".", "x" * 256])
def test_a_session_keeps_its_name(api, session):
    answer = api.post("/v1/turns", turn(session=session))
    listed = api.get("/v1/extractions?space=user:ada").get_json()

    assert 201 == answer.status_code
    assert session == answer.get_json()["turn"]["conversation_id"]
    assert [session] == [each["session"] for each in listed["items"]]


BAD = {
    "blank content": (turn(content=" \n "), "content"),
    "empty content": (turn(content=""), "content"),
    "NUL": (turn(content="a\x00b"), "content"),
    "too long": (turn(content="x" * 32_001), "content"),
    "unknown role": (turn(role="robot"), "role"),
    "no role": ({k: v for k, v in TURN.items() if k != "role"}, "role"),
    "time without a zone": (turn(occurred_at="2026-01-01T00:00:00"), "occurred_at"),
    "time ahead": (turn(occurred_at="2026-03-01T09:35:01Z"), "occurred_at"),
    "long session": (turn(session="x" * 257), "session"),
    "empty session": (turn(session=""), "session"),
    "blank session": (turn(session="  "), "session"),
    "NUL in the session": (turn(session="a\x00"), "session"),
    "unknown field": (turn(memory="x"), "memory"),
    "wait that is no truth value": (turn(wait="yes"), "wait"),
    "an orchestrator": (turn(space="orchestrator:main"), "space"),
    "a corpus": (turn(space="corpus:ada"), "space"),
    "a star": (turn(space="user:a*"), "space"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_422_under_its_field_and_stores_nothing(api, name):
    body, field = BAD[name]
    answer = api.post("/v1/turns", body)

    assert 422 == answer.status_code
    assert [field] == list(answer.get_json()["error"]["fields"])
    assert [(0,)] == api.house.rows("MATCH (n) WHERE n.space STARTS WITH $tenant RETURN count(n)")


def test_the_bounds_themselves_are_allowed(api):
    bodies = [turn(content="x" * 32_000), turn(occurred_at="2026-03-01T09:35:00Z")]

    assert [201, 201] == [api.post("/v1/turns", body).status_code for body in bodies]


@pytest.mark.parametrize(
    ("bad", "path"),
    [
        ({"role": "user", "content": " "}, "turns.1.content"),
        (
            {"role": "user", "content": "x", "occurred_at": "2027-01-01T00:00:00Z"},
            "turns.1.occurred_at",
        ),
        ({"role": "nobody", "content": "x"}, "turns.1.role"),
    ],
)
def test_a_batch_with_one_bad_turn_stores_nothing_and_names_its_path(api, bad, path):
    turns = [{"role": "user", "content": "FYI we moved."}, bad]
    answer = api.post("/v1/turns/batch", {"space": "user:ada", "session": "chat-1", "turns": turns})

    assert (422, [path]) == (answer.status_code, list(answer.get_json()["error"]["fields"]))
    assert 0 == api.get("/v1/conversations?space=user:ada").get_json()["total"]


@pytest.mark.parametrize("count", [0, 501])
def test_a_batch_has_1_to_500_turns(api, count):
    turns = [{"role": "user", "content": "x"}] * count
    answer = api.post("/v1/turns/batch", {"space": "user:ada", "session": "chat-1", "turns": turns})

    assert (422, ["turns"]) == (answer.status_code, list(answer.get_json()["error"]["fields"]))


def test_a_secret_is_403_and_the_buffer_does_not_move(api):
    answer = api.post("/v1/turns", turn(content="FYI my key is AKIAIOSFODNN7EXAMPLE, keep it."))

    assert (403, "screening_secret") == (
        answer.status_code,
        answer.get_json()["error"]["reason"],
    )
    assert 0 == api.get("/v1/spaces/user:ada/buffers").get_json()["total"]


def test_a_foreign_extraction_is_404(api):
    uid = api.post("/v1/turns", TURN).get_json()["extraction"]["uid"]

    assert 404 == api.get(f"/v1/extractions/{uid}?space=user:bob").status_code
    assert 404 == api.get("/v1/extractions/nothing?space=user:ada").status_code
    assert 404 == api.get("/v1/entities/nobody/activity?space=user:ada").status_code


@pytest.mark.parametrize("pattern", ["(", r"(a)\1", "(?=a)b", "", "x" * 201, 5])
def test_a_pattern_that_is_broken_or_needs_backtracking_is_refused(api, pattern):
    answer = api.client.put(
        "/v1/spaces/policy",
        json={"space": "user:ada", "overrides": {"lifecycle.high_signal_patterns": [pattern]}},
        headers={"X-API-Key": api.key},
    )

    assert 422 == answer.status_code
    assert ["overrides.lifecycle.high_signal_patterns"] == list(
        answer.get_json()["error"]["fields"]
    )


def test_a_reader_looks_and_neither_says_nor_flushes(api):
    api.post("/v1/turns", TURN)
    reader = api.with_key(Role.READER, "user:ada")

    assert 200 == reader.get("/v1/extractions?space=user:ada").status_code
    assert 200 == reader.get("/v1/spaces/user:ada/threads").status_code
    for path, body in {
        "/v1/turns": TURN,
        "/v1/spaces/user:ada/buffers/flush": {},
        "/v1/extractions/preview": {
            "space": "user:ada",
            "turns": [{"role": "user", "content": "x"}],
        },
    }.items():
        assert 403 == reader.post(path, body).status_code, path


def test_a_preview_has_the_form_of_an_extraction_without_uids(api):
    spoken = {"role": "user", "content": "FYI I work at Siemens.", "actor": "Ada"}
    body = {"space": "user:ada", "turns": [spoken]}
    answer = api.post("/v1/extractions/preview", body).get_json()
    real = api.post("/v1/turns", turn(content=spoken["content"], actor="Ada")).get_json()

    assert set(real["extraction"]) == set(answer)
    assert (None, None, ["0"]) == (answer["uid"], answer["facts"][0]["uid"], answer["turns"])
    assert [each["key"] for each in real["extraction"]["entities"]] == [
        each["key"] for each in answer["entities"]
    ]


def test_a_persona_is_named_in_the_path(api):
    api.post("/v1/turns", turn(space="user:ada/coach", content="My cat is Miso."))

    for path in ("user:ada/coach", "user:ada%2Fcoach"):
        items = api.get(f"/v1/spaces/{path}/buffers").get_json()["items"]
        assert [1] == [each["turns"] for each in items]
    flushed = api.post("/v1/spaces/user:ada/coach/buffers/flush", {"session": "chat-1"})
    assert ["flush"] == [each["reason"] for each in flushed.get_json()["extractions"]]
