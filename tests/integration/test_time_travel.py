"""What was true at a time, and what was known at a time."""

from datetime import timedelta

import pytest
from builders import a_request

from graphmem.model.entity import EntityRef
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
