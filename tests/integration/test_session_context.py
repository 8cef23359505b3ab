"""Contexts over a real graph: further cues, and a model that orders what was found."""

import pytest
from model_server import Late, ModelServer
from sessions import Session

TEA, MATE, WORK = "I prefer tea over coffee.", "FYI I keep mate at home.", "FYI I work at Siemens."
QUERY = "What do I prefer at home for work at Siemens?"


@pytest.fixture
def ada(house):
    return Session(house)


def told(session, query=QUERY):
    return session.keeper.contexts.of(
        session.space, None, query, max_tokens=None, caller=session.house.caller
    )


def traced(session, context):
    session.house.graphmem.journal.flush()
    return session.house.graphmem.traces.by_uid(session.house.caller.tenant, context.trace_id)


def test_rare_words_are_cues_too_where_that_is_wanted(house, ada):
    for number in range(12):
        ada.fact(f"FYI I work on the project Alpha{number}.")
    rare = ada.fact("FYI I have a zither from Graz.")
    plain = told(ada, "Which work on the project, and the zither")
    ada.want(query_expansion_enabled=True)
    expanded = told(ada, "Which work on the project, and the zither")

    assert [] == traced(ada, plain).request["words"]
    assert "zither" == traced(ada, expanded).request["words"][0]
    assert rare.uid in expanded.context.memories
    assert traced(ada, expanded).events[0][1] in expanded.context.memories
    assert () == expanded.degraded


def test_a_trace_tells_what_came_by_further_cues(house, ada):
    ada.want(query_expansion_enabled=True)
    facts = [ada.fact(each).uid for each in (TEA, MATE, WORK)]
    context = told(ada)
    trace = traced(ada, context)

    assert set(facts) == {uid for _, uid, _ in trace.events}
    assert all(0 < score <= 1 for _, _, score in trace.events)


@pytest.mark.parametrize(
    ("answer", "degraded"),
    [
        ({"order": [2, 1, 0]}, ()),
        ("no idea", ("rerank_unavailable",)),
        (Late({"order": [2, 1, 0]}, seconds=5), ("rerank_unavailable",)),
        (500, ("rerank_unavailable",)),
    ],
)
def test_a_model_orders_what_was_found_and_where_it_fails_the_order_stays(ada, answer, degraded):
    for each in (TEA, MATE, WORK):
        ada.fact(each)
    before = told(ada).context.memories
    ada.want(rerank_enabled=True, rerank_timeout_ms=500, inject_questions=False)
    without = told(ada)
    with ModelServer(answer) as server:
        after = told(ada.with_model(server.url))

    assert ("rerank_without_model",) == without.degraded
    assert before == without.context.memories
    assert degraded == after.degraded
    notes = [each.uids for each in (after.context.sections) if each.name == "notes"]
    wanted = [uid for uid in before if uid in notes[0]]
    assert tuple(wanted[::-1] if not degraded else wanted) == notes[0]


def test_recalls_are_counted_unless_a_space_does_not_want_it(house, ada):
    fact = ada.fact(WORK)
    told(ada)
    house.graphmem.journal.flush()
    once = ada.memory(fact.uid).recall_count
    house.graphmem.policies.save(ada.space, {"recall.access_tracking_enabled": False})
    told(ada)
    house.graphmem.journal.flush()

    assert (1, 1) == (once, ada.memory(fact.uid).recall_count)
