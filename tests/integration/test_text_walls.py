"""Other tenants' words weigh nothing: two stores that differ in them alone answer the same."""

import random

import pytest
from builders import a_request
from uuid6 import uuid7

from graphmem.store.migrations import core_migrations

WORDS = "alpha beta gamma delta epsilon zeta".split()
OWN = ("alpha pot", "beta pot", "gamma delta pot", "epsilon zeta pot", "beta gamma pot")
CUES = ("alpha beta", "gamma zeta", "pot delta alpha", "beta epsilon")
STRANGERS = 60


def texts_of_strangers(seed):
    """Texts of equal number and length, of the same words in other numbers."""
    chosen = random.Random(seed)  # noqa: S311 - nothing secret
    weights = [chosen.random() ** 3 for _ in WORDS]
    return [
        f"{' '.join(chosen.choices(WORDS, weights, k=4))} n{number}" for number in range(STRANGERS)
    ]


@pytest.fixture
def stranger(house):
    """A caller of another tenant; what it wrote is removed afterwards."""
    caller = type(house.caller)(
        key_id="stranger", tenant=f"s-{uuid7()}", role=house.caller.role, spaces=("*",)
    )
    yield caller
    house.rows(
        "MATCH (n) WHERE n.space STARTS WITH $stranger DETACH DELETE n",
        stranger=f"{caller.tenant}/",
    )


def index_anew(house):
    """Let the index hold what there is, and nothing of what was there."""
    house.rows("DROP INDEX memory_text")
    statements = (text for each in core_migrations().migrations for text in each.statements)
    house.rows(next(text for text in statements if "FULLTEXT INDEX memory_text" in text))
    house.rows("CALL db.awaitIndexes()")


def text_arms(house):
    """Of each cue, what words find, in order, with its rank."""
    found = {}
    for cue in CUES:
        items = house.recall(cue, limit=20).items
        found[cue] = [
            (item.memory.content, item.explanation.text and item.explanation.text.rank)
            for item in items
        ]
    return found


@pytest.mark.parametrize("seed", range(4))
def test_what_strangers_say_moves_no_hit_no_order_and_no_rank(house, stranger, seed):
    house.write(*(a_request(text, actor=None) for text in OWN))
    found = []
    for texts in (texts_of_strangers(f"{seed} one"), texts_of_strangers(f"{seed} two")):
        house.graphmem.writing.write(
            [a_request(text, actor=None, uid=f"m-{n}") for n, text in enumerate(texts)],
            caller=stranger,
        )
        index_anew(house)
        found.append(text_arms(house))
        house.rows(
            "MATCH (n) WHERE n.space STARTS WITH $stranger DETACH DELETE n",
            stranger=f"{stranger.tenant}/",
        )

    assert found[0] == found[1]
