"""Contexts over a real graph: further cues, and a model that orders what was found."""

import pytest
from builders import a_request
from model_server import Late, ModelServer
from sessions import Session

from graphmem.errors import StoreUnavailable
from graphmem.gateway.gateway import Gateway

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
    assert rare.uid in expanded.context.uids
    assert traced(ada, expanded).events[0][1] in expanded.context.uids
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
    before = told(ada).context.uids
    ada.want(rerank_enabled=True, rerank_timeout_ms=500, inject_questions=False)
    without = told(ada)
    with ModelServer(answer) as server:
        after = told(ada.with_model(server.url))

    assert ("rerank_without_model",) == without.degraded
    assert before == without.context.uids
    assert degraded == after.degraded
    notes = [each.uids for each in (after.context.sections) if each.name == "notes"]
    wanted = [uid for uid in before if uid in notes[0]]
    assert tuple(wanted[::-1] if not degraded else wanted) == notes[0]


def test_only_what_was_shown_counts_as_recalled_and_may_be_spoken_of(house, ada):
    ada.want(feedback_enabled=True)
    facts = [ada.fact(f"FYI I work on project number {n} at Siemens.") for n in range(9)]
    context = ada.keeper.contexts.of(
        ada.space, "chat-1", "Which work at Siemens?", max_tokens=60, caller=house.caller
    )
    trace = traced(ada, context)
    shown = set(context.context.uids)

    assert 0 < len(shown) < len(facts)
    assert len(shown) == trace.request["returned"]
    assert shown == {uid for _, uid, _ in trace.events[: len(shown)]}
    assert {uid: int(uid in shown) for uid in (fact.uid for fact in facts)} == {
        fact.uid: ada.memory(fact.uid).recall_count for fact in facts
    }


def test_the_newest_are_those_of_the_owner_too_for_a_persona(house, ada):
    fact = ada.fact("FYI I work at Siemens.")
    persona = Session(house, "user:ada/coach")
    house.embedder.is_broken = True
    context = told(persona, "Quid novi?")
    house.embedder.is_broken = False

    assert ("newest", (fact.uid,)) == (context.mode, context.context.uids)


def test_a_context_is_told_also_when_it_cannot_be_remembered(house, ada, monkeypatch):
    fact = ada.fact(WORK)

    def fail(*_, **__):
        raise StoreUnavailable("full")

    monkeypatch.setattr(Gateway, "execute", fail)
    context = ada.keeper.contexts.of(
        ada.space, "chat-1", QUERY, max_tokens=None, caller=house.caller
    )

    assert (fact.uid,) == context.context.uids
    assert ("last_recall_not_kept",) == context.degraded


def test_what_rooms_keep_takes_no_place_of_facts(house, ada):
    fact = ada.fact("FYI I check the build at Siemens.")
    house.write(
        *(
            a_request(f"Check the build number {n}.", kept_by="companion", importance=90)
            for n in range(6)
        )
    )
    context = told(ada, "check the build")

    assert ("minimal", (fact.uid,)) == (context.plan.value, context.context.uids)


def test_recalls_are_counted_unless_a_space_does_not_want_it(house, ada):
    fact = ada.fact(WORK)
    told(ada)
    house.graphmem.journal.flush()
    once = ada.memory(fact.uid).recall_count
    house.graphmem.policies.save(ada.space, {"recall.access_tracking_enabled": False})
    told(ada)
    house.graphmem.journal.flush()

    assert (1, 1) == (once, ada.memory(fact.uid).recall_count)
