from dataclasses import replace
from datetime import timedelta

import pytest
from builders import ADA, NOW, a_memory, an_item
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import InvalidInput
from graphmem.gateway.claims import content_claim, logical_claim, source_claim
from graphmem.gateway.decide import decide
from graphmem.gateway.item import selection_for
from graphmem.model.edge import EdgeType
from graphmem.model.entity import EntityRef
from graphmem.model.memory import MemoryType, Status
from graphmem.model.policy import Policy
from graphmem.model.source import Source
from graphmem.model.state import GraphState
from graphmem.model.writing import Dedupe, OnSameKey, Outcome

POLICY = Policy()


def state_of(*memories, claims=None):
    known = {
        content_claim(ADA, memory.type, memory.actor, memory.content): memory.key
        for memory in memories
    }
    return GraphState(
        memories={memory.key: memory for memory in memories}, claims=known | (claims or {})
    )


def decided(state, *items):
    numbered = [
        replace(item, index=number, new_uid=f"new-{number}") for number, item in enumerate(items)
    ]
    return decide(state, numbered, policy=POLICY, now=NOW)


def outcomes(decision):
    return [result.outcome for result in decision.results]


def test_new_content_is_created_with_its_claim():
    decision = decided(GraphState(), an_item("Ada likes tea."))

    assert [Outcome.CREATED] == outcomes(decision)
    memory = decision.created[0]
    assert ("new-0", "Ada likes tea.", 1, Status.ACTIVE) == (
        memory.uid,
        memory.summary,
        memory.mention_count,
        memory.status,
    )
    assert {
        content_claim(ADA, MemoryType.FACT, None, "Ada likes tea."): memory.key
    } == decision.claims


def test_the_same_content_again_reinforces():
    known = a_memory(importance=40, entities=(EntityRef(key="person:ada", label="Ada"),))

    decision = decided(
        state_of(known),
        an_item("ada Likes tea", importance=90, entities=(EntityRef(key="place:leeds"),)),
    )

    assert [Outcome.REINFORCED] == outcomes(decision)
    changed = decision.changed[0]
    assert (2, 90, ["person:ada", "place:leeds"]) == (
        changed.mention_count,
        changed.importance,
        [ref.key for ref in changed.entities],
    )
    assert "Ada likes tea." == changed.content
    assert [known] == [revision.memory for revision in decision.revisions]


def test_mere_repetition_is_counted_without_a_revision():
    decision = decided(state_of(a_memory()), an_item())

    assert 2 == decision.changed[0].mention_count
    assert () == decision.revisions


def test_reinforcing_never_lowers_the_importance():
    decision = decided(state_of(a_memory(importance=80)), an_item(importance=10))

    assert 80 == decision.changed[0].importance


def test_the_same_words_of_another_actor_are_another_memory():
    known = a_memory("I like tea.", actor="Ada")

    assert [Outcome.CREATED] == outcomes(
        decided(state_of(known), an_item("I like tea.", actor="Bob"))
    )
    assert [Outcome.REINFORCED] == outcomes(
        decided(state_of(known), an_item("I like tea.", actor="Ada"))
    )


def test_without_dedupe_equal_content_is_another_memory():
    decision = decided(state_of(a_memory()), an_item(dedupe=Dedupe.NONE))

    assert [Outcome.CREATED] == outcomes(decision)
    assert {} == decision.claims


def test_equal_content_in_one_batch_reinforces_the_first():
    decision = decided(GraphState(), an_item(), an_item(), an_item())

    assert [Outcome.CREATED, Outcome.REINFORCED, Outcome.REINFORCED] == outcomes(decision)
    assert [3] == [memory.mention_count for memory in decision.created]


def test_a_given_uid_is_the_identity():
    known = a_memory("Old text.", uid="x", tags=("keep",), importance=70)

    decision = decided(state_of(known), an_item("New text.", uid="x"))

    assert [Outcome.REVISED] == outcomes(decision)
    assert [(known, NOW)] == [
        (revision.memory, revision.replaced_at) for revision in decision.revisions
    ]
    changed = decision.changed[0]
    assert ("New text.", ("keep",), 70, 2) == (
        changed.content,
        changed.tags,
        changed.importance,
        changed.version,
    )
    assert {changed.key: 0} == decision.vectors_of


def test_a_given_uid_with_nothing_different_is_unchanged():
    decision = decided(state_of(a_memory(uid="x")), an_item("Ada likes tea.", uid="x"))

    assert [Outcome.UNCHANGED] == outcomes(decision)
    assert decision.is_empty


def test_equal_content_under_other_uids_stays_separate():
    decision = decided(state_of(a_memory(uid="x")), an_item("Ada likes tea.", uid="y"))

    assert [Outcome.CREATED] == outcomes(decision)


def test_revising_only_the_importance_makes_no_new_vector():
    decision = decided(
        state_of(a_memory(uid="x")), an_item("Ada likes tea.", uid="x", importance=99)
    )

    assert [Outcome.REVISED] == outcomes(decision)
    assert {} == decision.vectors_of


@pytest.mark.parametrize(
    ("on_same_key", "content", "expected"),
    [
        (OnSameKey.REVISE, "Ada drinks tea.", Outcome.REVISED),
        (OnSameKey.SUPERSEDE, "Ada drinks tea.", Outcome.SUPERSEDED),
        (OnSameKey.KEEP, "Ada drinks tea.", Outcome.UNCHANGED),
        (OnSameKey.REVISE, "Ada drinks  Coffee", Outcome.REINFORCED),
        (OnSameKey.SUPERSEDE, "Ada drinks coffee", Outcome.REINFORCED),
    ],
)
def test_a_logical_key_is_the_claim(on_same_key, content, expected):
    known = a_memory("Ada drinks coffee.", logical_key="drink")
    state = state_of(known, claims={logical_claim(ADA, "drink"): known.key})

    assert [expected] == outcomes(
        decided(state, an_item(content, logical_key="drink", on_same_key=on_same_key))
    )


def test_superseding_ends_the_old_one_and_draws_updates():
    known = a_memory("Ada drinks coffee.", uid="old")

    decision = decided(state_of(known), an_item("Ada drinks tea.", updates=("old",)))

    assert [Outcome.SUPERSEDED] == outcomes(decision)
    assert [(Status.SUPERSEDED, "update")] == [
        (m.status, m.status_reason) for m in decision.changed
    ]
    assert [("new-0", EdgeType.UPDATES, "old")] == [
        (e.from_uid, e.type, e.to_uid) for e in decision.edges.values()
    ]
    assert frozenset({known.key}) == decision.released


def test_a_superseded_content_may_come_back_as_a_new_memory():
    known = a_memory("cola", status=Status.SUPERSEDED)

    assert [Outcome.CREATED] == outcomes(decided(state_of(known), an_item("cola")))


def test_contradiction_leaves_both_active():
    decision = decided(state_of(a_memory("A.", uid="old")), an_item("B.", contradicts=("old",)))

    assert [Outcome.CREATED] == outcomes(decision)
    assert () == decision.changed
    assert [EdgeType.CONTRADICTS] == [edge.type for edge in decision.edges.values()]


def test_a_missing_reference_fails_the_item_and_not_the_others():
    decision = decided(GraphState(), an_item("A.", related_to=("nope",)), an_item("B."))

    assert [Outcome.REFUSED, Outcome.CREATED] == outcomes(decision)
    error = decision.results[0].error
    assert isinstance(error, InvalidInput)
    assert ["related_to.0"] == list(error.fields)


def test_a_reference_may_name_an_earlier_item_of_the_batch():
    decision = decided(GraphState(), an_item("A.", uid="a"), an_item("B.", part_of=("a",)))

    assert [Outcome.CREATED, Outcome.CREATED] == outcomes(decision)


def test_the_same_source_key_again_changes_nothing():
    known = a_memory("Read once.")
    state = state_of(known, claims={source_claim(ADA, "file-1"): known.key})

    decision = decided(state, an_item("Read differently.", source=Source(key="file-1")))

    assert [Outcome.UNCHANGED] == outcomes(decision)
    assert known == decision.results[0].memory
    assert decision.is_empty


def test_at_most_sixteen_entities_are_kept():
    refs = tuple(EntityRef(key=f"person:p{number:02}") for number in range(16))
    known = a_memory(entities=(EntityRef(key="place:x", label="X"),))

    assert 16 == len(decided(state_of(known), an_item(entities=refs)).changed[0].entities)


def test_the_selection_names_every_claim_and_memory_that_a_decision_may_touch():
    selection = selection_for(
        [
            an_item(
                "A.",
                uid=None,
                logical_key="k",
                updates=("old",),
                source=Source(key="s", conversation_id="c"),
            )
        ]
    )

    assert {
        content_claim(ADA, MemoryType.FACT, None, "A."),
        logical_claim(ADA, "k"),
        source_claim(ADA, "s"),
    } == selection.claims
    assert {f"{ADA.key}|old"} == selection.memories
    assert {f"{ADA.key}|c"} == selection.conversations


@given(st.lists(st.sampled_from(["tea", "Tea.", "coffee", "milk"]), max_size=8))
def test_every_write_is_counted_exactly_once(contents):
    decision = decided(GraphState(), *[an_item(content) for content in contents])

    assert len(contents) == sum(memory.mention_count for memory in decision.created)


@given(
    st.permutations(["tea", "coffee", "milk", "juice"]),
    st.lists(st.sampled_from(["Tea.", "coffee", "water"]), min_size=1, max_size=6),
)
def test_a_decision_does_not_depend_on_the_order_in_which_the_graph_was_read(order, contents):
    known = {name: a_memory(name, uid=f"known-{name}") for name in sorted(order)}
    items = [
        an_item(content, updates=("known-milk", "known-juice"), contradicts=("known-tea",))
        for content in contents
    ]

    decision = decided(state_of(*known.values()), *items)

    assert decision == decided(state_of(*[known[name] for name in order]), *items)
    assert [memory.key for memory in decision.changed] == [
        memory.key for memory in decided(state_of(*[known[name] for name in order]), *items).changed
    ]


def test_the_same_words_under_another_logical_key_are_another_memory():
    known = a_memory("yes", logical_key="email")

    decision = decided(state_of(known), an_item("yes", logical_key="sms"))

    assert [Outcome.CREATED] == outcomes(decision)
    assert decision.created[0].key == decision.claims[logical_claim(ADA, "sms")]
    assert content_claim(ADA, MemoryType.FACT, None, "yes") not in decision.claims


def test_a_memory_without_a_logical_key_takes_the_first_one():
    decision = decided(state_of(a_memory("yes")), an_item("yes", logical_key="sms"))

    assert [Outcome.REINFORCED] == outcomes(decision)
    assert "sms" == decision.changed[0].logical_key
    assert logical_claim(ADA, "sms") in decision.claims


def test_what_has_expired_is_not_reinforced():
    decision = decided(state_of(a_memory(expires_at=NOW)), an_item())

    assert [Outcome.CREATED] == outcomes(decision)


def test_an_archived_memory_written_again_by_its_uid_counts_again():
    known = a_memory("Old.", uid="x", status=Status.ARCHIVED, status_reason="ttl", expires_at=NOW)

    decision = decided(state_of(known), an_item("New.", uid="x"))

    assert [Outcome.REVISED] == outcomes(decision)
    assert (Status.ACTIVE, None) == (decision.changed[0].status, decision.changed[0].expires_at)


@pytest.mark.parametrize("status", [Status.SUPERSEDED, Status.RETRACTED])
def test_a_superseded_or_retracted_memory_is_not_brought_back_by_a_new_text(status):
    decision = decided(state_of(a_memory("Old.", uid="x", status=status)), an_item("New.", uid="x"))

    assert ["conflict"] == [result.error.code for result in decision.results]
    assert decision.is_empty


def test_an_unchanged_memory_still_gets_the_edges_that_are_asked_for():
    a, x = a_memory("A.", uid="a"), a_memory("X.", uid="x")

    decision = decided(state_of(a, x), an_item("X.", uid="x", contradicts=("a",)))

    assert [Outcome.UNCHANGED] == outcomes(decision)
    assert [EdgeType.CONTRADICTS] == [edge.type for edge in decision.edges.values()]


def test_naming_a_known_entity_again_changes_nothing():
    known = a_memory(uid="x", entities=(EntityRef(key="person:ada", label="Ada Lovelace"),))

    decision = decided(state_of(known), an_item(uid="x", entities=(EntityRef(key="person:ada"),)))

    assert [Outcome.UNCHANGED] == outcomes(decision)


def test_a_revision_within_a_batch_ends_the_claim_of_the_former_words():
    decision = decided(
        GraphState(),
        an_item("Ada drinks cola.", logical_key="drink"),
        an_item("Ada drinks tea.", logical_key="drink"),
        an_item("Ada drinks cola."),
    )

    assert [Outcome.CREATED, Outcome.REVISED, Outcome.CREATED] == outcomes(decision)
    cola = decision.results[2].memory
    assert (
        cola.key == decision.claims[content_claim(ADA, MemoryType.FACT, None, "Ada drinks cola.")]
    )


def test_a_merged_entity_is_what_it_became():
    state = GraphState(became={f"{ADA.key}|person:jon": "person:john"})

    memory = decided(
        state, an_item(entities=(EntityRef(key="person:jon"), EntityRef(key="place:leeds")))
    ).created[0]

    assert ["person:john", "place:leeds"] == [ref.key for ref in memory.entities]


def united(known, content="Ada likes coffee.", **values):
    """What a memory becomes that a request is united with under its key."""
    item = an_item(
        content, logical_key="drink", on_same_key=OnSameKey.UNITE, dedupe=Dedupe.NONE, **values
    )
    claim = f"{ADA.key}|logical|drink"
    decision = decided(replace(state_of(known), claims={claim: known.key}), item)
    return decision, (decision.changed or decision.created)[0]


KEYED = {"logical_key": "drink", "claims_content": False}


def test_what_is_united_keeps_its_uid_and_has_the_newer_words_with_a_revision_and_a_new_vector():
    known = a_memory(**KEYED, importance=80, confidence=0.9, metadata={"a": 1, "b": 1})

    decision, memory = united(known, importance=40, confidence=0.5, metadata={"b": 2})

    assert [Outcome.REVISED] == outcomes(decision)
    assert ("m-1", "Ada likes coffee.", 2) == (memory.uid, memory.content, memory.mention_count)
    assert (80, 0.5, {"a": 1, "b": 2}) == (memory.importance, memory.confidence, memory.metadata)
    assert [known] == [revision.memory for revision in decision.revisions]
    assert {known.key: 0} == decision.vectors_of


def test_older_words_are_counted_and_not_taken():
    known = a_memory(**KEYED, occurred_at=NOW)

    decision, memory = united(known, occurred_at=NOW - timedelta(seconds=1))

    assert [Outcome.REINFORCED] == outcomes(decision)
    assert ("Ada likes tea.", 2, NOW) == (memory.content, memory.mention_count, memory.occurred_at)
    assert ("content",) == decision.results[0].not_taken
    assert {} == decision.vectors_of


def test_words_of_the_same_time_are_taken():
    _, memory = united(a_memory(**KEYED, occurred_at=NOW), occurred_at=NOW)

    assert "Ada likes coffee." == memory.content


def test_equal_words_that_are_united_are_a_mention_and_note_when_they_were_said_last():
    later = NOW + timedelta(days=1)

    decision, memory = united(
        a_memory(**KEYED, occurred_at=NOW), "ada likes tea", occurred_at=later
    )

    assert [Outcome.REINFORCED] == outcomes(decision)
    assert (2, later, ()) == (
        memory.mention_count,
        memory.occurred_at,
        decision.results[0].not_taken,
    )


def test_what_was_put_away_is_not_united_with():
    known = a_memory(**KEYED, status=Status.ARCHIVED, status_at=NOW)

    decision, memory = united(known)

    assert [Outcome.CREATED] == outcomes(decision)
    assert "new-0" == memory.uid
