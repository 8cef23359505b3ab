"""What becomes of todos by what a user says (001, Curator)."""

import time
from dataclasses import replace
from datetime import timedelta

import pytest

from graphmem.companion.todo_rules import Completion, completed, idle_threads, keywords, promotion
from graphmem.model.companion import NewTodo, Todo, TodoKind, TodoStatus
from graphmem.model.policy.companion import TodoPolicy
from tests.builders import NOW

POLICY = TodoPolicy()


def a_todo(content, *, age=timedelta(hours=1), kind=TodoKind.COMMITMENT, **changes):
    values = {"uid": content, "user": "ada", "persona": "coach", "status": TodoStatus.PENDING}
    return Todo(kind=kind, content=content, created_at=NOW - age, **(values | changes))


def a_habit(content, **changes):
    return a_todo(content, kind=TodoKind.HABIT, **changes)


WALK = a_todo("Go for a walk", dedupe_key="go_for_walk")
MOM = a_todo("Call mom", age=timedelta(hours=2))


def done(message, *pending):
    found = completed(message, pending, POLICY).todo
    return found and found.uid


def promoted(message, *candidates, habits=(), **options):
    return promotion(message, candidates, habits, NOW, POLICY, **options)


def test_a_walk_that_was_done_completes_the_commitment_to_walk():
    assert WALK.uid == done("I did my walk today", MOM, WALK)


@pytest.mark.parametrize(
    "message",
    [
        "i did the walk",
        "I've done the walk",
        "I\u2019ve done the walk",
        "I finished the walk",
        "I completed the walk",
        "Done with the walk",
        "finished with walking",
        "I went for a walk",
        "We took a walk",
        "Had my walk",
        "did my walk",
        "I went out to walk the dog",
        "Went to the park to walk",
        "I already walked",
        "Just finished the walk",
        "just did the walk",
        "Just completed the walk",
    ],
)
def test_each_completion_word_tells_of_a_kept_commitment(message):
    assert WALK.uid == done(message, MOM, WALK)


@pytest.mark.parametrize(
    "message",
    [
        "I walk",
        "I mistook the walk for a run",
        "I will do the walk",
        "a walk with mom",
        "I didn't go for a walk",
        "I haven't finished the walk",
        "I haven\u2019t finished the walk",
        "I did not walk",
        "Have I already done the walk?",
        "I'm going to be done with the walk by noon",
        "I'll have finished with the walk tomorrow",
        "I already need to walk again",
        "",
        "👍",
    ],
)
def test_what_is_not_done_yet_completes_nothing(message):
    assert Completion() == completed(message, [MOM, WALK], POLICY)
    assert Completion() == completed(message, [WALK], POLICY)


def test_the_only_commitment_is_completed_whatever_is_said_to_be_done():
    assert MOM.uid == done("I already did it", MOM)


def test_of_two_that_share_a_word_the_newest_is_completed():
    dog = a_todo("Walk the dog", age=timedelta(minutes=1))

    assert dog.uid == done("I did my walk", WALK, dog, MOM)
    assert WALK.uid == done("I did my walk", WALK, replace(dog, created_at=MOM.created_at), MOM)


def test_words_of_the_clause_that_tells_of_it_count_before_others():
    assert WALK.uid == done("I did my walk today, but I still need to call mom", WALK, MOM)
    assert WALK.uid == done("I did my walk today. The call with mom was fun", MOM, WALK)


def test_words_of_other_clauses_count_where_the_one_that_tells_of_it_has_none():
    assert WALK.uid == done("I did it! The walk was great.", MOM, WALK)


def test_what_is_still_to_come_is_not_completed_by_what_is_done():
    milk = a_todo("Buy milk")

    found = completed("I went to the gym, and I'll call mom tomorrow", [milk, MOM], POLICY)

    assert (None, (milk, MOM)) == (found.todo, found.needs_model)


def test_ten_commitments_are_left_to_a_model_the_newest_ones():
    ages = [timedelta(hours=hours) for hours in range(11)]
    todos = [a_todo(f"Task{age.seconds}", age=age) for age in ages]

    assert tuple(todos[:10]) == completed("Took it!", todos[:10][::-1], POLICY).needs_model
    assert tuple(todos[:10]) == completed("Took it!", todos[::-1], POLICY).needs_model


def test_only_commitments_that_wait_are_completed():
    others = [replace(WALK, kind=kind) for kind in TodoKind if kind is not TodoKind.COMMITMENT] + [
        replace(WALK, status=TodoStatus.SKIPPED),
        replace(WALK, status=TodoStatus.COMPLETED),
    ]

    assert Completion() == completed("I did my walk", others, POLICY)


def test_keywords_are_the_stems_of_words_of_three_letters_that_tell_something():
    assert {"walk", "gym", "report"} == keywords("I did my walks at the gym, go up: the REPORT!")


def test_words_of_time_are_no_keywords():
    assert not keywords("today tomorrow every morning, daily, this week at night")


@pytest.mark.parametrize(
    "message",
    [
        "Every day a walk",
        "a walk everyday",
        "Daily walk from now on",
        "walk each day",
        "walk every morning",
        "walk every evening",
        "walk every night",
        "walking is my routine",
        "I walk regularly",
        "I walk habitually",
        "I want to walk every Tuesday",
        "i need to walk on every free day",
        "a weekly walk",
        "a monthly walk",
        "walk each week",
        "walk each month",
    ],
)
def test_a_commitment_that_is_said_to_recur_becomes_a_habit(message):
    habit = NewTodo(
        kind=TodoKind.HABIT,
        content="Go for a walk",
        dedupe_key="habit:go_for_walk",
        signature="habit_go_for_walk",
    )

    found = promoted(message, MOM, WALK)

    assert (WALK, habit) == (found.completes, found.habit)


def test_what_states_a_habit_of_its_own_promotes_no_commitment_that_shares_no_word():
    said = "From now on I stretch every morning"

    assert MOM == promoted(said, MOM).completes
    assert promoted(said, MOM, is_of_another=True) is None
    assert WALK == promoted("I want to walk every day", WALK, is_of_another=True).completes


@pytest.mark.parametrize(
    "message",
    [
        "I want to walk",
        "every walk is fun",
        "I did my walk today",
        "I don't want to walk every day",
        "Shall I walk every day?",
        "Every day is hard",
        "",
    ],
)
def test_what_is_not_said_to_recur_stays_a_commitment(message):
    assert promoted(message, MOM, WALK) is None


def test_a_commitment_of_a_day_ago_may_become_a_habit_and_no_older_one():
    day = timedelta(hours=24)

    assert promoted("I want to walk every day", replace(WALK, created_at=NOW - day))
    assert not promoted(
        "I want to walk every day", replace(WALK, created_at=NOW - day - timedelta(seconds=1))
    )


def test_a_commitment_without_a_key_gives_the_habit_the_one_of_its_words():
    found = promoted("daily", a_todo("Écrire à Ümit!"))

    assert "habit:écrire_à_ümit" == found.habit.dedupe_key


@pytest.mark.parametrize(
    "habit",
    [
        a_habit("Something else", dedupe_key="habit:go_for_walk"),
        a_habit("Walking the dog"),
    ],
)
def test_where_the_habit_is_there_the_commitment_is_only_completed(habit):
    found = promoted("I want to walk every day", WALK, habits=[MOM, habit])

    assert (WALK, None) == (found.completes, found.habit)


@pytest.mark.parametrize(
    ("habit", "is_there"), [("So: do it, as we do if we do", True), ("do it, as we dX", False)]
)
def test_a_habit_is_known_by_the_first_fifteen_characters(habit, is_there):
    commitment = a_todo("Do it, as we do at it")

    found = promoted("daily", commitment, habits=[a_habit(habit)])

    assert is_there is (found.habit is None)


@pytest.mark.parametrize(("same", "is_there"), [(15, True), (14, False)])
def test_fifteen_equal_characters_at_the_beginning_are_enough_and_fourteen_are_not(same, is_there):
    content = "to do it as we a b c"
    habit = a_habit(content[:same] + "z z z z")

    found = promoted("daily", a_todo(content), habits=[habit])

    assert is_there is (found.habit is None)


def test_a_commitment_without_letters_has_no_beginning_that_others_share():
    found = promoted("daily", a_todo(" "), habits=[a_habit("Anything", dedupe_key="habit:x")])

    assert found.habit is not None


@pytest.mark.parametrize(
    "content",
    [
        "Talk about the weather",
        "It's a NICE day",
        "Just thinking out loud",
        "Wondering what to cook",
        "Curious about Mars",
        "A random thought on cats",
        "By the way, the cat is fine",
    ],
)
def test_small_talk_is_no_open_thread(content):
    assert ("t",) == idle_threads([a_todo(content, uid="t", kind=TodoKind.THREAD)], POLICY)


@pytest.mark.parametrize(
    "thread",
    [
        a_todo("Whether to move to Lyon", kind=TodoKind.THREAD),
        a_todo("A weatherproof jacket", kind=TodoKind.THREAD),
        a_todo("The weather"),
        a_todo("The weather", kind=TodoKind.THREAD, status=TodoStatus.SKIPPED),
    ],
)
def test_what_is_no_small_talk_or_no_open_thread_stays(thread):
    assert () == idle_threads([thread], POLICY)


def test_the_twenty_newest_threads_are_looked_at():
    threads = [a_todo("The weather", uid=f"{n}", kind=TodoKind.THREAD) for n in range(21)]

    assert 20 == len(idle_threads(threads[:20], POLICY))
    assert tuple(thread.uid for thread in threads[:20]) == idle_threads(threads, POLICY)


@pytest.mark.parametrize(
    "part", ["n", "i want to every ", "n't", "?", "and ", " ", "took ", "\\", "a, ", "\u0301"]
)
def test_a_long_message_takes_time_by_its_length(part):
    message = part * (100_000 // len(part))

    before = time.process_time()
    completed(message, [WALK, MOM], POLICY)
    promoted(message, WALK, MOM)

    assert 3 > time.process_time() - before
