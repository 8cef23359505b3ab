import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model.policy import Policy
from graphmem.model.policy.overrides import override_problems, policy_values, with_overrides
from graphmem.model.policy.rules import Rule


def test_an_override_changes_one_value_and_nothing_else():
    policy = with_overrides(Policy(), {"recall.fused.k": 12})

    assert 12 == policy.recall.fused.k
    assert {"recall.fused.k"} == {
        path
        for path, value in policy_values(policy).items()
        if value != policy_values(Policy())[path]
    }


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("recall.fused.k", 0),
        ("recall.rrf.age_days", 0.5),
        ("write.refuse_secrets", False),
        ("recall.cards.facts", 3.0),
    ],
)
def test_values_within_the_bounds_are_taken(path, value):
    assert {} == override_problems({path: value})
    assert value == policy_values(with_overrides(Policy(), {path: value}))[path]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("recall.fused.nothing", 1),
        ("nothing", 1),
        ("recall.query_max_chars", 9),  # a limit of the whole service
        ("index.context_words", 9),
        ("recall.fused", 1),
        ("recall.fused.k", "12"),
        ("recall.fused.k", 1.5),
        ("recall.fused.k", True),
        ("recall.fused.k", -1),
        ("recall.fused.k", 1_000_001),
        ("recall.rrf.age_days", 0),
        ("recall.rrf.age_days", float("nan")),
        ("write.refuse_secrets", 1),
        ("write.refuse_secrets", None),
    ],
)
def test_a_bad_override_is_named(path, value):
    assert [path] == list(override_problems({path: value}))


@given(
    st.dictionaries(
        st.sampled_from(sorted(policy_values(Policy()))),
        st.integers() | st.floats() | st.booleans(),
    )
)
def test_what_has_no_problems_can_be_applied(overrides):
    sound = {
        path: value for path, value in overrides.items() if path not in override_problems(overrides)
    }

    values = policy_values(with_overrides(Policy(), sound))
    assert all(values[path] == value for path, value in sound.items())


@pytest.mark.parametrize(
    ("value", "is_taken"), [(["red"], True), ([], True), (["grey"], False), ([["red"]], False)]
)
def test_a_list_of_words_takes_the_words_that_there_are(value, is_taken):
    problem = Rule(words=("red", "blue")).problem(("red",), value)

    assert is_taken == (problem is None)
