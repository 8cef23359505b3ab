"""Ledger of a career corpus: each change of state is one that may be, whatever was found."""

import pytest
from corpora import NOW

from graphmem.corpus.ledger import Ledger
from graphmem.corpus.looks import Look
from graphmem.corpus.push_result import PushCode, refused
from graphmem.model.corpus import CorpusRepository, CorpusState
from graphmem.model.space import parse_space

SPACE = parse_space("corpus:ada", tenant="t")
VALID = Look(corpus={}, has_corpus=True)
INVALID = Look(has_corpus=True, is_valid=False)


def ledger(state, look, **changes):
    repository = CorpusRepository(space=SPACE, created_at=NOW, state=state, **changes)
    return Ledger(repository=repository, look=look, now=NOW)


def steps(found):
    return [(each.before, each.after, each.cause) for _, each in found.transitions]


def test_a_valid_revision_in_place_of_an_invalid_one_sets_that_aside_first():
    found = ledger(CorpusState.CORPUS_INVALID, INVALID)

    found.put("import", look=VALID)

    assert [
        ("CORPUS_INVALID", "REPO_NO_CORPUS", "repair"),
        ("REPO_NO_CORPUS", "CORPUS_PARTIAL", "import"),
    ] == steps(found)
    assert [1, 2] == [number for number, _ in found.transitions]


def test_damage_that_somebody_mended_by_hand_is_recorded():
    found = ledger(CorpusState.CORPUS_INVALID, VALID)

    assert [("repair"), ("mended")] == [cause for _, _, cause in steps(found)]
    assert CorpusState.CORPUS_PARTIAL is found.state


@pytest.mark.parametrize("state", [CorpusState.CORPUS_READY, CorpusState.CORPUS_INVALID])
def test_a_write_that_fails_on_a_damaged_corpus_leaves_it_invalid(state):
    found = ledger(state, INVALID)

    found.note(refused(PushCode.TRANSPORT_CORRUPTION))
    found.fail("push")

    assert CorpusState.CORPUS_INVALID is found.state
    assert (1, True) == (found.repository.last_failed, found.repository.newest.has_failed)


def test_a_write_that_fails_otherwise_has_failed():
    found = ledger(CorpusState.CORPUS_PARTIAL, VALID)

    found.fail("push")

    assert [("CORPUS_PARTIAL", "PERSIST_FAILED", "push")] == steps(found)


def test_what_failed_before_a_write_says_nothing_of_one():
    found = ledger(CorpusState.CORPUS_PARTIAL, VALID)

    found.note_failure()

    work = found.repository.newest
    assert (1, True, None, None) == (work.number, work.has_failed, work.validated, work.persisted)
    assert 1 == found.repository.last_failed
