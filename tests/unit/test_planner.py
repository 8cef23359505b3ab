import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model.policy import PlanPolicy
from graphmem.recall.planner import Plan, plan, plan_limit

POLICY = PlanPolicy()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", Plan.NO_RECALL),
        ("Thanks!", Plan.NO_RECALL),
        ("show me the timeline", Plan.GRAPH_MODE),
        ("fix the build", Plan.MINIMAL),
        ("why did it fail", Plan.FULL),
        ("deploy it now", Plan.FULL),
        ("update docs?", Plan.FULL),
        ("Check gateway status", Plan.MINIMAL),
    ],
)
def test_the_plans_of_003(query, expected):
    assert expected is plan(query, POLICY)


@pytest.mark.parametrize(
    "query", [" ", "\n\t", "OK", "got  it.", "Sounds good :-)", "yes 👍", "done?"]
)
def test_blanks_and_acknowledgements_recall_nothing(query):
    assert Plan.NO_RECALL is plan(query, POLICY)


@pytest.mark.parametrize("query", ["ok go", "no tea", "yes, no", "works here", "thanksgiving"])
def test_more_than_an_acknowledgement_recalls(query):
    assert Plan.FULL is plan(query, POLICY)


def test_an_acknowledgement_has_eighteen_characters_at_most():
    assert Plan.NO_RECALL is plan("thanks" + "!" * 12, POLICY)
    assert Plan.NO_RECALL is plan("  thanks" + "!" * 12 + " ", POLICY)
    assert Plan.FULL is plan("thanks" + "!" * 13, POLICY)


def test_a_command_has_a_hundred_characters_at_most():
    assert Plan.MINIMAL is plan("run " + "x" * 96, POLICY)
    assert Plan.MINIMAL is plan(" run " + "x" * 96 + "\n", POLICY)
    assert Plan.FULL is plan("run " + "x" * 97, POLICY)


@pytest.mark.parametrize(
    "query",
    ["run", "Restart: now", "sync it", "set-up the agent", "status", "patch it and show the docs"],
)
def test_a_short_command_recalls_little(query):
    assert Plan.MINIMAL is plan(query, POLICY)


@pytest.mark.parametrize(
    "query", ["running late", "settings are wrong", "please run it", "reopen it", "checkout"]
)
def test_a_command_is_the_whole_first_word(query):
    assert Plan.FULL is plan(query, POLICY)


@pytest.mark.parametrize(
    "query",
    [
        "check the previous one",
        "run it like last  time",
        "show a recap",
        "set the context",
        "open it? ",
        "show what did we decide",
    ],
)
def test_a_command_about_the_past_or_a_question_recalls_fully(query):
    assert Plan.FULL is plan(query, POLICY)


@pytest.mark.parametrize(
    "query", ["check contextual help", "show summaries", "fix the unremembered bug"]
)
def test_a_part_of_a_word_is_not_about_the_past(query):
    assert Plan.MINIMAL is plan(query, POLICY)


@pytest.mark.parametrize(
    "query",
    [
        "What happened?",
        "the ROOT cause",
        "chain of\nevents",
        "check the history",
        "why this sequence",
    ],
)
def test_the_course_of_events_asks_for_the_graph_before_anything_else(query):
    assert Plan.GRAPH_MODE is plan(query, POLICY)


def test_a_part_of_a_word_is_not_the_course_of_events():
    assert Plan.FULL is plan("prehistory and timelines", POLICY)


def test_each_plan_has_its_number_of_results():
    assert {Plan.NO_RECALL: 0, Plan.MINIMAL: 4, Plan.FULL: 8, Plan.GRAPH_MODE: 8} == {
        chosen: plan_limit(chosen, POLICY) for chosen in Plan
    }


@given(st.text(max_size=30))
def test_a_question_that_is_no_acknowledgement_never_recalls_little(text):
    assert Plan.MINIMAL is not plan(text + "?", POLICY)


@given(st.text(min_size=101).filter(lambda text: len(text.strip()) > 100))
def test_a_long_cue_always_recalls_fully(text):
    assert plan(text, POLICY) in {Plan.FULL, Plan.GRAPH_MODE}
