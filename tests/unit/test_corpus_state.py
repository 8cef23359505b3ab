"""States of a career corpus (000, 1.4): the resolver's whole truth table, and the transitions."""

from itertools import pairwise, permutations, product

import pytest
from corpora import NOW

from graphmem.corpus.initialisation import initialised
from graphmem.corpus.state import (
    EXTENSIONS,
    MISSION_TRANSITIONS,
    CorpusFacts,
    ForbiddenTransition,
    repaired,
    state_of,
    transition,
    way,
)
from graphmem.errors import Conflict
from graphmem.model.corpus import CorpusState

NAMES = ("has_repository", "has_failed_write", "has_corpus", "is_valid", "is_complete")
NO_REPO, REPO, PARTIAL, READY, INVALID, FAILED = (
    CorpusState.NO_REPO,
    CorpusState.REPO_NO_CORPUS,
    CorpusState.CORPUS_PARTIAL,
    CorpusState.CORPUS_READY,
    CorpusState.CORPUS_INVALID,
    CorpusState.PERSIST_FAILED,
)


def facts(values):
    return CorpusFacts(**dict(zip(NAMES, values, strict=True)))


def holding(*names):
    """The facts of which these hold, and no others."""
    return CorpusFacts(**{name: name in names for name in NAMES})


def expected(values):
    """The state by the rows of the table, from the last one up to the first."""
    repository, failed, corpus, valid, complete = values
    state = READY
    if not complete:
        state = PARTIAL
    if not valid:
        state = INVALID
    if not corpus:
        state = REPO
    if failed:
        state = FAILED
    return state if repository else NO_REPO


@pytest.mark.parametrize("values", list(product((True, False), repeat=5)))
def test_the_first_condition_that_holds_is_the_state(values):
    assert expected(values) == state_of(facts(values))


@pytest.mark.parametrize(
    ("values", "state"),
    [
        ((False, True, True, False, False), NO_REPO),
        ((True, True, False, False, False), FAILED),
        ((True, True, True, True, True), FAILED),
        ((True, False, False, False, False), REPO),
        ((True, False, True, False, False), INVALID),
        ((True, False, True, False, True), INVALID),
        ((True, False, True, True, False), PARTIAL),
        ((True, False, True, True, True), READY),
    ],
)
def test_each_condition_comes_before_those_below_it(values, state):
    assert state is state_of(facts(values))


def test_a_status_claims_no_corpus_without_a_repository_and_no_end_without_a_corpus():
    alone = holding("has_corpus", "is_valid", "is_complete")
    empty = holding("has_repository", "is_valid", "is_complete")

    assert (False, False) == (alone.corpus_exists, alone.onboarding_complete)
    assert (False, False) == (empty.corpus_exists, empty.onboarding_complete)


MISSION = [
    (NO_REPO, REPO),
    (REPO, PARTIAL),
    (PARTIAL, READY),
    (READY, FAILED),
    (INVALID, REPO),
    (FAILED, READY),
]
MORE = [
    (REPO, FAILED),
    (PARTIAL, FAILED),
    (FAILED, PARTIAL),
    (PARTIAL, INVALID),
    (READY, INVALID),
    (REPO, READY),
    (REPO, INVALID),
    (READY, PARTIAL),
]


def test_six_transitions_are_those_of_the_mission_and_eight_are_ours():
    assert set(MISSION) == MISSION_TRANSITIONS
    assert set(MORE) == EXTENSIONS


@pytest.mark.parametrize("ends", list(permutations(CorpusState, 2)))
def test_each_transition_is_recorded_or_refused(ends):
    if ends not in MISSION + MORE:
        with pytest.raises(ForbiddenTransition):
            transition(*ends, cause="push", now=NOW)
        return
    found = transition(*ends, cause="push", now=NOW)

    assert (*ends, NOW, "push") == (found.before, found.after, found.at, found.cause)
    assert (ends in MORE) == found.extension


@pytest.mark.parametrize("state", list(CorpusState))
def test_a_state_that_stays_is_no_transition(state):
    assert transition(state, state, cause="push", now=NOW) is None


def test_a_first_push_with_all_sections_goes_by_partial():
    assert (REPO, READY) not in MISSION_TRANSITIONS
    assert {(REPO, PARTIAL), (PARTIAL, READY)} <= MISSION_TRANSITIONS


@pytest.mark.parametrize(("failed", "state"), [(False, REPO), (True, FAILED)])
def test_a_repair_sets_an_invalid_corpus_aside_and_leaves_a_failed_write_one(failed, state):
    found = repaired(facts((True, failed, True, False, True)))

    assert state is state_of(found)
    assert (False, False) == (found.corpus_exists, found.onboarding_complete)


@pytest.mark.parametrize(
    "values",
    [
        (False, False, False, True, False),
        (True, False, False, True, False),
        (True, False, True, True, False),
        (True, False, True, True, True),
        (True, True, True, True, True),
    ],
)
def test_only_an_invalid_corpus_is_repaired(values):
    with pytest.raises(Conflict):
        repaired(facts(values))


def test_a_bootstrap_gets_creates_and_confirms():
    found = initialised(has_repository=False, was_tried=False)

    assert ("get", "create", "get_confirm") == found.sequence
    assert [True] * 6 == list(found.values.values())


def test_a_bootstrap_of_what_is_there_only_gets_it():
    found = initialised(has_repository=True, was_tried=False)

    assert (("get",), False) == (found.sequence, found.created)
    assert (
        "INITIALIZATION STATUS\n"
        "- owner_resolved: true\n"
        "- repo_exists: true\n"
        "- repo_created_this_turn: false\n"
        "- repo_create_attempted_this_turn: false\n"
        "- store_initialized: true\n"
        "- sync_initialized: true"
    ) == found.text


def test_a_second_create_in_a_turn_is_refused_and_a_second_look_is_not():
    with pytest.raises(Conflict):
        initialised(has_repository=False, was_tried=True)
    again = initialised(has_repository=True, was_tried=True).values
    assert (False, True) == (
        again["repo_created_this_turn"],
        again["repo_create_attempted_this_turn"],
    )


@pytest.mark.parametrize("after", [CorpusState.CORPUS_PARTIAL, CorpusState.CORPUS_READY])
def test_an_invalid_corpus_is_set_aside_before_a_valid_one_takes_its_place(after):
    states = way(CorpusState.CORPUS_INVALID, after)

    assert (CorpusState.REPO_NO_CORPUS, after) == states
    for before, then in pairwise((CorpusState.CORPUS_INVALID, *states)):
        assert transition(before, then, cause="push", now=NOW)


@pytest.mark.parametrize("before", CorpusState)
def test_all_others_change_in_one_step(before):
    for after in CorpusState:
        if before is not CorpusState.CORPUS_INVALID:
            assert (() if before is after else (after,)) == way(before, after)
