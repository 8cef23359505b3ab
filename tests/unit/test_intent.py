import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model.policy import LifecyclePolicy
from graphmem.recall.intent import Action, Area, Goal, Intent, intent_match, intent_of

POLICY = LifecyclePolicy()
INTENTS = st.builds(
    Intent,
    goal=st.none() | st.sampled_from(Goal),
    action=st.none() | st.sampled_from(Action),
    areas=st.frozensets(st.sampled_from(Area)),
)


def test_planning_the_release_has_the_goal_release_and_the_action_plan():
    assert Intent(goal=Goal.RELEASE, action=Action.PLAN) == intent_of("plan the release")


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("debug the failure after the release", Goal.STABILIZE),
        ("Publish the roadmap", Goal.RELEASE),
        ("a security strategy", Goal.PLAN),
        ("Audit what the customer sees", Goal.REVIEW),
        ("Call the prospect", Goal.CLOSE_DEAL),
        ("Ada likes tea.", None),
        ("", None),
    ],
)
def test_the_first_goal_in_the_order_of_003_counts(text, goal):
    assert goal is intent_of(text).goal


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("inspect the plan", Action.REVIEW),
        ("brainstorm, then build", Action.PLAN),
        ("Fix it!", Action.EXECUTE),
        ("What, happened  yesterday?", Action.SUMMARIZE),
        ("it happened. What next?", None),
        ("choose one", Action.DECIDE),
        ("Ada likes tea.", None),
    ],
)
def test_the_first_action_in_the_order_of_003_counts(text, action):
    assert action is intent_of(text).action


@pytest.mark.parametrize("text", ["shipping", "planet", "prefix", "redesigned", "unreleased"])
def test_a_part_of_a_word_is_no_intent(text):
    assert Intent() == intent_of(text)


def test_a_text_may_touch_several_areas():
    text = "The repository's README says how the agent reaches the client's server."

    assert frozenset(Area) == intent_of(text).areas


@given(st.sampled_from(["plan the release", "what happened to the server", "Review the docs"]))
def test_case_does_not_change_an_intent(text):
    assert intent_of(text) == intent_of(text.upper())


def test_goal_and_half_of_the_areas_match_by_six_tenths():
    one = Intent(goal=Goal.RELEASE, action=Action.PLAN, areas=frozenset({Area.REPO, Area.AI}))
    other = Intent(goal=Goal.RELEASE, action=Action.REVIEW, areas=frozenset({Area.AI}))

    assert pytest.approx(0.6) == intent_match(one, other, POLICY)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"goal": Goal.RELEASE}, 0.5),
        ({"action": Action.PLAN}, 0.3),
        ({"areas": frozenset({Area.AI})}, 0.2),
        ({}, 0.0),
    ],
)
def test_each_part_of_an_intent_has_its_weight_and_unknown_parts_none(changes, expected):
    assert pytest.approx(expected) == intent_match(Intent(**changes), Intent(**changes), POLICY)


@given(INTENTS, INTENTS)
def test_a_match_lies_between_zero_and_one_and_is_the_same_both_ways(one, other):
    match = intent_match(one, other, POLICY)

    assert 0 <= match <= 1 + 1e-9
    assert match == intent_match(other, one, POLICY)
    assert match <= intent_match(one, one, POLICY) + 1e-9
