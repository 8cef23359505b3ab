"""Boxes and topic traces of a space (003), as extractions fill them and jobs seal them."""

from datetime import timedelta
from threading import Thread

import pytest
from sessions import Session

from graphmem.errors import NotFound
from graphmem.model.notebook import SealReason

TEA, WORK = "FYI I love my green #tea in the morning.", "FYI I work at Siemens in Lyon. #work"
ONCE_MORE = "FYI I love my green #tea hot."


@pytest.fixture
def ada(house):
    session = Session(house)
    session.want(memory_boxes_enabled=True, trace_weaver_enabled=True)
    return session


def boxes(session, **options):
    options = {"limit": 50, "is_open": None, "days": None, "session": None} | options
    return session.keeper.notebooks.box_page(session.space, None, **options).items


def traces(session):
    return session.keeper.notebooks.trace_page(session.space, None, limit=50).items


def seal(house, **options):
    return house.graphmem.runner.run("seal_boxes", **options).counts["box_sealed"]


def held(box):
    return [member.memory for member in box.members]


def test_facts_that_are_told_together_lie_in_one_box_until_the_topic_shifts(ada):
    tea, more, work = (ada.fact(said) for said in (TEA, ONCE_MORE, WORK))

    new, old = boxes(ada)
    assert ([tea.uid, more.uid], SealReason.TOPIC_SHIFT) == (held(old), old.seal_reason)
    assert ([work.uid], None) == (held(new), new.seal_reason)
    assert ("tea", "preference") == old.topics
    assert {"company-siemens", "relationship", "siemens"} <= set(new.topics)
    (trace,) = traces(ada)
    assert (old.uid,) == trace.boxes
    assert (old.trace, old.topics) == (trace.uid, trace.topics)
    assert [trace.uid[:6], 14] == ["trace-", len(trace.uid)]


def test_a_space_without_the_switch_has_no_boxes(house):
    ada = Session(house)
    ada.fact(TEA)

    assert () == boxes(ada) == traces(ada)
    ada.want(memory_boxes_enabled=True)
    ada.fact(ONCE_MORE)
    ada.keeper.notebooks.seal(ada.space, SealReason.FORCED, house.caller)
    assert [None] == [box.trace for box in boxes(ada)]


def test_what_is_told_again_is_no_new_memory_and_changes_no_box(ada, house):
    ada.fact(TEA)
    before = boxes(ada)
    house.clock.advance(hours=2)
    ada.fact(TEA)

    assert before == boxes(ada)


def test_times_are_those_of_the_turns(ada, house):
    said = house.clock.now() - timedelta(days=300)
    ada.fact(TEA, at=said)
    ada.fact(ONCE_MORE, at=said + timedelta(minutes=31))

    new, old = boxes(ada)
    assert (said, said, said + timedelta(minutes=31)) == (
        old.created_at,
        old.last_at,
        old.sealed_at,
    )
    assert SealReason.TIME_GAP == old.seal_reason
    assert [new] == list(boxes(ada, is_open=True))
    assert () == boxes(ada, days=299)


def test_the_job_seals_after_the_gap_and_never_between_messages_of_an_import(ada, house):
    ada.fact(TEA, at=house.clock.now() - timedelta(days=300))
    counts = [seal(house)]
    house.clock.advance(minutes=30)
    counts.append(seal(house))
    house.clock.advance(seconds=1)
    counts += [seal(house, dry_run=True), seal(house), seal(house)]

    assert [0, 0, 1, 1, 0] == counts
    assert [SealReason.TIME_GAP] == [box.seal_reason for box in boxes(ada)]


def test_a_flush_and_a_caller_seal(ada, house):
    ada.fact(TEA)
    list(ada.keeper.flush(ada.space, None, caller=house.caller))
    ada.fact(ONCE_MORE)
    done = ada.keeper.notebooks.seal(ada.space, SealReason.FORCED, house.caller)
    again = ada.keeper.notebooks.seal(ada.space, SealReason.FORCED, house.caller)

    assert [SealReason.FORCED, SealReason.FLUSH] == [box.seal_reason for box in boxes(ada)]
    assert SealReason.FORCED == done.answer.seal_reason
    assert again.answer is None


def test_a_box_of_the_same_topics_days_later_is_of_the_same_trace(ada, house):
    ada.fact(TEA)
    house.clock.advance(days=2)
    ada.fact(ONCE_MORE)
    house.clock.advance(days=2)
    ada.fact(WORK)

    first, second = boxes(ada)[::-1][:2]
    (trace,) = [each for each in traces(ada) if second.uid in each.boxes]
    assert first.trace == second.trace == trace.uid
    assert (second.uid, first.uid) == trace.boxes
    assert (first.created_at, second.last_at) == (trace.first_at, trace.last_at)


def test_a_box_and_its_trace_say_nothing_of_what_was_retracted(ada, house):
    tea, work = ada.fact(TEA), ada.fact(ONCE_MORE.replace("#tea", "#tea #kettle"))
    ada.keeper.notebooks.seal(ada.space, SealReason.FORCED, house.caller)
    ada.put_away(work.uid)

    (box,) = boxes(ada)
    (trace,) = traces(ada)
    assert [tea.uid] == held(box)
    assert "kettle" not in {*box.topics, *trace.topics}
    ada.put_away(tea.uid)
    assert () == boxes(ada) == traces(ada)


def test_facts_at_once_share_the_one_open_box(ada, house):
    others = [Session(house, session=f"chat-{number}") for number in range(4)]
    threads = [
        Thread(target=other.fact, args=(f"FYI I love my green #tea number {number}.",))
        for number, other in enumerate(others)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    (box,) = boxes(ada)
    assert 4 == len(box.members) == len(set(held(box)))


def test_boxes_of_another_space_are_not_found(ada, house):
    ada.fact(TEA)
    eve = Session(house, "user:eve")
    (box,) = boxes(ada)

    assert box == ada.keeper.notebooks.box(ada.space, box.uid)
    with pytest.raises(NotFound):
        eve.keeper.notebooks.box(eve.space, box.uid)
    with pytest.raises(NotFound):
        eve.keeper.notebooks.trace(eve.space, "trace-12345678")
