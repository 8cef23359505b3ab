"""Recall on a real graph."""

import time
from datetime import timedelta

import pytest
from builders import a_request

from graphmem.errors import Forbidden, InvalidInput, ScopeDenied
from graphmem.model.caller import Caller, Role
from graphmem.model.entity import EntityRef
from graphmem.model.memory import MemoryType
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.recall.request import Mode, RankerName, RecallRequest


def uids(bundle):
    return [item.memory.uid for item in bundle.items]


def test_a_just_acknowledged_write_is_found_by_words_and_by_meaning(house):
    house.write(a_request("The zebra crossed the road."))

    item = house.recall("zebra").items[0]

    assert (1, 1) == (item.explanation.text.rank, item.explanation.vector.rank)


def test_any_of_several_sentences_is_found_by_its_own_vector(house):
    house.write(a_request("Alpha beta gamma. Delta epsilon zeta."))

    best = house.recall("delta epsilon zeta").items[0].explanation.vector

    assert best.score == pytest.approx(1.0, abs=1e-3)


def test_every_result_carries_its_factors_and_they_make_the_score(house):
    house.write(a_request("Ada likes tea.", confidence=0.5))

    item = house.recall("tea").items[0]
    factors = item.explanation.factors

    expected = (
        (factors["vector"] + factors["text"]) * factors["confidence"] * factors["contradiction"]
    )
    assert expected == pytest.approx(item.score, abs=1e-6)


LITERALS = [
    '+ - && || ! ( ) { } [ ] ^ " ~ * ? : \\ / marker',
    "AND OR NOT TO marker",
    "to be or not to be",
    "well-known marker",
    "a`b`c marker",
    "emoji 👍 marker",
    "用户喜欢中国菜",
    "القطط تحب الحليب",
    "field:value^2~ marker",
    "SELECT * FROM x; DROP marker",
]


@pytest.mark.parametrize("literal", LITERALS)
def test_a_literal_match_is_found_whatever_its_characters(house, literal):
    house.write(a_request("Something else entirely."), a_request(literal))

    items = house.recall(literal).items

    assert literal == items[0].memory.content
    assert items[0].explanation.text is not None


@pytest.mark.parametrize("cue", ["中国", "喜欢", "👍"])
def test_two_characters_of_a_script_without_blanks_or_one_emoji_are_enough(house, cue):
    house.write(a_request("Nothing here."), a_request("用户喜欢中国菜 👍"))

    assert "用户喜欢中国菜 👍" == house.contents(cue)[0]


@pytest.mark.parametrize(
    "cue", ["(" * 5000, "word " * 1600, '"' * 8000, "a:" * 4000, "?", "the of and", "🎉" * 2000]
)
def test_hostile_and_long_questions_are_answered_fast(house, cue):
    house.write(a_request("Ada likes tea."))
    house.recall("warm")

    started = time.perf_counter()
    bundle = house.recall(cue)

    assert time.perf_counter() - started < 5  # a parser overflow would take minutes
    assert bundle.mode in set(Mode)


def test_one_memory_among_many_of_another_space_gets_its_hit(house):
    house.write(*[a_request(f"Tea number {number}.", space="user:bob") for number in range(300)])
    house.write(a_request("Tea of Ada."))

    assert ["Tea of Ada."] == house.contents("tea")


def test_filters_apply_before_the_cut(house):
    house.write(*[a_request(f"Tea fact {number}.") for number in range(150)])
    house.write(
        a_request(
            "A goal of tea.",
            type=MemoryType.GOAL,
            tags=("rare",),
            entities=(EntityRef(key="place:kyoto"),),
        ),
        a_request(
            "Said in a channel: tea.",
            source=Source(
                type=SourceType.CHANNEL_TRANSCRIPT,
                conversation_id="c-9",
                captured_by=CapturedBy.EXTRACTOR,
            ),
        ),
    )

    assert ["A goal of tea."] == house.contents("tea", types=[MemoryType.GOAL])
    assert ["A goal of tea."] == house.contents("tea", tags=["rare"])
    assert ["A goal of tea."] == house.contents("tea", entities=["place:Kyoto"])
    assert ["Said in a channel: tea."] == house.contents("tea", captured_by=[CapturedBy.EXTRACTOR])
    assert ["Said in a channel: tea."] == house.contents("tea", conversation_id="c-9")
    assert [] == house.contents("tea", types=[MemoryType.GOAL], conversation_id="c-9")


def test_the_limit_is_filled_whenever_enough_match(house):
    house.write(*[a_request(f"Plain fact number {number}.", tags=("t",)) for number in range(250)])

    assert 200 == len(house.recall("unrelated words", limit=200).items)
    assert 150 == len(house.recall("unrelated words", limit=150, tags=["t"]).items)


def test_many_sentences_of_few_memories_do_not_crowd_out_the_rest(house):
    long = [
        a_request(" ".join(f"Tea sentence {s} of memory {m} here." for s in range(60)))
        for m in range(5)
    ]
    house.write(*long, *[a_request(f"Short {number}.") for number in range(20)])

    bundle = house.recall("tea sentence memory", limit=20)

    assert 20 == len(bundle.items)
    assert "exact" == bundle.search


def test_what_has_expired_is_not_recalled_and_takes_no_place(house):
    soon = house.clock.now() + timedelta(minutes=1)
    house.write(*[a_request(f"Tea expiring {number}.", expires_at=soon) for number in range(120)])
    house.write(a_request("Tea and lasting words that make it longer and rank lower."))

    house.clock.advance(minutes=1)
    assert ["Tea and lasting words that make it longer and rank lower."] == house.contents(
        "tea expiring"
    )


def test_what_will_expire_is_recalled_until_then(house):
    house.write(a_request("Tea soon gone.", expires_at=house.clock.now() + timedelta(minutes=1)))

    house.clock.advance(seconds=59)
    item = house.recall("tea").items[0]

    assert item.explanation.text is not None
    assert item.explanation.vector is not None


def test_contradicting_memories_are_marked_while_both_are_active(house):
    house.write(
        a_request("The door is red.", uid="a"),
        a_request("The door is blue.", uid="b", contradicts=("a",)),
    )

    bundle = house.recall("door")

    assert [True, True] == [item.contradicted for item in bundle.items]
    assert [("b", "CONTRADICTS", "a")] == [
        (edge.from_uid, edge.type, edge.to_uid) for edge in bundle.edges
    ]
    house.write(a_request("The door was repainted.", updates=("a",)))
    assert not any(item.contradicted for item in house.recall("door").items)


def test_rrf_scores_as_002_says(house):
    house.write(
        a_request("tea one", uid="a", importance=0, confidence=1.0),
        a_request("tea one", uid="b", importance=60, confidence=1.0),
        a_request("tea one", uid="c", importance=100, confidence=0.5, contradicts=("b",)),
    )
    house.embedder.is_broken = True

    items = house.recall("tea", ranker=RankerName.RRF).items

    expected = {"a": 1 / 61, "b": 1 / 62 * 1.6 * 0.8, "c": 1 / 63 * 2 * 0.5 * 0.8}
    assert expected == pytest.approx({item.memory.uid: item.score for item in items}, abs=1e-6)


@pytest.mark.parametrize("ranker", [RankerName.RRF, RankerName.BLEND, RankerName.FUSED])
def test_candidates_by_vector_are_memories_however_many_sentences_they_have(house, ranker):
    sentences = (f"Tea is drunk on day {day}." for day in range(20))
    text = " ".join(sentences)
    for start in range(0, 60, 20):
        house.write(*(a_request(f"Tea {n}. {text}") for n in range(start, start + 20)))

    items = house.recall(
        "Tea is drunk on day 7.", ranker=ranker, candidates_vector=50, limit=100
    ).items

    assert 50 == len([item for item in items if item.explanation.vector])


def test_orchestrator_spaces_are_ranked_by_rrf_and_recalled_alone(house):
    house.write(a_request("Tea.", space="orchestrator:main"))

    assert RankerName.RRF == house.recall("tea", "orchestrator:main").ranker
    assert RankerName.FUSED == house.recall("tea").ranker
    for spaces in (("orchestrator:main", "user:ada"), ("orchestrator:main", "orchestrator:other")):
        with pytest.raises(ScopeDenied):
            house.recall("tea", *spaces)


def test_a_persona_reads_its_owner_and_not_the_other_way(house):
    house.write(
        a_request("Tea of the owner."), a_request("Tea of the coach.", space="user:ada/coach")
    )

    assert {"Tea of the owner.", "Tea of the coach."} == set(
        house.contents("tea", "user:ada/coach")
    )
    assert ["Tea of the owner."] == house.contents("tea", "user:ada")


def test_nothing_crosses_a_tenant_or_a_pattern(house):
    house.write(a_request("Secret tea."))

    def recall_as(tenant, *patterns):
        caller = Caller(key_id="k", tenant=tenant, role=Role.READER, spaces=patterns)
        return house.graphmem.recall.recall(
            RecallRequest(spaces=["user:ada"], query="tea"), caller=caller
        )

    assert () == recall_as("another-tenant", "*").items
    with pytest.raises(Forbidden):
        recall_as(house.caller.tenant, "project:*")


def test_edges_forged_across_a_wall_are_not_followed(house):
    house.write(a_request("Tea here.", uid="a"), a_request("Tea there.", uid="b", space="user:bob"))
    house.rows(
        "MATCH (a:Memory {uid: 'a'}), (b:Memory {uid: 'b'}) WHERE a.space STARTS WITH $tenant"
        " AND b.space STARTS WITH $tenant"
        " CREATE (a)-[:CONTRADICTS {uid: 'forged', weight: 1.0, created_at: datetime()}]->(b)"
    )

    bundle = house.recall("tea", ranker=RankerName.RRF)

    assert ([False], ()) == ([item.contradicted for item in bundle.items], bundle.edges)


def test_min_score_applies(house):
    house.write(a_request("Ada likes tea."), a_request("Bob likes wine."))
    scores = [item.score for item in house.recall("tea").items]

    assert 1 == len(house.recall("tea", min_score=scores[0]).items)


def test_a_bad_space_is_named(house):
    with pytest.raises(InvalidInput) as caught:
        house.recall("tea", "user:ada", "nonsense")

    assert ["spaces.1"] == list(caught.value.fields)


def test_a_recall_is_one_round_trip_and_at_most_two(house):
    house.write(*[a_request(f"Tea fact {number}.", tags=("t",)) for number in range(30)])

    assert 1 == round_trips(house, lambda: house.recall("tea"))
    assert 1 == round_trips(house, lambda: house.recall("tea", tags=["t"], limit=5))
    long = [
        a_request(" ".join(f"Coffee sentence {s} of {m}." for s in range(60))) for m in range(5)
    ]
    house.write(*long)
    assert 2 == round_trips(house, lambda: house.recall("coffee sentence", limit=20))


def round_trips(house, action):
    """How often something asks the database."""
    before = house.graphmem.connection.queries_run
    action()
    return house.graphmem.connection.queries_run - before
