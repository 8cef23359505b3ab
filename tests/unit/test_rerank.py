"""Rerank: what a language model says about the order of memories, and what of it counts."""

import pytest
from builders import a_memory
from fakes import ScriptedModel

from graphmem.adapters.asking import Ask
from graphmem.errors import ModelUnavailable
from graphmem.lifecycle.recalled import recalled_from_memory
from graphmem.lifecycle.rerank import reranked

MEMORIES = [
    recalled_from_memory(a_memory(f"Fact {number}.", uid=str(number))) for number in range(5)
]


def order_of(answer, most=4):
    model = ScriptedModel(answer)
    found = reranked(Ask(model=model, seconds=1), "What?", MEMORIES, most=most)
    return "".join(memory.key[-1] for memory in found)


@pytest.mark.parametrize(
    ("order", "answer"),
    [
        ("31024", {"order": [3, 1, 0, 2]}),
        ("30124", {"order": [3]}),
        ("30124", {"order": [3, 3, 4, 99, -1, "1", None, True, 0]}),
        ("01234", {"order": []}),
        ("01234", {"order": "3"}),
        ("01234", {}),
    ],
)
def test_a_model_orders_the_first_and_what_it_makes_up_does_not_count(order, answer):
    assert order == order_of(answer)


def test_one_that_says_nonsense_counts_as_away():
    with pytest.raises(ModelUnavailable):
        order_of("I would begin with the third.")
