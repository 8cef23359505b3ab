"""The call before a model: what an agent should know, over HTTP and a real graph."""

import pytest
from sessions import Session

from graphmem.model.caller import Role
from graphmem.model.memory import Status

PATH = "/v1/lifecycle/context"
DECISION = "We decided to use Neo4j for storage."


def ask(api, query="What does Ada use for storage?", **changes):
    body = {"space": "user:ada", "query": query} | changes
    answer = api.post(PATH, {name: value for name, value in body.items() if value is not None})
    assert 200 == answer.status_code, answer.get_json()
    return answer.get_json()


def sections(answer):
    return {each["name"]: each for each in answer["sections"]}


@pytest.fixture
def ada(house):
    session = Session(house)
    session.want(
        memory_boxes_enabled=True,
        verbatim_artifacts_enabled=True,
        episode_note_mode_enabled=True,
        inject_questions=True,
    )
    return session


def test_a_context_tells_what_was_said_what_is_preferred_what_holds_and_what_happened(api, ada):
    decision = ada.fact(DECISION)
    tea = ada.fact("I prefer tea over coffee.")
    doubt = ada.fact("FYI maybe I could perhaps move to Rome someday.")
    episode = ada.fact("FYI yesterday the storage cluster failed.")
    answer = ask(api)
    document = api.get("/openapi.json").get_json()["components"]["schemas"]

    found = sections(answer)
    assert set(document["SessionContextAnswer"]["properties"]) == set(answer)
    assert set(document["ContextSection"]["properties"]) == set(found["notes"])
    assert ["artefacts", "profile", "notes", "boxes", "episodes", "questions"] == list(found)
    assert [decision.uid] == found["artefacts"]["uids"]
    assert f"- “{DECISION}”" in found["artefacts"]["text"]
    assert [tea.uid] == found["profile"]["uids"]
    assert episode.uid in found["episodes"]["uids"]
    assert [doubt.uid] == found["questions"]["uids"]
    assert found["questions"]["text"].startswith("Open questions:\n- ")
    assert {decision.uid, tea.uid, episode.uid} <= set(found["boxes"]["uids"])
    assert ("full", "hybrid") == (answer["plan"], answer["mode"])
    assert answer["text"].startswith("Said word for word:")
    assert answer["tokens"] == -(-len(answer["text"]) // 4) <= 2_000


@pytest.mark.parametrize("status", [Status.RETRACTED, Status.ARCHIVED])
def test_what_is_no_longer_current_is_in_no_line_at_once(api, ada, status):
    facts = [ada.fact(DECISION), ada.fact("I prefer tea over coffee.")]
    before = ask(api)
    for fact in facts:
        ada.put_away(fact.uid, status)
    after = ask(api)

    assert {fact.uid for fact in facts} <= set(before["memories"])
    assert ("", []) == (after["text"], after["memories"])


def test_the_planner_comes_first(api, ada):
    ada.fact(DECISION)
    nothing = ask(api, "Thanks!")
    blank = ask(api, "")
    ada.want(recall_planner_enabled=False)

    assert [("", "no_recall", "none")] * 2 == [
        (each["text"], each["plan"], each["mode"]) for each in (nothing, blank)
    ]
    assert "full" == ask(api, "Thanks!")["plan"]


def test_the_shared_space_is_read_where_the_key_may(api, ada):
    answer = api.post("/v1/memories", {"space": "namespace:shared", "content": "Storage is Neo4j."})
    shared = answer.get_json()["memory"]["uid"]
    own = api.with_key(Role.READER, "user:ada")
    both = api.with_key(Role.READER, "user:ada", "namespace:shared")

    assert [shared] == ask(both)["memories"]
    assert [] == ask(own)["memories"]
    assert [shared] == ask(api, space="namespace:shared")["memories"]
    assert 403 == own.post(PATH, {"space": "user:eve", "query": "What?"}).status_code


def test_without_a_model_the_words_do_and_without_a_hit_the_newest(api, ada, house):
    fact = ada.fact("FYI I work at Siemens.")
    house.embedder.is_broken = True
    by_words = ask(api, "Who works at Siemens?")
    newest = ask(api, "Quid novi?")
    house.embedder.is_broken = False

    assert ("full_text_only", [fact.uid]) == (by_words["mode"], by_words["memories"])
    assert ["embedder_unavailable"] == by_words["degraded"]
    assert ("newest", [fact.uid]) == (newest["mode"], newest["memories"])


def test_the_last_context_of_a_session_may_be_spoken_of(api, ada):
    ada.want(feedback_enabled=True)
    fact = ada.fact("FYI I work at Siemens.")
    answer = ask(api, "Where do I work?", session="chat-1")
    body = {"space": "user:ada", "session": "chat-1", "uid": fact.uid, "useful": True}
    by_session = api.post("/v1/feedback", body)
    by_trace = api.post(
        "/v1/feedback", {"trace_id": answer["trace_id"], "uid": fact.uid, "useful": True}
    )

    assert [200, 200] == [by_session.status_code, by_trace.status_code]
    assert 1 == by_trace.get_json()["feedback_up"]
    other = api.post("/v1/feedback", body | {"session": "chat-2"})
    assert 404 == other.status_code


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 49}, "max_tokens"),
        ({"max_tokens": 1_000_000}, "max_tokens"),
        ({"max_tokens": "many"}, "max_tokens"),
        ({"query": "x" * 100_000}, "query"),
        ({"query": None}, "query"),
        ({"space": None}, "space"),
        ({"session": "a\u0000b"}, "session"),
    ],
)
def test_what_is_wrong_is_named(api, changes, field):
    body = {"space": "user:ada", "query": "What?"} | changes
    answer = api.post(PATH, {name: value for name, value in body.items() if value is not None})

    assert 422 == answer.status_code
    assert field in answer.get_json()["error"]["fields"]
    for most in (50, 32_000):
        assert most * 4 >= len(ask(api, max_tokens=most)["text"])
