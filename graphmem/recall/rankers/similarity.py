"""``similarity``: the cosine alone (001, with the entity pipeline off)."""

from collections.abc import Iterable

from graphmem.recall.candidates import Candidate, Scored, in_total_order


def similarity(candidates: Iterable[Candidate]) -> list[Scored]:
    """Order candidates by their cosine to the cue, 0 to 1."""
    return in_total_order(
        [
            Scored(candidate=each, score=each.cosine, factors={"similarity": each.cosine})
            for each in candidates
        ]
    )
