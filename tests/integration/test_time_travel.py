"""What was true at a time, and what was known at a time."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from builders import NOW, a_request

from api.memories.schemas import correction_request
from graphmem.errors import Conflict
from graphmem.gateway.status import ChangeStatus
from graphmem.model.entity import EntityRef
from graphmem.model.memory import MemoryType, Status
from graphmem.model.writing import OnSameKey, Outcome
from graphmem.recall.request import RankerName

DAY = timedelta(days=1)


@pytest.fixture
def drinks(house):
    """Cola from 1 March, coffee from 3 March, cola again from 5 March; each learned on its day."""
    start = house.clock.now()
    uids = []
    for day, drink in ((0, "cola"), (2, "coffee"), (4, "cola again")):
        moment = start + day * DAY
        house.clock.advance(days=day - (house.clock.now() - start).days)
        updates = (uids[-1],) if uids else ()
        report = house.write(a_request(f"Ada drinks {drink}.", valid_from=moment, updates=updates))
        uids.append(report.results[0].memory.uid)
    return start, uids


def test_by_default_only_what_is_true_now_comes_back(house, drinks):
    assert ["Ada drinks cola again."] == house.contents("what does Ada drink")


@pytest.mark.parametrize(
    ("day", "drink"),
    [
        (0, "cola"),
        (1.99, "cola"),
        (2, "coffee"),
        (3.99, "coffee"),
        (4, "cola again"),
        (9, "cola again"),
    ],
)
def test_as_of_gives_the_value_of_that_time(house, drinks, day, drink):
    start, _ = drinks

    assert [f"Ada drinks {drink}."] == house.contents(
        "what does Ada drink", as_of=start + day * DAY
    )


def test_as_of_before_the_first_value_gives_none(house, drinks):
    assert [] == house.contents("what does Ada drink", as_of=drinks[0] - DAY)


def test_include_superseded_gives_all_three_labelled(house, drinks):
    items = house.recall("what does Ada drink", include_superseded=True).items

    assert {"superseded": 2, "active": 1} == {
        status: sum(item.memory.status == status for item in items)
        for status in ("superseded", "active")
    }


@pytest.mark.parametrize(
    ("day", "drink"), [(0, "cola"), (1, "cola"), (2, "coffee"), (3, "coffee"), (4, "cola again")]
)
def test_known_at_gives_what_was_believed_then(house, drinks, day, drink):
    start, _ = drinks

    moment = start + day * DAY
    assert [f"Ada drinks {drink}."] == house.contents(
        "what does Ada drink", known_at=moment, as_of=moment
    )


def test_what_did_we_believe_on_the_third_about_the_first(house, drinks):
    start, _ = drinks

    items = house.recall("what does Ada drink", known_at=start + 2 * DAY, as_of=start).items

    assert [("Ada drinks cola.", "superseded")] == [
        (item.memory.content, item.memory.status) for item in items
    ]


def test_before_anything_was_recorded_nothing_was_known(house, drinks):
    assert [] == house.contents("what does Ada drink", known_at=drinks[0] - DAY)


def test_a_memory_revised_in_place_comes_back_as_it_was_worded_then(house):
    before = house.clock.now()
    house.write(a_request("Ada lives in Leeds.", uid="home"))
    house.clock.advance(days=1)
    house.write(a_request("Ada moved to Rome.", uid="home"))

    assert ["Ada moved to Rome."] == house.contents("where does Ada live")
    assert ["Ada lives in Leeds."] == house.contents(
        "where does Ada live in Leeds", known_at=before
    )
    item = house.recall("where does Ada live in Leeds", known_at=before).items[0]
    assert item.explanation.vector.score > 0.6  # compared by the vector of that version


def test_a_status_change_does_not_hide_the_wording_of_before(house):
    before = house.clock.now()
    house.write(a_request("Ada lives in Leeds.", uid="home"))
    house.clock.advance(days=1)
    house.write(a_request("Ada lives in Leeds, Yorkshire.", uid="home", importance=70))
    house.clock.advance(days=1)
    house.write(a_request("Ada lives in Rome.", updates=("home",)))

    assert ["Ada lives in Leeds."] == house.contents("Leeds", known_at=before)
    assert ["Ada lives in Leeds, Yorkshire."] == house.contents("Leeds", known_at=before + DAY)
    assert ["Ada lives in Rome."] == house.contents("Leeds", known_at=before + 2 * DAY)


def test_filters_hold_in_the_past_too(house):
    now = house.clock.now()
    house.write(a_request("Ada likes tea.", tags=("t",)), a_request("Ada likes cake."))

    assert ["Ada likes tea."] == house.contents("Ada likes", known_at=now, tags=["t"])


def test_the_limit_is_filled_although_many_are_no_longer_true(house):
    past, now = house.clock.now() - DAY, house.clock.now()
    house.write(*[a_request(f"Tea offer {number}.", valid_until=past) for number in range(120)])
    house.write(
        *[a_request(f"Tea offer {number} of today.", valid_until=now + DAY) for number in range(15)]
    )
    house.write(
        *[
            a_request(f"Tea offer {number} of the next month.", valid_from=now + 9 * DAY)
            for number in range(120)
        ]
    )

    contents = house.contents("tea offer", limit=15)
    assert 15 == len(contents)
    assert all("today" in content for content in contents)
    assert 15 == len(house.contents("tea offer", limit=15, ranker=RankerName.RRF))


def test_cards_are_as_of_their_time_too(house):
    start = house.clock.now()
    ada = (EntityRef(key="person:ada"),)
    house.write(a_request("Ada plays chess.", entities=ada, importance=10))
    old = (
        house.write(a_request("Ada works at the bank.", entities=ada, importance=80))
        .results[0]
        .memory.uid
    )
    house.clock.advance(days=1)
    house.write(a_request("Ada works at the zoo.", entities=ada, importance=80, updates=(old,)))

    def facts(**options):
        cards = house.recall("chess", limit=1, cards=True, **options).cards
        return [fact.content for card in cards for fact in card.facts]

    assert ["Ada works at the zoo."] == facts()
    assert ["Ada works at the bank."] == facts(as_of=start)
    assert ["Ada works at the bank."] == facts(known_at=start, as_of=start)


def test_what_has_no_end_is_true_in_any_future(house):
    house.write(
        a_request("Tea for ever."), a_request("Tea from now on.", valid_from=house.clock.now())
    )

    for year in (2099, 2101, 9999):
        moment = house.clock.now().replace(year=year)
        assert 2 == len(house.contents("tea", as_of=moment))


def rent(words, begin=None, **more):
    times = {} if begin is None else {"valid_from": NOW + timedelta(days=begin)}
    return a_request(words, logical_key="rent", on_same_key=OnSameKey.SUPERSEDE, **times, **more)


def holding(house, day):
    """What a recall as of a day finds of the rent."""
    return house.contents("The rent", as_of=NOW + timedelta(days=day))


def outcomes(report):
    return [result.outcome for result in report.results]


def test_a_value_that_begins_in_the_future_leaves_todays_until_then(house):
    house.write(rent("The rent is 900 euros."))
    assert [Outcome.SUPERSEDED] == outcomes(house.write(rent("The rent is 1000 euros.", 30)))

    assert ["The rent is 900 euros."] == house.contents("The rent") == holding(house, 1)
    assert ["The rent is 1000 euros."] == holding(house, 31)
    house.clock.advance(days=31)
    assert ["The rent is 1000 euros."] == house.contents("The rent")
    assert 0 == house.graphmem.runner.run("integrity").counts["superseded_without_update"]


def test_an_older_value_that_arrives_later_lies_in_the_past(house):
    house.write(rent("The rent is 900 euros.", -10))

    report = house.write(rent("The rent is 700 euros.", -300))

    assert [Outcome.SUPERSEDED_BY_NEWER] == outcomes(report)
    assert ["The rent is 900 euros."] == house.contents("The rent") == holding(house, 0)
    assert ["The rent is 700 euros."] == holding(house, -200)


@pytest.mark.parametrize("order", [(-30, -20, -10), (-10, -20, -30), (-20, -30, -10)])
def test_a_batch_of_values_in_any_order_gives_the_same_axis(house, order):
    house.write(*(rent(f"The rent is {-number}0 euros.", number) for number in order))

    assert ["The rent is 100 euros."] == house.contents("The rent")
    for day, euros in ((-25, 300), (-15, 200), (-5, 100)):
        assert [f"The rent is {euros} euros."] == holding(house, day)


def test_values_of_one_key_that_arrive_side_by_side_never_hold_together(house):
    with ThreadPoolExecutor(4) as pool:
        list(
            pool.map(
                lambda number: house.write(rent(f"The rent is {number} euros.", -number)),
                range(10, 26),
            )
        )

    assert ["The rent is 10 euros."] == house.contents("The rent")
    for day in range(10, 26):
        assert [f"The rent is {day} euros."] == holding(house, -day)


def change(house, uid, status):
    (memory,) = house.graphmem.memories.by_uid(house.caller.tenant, uid)
    before = house.graphmem.histories.last_active(memory)
    house.graphmem.gateway.execute(
        ChangeStatus(memory=memory, status=status, reason="by hand", before=before), house.caller
    )


@pytest.mark.parametrize("how", ["key", "updates"])
@pytest.mark.parametrize("order", [("old", "new"), ("new",)])
def test_a_restored_successor_supersedes_again_what_it_had_superseded(house, how, order):
    key = {"logical_key": "rent", "on_same_key": OnSameKey.SUPERSEDE} if how == "key" else {}
    house.write(a_request("The rent is 900 euros.", uid="old", **key))
    house.clock.advance(days=1)
    named = {"updates": ("old",)} if how == "updates" else {}
    house.write(a_request("The rent is 1000 euros.", uid="new", **key, **named))
    change(house, "new", Status.RETRACTED)

    for uid in order:
        change(house, uid, Status.ACTIVE)

    assert ["The rent is 1000 euros."] == house.contents("The rent")
    assert [("new", "active"), ("old", "superseded")] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant RETURN m.uid, m.status ORDER BY m.uid"
    )
    assert 0 == house.graphmem.runner.run("integrity").counts["memories_without_claim"]


def test_a_value_that_is_restored_before_a_later_one_ends_where_that_begins(house):
    house.write(rent("The rent is 900 euros.", uid="a"))
    change(house, "a", Status.RETRACTED)
    house.write(rent("The rent is 1000 euros.", 30))

    change(house, "a", Status.ACTIVE)

    assert ["The rent is 900 euros."] == house.contents("The rent") == holding(house, 1)
    assert ["The rent is 1000 euros."] == holding(house, 31)


def test_what_would_stand_beside_its_twin_or_another_value_is_not_restored(house):
    for uid in ("a", "b"):
        house.write(a_request("Ada likes tea.", claims_content=True, uid=uid, logical_key=uid))
        change(house, uid, Status.RETRACTED)
    house.write(rent("The rent is 900 euros.", uid="c"))
    change(house, "c", Status.RETRACTED)
    house.write(rent("The rent is 1000 euros.", -5, uid="d"))

    change(house, "a", Status.ACTIVE)

    with pytest.raises(Conflict, match="memory a says the same"):
        change(house, "b", Status.ACTIVE)
    with pytest.raises(Conflict, match="memory d says the same or has its key"):
        change(house, "c", Status.ACTIVE)


def test_a_second_update_of_a_memory_takes_the_place_of_the_first_one(house):
    house.write(a_request("The office is in Bonn.", uid="a"))
    for number, city in enumerate(("Berlin", "Hamburg")):
        house.clock.advance(days=1)
        house.write(a_request(f"The office is in {city}.", uid=f"u{number}", updates=("a",)))

    assert ["The office is in Hamburg."] == house.contents("The office")


def test_a_correction_into_the_time_of_another_value_is_refused(house):
    house.write(rent("The rent is 900 euros.", -90, uid="a"))
    house.write(rent("The rent is 1000 euros.", -10, uid="b"))
    memory = house.graphmem.memories.by_uid(house.caller.tenant, "a")[0]
    request = correction_request(memory, {"valid_until": None})

    with pytest.raises(Conflict, match="memory b says that already, or holds then"):
        house.graphmem.writing.correct(request, caller=house.caller)


def test_a_correction_knows_the_type_of_the_memory_and_refuses_a_twin(house):
    for uid, drink in (("a", "tea"), ("b", "coffee")):
        request = a_request(f"Ada likes {drink}.", type=MemoryType.PREFERENCE, claims_content=True)
        house.write(replace(request, uid=uid, given=request.given | {"uid"}))
    memory = house.graphmem.memories.by_uid(house.caller.tenant, "b")[0]

    with pytest.raises(Conflict, match="memory a says that already"):
        house.graphmem.writing.correct(
            correction_request(memory, {"content": "Ada likes tea."}), caller=house.caller
        )
