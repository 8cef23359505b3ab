"""Expansion: the rarest words of a cue as further cues, and one order of what all of them find."""

import pytest
from builders import a_candidate

from graphmem.recall.candidates import Scored
from graphmem.recall.expansion import Expansion, fused_cues, rarest, words_to_count

USUAL = Expansion(cues=4, letters=3)


def scored(*uids):
    return [Scored(candidate=a_candidate(uid), score=1.0, factors={}) for uid in uids]


@pytest.mark.parametrize(
    ("words", "cue"),
    [
        (("ada", "drinks", "mate"), "What does Ada of it drink, drinks mate ox?"),
        ((), "Mate"),
        ((), "mate mates"),
        ((), "What is it to us?"),
        ((), ""),
    ],
)
def test_words_of_three_letters_that_say_something_are_counted_each_once(words, cue):
    assert words == words_to_count(cue.replace("drink, ", ""), USUAL)


def test_at_most_so_many_words_are_counted_and_the_least_length_counts():
    assert 24 == len(words_to_count(" ".join(f"word{n}x" for n in range(40)), USUAL))
    assert ("mate", "oxen") == words_to_count("mate ox oxen", Expansion(cues=4, letters=4))


def test_the_rarest_words_that_are_there_are_cues_in_the_order_of_rarity():
    counts = {"tea": 5, "mate": 1, "unknown": 0, "ada": 300, "cup": 5, "pot": 2}

    assert ("mate", "pot", "tea") == rarest(counts, USUAL)
    assert () == rarest(counts, Expansion(cues=1, letters=3))
    assert () == rarest({"unknown": 0}, USUAL)


def test_a_cue_counts_as_much_as_its_words_together():
    found = fused_cues(scored("a", "b"), [scored("c", "b"), scored("c")], k=10)

    assert ["b", "a", "c"] == [each.candidate.uid for each in found]
    assert 0.5 * 11 / 12 + 0.25 * 11 / 12 == pytest.approx(found[0].score)
    assert {"cue": 0.5, "words": 0.0} == dict(found[1].factors)
    assert {"cue": 0.0, "words": 0.5} == dict(found[2].factors)
    best = fused_cues(scored("a"), [scored("a"), scored("a"), scored("a")], k=10)
    assert 1.0 == pytest.approx(best[0].score)


def test_without_words_the_order_of_the_cue_stays():
    given = scored("b", "a")

    assert given == fused_cues(given, [], k=10)
