"""What a space keeps beside its memories, over HTTP: forms, bad input, and its walls."""

import pytest
from sessions import Session

from graphmem.model.caller import Role

SPACE = "/v1/spaces/user:ada"


@pytest.fixture
def ada(api, house):
    Session(house).want(
        memory_boxes_enabled=True, trace_weaver_enabled=True, verbatim_artifacts_enabled=True
    )
    for said in (
        "We decided to use Neo4j for storage.",
        "FYI maybe I could perhaps move to Rome someday.",
        "I prefer tea over coffee.",
        "FYI I work at Siemens.",
    ):
        answer = api.post(
            "/v1/turns",
            {"space": "user:ada", "session": "chat-1", "role": "user", "content": said},
        )
        assert 201 == answer.status_code
    return api


def got(api, path):
    answer = api.get(f"{SPACE}/{path}")
    assert 200 == answer.status_code, answer.get_json()
    return answer.get_json()


def test_an_answer_has_exactly_the_documented_fields(ada):
    document = ada.get("/openapi.json").get_json()["components"]["schemas"]
    sealed = ada.post(f"{SPACE}/boxes/seal", {}).get_json()
    reflected = ada.post(f"{SPACE}/identity", {"text": "Ask less."})
    (question, *_) = got(ada, "questions?open=true")["items"]
    resolved = ada.post(f"{SPACE}/questions/{question['id']}/resolve", {"answer": "No."})

    assert (201, 200) == (reflected.status_code, resolved.status_code)
    for name, found in {
        "SealAnswer": sealed,
        "BoxAnswer": got(ada, f"boxes/{sealed['box']['id']}"),
        "TopicTraceAnswer": got(ada, f"topic-traces/{sealed['box']['trace_id']}"),
        "ArtefactAnswer": got(ada, "artefacts")["items"][0],
        "LinesAnswer": got(ada, "profile"),
        "LineAnswer": got(ada, "entity-index")["lines"][0],
        "ReflectedAnswer": reflected.get_json(),
        "ReflectionAnswer": reflected.get_json()["reflection"],
        "NotedQuestionAnswer": question,
        "ResolvedAnswer": resolved.get_json(),
    }.items():
        assert set(document[name]["properties"]) == set(found), name
    assert sealed["box"]["memories"] == got(ada, "boxes?open=false")["items"][0]["memories"]
    assert [] == got(ada, "boxes?open=true")["items"]
    assert "Ask less." == got(ada, "identity")["text"]


def test_what_was_taken_back_is_in_no_box_that_is_shown(ada):
    (box,) = got(ada, "boxes?open=true")["items"]
    for uid in box["memories"]:
        assert 200 == ada.post(f"/v1/memories/{uid}/retract", {}).status_code
    sealed = ada.post(f"{SPACE}/boxes/seal", {})

    assert (200, None) == (sealed.status_code, sealed.get_json()["box"])
    assert 404 == ada.get(f"{SPACE}/boxes/{box['id']}").status_code
    assert box["id"] not in {each["id"] for each in got(ada, "boxes")["items"]}


def test_lists_are_paged_with_their_totals(ada):
    for _ in range(2):
        ada.post(f"{SPACE}/boxes/seal", {})
        ada.post(
            "/v1/turns",
            {
                "space": "user:ada",
                "session": "chat-2",
                "role": "user",
                "content": f"We decided to use tool number {_} for tests.",
            },
        )
    for path in ("boxes", "artefacts", "topic-traces"):
        whole = got(ada, path)
        ids, cursor = [], ""
        while cursor is not None:
            page = got(ada, f"{path}?limit=1{cursor and '&cursor=' + cursor}")
            assert whole["total"] == page["total"]
            ids += [each["id"] for each in page["items"]]
            cursor = page["next_cursor"]
        assert ids == [each["id"] for each in whole["items"]]
        assert whole["total"] == len(ids) > 1


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "field"),
    [
        ("get", "boxes/none", None, 404, None),
        ("get", "topic-traces/none", None, 404, None),
        ("get", "boxes?days=-1", None, 422, "days"),
        ("get", "boxes?open=perhaps", None, 422, "open"),
        ("get", "boxes?cursor=x", None, 422, "cursor"),
        ("post", "identity", {}, 422, "text"),
        ("post", "identity", {"text": "x" * 16_000}, 422, "text"),
        ("post", "identity", {"text": "\u0000"}, 422, "text"),
        ("post", "questions/none/resolve", {}, 404, None),
        ("post", "questions/none/resolve", {"answer": " "}, 422, "answer"),
    ],
)
def test_what_is_wrong_is_named(api, method, path, body, status, field):
    call = getattr(api, method)
    answer = call(f"{SPACE}/{path}", body) if body is not None else call(f"{SPACE}/{path}")

    assert status == answer.status_code
    assert field is None or field in answer.get_json()["error"]["fields"]


def test_a_question_is_resolved_once_and_a_reflection_is_an_hour_after_another(ada):
    (question, *_) = got(ada, "questions")["items"]
    path = f"{SPACE}/questions/{question['id']}/resolve"
    answers = [ada.post(path, {}), ada.post(path, {})]
    answers += [ada.post(f"{SPACE}/identity", {"text": f"Ask {n}."}) for n in range(2)]

    assert [200, 409, 201, 409] == [each.status_code for each in answers]
    assert ["question_resolved", "reflection_too_soon"] == [
        answers[number].get_json()["error"]["code"] for number in (1, 3)
    ]


def test_a_reader_reads_and_changes_nothing(ada):
    reader = ada.with_key(Role.READER, "user:ada")
    (question, *_) = got(ada, "questions")["items"]
    read = [
        reader.get(f"{SPACE}/{path}").status_code
        for path in ("boxes", "topic-traces", "artefacts", "profile", "identity", "questions")
    ]
    changed = [
        reader.post(f"{SPACE}/{path}", body).status_code
        for path, body in (
            ("boxes/seal", {}),
            ("identity", {"text": "Mine."}),
            (f"questions/{question['id']}/resolve", {}),
        )
    ]

    assert [200] * 6 == read
    assert [403] * 3 == changed
