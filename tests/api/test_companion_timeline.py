"""The State Evolution Timeline of 001, line by line, and what messages lead to."""

from datetime import timedelta

import pytest
from companions import COACH, answer, put_persona

from graphmem.companion.keeper import CompanionKeeper
from graphmem.text.times import iso

ADA = "/v1/companions/ada"
AIDE = f"{ADA}/aide"
FACTS = [
    "My name is Ada and I live in Austin.",
    "My sister Nora lives in Porto.",
    "I'm working on a project called Atlas.",
    "I'll call mom tomorrow evening.",
]


@pytest.fixture
def coach(api):
    put_persona(api)
    put_persona(api, "aide")
    return api


def run(api, *jobs):
    return [api.house.graphmem.runner.run(job).counts for job in jobs]


def get(api, path):
    found = api.get(path)
    assert 200 == found.status_code, found.get_json()
    return found.get_json()


def names(context):
    return [each["name"] for each in context["blocks"]]


def test_the_state_evolution_timeline(coach):
    clock = coach.house.clock
    begin = clock.now()

    # t=0: user, session and state are created; facts are stored globally, todos for the persona
    first = answer(coach, FACTS[0])
    assert (1, 1) == (first["state"]["message_count"], first["session"]["turn_count"])
    assert (iso(begin), None) == (first["session"]["started_at"], first["session"]["ended_at"])
    assert all(memory["persona"] is None for memory in get(coach, f"{ADA}/memories")["items"])

    # t=1: the session and the state count on
    clock.advance(minutes=1)
    second = answer(coach, FACTS[1], 2)
    assert (2, 2) == (second["state"]["message_count"], second["session"]["turn_count"])
    assert not second["summaries"]["rolling"]

    # t=3: the fourth message makes the rolling summary
    clock.advance(minutes=1)
    third = answer(coach, FACTS[2], 3)
    assert not third["summaries"]["rolling"]
    clock.advance(minutes=1)
    fourth = answer(coach, FACTS[3], 4)
    assert fourth["summaries"]["rolling"]
    state = get(coach, f"{COACH}/state")
    assert "Nora" in state["rolling_summary"]
    assert iso(clock.now()) == state["state"]["last_rolling_success_at"]
    assert ["COMMITMENT"] == [t["todo_kind"] for t in get(coach, f"{COACH}/todos")["items"]]

    # t=35min: the session has ended, and is summed up
    clock.advance(minutes=32)
    (ended,) = run(coach, "companion_sessions")
    assert (1, 1) == (ended["ended"], ended["summaries"])
    session = get(coach, f"{COACH}/sessions/{first['session']['id']}")
    assert iso(begin + timedelta(minutes=3)) == session["ended_at"]
    assert "Nora" in session["summary"]["summary"]["people"]
    assert session["summary"]["summary"]["commitments"]
    assert "rules" == session["summary"]["metadata"]["model"]

    # t=36min: a new session; the state goes on; the context knows both summaries
    clock.advance(minutes=1)
    fifth = answer(coach, "Good to be back.", 5)
    assert first["session"]["id"] != fifth["session"]["id"]
    assert (5, 1) == (fifth["state"]["message_count"], fifth["session"]["turn_count"])
    context = get(coach, f"{COACH}/context")
    assert {"session_summary_latest", "session_summary_current"} <= set(names(context))
    other = get(coach, f"{AIDE}/context")
    assert {"session_summary_latest", "commitments"}.isdisjoint(names(other))
    assert "mom" not in other["text"]

    # t=n: more than twenty messages make a version of the spine, of all personas
    for number in range(6, 21):
        said = answer(coach, f"This is message {number}.", number)
        assert said["summaries"]["spine_version"] is None
    last = answer(coach, "Hello aide, how are you?", 1, path=AIDE)
    assert (1, 1) == (last["state"]["message_count"], last["summaries"]["spine_version"])
    spine = get(coach, f"{ADA}/spine")
    assert (1, 21) == (spine["version"], spine["message_count"])
    assert "Nora" in spine["content"]
    assert "mom" not in spine["content"]
    assert "mom" in get(coach, f"{ADA}/spine?persona=coach")["content"]
    assert "mom" not in get(coach, f"{ADA}/spine/1?persona=aide")["content"]


def test_a_second_spine_comes_after_twenty_one_more_messages(coach):
    versions = [
        answer(coach, FACTS[number] if number < 4 else f"Number {number}.", number)["summaries"][
            "spine_version"
        ]
        for number in range(43)
    ]

    assert {20: 1, 41: 2} == {n: version for n, version in enumerate(versions) if version}
    assert 404 == coach.get(f"{ADA}/spine/3").status_code


def test_a_persona_without_a_spine_does_not_count_towards_it(coach):
    put_persona(coach, enable_spine=False)
    answer(coach, FACTS[0])
    for number in range(2, 24):
        answer(coach, f"This is message {number}.", number)

    assert 404 == coach.get(f"{ADA}/spine").status_code


@pytest.mark.parametrize(("messages", "made"), [(3, 0), (4, 1), (5, 1), (7, 1), (8, 2)])
def test_a_rolling_summary_is_made_at_each_fourth_message_of_the_user(coach, messages, made):
    for number in range(messages):
        answer(coach, f"I met friend number {number} today.", number)
        answer(coach, "I see.", f"{number}-a", role="assistant")

    assert made == get(coach, f"{COACH}/rolling-summaries")["total"]


def test_a_session_that_goes_on_is_opened_again_and_summed_up_anew(coach):
    clock = coach.house.clock
    begin = clock.now()
    first = answer(coach, FACTS[1])
    clock.advance(minutes=31)
    run(coach, "companion_sessions")
    late = answer(coach, FACTS[2], 2, occurred_at=iso(begin + timedelta(minutes=10)))

    assert first["session"]["id"] == late["session"]["id"]
    assert late["session"]["ended_at"] is None
    clock.advance(minutes=10)
    run(coach, "companion_sessions")
    session = get(coach, f"{COACH}/sessions/{late['session']['id']}")
    assert iso(begin + timedelta(minutes=10)) == session["ended_at"]
    assert any("Atlas" in each for each in session["summary"]["summary"]["what_mattered"])


def script():
    """Messages by minute, with pauses of exactly and of more than thirty minutes."""
    minutes = [0, 1, 5, 35, 66, 67, 97, 128, 300, 301]
    return [(number, minute) for number, minute in enumerate(minutes)]


def sessions_of(api):
    return sorted(
        (each["started_at"], each["last_activity_at"], each["turn_count"])
        for each in get(api, f"{COACH}/sessions")["items"]
    )


def test_the_same_messages_make_the_same_sessions_whenever_jobs_run_and_messages_arrive(coach):
    clock = coach.house.clock
    begin = clock.now()
    for number, minute in script():
        at = begin + timedelta(minutes=minute)
        clock.advance(seconds=(at - clock.now()).total_seconds())
        answer(coach, f"This is message {number}.", number)
        run(coach, "companion_sessions", "companion_judge")
    on_time = sessions_of(coach)
    late = f"{ADA}/late"
    put_persona(coach, "late")
    for number, minute in script():
        at = iso(begin + timedelta(minutes=minute))
        answer(coach, f"This is message {number}.", number, path=late, occurred_at=at)
        run(coach, "companion_sessions")

    assert 4 == len(on_time)
    assert on_time == sorted(
        (each["started_at"], each["last_activity_at"], each["turn_count"])
        for each in get(coach, f"{late}/sessions")["items"]
    )


def todos(api, query=""):
    return {t["content"]: t["status"] for t in get(api, f"{COACH}/todos{query}")["items"]}


def state_todo(api, kind, content):
    return api.post(f"{COACH}/todos", {"kind": kind, "content": content}).get_json()["todo"]["uid"]


def test_curator_complete(coach):
    walk = state_todo(coach, "COMMITMENT", "Go for a walk")
    coach.house.clock.advance(minutes=1)
    state_todo(coach, "COMMITMENT", "Call mom about the trip")
    said = answer(coach, "I did my walk today")

    assert [walk] == said["completed"]
    assert {"Go for a walk": "COMPLETED"} == todos(coach, "?status=COMPLETED")
    assert "recent_wins" in names(get(coach, f"{COACH}/context"))
    coach.house.clock.advance(hours=48)
    assert "recent_wins" in names(get(coach, f"{COACH}/context"))
    coach.house.clock.advance(seconds=1)
    assert "recent_wins" not in names(get(coach, f"{COACH}/context"))


def test_what_is_done_every_day_becomes_a_habit(coach):
    walk = state_todo(coach, "COMMITMENT", "Go for a walk")
    said = answer(coach, "I want to walk every morning from now on")

    assert [walk] == said["completed"]
    (habit,) = get(coach, f"{COACH}/todos?kind=HABIT&status=PENDING")["items"]
    assert habit["uid"] in {*said["promoted"], *(each["uid"] for each in said["todos"])}


def test_a_commitment_of_a_day_ago_becomes_a_habit_and_an_older_one_does_not(coach):
    for age, promoted in ((24 * 3600, 1), (24 * 3600 + 1, 0)):
        state_todo(coach, "COMMITMENT", f"Water the plants {age}")
        coach.house.clock.advance(seconds=age)
        said = answer(coach, "The plants need that regularly.", age)
        assert promoted == len(said["promoted"])


def test_a_habit_that_a_commitment_became_is_led_to_its_message_and_leaves_with_it(coach):
    state_todo(coach, "COMMITMENT", "Water the plants")
    said = answer(coach, "The plants need that regularly.", 7)
    (habit,) = said["promoted"]
    plain = coach.get(f"/v1/memories/{habit}?space=user:ada/coach").get_json()

    assert [said["message"]["uid"]] == plain["turns"]
    path = f"/v1/conversations/companion/turns/{said['message']['uid']}?space=user:ada/coach"
    gone = coach.client.delete(path, headers={"X-API-Key": coach.key})
    assert 200 == gone.status_code
    assert {} == todos(coach, "?kind=HABIT&status=PENDING")


def test_idle_threads_are_skipped(coach):
    idle = state_todo(coach, "THREAD", "Wondering about the weather")
    state_todo(coach, "THREAD", "Whether to take the job in Berlin")
    said = answer(coach, "Hello again.")

    assert [idle] == said["skipped"]
    assert {"Whether to take the job in Berlin": "PENDING"} == todos(coach, "?status=PENDING")


def test_the_room_reads_and_writes_nothing_of_another_persona(coach):
    answer(coach, FACTS[3])
    answer(coach, "I will buy milk tomorrow.", 1, path=AIDE)

    assert ["I will buy milk tomorrow."] == [
        t["content"] for t in get(coach, f"{AIDE}/todos")["items"]
    ]
    assert 1 == get(coach, f"{AIDE}/state")["state"]["message_count"]


def memories(api):
    return get(api, f"{ADA}/memories?status=ACTIVE")["items"]


def with_a_spine(api):
    """Say what makes a spine; its memories by their first ref."""
    for number in range(21):
        answer(api, FACTS[number] if number < 4 else f"This is message {number}.", number)
    return {(each["entity_refs"] or [None])[0]: each["uid"] for each in memories(api)}


def test_a_spine_states_no_memory_that_left_and_the_newer_words_of_others(coach):
    uids = with_a_spine(coach)
    coach.post(f"/v1/memories/{uids['person:nora']}/retract?space=user:ada", {})
    coach.house.clock.advance(minutes=1)
    answer(coach, "I'm working on a project called Atlas, which is about maps.", 50)
    (todo,) = get(coach, f"{COACH}/todos")["items"]
    coach.client.patch(
        f"{COACH}/todos/{todo['uid']}", json={"status": "SKIPPED"}, headers={"X-API-Key": coach.key}
    )
    spine = get(coach, f"{ADA}/spine?persona=coach")

    assert "Nora" not in spine["content"]
    assert "mom" not in spine["content"]
    assert "maps" in spine["content"]
    assert uids["person:nora"] not in str(spine["sections"])


def delete(api, said):
    path = f"/v1/conversations/companion/turns/{said['message']['uid']}?space=user:ada/coach"
    assert 200 == api.client.delete(path, headers={"X-API-Key": api.key}).status_code


def test_no_summary_states_a_message_that_was_deleted(coach):
    said = [answer(coach, FACTS[number], number) for number in range(4)]
    coach.house.clock.advance(minutes=31)
    run(coach, "companion_sessions")
    path = f"{COACH}/sessions/{said[0]['session']['id']}"
    assert "Nora" in str(get(coach, path))
    delete(coach, said[1])

    assert get(coach, path)["summary"] is None
    assert get(coach, f"{COACH}/state")["rolling_summary"] is None
    assert 0 == get(coach, f"{COACH}/rolling-summaries")["total"]
    assert "Nora" not in get(coach, f"{COACH}/context")["text"]
    (counts,) = run(coach, "companion_sessions")
    assert (1, 1) == (counts["summaries"], counts["rolling"])
    assert "Atlas" in str(get(coach, path)["summary"])
    assert "Nora" not in str(get(coach, path)["summary"])
    rolling = get(coach, f"{COACH}/state")["rolling_summary"]
    assert "Atlas" in rolling
    assert "Nora" not in rolling
    assert 3 == get(coach, path)["turn_count"]


def test_no_summary_of_a_session_states_what_was_retracted(coach):
    said = [answer(coach, text, number) for number, text in enumerate(FACTS[:3])]
    coach.house.clock.advance(minutes=31)
    run(coach, "companion_sessions")
    path = f"{COACH}/sessions/{said[0]['session']['id']}"
    assert "Nora" in str(get(coach, path)["summary"]["summary"]["people"])
    (memory,) = said[1]["memories"]
    retracted = coach.post(f"/v1/memories/{memory['uid']}/retract?space=user:ada", {})

    assert 200 == retracted.status_code
    assert get(coach, path)["summary"] is None
    assert 1 == run(coach, "companion_sessions")[0]["summaries"]
    assert "Nora" not in str(get(coach, path)["summary"]["summary"]["people"])


def test_a_summary_of_a_message_that_is_deleted_meanwhile_is_not_kept(coach):
    kept = [answer(coach, text, number) for number, text in enumerate(FACTS[:3], start=1)]
    summaries = coach.house.graphmem.of(CompanionKeeper).messages.following.summaries
    read = summaries.latest_messages

    def read_and_deleted(*arguments, **options):
        found = read(*arguments, **options)
        delete(coach, kept[1])
        return found

    summaries.latest_messages = read_and_deleted
    said = answer(coach, FACTS[3], 4)
    del summaries.latest_messages

    assert not said["summaries"]["rolling"]
    assert get(coach, f"{COACH}/state")["rolling_summary"] is None
    coach.house.clock.advance(minutes=1)
    assert answer(coach, "Hello again.", 5)["summaries"]["rolling"]
    assert "Nora" not in get(coach, f"{COACH}/state")["rolling_summary"]


def test_a_message_that_was_deleted_before_it_was_judged_leaves_nothing(coach):
    said = answer(coach, FACTS[1], judge="later")
    delete(coach, said)
    (counts,) = run(coach, "companion_judge")

    assert (0, 0) == (counts["judged"], counts["failed"])
    assert [] == memories(coach)


def test_loop_semantics(coach):
    """A time-box or a rule is a commitment or a habit, what is unclear a thread; each once."""
    said = {
        "I'll call mom tomorrow at 6 pm.": "COMMITMENT",
        "From now on I stretch every morning.": "HABIT",
        "I'm not sure whether to move to Lisbon.": "THREAD",
        "I keep getting distracted by my phone.": "FRICTION",
    }
    for number, text in enumerate(said):
        coach.house.clock.advance(minutes=1)
        answer(coach, text, number)
    coach.house.clock.advance(minutes=1)
    again = answer(coach, "Tomorrow at 6 pm I will call mom.", 9)

    kinds = [todo["todo_kind"] for todo in get(coach, f"{COACH}/todos")["items"]]
    assert list(said.values()) == kinds[::-1]
    assert ["known_loop"] == [each["reason"] for each in again["dropped"]]


def test_session_lifecycle(coach):
    """Made by a first message, kept up by others, ended, summed up, followed by another."""
    began = coach.house.clock.now()
    first = answer(coach, FACTS[0])["session"]
    coach.house.clock.advance(minutes=29)
    assert first["id"] == answer(coach, FACTS[1], 2)["session"]["id"]
    last = coach.house.clock.now()
    run(coach, "companion_sessions")
    assert get(coach, f"{COACH}/sessions/{first['id']}")["ended_at"] is None
    coach.house.clock.advance(minutes=30, seconds=1)
    run(coach, "companion_sessions")
    ended = get(coach, f"{COACH}/sessions/{first['id']}")
    second = answer(coach, FACTS[2], 3)["session"]

    assert (iso(began), iso(last), 2) == (ended["started_at"], ended["ended_at"], 2)
    assert ended["summary"]["summary"]["one_liner"]
    assert (1, None) == (second["turn_count"], second["ended_at"])
    sessions = get(coach, f"{COACH}/sessions")["items"]
    assert [second["id"], first["id"]] == [each["id"] for each in sessions]
