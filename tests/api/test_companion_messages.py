"""Messages, sessions, state and todos of a companion over HTTP."""

from datetime import timedelta

import pytest
from companions import COACH, answer, put_persona, say

from graphmem.model.caller import Role
from graphmem.text.times import iso


@pytest.fixture
def coach(api):
    put_persona(api)
    return api


def todos(api, query=""):
    return api.get(f"{COACH}/todos{query}").get_json()["items"]


def test_a_first_message_makes_the_user_the_session_and_the_state_known(coach):
    said = answer(coach, "My sister Nora lives in Porto.")

    assert 1 == said["state"]["message_count"] == said["session"]["turn_count"]
    assert "My sister Nora lives in Porto." == said["state"]["last_user_message"]
    assert said["message"]["judged"]
    assert 200 == coach.get("/v1/companions/ada").status_code
    (memory,) = coach.get("/v1/companions/ada/memories").get_json()["items"]
    assert [("created", "m-1")] == [(m["outcome"], m["message_id"]) for m in said["memories"]]
    assert ("PEOPLE", "person:nora") == (memory["type"], memory["entity_refs"][0])
    turns = coach.get("/v1/conversations/companion/turns?space=user:ada/coach").get_json()
    assert [said["message"]["uid"]] == [turn["uid"] for turn in turns["items"]]
    memory = coach.get(f"/v1/memories/{memory['uid']}?space=user:ada").get_json()
    assert [said["message"]["uid"]] == memory["turns"]


def test_an_answer_has_exactly_the_documented_fields(coach):
    document = coach.get("/openapi.json").get_json()["components"]["schemas"]
    said = answer(coach, "I'll call mom tonight.")

    for name, found in {
        "SaidAnswer": said,
        "CompanionMessage": said["message"],
        "CompanionSession": said["session"],
        "StateAnswer": said["state"],
        "KeptOfMessage": said["todos"][0],
        "TodoAnswer": todos(coach)[0],
        "MadeSummaries": said["summaries"],
        "WholeState": coach.get(f"{COACH}/state").get_json(),
    }.items():
        assert set(document[name]["properties"]) == set(found), name


def test_a_commitment_becomes_a_todo_of_its_persona_once(coach):
    first = answer(coach, "I'll call mom tonight.")
    again = answer(coach, "I'll call mom tonight!", 2)

    assert [1, 0] == [len(each["todos"]) for each in (first, again)]
    assert ["known_loop"] == [each["reason"] for each in again["dropped"]]
    (todo,) = todos(coach)
    assert ("COMMITMENT", "PENDING") == (todo["todo_kind"], todo["status"])
    put_persona(coach, "aide")
    assert [] == coach.get("/v1/companions/ada/aide/todos").get_json()["items"]


def test_the_same_message_again_counts_nothing_and_another_text_is_a_conflict(coach):
    answer(coach, "I live in Austin.")
    again, other = say(coach, "I live in Austin."), say(coach, "I live in Boston.")

    assert [200, 409] == [again.status_code, other.status_code]
    assert 1 == again.get_json()["state"]["message_count"]
    assert again.get_json()["message"]["judged"]
    assert [] == again.get_json()["memories"]
    assert 1 == coach.get(f"{COACH}/messages").get_json()["total"]


def test_what_an_assistant_says_is_kept_and_shown_and_never_judged(coach):
    answer(coach, "Hello.")
    said = answer(coach, "My sister Nora lives in Porto.", 2, role="assistant")

    assert said["message"]["judged"] is None
    assert (1, 1) == (said["state"]["message_count"], said["session"]["turn_count"])
    assert [] == coach.get("/v1/companions/ada/memories").get_json()["items"]
    page = coach.get(f"{COACH}/messages").get_json()
    assert [("user", True), ("assistant", None)] == [
        (each["role"], each["judged"]) for each in page["items"]
    ]


def test_a_message_of_later_is_judged_once_by_the_job(coach):
    said = answer(coach, "I live in Austin.", judge="later")
    assert (False, []) == (said["message"]["judged"], said["memories"])

    runner = coach.house.graphmem.runner
    assert 1 == runner.run("companion_judge").counts["judged"]
    assert 0 == runner.run("companion_judge").counts["judged"]
    assert 1 == len(coach.get("/v1/companions/ada/memories").get_json()["items"])
    assert coach.get(f"{COACH}/messages").get_json()["items"][0]["judged"]


@pytest.mark.parametrize(("seconds", "sessions"), [(30 * 60, 1), (30 * 60 + 1, 2)])
def test_a_message_joins_the_session_of_thirty_minutes_before(coach, seconds, sessions):
    answer(coach)
    coach.house.clock.advance(seconds=seconds)
    said = answer(coach, number=2)

    page = coach.get(f"{COACH}/sessions").get_json()
    assert (sessions, said["session"]["id"]) == (page["total"], page["items"][0]["id"])
    assert 2 == said["state"]["message_count"]


def test_a_late_message_joins_the_session_that_holds_its_time_and_moves_nothing_back(coach):
    now = coach.house.clock.now()
    first = answer(coach, occurred_at=iso(now - timedelta(hours=2)))
    answer(coach, number=2)
    late = answer(coach, number=3, occurred_at=iso(now - timedelta(minutes=90)))
    own = answer(coach, number=4, occurred_at=iso(now - timedelta(minutes=40)))

    assert first["session"]["id"] == late["session"]["id"]
    assert iso(now - timedelta(minutes=90)) == late["session"]["last_activity_at"]
    assert late["session"]["ended_at"] == late["session"]["last_activity_at"]
    assert own["session"]["started_at"] == iso(now - timedelta(minutes=40))
    assert (iso(now), 4) == (own["state"]["last_interaction"], own["state"]["message_count"])
    assert 3 == coach.get(f"{COACH}/sessions").get_json()["total"]


def test_before_the_first_message_everything_is_empty_and_an_unknown_persona_is_not_found(coach):
    state = coach.get(f"{COACH}/state").get_json()

    assert (0, None) == (state["state"]["message_count"], state["rolling_summary"])
    assert [0, 0, 0] == [
        coach.get(f"{COACH}/{name}").get_json()["total"]
        for name in ("messages", "sessions", "todos")
    ]
    nobody = COACH.replace("coach", "nobody")
    assert [404] * 4 == [
        coach.get(f"{nobody}/{name}").status_code
        for name in ("messages", "sessions", "state", "todos")
    ]
    assert 404 == say(coach, path=nobody).status_code


def test_a_persona_that_is_not_active_takes_no_messages(coach):
    put_persona(coach, is_active=False)

    assert 409 == say(coach).status_code
    assert 0 == coach.get(f"{COACH}/state").get_json()["state"]["message_count"]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"role": "system"}, "role"),
        ({"content": "  "}, "content"),
        ({"content": "x" * 33_000}, "content"),
        ({"message_id": ""}, "message_id"),
        ({"message_id": None}, "message_id"),
        ({"occurred_at": "2026-03-01T09:30:00"}, "occurred_at"),
        ({"occurred_at": "2026-03-01T09:36:00Z"}, "occurred_at"),
        ({"judge": "never"}, "judge"),
        ({"mood": "good"}, "mood"),
    ],
)
def test_bad_input_names_its_field_and_counts_nothing(coach, changes, path):
    found = say(coach, **changes)

    assert (422, [path]) == (found.status_code, list(found.get_json()["error"]["fields"]))
    assert 0 == coach.get(f"{COACH}/state").get_json()["state"]["message_count"]


def test_a_secret_is_refused_and_nothing_is_stored(coach):
    assert 403 == say(coach, "my password: hunter2hunter2").status_code
    assert 0 == coach.get(f"{COACH}/messages").get_json()["total"]
    assert 404 == coach.get("/v1/companions/ada").status_code


def test_the_conversation_is_written_by_the_room_alone(coach):
    answer(coach)
    turn = {"role": "user", "content": "x"}
    base = "/v1/conversations/companion"
    written = coach.post(f"{base}/turns", {"space": "user:ada/coach", "turns": [turn]})
    popped = coach.post(f"{base}/turns/pop", {"space": "user:ada/coach"})

    assert [409, 409] == [written.status_code, popped.status_code]


def test_a_deleted_message_takes_along_what_rests_on_it_alone(coach):
    first = answer(coach, "My sister Nora lives in Porto.")
    answer(coach, "I live in Austin.", 2)
    answer(coach, "I live in Austin.", 3)
    uids = [each["uid"] for each in coach.get(f"{COACH}/messages").get_json()["items"]]
    for uid in uids[:2]:
        path = f"/v1/conversations/companion/turns/{uid}?space=user:ada/coach"
        assert 200 == coach.client.delete(path, headers={"X-API-Key": coach.key}).status_code

    listed = coach.get("/v1/companions/ada/memories?status=ACTIVE").get_json()["items"]
    assert [("I live in Austin.", 1)] == [(m["content"], m["mention_count"]) for m in listed]
    assert 409 == say(coach, "My sister Nora lives in Porto.").status_code
    assert first["message"]["uid"] == uids[0]


def test_what_a_deleted_message_left_with_the_user_needs_his_space(coach):
    uid = answer(coach, "My sister Nora lives in Porto.")["message"]["uid"]
    of_persona = coach.with_key(Role.WRITER, "user:ada/coach")
    path = f"/v1/conversations/companion/turns/{uid}?space=user:ada/coach"
    whole = "/v1/conversations/companion?space=user:ada/coach"

    for each in (path, whole):
        refused = of_persona.client.delete(each, headers={"X-API-Key": of_persona.key})
        assert 403 == refused.status_code
    assert 1 == coach.get("/v1/companions/ada/memories?status=ACTIVE").get_json()["total"]


def test_the_state_forgets_the_words_of_a_deleted_message(coach):
    answer(coach, "I live in Austin.")
    coach.house.clock.advance(minutes=1)
    uid = answer(coach, "My garden has a pond.", 2)["message"]["uid"]
    for left in ("I live in Austin.", None):
        path = f"/v1/conversations/companion/turns/{uid}?space=user:ada/coach"
        assert 200 == coach.client.delete(path, headers={"X-API-Key": coach.key}).status_code
        state = coach.get(f"{COACH}/state").get_json()["state"]
        assert left == state["last_user_message"]
        uid = coach.get(f"{COACH}/messages").get_json()["items"][0]["uid"] if left else None
    assert "pond" not in coach.get(f"{COACH}/context").get_json()["text"]


def test_a_key_of_a_todo_is_that_of_the_judge_and_a_long_todo_has_one_too(coach):
    body = {"kind": "COMMITMENT", "content": "Call mom.", "dedupe_key": "Call-Mom"}
    long = {"kind": "THREAD", "content": "Whether " * 200}
    made = [coach.post(f"{COACH}/todos", each).status_code for each in (body, long, long)]
    other = coach.post(f"{COACH}/todos", body | {"dedupe_key": "call_mom"})

    assert ([201, 201, 200], 200) == (made, other.status_code)


def test_a_todo_is_stated_once_changed_and_ticked_off(coach):
    body = {"kind": "HABIT", "content": "Run every morning.", "dedupe_key": "run_mornings"}
    made, again = (coach.post(f"{COACH}/todos", body) for _ in range(2))
    uid = made.get_json()["todo"]["uid"]

    def change(**values):
        return coach.client.patch(
            f"{COACH}/todos/{uid}", json=values, headers={"X-API-Key": coach.key}
        )

    assert [201, 200] == [made.status_code, again.status_code]
    assert "Run at six." == change(content="Run at six.").get_json()["todo"]["content"]
    done = change(status="COMPLETED").get_json()["todo"]
    assert ("COMPLETED", iso(coach.house.clock.now())) == (done["status"], done["completed_at"])
    assert 409 == change(status="SKIPPED").status_code
    assert "PENDING" == change(status="PENDING").get_json()["todo"]["status"]
    assert "SKIPPED" == change(status="SKIPPED").get_json()["todo"]["status"]
    assert 409 == change(status="COMPLETED").status_code
    assert 201 == coach.post(f"{COACH}/todos", body).status_code
    assert 409 == change(status="PENDING").status_code
    assert [(0, 1, 1)] == [
        tuple(
            len(todos(coach, f"?status={status}")) for status in ("COMPLETED", "SKIPPED", "PENDING")
        )
    ]
    assert [] == todos(coach, "?kind=THREAD")
    assert 2 == len(todos(coach, "?kind=HABIT"))
    assert 422 == coach.get(f"{COACH}/todos?kind=OPEN_LOOP").status_code


def test_a_todo_without_a_key_is_known_by_its_words(coach):
    made = [
        coach.post(f"{COACH}/todos", {"kind": "THREAD", "content": content}).get_json()["todo"]
        for content in ("The job in Berlin.", "the job in  Berlin", "The flat.")
    ]

    assert [True, False] == [made[0]["uid"] == each["uid"] for each in made[1:]]
    renamed = coach.client.patch(
        f"{COACH}/todos/{made[2]['uid']}",
        json={"content": "The job in Berlin!"},
        headers={"X-API-Key": coach.key},
    )
    assert 409 == renamed.status_code


def test_who_writes_needs_the_space_of_the_user_too(coach):
    of_persona = coach.with_key(Role.WRITER, "user:ada/coach")
    reader = coach.with_key(Role.READER, "user:ada")

    assert [403, 403] == [say(each).status_code for each in (of_persona, reader)]
    assert 200 == of_persona.get(f"{COACH}/messages").status_code
