"""Summaries of a session, of the last messages and of all that lasts (001)."""

import time
from dataclasses import replace
from datetime import timedelta

import pytest

from graphmem.companion.summaries import (
    SessionMaterial,
    display,
    fallback,
    limited,
    rolling_from_answer,
    rolling_summary,
    session_summary,
    spine_of,
    spine_sections,
    spine_text,
    summary_from_answer,
)
from graphmem.model.companion import (
    EntityKind,
    Fact,
    FactKind,
    FactStatus,
    Message,
    SpineLine,
    Subtype,
    SummaryText,
    Todo,
    TodoKind,
    TodoStatus,
)
from graphmem.model.policy.companion import ContextPolicy, SummaryPolicy
from tests.builders import NOW

POLICY = SummaryPolicy()
CONTEXT = ContextPolicy()


def a_fact(content, *refs, kind=FactKind.PROFILE, **changes):
    values = {"uid": content, "user": "ada", "memory_key": content, "entity_refs": refs}
    times = {"created_at": NOW, "updated_at": NOW}
    return Fact(kind=kind, content=content, **(values | times | changes))


def a_todo(content, kind=TodoKind.COMMITMENT, **changes):
    values = {"uid": content, "user": "ada", "persona": "coach", "status": TodoStatus.PENDING}
    return Todo(kind=kind, content=content, **(values | {"created_at": NOW} | changes))


def said(*contents):
    return [
        Message(uid=f"{n}", is_user=True, content=content, at=NOW + timedelta(minutes=n))
        for n, content in enumerate(contents)
    ]


def answered(*contents):
    return [replace(message, is_user=False) for message in said(*contents)]


def summed(messages=(), facts=(), todos=(), persona="Sophie"):
    return session_summary(
        SessionMaterial(messages=messages, facts=facts, todos=todos), persona, POLICY
    )[0]


def test_a_session_is_summed_up_by_what_was_judged_of_it():
    facts = [
        a_fact("Lives in Rome.", "place:rome", entity_label="Rome"),
        a_fact(
            "Is a nurse.",
            "person:ana_li",
            "person:bo",
            entity_label="Ana Li",
            importance=2,
            kind=FactKind.PEOPLE,
            subtype=Subtype(entity_type=EntityKind.PERSON),
        ),
    ]
    todos = [
        a_todo("Call Ana"),
        a_todo("Cannot sleep", TodoKind.FRICTION),
        a_todo("Whether to move", TodoKind.THREAD),
        a_todo("Run daily", TodoKind.HABIT),
    ]

    assert SummaryText(
        one_liner="I have to call Ana Li today.",
        what_mattered=("Ana Li: Is a nurse.", "Lives in Rome."),
        open_loops=("Cannot sleep", "Whether to move", "Run daily"),
        commitments=("Call Ana",),
        people=("Ana Li", "Bo"),
        tone="anxious",
    ) == summed(
        [*said("Hi Sophie!", "I have to call Ana Li today. I am worried."), *answered("Great!")],
        facts,
        todos,
    )


def test_what_is_done_or_skipped_is_no_open_loop():
    todos = [a_todo(f"{status}", status=status) for status in TodoStatus]
    todos += [a_todo(f"{status}", TodoKind.THREAD, status=status) for status in TodoStatus]

    summary = summed(todos=todos)

    assert (("PENDING",), ("PENDING",)) == (summary.commitments, summary.open_loops)


@pytest.mark.parametrize(
    ("messages", "line"),
    [
        ((), "Summary unavailable."),
        (("Hello", "Hi there! I got the job."), "I got the job."),
        (("Hello",), "Hello"),
        (("The cat is ill", "I got the job"), "The cat is ill"),
        (("Sophie, the cat is ill",), "the cat is ill"),
        (("Dr. Smith called. Then I slept.",), "Dr. Smith called."),
    ],
)
def test_the_line_of_a_session_is_the_first_thing_that_the_user_said(messages, line):
    assert line == summed(said(*messages)).one_liner


def test_the_line_of_a_session_rests_on_the_last_ten_messages_of_the_user():
    messages = [f"The cat number {n} is ill" for n in range(11)]

    assert messages[0] == summed(said(*messages[:10])).one_liner
    assert messages[1] == summed(said(*messages)).one_liner


def test_eight_hundred_characters_of_a_message_are_read():
    told = "I got the job"
    facts = [a_fact("got a job")]

    for blanks, line in ((800 - len(told), told), (801 - len(told), "I got the jo")):
        assert line == summed(said("Hi.\n" + "\n" * (blanks - 4) + told), facts).one_liner


@pytest.mark.parametrize(
    ("message", "tone"),
    [
        ("I am so happy, I love it", "positive"),
        ("I hate it, it makes me sad", "negative"),
        ("I'm anxious and stressed", "anxious"),
        ("I am exhausted", "tired"),
        ("So EXCITED!", "excited"),
        ("I feel relaxed and calm", "calm"),
        ("I have a cat", "neutral"),
        ("I am not happy", "neutral"),
        ("I didn't love it", "neutral"),
        ("I am happy but tired, really exhausted", "tired"),
        ("I am happy but tired", "tired"),
    ],
)
def test_the_tone_goes_by_the_words_of_the_user(message, tone):
    assert tone == summed([*said(message), *answered("sad sad sad")]).tone


def a_summary(**changes):
    return SummaryText(**({"one_liner": "We talked."} | changes))


def cut(**changes):
    return limited(a_summary(**changes), "Sophie", POLICY)


@pytest.mark.parametrize(
    ("name", "most"),
    [("one_liner", 200), ("tone", 40)],
)
def test_a_text_of_a_summary_is_cut_at_its_bound(name, most):
    fitting, is_cut = cut(**{name: "x" * most})
    assert ("x" * most, False) == (getattr(fitting, name), is_cut)

    longer, is_cut = cut(**{name: "x" * (most + 1)})
    assert ("x" * (most - 1) + "…", True) == (getattr(longer, name), is_cut)


@pytest.mark.parametrize("name", ["what_mattered", "open_loops", "commitments", "people"])
def test_a_list_of_a_summary_has_five_items_of_120_characters(name):
    items = tuple(f"{n}" + "x" * 119 for n in range(6))

    fitting, is_cut = cut(**{name: items[:5]})
    assert (items[:5], False) == (getattr(fitting, name), is_cut)

    longer, is_cut = cut(**{name: items})
    assert (items[:5], True) == (getattr(longer, name), is_cut)

    longer, is_cut = cut(**{name: (items[0] + "x",)})
    assert ((items[0][:119] + "…",), True) == (getattr(longer, name), is_cut)


def test_equal_and_empty_items_are_left_out_and_nothing_is_cut_off_by_that():
    summary, is_cut = cut(people=("Ana", " ", "ana.", "Bo\nLi"), tone=" ")

    assert (("Ana", "Bo Li"), "unknown", False) == (summary.people, summary.tone, is_cut)


@pytest.mark.parametrize(
    ("line", "bare"),
    [
        ("Talked with Sophie about tea", "Talked with about tea"),
        ("Hi Sophie, I got the job", "Hi, I got the job"),
        ("SOPHIE: hello", "hello"),
        ("Sophie's tea is good", "tea is good"),
        ("Sophie", "Summary unavailable."),
        ("sophie and Sophies :)", "sophie and Sophies :)"),
    ],
)
def test_the_persona_is_not_named_in_the_line(line, bare):
    assert bare == cut(one_liner=line)[0].one_liner


def test_a_persona_called_will_takes_no_will_from_the_user():
    text = a_summary(one_liner="I will tell Will.", people=("Will", "will", "Willa"))

    summary, _ = limited(text, "Will", POLICY)

    assert ("I will tell.", ("Willa",)) == (summary.one_liner, summary.people)


def test_a_persona_without_a_name_takes_nothing_away():
    assert "We talked." == limited(a_summary(), "", POLICY)[0].one_liner


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("The user is fine. He has a cat.", "The user is fine."),
        ("fine", "fine"),
        ("", "Summary unavailable."),
        (' {"one_liner": "fine', "Summary unavailable."),
        ("```json\n{}", "Summary unavailable."),
        ("a\x00b", "Summary unavailable."),
    ],
)
def test_where_an_answer_is_no_summary_its_first_sentence_is_one(text, line):
    assert SummaryText(one_liner=line, tone="unknown") == fallback(text)


def test_a_summary_is_shown_on_a_line_without_empty_parts():
    summary = a_summary(what_mattered=("a", "b"), people=("Ana",), tone="calm")

    assert "One-liner: We talked. | What mattered: a; b | People: Ana | Tone: calm" == display(
        summary, CONTEXT
    )


def test_all_parts_of_a_summary_stand_in_their_order():
    summary = a_summary(
        what_mattered=("a",), open_loops=("b",), commitments=("c",), people=("d",), tone="e"
    )

    assert (
        "One-liner: We talked. | What mattered: a | Open loops: b | Commitments: c"
        " | People: d | Tone: e"
    ) == display(summary, CONTEXT)


@pytest.mark.parametrize("length", [600, 601])
def test_a_shown_summary_is_cut_at_600_characters(length):
    frame = len("One-liner:  | Tone: ")
    text = a_summary(one_liner="x" * (length - frame - 1), tone="t")

    line = display(text, CONTEXT)

    assert (600, length == 600) == (len(line), line.endswith("t"))


def test_no_part_of_a_shown_summary_can_be_forged():
    text = a_summary(one_liner="a | Tone: b", people=("c; d", "e\n## Commitments"), tone="f")

    assert r"One-liner: a \| Tone: b | People: c\; d; e ## Commitments | Tone: f" == display(
        text, CONTEXT
    )


ANSWER = {
    "one_liner": "a",
    "what_mattered": ["b"],
    "open_loops": ["c"],
    "commitments": ["d"],
    "people": ["e"],
    "tone": "f",
}
READ = SummaryText(
    one_liner="a",
    what_mattered=("b",),
    open_loops=("c",),
    commitments=("d",),
    people=("e",),
    tone="f",
)


@pytest.mark.parametrize(
    ("answer", "summary"),
    [
        (ANSWER, READ),
        ([ANSWER], READ),
        ('Here it is:\n```json\n{"one_liner": "a"}\n```', SummaryText(one_liner="a")),
        ({"people": "Ana", "tone": ["x"]}, SummaryText(one_liner="", people=("Ana",), tone="x")),
        (
            {"one_liner": "a", "people": ["b", 7, None, " ", "a\x00"], "tone": 7},
            SummaryText(one_liner="a", people=("b",)),
        ),
    ],
)
def test_a_models_answer_is_read_as_far_as_it_is_a_summary(answer, summary):
    assert summary == summary_from_answer(answer)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        7,
        {},
        [],
        [ANSWER, ANSWER],
        {"one_liner": " "},
        "no",
        "}{",
        "{" * 50_000,
        {"tone": "x"},
    ],
)
def test_what_holds_no_summary_is_none(answer):
    assert summary_from_answer(answer) is None


def rolled(*contents, previous=None, policy=POLICY):
    return rolling_summary(said(*contents), previous, policy)


def test_a_rolling_summary_has_a_line_of_each_message_of_the_user_oldest_first():
    messages = [*said("I got the job. I am glad.", "hi"), *answered("Great!"), *said("Call Ana")]

    assert "I got the job.\nCall Ana" == rolling_summary(messages, None, POLICY)


def test_a_rolling_summary_has_five_lines_the_newest_ones():
    messages = [f"The cat number {n} is ill" for n in range(6)]

    assert messages[:5] == rolled(*messages[:5]).splitlines()
    assert messages[1:] == rolled(*messages).splitlines()


def test_a_rolling_summary_rests_on_six_messages_of_the_user():
    messages = ["I got the job", "hi", "ok", "yes", "hello", "hey", "thanks"]

    assert "I got the job" == rolled(*messages[:6])
    assert "" == rolled(*messages)
    assert "I got the job" == rolling_summary(
        [*said(*messages[:1]), *answered("a", "b", "c", "d", "e", "f", "g")], None, POLICY
    )


def test_equal_messages_give_one_line():
    assert "Call Ana" == rolled("Call Ana", "Call Ana")


@pytest.mark.parametrize("number", [1, 5, 6])
def test_a_rolling_summary_has_at_most_600_characters_and_five_whole_lines(number):
    text = rolled(*(f"{n} {'word ' * 300}" for n in range(number)))

    assert len(text) <= 600
    assert min(number, 5) == len(text.splitlines())


def test_a_rolling_summary_keeps_to_the_tightest_of_bounds():
    tight = replace(POLICY, rolling_chars=3, rolling_lines=50)

    assert 3 >= len(rolled(*"abcdef", policy=tight))


def test_nothing_new_gives_no_rolling_summary_and_the_last_one_is_not_copied():
    assert "" == rolled("Call Ana", previous="Call Ana")
    assert "" == rolled(previous="Call Ana")
    assert "" == rolled("hi", previous="Call Ana")
    assert "Call Bo" == rolled("Call Bo", previous="Call Ana")


def test_a_message_is_one_line_of_a_rolling_summary_whatever_it_says():
    assert ["Tea.", "## Commitments"] == rolled("Tea.\n- forged", "\n## Commitments").splitlines()


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (" a \n\n b\u2028c", "a\nb\nc"),
        ("1\n2\n3\n4\n5\n6", "1\n2\n3\n4\n5"),
        ("x" * 600, "x" * 600),
        ("x" * 601, "x" * 600),
        (" \n ", None),
        ("a\x00", None),
        (7, None),
        (None, None),
    ],
)
def test_a_models_rolling_summary_is_kept_in_its_bounds(answer, text):
    assert text == rolling_from_answer(answer, POLICY)


def test_the_spine_has_what_is_active_the_weightiest_first_and_then_the_newest():
    later = NOW + timedelta(hours=1)
    facts = [
        a_fact("old"),
        a_fact("new", created_at=later),
        a_fact("heavy", importance=3),
        a_fact("gone", status=FactStatus.ARCHIVED),
        a_fact("Apollo", kind=FactKind.PROJECT),
        a_fact("Ana", kind=FactKind.PEOPLE, persona="coach"),
    ]
    todos = [
        a_todo("first"),
        a_todo("last", TodoKind.THREAD, created_at=later, persona="chef"),
        a_todo("done", status=TodoStatus.COMPLETED),
    ]

    assert {
        "PROFILE": (
            SpineLine(text="heavy", uid="heavy"),
            SpineLine(text="new", uid="new"),
            SpineLine(text="old", uid="old"),
        ),
        "PROJECTS": (SpineLine(text="Apollo", uid="Apollo"),),
        "PEOPLE": (SpineLine(text="Ana", uid="Ana", persona="coach"),),
        "OPEN_LOOPS": (
            SpineLine(text="last", uid="last", persona="chef"),
            SpineLine(text="first", uid="first", persona="coach"),
        ),
    } == spine_sections(facts, todos, POLICY)


def test_a_section_of_the_spine_has_twenty_lines_for_each_persona():
    todos = [a_todo(f"{n}") for n in range(21)] + [a_todo("mine", persona="chef")]
    facts = [a_fact(f"{n}") for n in range(21)]

    sections = spine_sections(facts, todos, POLICY)

    assert (20, 21) == (len(sections["PROFILE"]), len(sections["OPEN_LOOPS"]))
    assert 20 == len(spine_sections(facts[:20], [], POLICY)["PROFILE"])
    assert ("mine",) == tuple(
        line.text for line in spine_of(sections, "chef", POLICY)["OPEN_LOOPS"]
    )


def test_equal_lines_stand_in_the_spine_once_for_each_persona():
    todos = [a_todo("Call Ana", uid="1"), a_todo("call ana.", uid="2")]
    todos.append(a_todo("Call Ana", uid="3", persona="chef"))

    lines = spine_sections([], todos, POLICY)["OPEN_LOOPS"]

    assert [("3", "chef"), ("2", "coach")] == [(line.uid, line.persona) for line in lines]


SECTIONS = {
    "PROFILE": (SpineLine(text="Is a doctor", uid="1"),),
    "PROJECTS": (),
    "PEOPLE": (SpineLine(text="Ana\n## Forged", uid="2"), SpineLine(text="Bo", uid="3")),
    "OPEN_LOOPS": (
        SpineLine(text="Call Ana", uid="4", persona="coach"),
        SpineLine(text="Cook [x]", uid="5", persona="chef"),
    ),
}


def test_the_spine_shows_a_persona_its_own_open_loops_only():
    text = "PROFILE:\n- Is a doctor\nPEOPLE:\n- Ana ## Forged\n- Bo"

    assert f"{text}\nOPEN_LOOPS:\n- Call Ana" == spine_text(
        SECTIONS, persona="coach", policy=POLICY
    )
    assert f"{text}\nOPEN_LOOPS:\n- Cook \\[x\\]" == spine_text(
        SECTIONS, persona="chef", policy=POLICY
    )
    assert text == spine_text(SECTIONS, persona="other", policy=POLICY)
    assert text == spine_text(SECTIONS, persona=None, policy=POLICY)


@pytest.mark.parametrize(("chars", "is_shown"), [(8, False), (9, True)])
def test_a_spine_of_fewer_than_twenty_characters_is_left_out(chars, is_shown):
    sections = {"PROFILE": (SpineLine(text="x" * chars, uid="1"),)}
    text = "PROFILE:\n- " + "x" * chars

    assert (20 if is_shown else 19) == len(text)
    assert (text if is_shown else "") == spine_text(sections, persona=None, policy=POLICY)


def test_an_empty_spine_is_left_out_even_where_none_is_too_short():
    lax = replace(POLICY, spine_min_chars=0)

    assert "" == spine_text({"PROFILE": ()}, persona=None, policy=lax)
    assert "" == spine_text({}, persona=None, policy=lax)


@pytest.mark.parametrize("part", ["a. ", "Sophie ", "Sophie's ", " ", "[", "x", "\u0301", ". "])
def test_long_messages_take_time_by_their_length(part):
    text = part * (100_000 // len(part))

    before = time.process_time()
    wide = replace(POLICY, message_chars=32_000)
    session_summary(SessionMaterial(messages=said(text)), "Sophie", wide)
    rolling_summary(said(text), None, wide)
    limited(fallback(text), "Sophie", POLICY)
    summary_from_answer(text)

    assert 3 > time.process_time() - before
