"""The judge of 001: which messages it reads, and what its rules say of the present one."""

from datetime import timedelta
from pathlib import Path

import pytest
from builders import NOW

from graphmem.companion.judge import Judged, normalised_content, window_of
from graphmem.companion.judge_filters import Filtered, filtered
from graphmem.companion.judge_rules import read
from graphmem.companion.loop_keys import loop_key
from graphmem.model.companion import EntityKind, FactKind, FactType, Message, TodoKind
from graphmem.model.extraction import EngineName
from graphmem.model.policy.companion import JudgePolicy

SENTENCES = Path(__file__).parents[2] / "benchmarks" / "sentences" / "companion"
KINDS = ("profile", "people", "project", "commitment", "habit", "thread", "friction")
PERSONAS = ("Coach", "coach")


def a_message(content: str = "Hello.", *, minutes_ago: float = 0, **changes) -> Message:
    values = {
        "uid": f"{content} {minutes_ago}",
        "is_user": True,
        "content": content,
        "at": NOW - timedelta(minutes=minutes_ago),
    }
    return Message(**values | changes)


def judged(content: str, *before: str) -> Judged:
    present = a_message(content)
    window = [*(a_message(each, minutes_ago=1) for each in before), present]
    return read(present, window, personas=PERSONAS)


def kept(content: str) -> Filtered:
    message = a_message(content)
    return filtered(
        judged(content),
        [message],
        personas=PERSONAS,
        pending=(),
        overrides={},
        policy=JudgePolicy(),
    )


def kinds(content: str) -> list[str]:
    found = kept(content)
    return [each.kind.lower() for each in (*found.memories, *found.todos)]


def lines(name: str) -> list[str]:
    return (SENTENCES / f"{name}.txt").read_text("utf-8").splitlines()


def test_85_of_100_messages_give_what_should_be_kept_of_them():
    found = [(kind, kinds(line)) for kind in KINDS for line in lines(kind)]

    assert 140 == len(found)
    assert 0.85 <= sum(kind in got for kind, got in found) / 140


def test_at_most_5_things_are_kept_of_100_messages_of_small_talk():
    found = [kinds(line) for line in lines("small_talk")]

    assert 100 == len(found)
    assert 5 >= sum(map(len, found))


def test_the_window_has_the_present_message_last():
    present, before = a_message("b"), a_message("a", minutes_ago=5)

    assert (before, present) == window_of([before], present, JudgePolicy())


@pytest.mark.parametrize(("minutes_ago", "is_read"), [(60, True), (60 + 1 / 60, False)])
def test_the_window_reaches_back_60_minutes(minutes_ago, is_read):
    present, before = a_message("b"), a_message("a", minutes_ago=minutes_ago)

    assert is_read == (before in window_of([before], present, JudgePolicy()))


def test_of_the_latest_6_messages_that_say_different_things_3_are_read_beside_the_present_one():
    present = a_message("now")
    before = [a_message(f"said {number}", minutes_ago=number) for number in range(1, 8)]

    assert (*before[2::-1], present) == window_of(before, present, JudgePolicy())


@pytest.mark.parametrize(("repeats", "is_read"), [(5, True), (6, False)])
def test_the_sixth_latest_message_is_read_and_the_seventh_is_not(repeats, is_read):
    present = a_message("now")
    before = [a_message("Again!", minutes_ago=number) for number in range(1, repeats + 1)]
    oldest = a_message("said first", minutes_ago=repeats + 1)

    assert is_read == (oldest in window_of([oldest, *before], present, JudgePolicy()))


def test_messages_that_say_the_same_are_read_once_and_the_newest_of_them():
    present = a_message("now")
    before = [a_message("I see.", minutes_ago=2), a_message("i  see", minutes_ago=1)]

    assert (before[1], present) == window_of(before, present, JudgePolicy())


def test_what_an_assistant_says_and_what_comes_later_is_not_read():
    present = a_message("now")
    others = [a_message("a", minutes_ago=1, is_user=False), a_message("b", minutes_ago=-1)]

    assert (present,) == window_of([*others, present], present, JudgePolicy())


@pytest.mark.parametrize(
    ("text", "normal"), [("  Lives in\n Rome!?. ", "lives in rome"), ("...", "..."), ("", "")]
)
def test_contents_are_compared_without_case_layout_and_last_signs(text, normal):
    assert normal == normalised_content(text)


def test_only_the_present_message_is_judged():
    found = judged("I work at Acme.", "I live in Lyon.")

    assert ["I work at Acme."] == [each.content for each in found.memories]
    assert EngineName.RULES is found.engine


def test_he_and_she_are_who_was_spoken_of_before():
    found = judged("She is allergic to nuts.", "My dad snores.", "My sister Nora moved to Lyon.")

    assert ["My sister Nora is allergic to nuts."] == [each.content for each in found.memories]
    assert ("person:nora",) == found.memories[0].entity_refs


def test_nobody_is_guessed_for_he_and_she():
    assert () == judged("She is allergic to nuts.", "My dad snores.").memories


@pytest.mark.parametrize(
    ("content", "kind", "fact_type", "refs", "label", "importance"),
    [
        ("My name is Ana Silva.", "PROFILE", "fact", ["person:ana_silva"], "Ana Silva", 3),
        ("Hey, I'm Ana!", "PROFILE", "fact", ["person:ana"], "Ana", 3),
        ("I live in Austin, Texas.", "PROFILE", "fact", ["place:austin_texas"], "Austin, Texas", 2),
        ("I work at Acme in Berlin.", "PROFILE", "fact", ["org:acme", "place:berlin"], "Acme", 3),
        ("I'm a morning person.", "PROFILE", "fact", [], None, 1),
        ("I really prefer dark mode.", "PROFILE", "preference", [], None, 1),
        ("I go for a run every morning.", "PROFILE", "habit", [], None, 1),
        ("I'm married to Tom.", "PROFILE", "relationship", ["person:tom"], "Tom", 2),
        ("My mom lives in Seattle.", "PEOPLE", "fact", ["person:mom", "place:seattle"], "Mom", 2),
        ("John is my cofounder.", "PEOPLE", "relationship", ["person:john"], "John", 2),
        ("My wife Laura is a vet.", "PEOPLE", "relationship", ["person:laura"], "Laura", 3),
        ("My mother hates flying.", "PEOPLE", "preference", ["person:mother"], "Mother", 1),
        (
            "Working on the dashboard redesign for Acme.",
            "PROJECT",
            "fact",
            ["project:dashboard_redesign"],
            "Dashboard redesign",
            2,
        ),
    ],
)
def test_a_memory_says_of_what_it_is_and_how_much_it_matters(
    content, kind, fact_type, refs, label, importance
):
    (fact,) = kept(content).memories

    assert (FactKind(kind), FactType(fact_type)) == (fact.kind, fact.subtype.fact_type)
    assert (tuple(refs), label, importance) == (
        fact.entity_refs,
        fact.entity_label,
        fact.importance,
    )
    assert content == fact.content


def test_the_entity_of_a_memory_is_of_the_kind_of_its_first_ref():
    profile, people = kept("I work at Acme."), kept("My mom lives in Rome.")

    assert EntityKind.ORG is profile.memories[0].subtype.entity_type
    assert EntityKind.PERSON is people.memories[0].subtype.entity_type
    assert kept("I prefer tea.").memories[0].subtype.entity_type is None


def test_where_somebody_moved_to_comes_before_where_from():
    (fact,) = kept("We moved from Paris to Lyon.").memories

    assert ("place:lyon", "place:paris") == fact.entity_refs


@pytest.mark.parametrize(
    "content",
    [
        "What do you think of Rome?",
        "can you help me with my project",
        "Hello there, nice to meet you!",
        "Thanks a lot, that helped.",
        "Tell me about Lyon.",
        "I'm tired.",
        "It's raining again.",
        "I'll let you know.",
        "I'm Coach.",
        "ok",
        "",
    ],
)
def test_questions_greetings_orders_and_small_talk_give_nothing(content):
    assert Judged() == judged(content)


def test_each_clause_of_a_sentence_is_an_item_of_its_own():
    found = judged("My name is Ana and I work at Acme, but I need to call my mom tomorrow.")

    assert ["My name is Ana", "I work at Acme"] == [each.content for each in found.memories]
    assert [("COMMITMENT", "I need to call my mom tomorrow.")] == [
        (each.kind, each.content) for each in found.loops
    ]


def test_a_condition_is_not_divided_from_what_it_is_of():
    found = judged("If I pass the exam and I get the money, I will move to Rome in May.")

    assert 1 == len(found.loops)


def test_what_is_said_twice_is_one_item():
    assert 1 == len(judged("I prefer tea. I prefer tea.").memories)


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("I'll call mom tomorrow.", TodoKind.COMMITMENT),
        ("Can you remind me to pay the rent?", TodoKind.COMMITMENT),
        ("The tax return is due on Friday.", TodoKind.COMMITMENT),
        ("I want to meditate every morning.", TodoKind.HABIT),
        ("No phone after nine in the evening.", TodoKind.HABIT),
        ("I should see a dentist.", TodoKind.THREAD),
        ("I'm thinking about moving to Lisbon.", TodoKind.THREAD),
        ("I keep forgetting my keys.", TodoKind.FRICTION),
        ("I'm worried I will fail the exam.", TodoKind.FRICTION),
    ],
)
def test_a_loop_is_of_the_kind_that_its_wording_says(content, kind):
    assert [kind] == [each.kind for each in kept(content).todos]


def test_a_habit_that_is_a_trait_is_a_memory_and_one_that_is_a_rule_is_a_loop():
    assert ["profile"] == kinds("I'm a morning person.")
    assert ["habit"] == kinds("From now on I get up at six.")
    assert ["profile", "habit"] == kinds("I get up at six every day.")


def test_a_message_may_give_a_memory_and_a_loop():
    assert ["project", "commitment"] == kinds("We're launching the beta next month.")


@pytest.mark.parametrize(
    ("content", "paraphrase"),
    [
        ("I'll call my mom tomorrow.", "Tomorrow I really need to call mum."),
        ("I want to run every morning.", "Each morning I'm going to go running."),
        ("I have to renew my passport.", "gotta renew the passport by Friday"),
    ],
)
def test_a_paraphrase_has_the_key_of_what_it_says(content, paraphrase):
    (loop,), (other,) = judged(content).loops, judged(paraphrase).loops

    assert (loop.kind, loop.dedupe_key) == (other.kind, other.dedupe_key)


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ("I will call tomorrow", "commitment_to_call"),
        ("I will call Ada", "commitment_ada_call"),
        ("I will send Ada the slides", "ada_send_slide"),
        ("I will do it", ""),
        (
            "I will " + " ".join(f"w{letter}x" for letter in "ihgfedcba"),
            "wbx_wcx_wdx_wex_wfx_wgx_whx_wix",
        ),
    ],
)
def test_a_key_has_three_to_eight_words_in_alphabetical_order(said, key):
    assert key == loop_key(TodoKind.COMMITMENT, said)


def test_long_messages_are_read_quickly_and_in_part():
    found = judged("I work at Acme. " * 20_000)

    assert ["I work at Acme."] == [each.content for each in found.memories]
