"""Cards, the graph arm, the rankers and the planner, on the real graph."""

import pytest
from builders import a_request

from graphmem.gateway.status import ChangeStatus
from graphmem.model.entity import EntityRef
from graphmem.model.memory import Status
from graphmem.recall.planner import Plan
from graphmem.recall.request import Mode, RankerName

ADA, GOOGLE, LONDON = (EntityRef(key=key) for key in ("person:ada", "org:google", "place:london"))


def write(house, content, *entities, **more):
    return house.write(a_request(content, entities=entities, **more)).results[0].memory.uid


def round_trips(house, action):
    before = house.graphmem.connection.queries_run
    action()
    return house.graphmem.connection.queries_run - before


def test_cards_say_what_else_is_known_of_the_entities_of_the_results(house):
    write(house, "Ada plays chess.", ADA, importance=40)
    write(house, "Ada works at Google.", ADA, GOOGLE, importance=70)
    write(house, "Ada lives in London.", ADA, LONDON, importance=95)
    write(house, "Ada sneezed.", ADA, importance=59)
    write(house, "Ada is Ada.", ADA, importance=10, pinned=True)
    write(house, "Bob likes London.", EntityRef(key="person:bob"), LONDON, importance=95)

    cards = house.recall("chess", limit=1, cards=True).cards

    text = "[person:ada]: Ada is Ada.; Ada lives in London.; Ada works at Google."
    assert [text] == [card.text for card in cards]
    assert ["Ada"] == [card.label for card in cards]


def test_a_card_holds_nothing_of_another_space_or_status_or_of_the_results(house):
    write(house, "Ada plays chess.", ADA, importance=90)
    gone = write(house, "Ada is archived.", ADA, importance=90)
    write(house, "Ada of Bob.", ADA, space="user:bob", importance=90)
    memory = house.graphmem.memories.by_uid(house.caller.tenant, gone)[0]
    house.graphmem.gateway.execute(
        ChangeStatus(memory=memory, status=Status.ARCHIVED, reason=None), house.caller
    )

    assert () == house.recall("chess", limit=1, cards=True).cards


def test_personas_share_entities_but_not_memories(house):
    write(house, "Ada plays chess.", ADA, space="user:ada/coach", importance=90)
    write(house, "Ada likes tea.", ADA, space="user:ada", importance=90)
    write(house, "Ada told the lawyer.", ADA, space="user:ada/lawyer", importance=90)

    cards = house.recall("chess", "user:ada/coach", limit=1, cards=True).cards

    assert [["Ada likes tea."]] == [[fact.content for fact in card.facts] for card in cards]


def test_a_recall_with_cards_and_graph_is_two_round_trips(house):
    for number in range(30):
        write(house, f"Tea fact {number}.", ADA, importance=80)

    assert 1 == round_trips(house, lambda: house.recall("tea", graph=True))
    assert 2 == round_trips(house, lambda: house.recall("tea", graph=True, cards=True))


def test_the_graph_arm_finds_what_neither_words_nor_meaning_carry(house):
    house.write(*[a_request(f"Plain filler number {number}.") for number in range(200)])
    cause = write(house, "zzz qqq.")
    write(house, "The valve burst.", related_to=(cause,))

    def found(**options):
        return "zzz qqq." in house.contents("why did the valve burst", limit=10, **options)

    assert (False, True) == (found(), found(graph=True))
    item = next(
        i for i in house.recall("valve burst", graph=True, limit=10).items if i.memory.uid == cause
    )
    assert item.explanation.graph.rank == 1
    assert item.explanation.text is None


def test_the_graph_arm_goes_two_edges_and_over_shared_entities_but_not_over_hubs(house):
    house.write(
        *[a_request(f"Plain filler number {number}.", entities=(LONDON,)) for number in range(120)]
    )
    far = write(house, "zzz one.")
    middle = write(house, "zzz two.", related_to=(far,))
    write(house, "The valve burst.", ADA, LONDON, related_to=(middle,))
    shared = write(house, "zzz three.", ADA)
    hub = write(house, "zzz four.", LONDON)

    ranks = {
        item.memory.uid: item.explanation.graph.rank
        for item in house.recall("valve burst", graph=True, limit=100).items
        if item.explanation.graph
    }
    assert {far, middle, shared} <= set(ranks)
    assert hub not in ranks


def test_the_graph_arm_stays_behind_the_wall_and_the_filters(house):
    house.write(*[a_request(f"Plain filler number {number}.") for number in range(120)])
    mine = write(house, "zzz mine.", ADA)
    write(house, "zzz of Bob.", ADA, space="user:bob")
    write(house, "The valve burst.", ADA, related_to=(mine,), tags=("t",))
    house.rows(
        "MATCH (a:Memory {uid: $uid}), (b:Memory {content: 'zzz of Bob.'})"
        " WHERE a.space STARTS WITH $tenant AND b.space STARTS WITH $tenant"
        " CREATE (a)-[:RELATED_TO {uid: 'forged', weight: 1.0, created_at: datetime()}]->(b)",
        uid=mine,
    )

    contents = house.contents("valve burst", graph=True, limit=200)
    assert "zzz mine." in contents
    assert "zzz of Bob." not in contents
    assert ["The valve burst."] == house.contents("valve burst", graph=True, tags=["t"])


@pytest.mark.parametrize("ranker", RankerName)
def test_every_ranker_answers_with_its_factors(house, ranker):
    write(house, "Ada likes tea.", ADA)
    write(house, "Bob likes wine.")

    items = house.recall("tea", ranker=ranker).items

    assert "Ada likes tea." == items[0].memory.content
    assert items[0].explanation.factors
    assert [item.score for item in items] == sorted((item.score for item in items), reverse=True)


def test_blend_prefers_the_recent_and_the_often_mentioned(house):
    write(house, "Tea is old.", ADA)
    house.clock.advance(days=60)
    write(house, "Tea is new.", ADA)

    assert ["Tea is new.", "Tea is old."] == house.contents("tea", ranker=RankerName.BLEND)


def test_lifecycle_returns_memories_of_a_score_below_zero(house):
    write(house, "Nothing like it at all.", importance=0)
    house.clock.advance(days=900)

    assert 1 == len(house.recall("zebra crossing", ranker=RankerName.LIFECYCLE).items)


@pytest.mark.parametrize(
    ("cue", "plan", "count"),
    [("Thanks!", Plan.NO_RECALL, 0), ("fix the tea", Plan.MINIMAL, 4), ("tea?", Plan.FULL, 8)],
)
def test_the_planner_decides_how_much_comes_back(house, cue, plan, count):
    for number in range(12):
        write(house, f"Tea fact {number}.")

    bundle = house.recall(cue, plan=True)

    assert (plan, count) == (bundle.plan, len(bundle.items))
    assert (Mode.NONE if not count else Mode.HYBRID) == bundle.mode


def test_a_question_for_the_course_of_events_follows_the_graph(house):
    house.write(*[a_request(f"Plain filler number {number}.") for number in range(200)])
    cause = write(house, "zzz qqq.")
    write(house, "The valve burst.", related_to=(cause,))

    bundle = house.recall("timeline of the valve burst", plan=True)

    assert Plan.GRAPH_MODE == bundle.plan
    assert any(item.explanation.graph for item in bundle.items)


def test_cards_show_only_what_is_current_also_when_the_recall_asks_for_more(house):
    write(house, "Ada plays chess.", ADA)
    old = write(house, "Ada works at the bank.", ADA, importance=90)
    write(house, "Ada works at the zoo.", ADA, importance=90, updates=(old,))

    cards = house.recall(
        "chess", limit=1, cards=True, include_superseded=True, include_archived=True
    ).cards

    assert ["[person:ada]: Ada works at the zoo."] == [card.text for card in cards]
