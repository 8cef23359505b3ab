"""Consolidation and contradictions on a real graph."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from builders import a_request
from fakes import ScriptedModel

from graphmem.bootstrap import build
from graphmem.errors import ModelUnavailable
from graphmem.gateway.status import ChangeStatus
from graphmem.model.entity import EntityRef
from graphmem.model.memory import MemoryType, Status
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.model.space import space_from_key
from graphmem.store.upkeep import Upkeep
from graphmem.upkeep import contradiction_job

EXTRACTED = Source(
    type=SourceType.WORKFLOW_OUTPUT,
    workflow_run_id="w",
    step_id="s",
    captured_by=CapturedBy.EXTRACTOR,
)
TEA = "Ada likes green tea with milk and honey in bed."
THE_TEA = "Ada likes the green tea with milk and honey in bed."
JOHN = (EntityRef(key="person:john", label="John"),)


def key(house, name="user:ada"):
    return f"{house.caller.tenant}/{name}"


def run(house, job="consolidate", name="user:ada", **options):
    return house.graphmem.runner.run(job, space_key=key(house, name), by_hand=True, **options)


def tell(house, *contents, **changes):
    for content in contents:
        house.write(a_request(content, source=EXTRACTED, **changes))
        house.clock.advance(seconds=1)


def with_model(house, *answers):
    model = ScriptedModel(*answers)
    graphmem = build(
        house.graphmem.settings,
        house.graphmem.connection,
        clock=house.clock,
        embedder=house.embedder,
        language_model=model,
    )
    return graphmem.runner, model


def active(house):
    return sorted(
        content
        for (content,) in house.rows(
            "MATCH (m:Memory {status: 'active'}) WHERE m.space STARTS WITH $tenant RETURN m.content"
        )
    )


def everything(house):
    return house.rows(
        "MATCH (n) WHERE n.space STARTS WITH $tenant AND NOT n:JobRun RETURN labels(n),"
        " properties(n) ORDER BY n.key"
    )


def test_near_duplicates_become_one_with_lineage_and_a_second_run_changes_nothing(house):
    tell(house, TEA, THE_TEA, "Ada likes coffee.", "Ada does not like tea.")

    dry = run(house, dry_run=True)
    wet = run(house)

    assert 1 == wet.counts["merged"]
    assert dry.counts == wet.counts
    assert ["Ada does not like tea.", "Ada likes coffee.", THE_TEA] == active(house)
    assert [(THE_TEA, "UPDATES", "merge", TEA, "superseded", "merge")] == house.rows(
        "MATCH (a:Memory)-[e:UPDATES]->(b:Memory) WHERE a.space STARTS WITH $tenant"
        " RETURN a.content, type(e), e.reason, b.content, b.status, b.status_reason"
    )
    assert "merged" not in run(house).counts


def test_a_dry_run_touches_nothing(house):
    tell(house, *[f"Fact {i} of John." for i in range(6)], entities=JOHN)
    tell(house, TEA, THE_TEA)
    before = everything(house)

    run(house, dry_run=True)
    run(house, "detect_contradictions", dry_run=True)

    assert before == everything(house)


def test_fragments_of_an_entity_are_merged_and_that_can_be_undone(house):
    tell(house, "John came.", entities=(EntityRef(key="person:john_doe", label="John Doe"),))
    tell(house, "John went.", entities=(EntityRef(key="person:johndoe", label="Johndoe"),))

    assert 1 == run(house).counts["entities_merged"]

    assert [("person:john_doe", 2)] == house.rows(
        "MATCH (m:Memory)-[:MENTIONS]->(e:Entity) WHERE m.space STARTS WITH $tenant RETURN"
        " e.entity_key, count(m)"
    )
    (change,) = house.graphmem.entities.changes(space_from_key(key(house)), limit=5).items
    house.graphmem.entity_keeper.undo(change.uid, caller=house.caller)
    assert 2 == len(
        house.rows(
            "MATCH (:Memory)-[:MENTIONS]->(e:Entity) WHERE e.space STARTS WITH $tenant RETURN"
            " e.entity_key"
        )
    )


def test_an_entity_of_six_facts_gets_a_summary_within_its_space(house):
    tell(
        house,
        *[f"John has {thing}." for thing in ("a dog", "a cat", "two sons", "a car", "a boat")],
        entities=JOHN,
    )
    assert "entity_summaries" not in run(house).counts
    tell(house, "John lives in Rome.", entities=JOHN, importance=90)
    tell(house, "Secret of John.", entities=JOHN, space="user:ada/coach")

    assert 1 == run(house).counts["entity_summaries"]
    assert "entity_summaries" not in run(house).counts

    (summary,) = summaries(house)
    assert (6, "rules") == (summary.facts, summary.by)
    assert summary.text.startswith("John lives in Rome; ")
    assert "Secret" not in summary.text


def summaries(house):
    """What is kept of John in Ada's space, if it still holds."""
    spaces = [space_from_key(key(house))]
    found = house.graphmem.of(Upkeep).summaries(spaces, "person:john", now=house.clock.now())
    return list(found.values())


def reword(house, memory, content="John moved to Oslo."):
    house.graphmem.writing.correct(
        replace(
            a_request(content, uid=memory.uid),
            given=frozenset({"space", "content", "uid"}),
        ),
        caller=house.caller,
    )


def retract(house, memory):
    house.graphmem.gateway.execute(
        ChangeStatus(memory=memory, status=Status.RETRACTED, reason=None), house.caller
    )


def let_it_end(house, memory):
    house.clock.advance(days=9)


@pytest.mark.parametrize("how", [reword, retract, let_it_end])
def test_a_summary_of_an_entity_is_kept_while_all_that_it_says_holds(house, how):
    things = ("a dog", "a cat", "two sons", "a car", "a boat")
    tell(house, *[f"John has {thing}." for thing in things], entities=JOHN)
    until = house.clock.now() + timedelta(days=3)
    (told,) = house.write(
        a_request("John lives in Rome.", entities=JOHN, valid_until=until, importance=90)
    ).results
    run(house)
    assert "Rome" in summaries(house)[0].text
    house.clock.advance(seconds=1)

    how(house, told.memory)

    assert [] == summaries(house)
    house.clock.advance(seconds=1)
    run(house)
    assert not any("Rome" in summary.text for summary in summaries(house))


def test_a_topic_is_shown_while_an_active_memory_is_about_it(house):
    uids = [
        house.write(a_request(content)).results[0].memory.uid
        for content in ("Chess is fun.", "Chess is hard.", "Tea is good.", "Tea is hot.")
    ]
    run(house)
    shown = partial(house.graphmem.of(Upkeep).topics, key(house), limit=9)
    assert (2, ["chess", "tea"]) == (shown().total, [row.topic for row in shown().items])

    retract(house, memory_of(house, uids[0]))
    reword(house, memory_of(house, uids[1]))

    assert (1, ["tea"]) == (shown().total, [row.topic for row in shown().items])


def memory_of(house, uid):
    return house.graphmem.memories.by_uid(house.caller.tenant, uid)[0]


def test_topics_stand_in_the_graph_and_former_ones_go(house):
    tell(house, "Chess is fun.", "Chess is hard.", "Tea is good.", "Tea is hot.")

    run(house)

    assert [("chess", 1, 2), ("tea", 2, 2)] == house.rows(
        "MATCH (t:Topic)<-[:ABOUT]-(m:Memory) WHERE t.space STARTS WITH $tenant"
        " RETURN t.topic, t.rank, count(m) ORDER BY t.rank"
    )
    house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant AND m.content CONTAINS 'Tea' SET"
        " m.status = 'archived'"
    )
    tell(house, "Rome is old.", "Rome is big.")
    run(house)
    assert {"chess", "rome"} == {
        row.topic for row in house.graphmem.of(Upkeep).topics(key(house), limit=9).items
    }


def test_topics_are_of_the_newest_memories(house):
    house.graphmem.policies.save(
        space_from_key(key(house)), {"upkeep.consolidate.topics_memories": 4}
    )
    tell(house, "Old chess.", "More chess.")
    tell(house, "Rome is old.", "Rome is big.", "Tea is good.", "Tea is hot.")

    run(house)

    topics = house.graphmem.of(Upkeep).topics(key(house), limit=9).items
    assert {"rome", "tea"} == {row.topic for row in topics}


def test_what_has_expired_goes_in_the_same_pass(house):
    tell(house, "Gone.", expires_at=house.clock.now() + timedelta(minutes=1))
    house.clock.advance(hours=1)

    assert 1 == run(house).counts["archived"]


def test_a_scheduled_run_waits_for_three_writes_and_ten_minutes(house):
    def was_run():
        return "topics" in house.graphmem.runner.run("consolidate", space_key=key(house)).counts

    tell(house, *[f"Apple number {number}." for number in range(4)])
    assert not was_run()
    tell(house, "Apple number 5.")
    assert was_run()
    house.clock.advance(seconds=1)
    tell(house, *[f"Plum number {number}." for number in range(3)])
    assert not was_run()
    house.clock.advance(minutes=10)
    assert was_run()
    house.clock.advance(minutes=20)
    tell(house, "Cherry number 1.", "Cherry number 2.")
    assert not was_run()
    tell(house, "Cherry number 3.")
    assert was_run()


def test_large_spaces_are_summarised_where_the_policy_says_so(house):
    policy = {
        "summarise": True,
        "summarise_memories": 60,
        "summarise_newest": 10,
        "summarise_batch": 50,
    }
    house.graphmem.policies.save(
        space_from_key(key(house)),
        {f"upkeep.consolidate.{name}": value for name, value in policy.items()},
    )
    house.write(
        *[a_request(f"Trifle number {i}.", importance=10, source=EXTRACTED) for i in range(58)]
    )
    house.clock.advance(days=1)
    house.write(
        *[a_request(f"News number {i}.", importance=10, source=EXTRACTED) for i in range(9)]
    )
    house.write(a_request("Kept.", importance=10, type=MemoryType.PREFERENCE, source=EXTRACTED))

    counts = run(house).counts

    assert (1, 50) == (counts["summarised"], counts["archived"])
    assert [(50,)] == house.rows(
        "MATCH (s:Memory)-[:SUMMARY_OF]->(m:Memory {status: 'archived', status_reason:"
        " 'summarised'})"
        " WHERE s.space STARTS WITH $tenant RETURN count(m)"
    )
    assert "summarised" not in run(house).counts


def test_a_model_may_merge_and_its_words_are_found(house):
    runner, _ = with_model(
        house,
        {
            "actions": [
                {
                    "action": "MERGE",
                    "id": 0,
                    "other": 1,
                    "content": "Ada drinks green tea every morning.",
                }
            ]
        },
    )
    tell(house, "Ada drinks green tea.", "Every morning Ada has tea.")

    record = runner.run("consolidate", space_key=key(house), by_hand=True)

    assert ((), 1, 1) == (record.degraded, record.counts["merged"], record.counts["rewritten"])
    assert ["Ada drinks green tea every morning."] == active(house)
    assert ["Ada drinks green tea every morning."] == house.contents("green morning tea")
    assert [("model scripted",)] == house.rows(
        "MATCH (t:Trace {tenant: $name, kind: 'consolidate'}) WHERE t.events CONTAINS 'rewritten'"
        " RETURN CASE WHEN t.events CONTAINS 'model scripted' THEN 'model scripted' END",
        name=house.caller.tenant,
    )


@pytest.mark.parametrize(
    "answer",
    [ModelUnavailable("It timed out."), {"actions": "nonsense"}],
    ids=["silent", "nonsense"],
)
def test_rules_take_over_from_a_model_that_fails_and_the_run_says_so(house, answer):
    runner, _ = with_model(house, answer)
    tell(house, TEA, THE_TEA)

    record = runner.run("consolidate", space_key=key(house), by_hand=True)

    assert ("succeeded", 1) == (record.status, record.counts["merged"])
    assert record.degraded[0].startswith("consolidated by rules: ")


def test_what_disagrees_is_joined_by_an_edge_and_stays_active(house):
    tell(house, "John lives in Rome.", "John lives in Paris.", entities=JOHN)
    tell(house, "Bob lives in Oslo.", entities=(EntityRef(key="person:bob"),))

    dry = run(house, "detect_contradictions", dry_run=True)
    wet = run(house, "detect_contradictions")

    assert {"contradiction": 1, "spaces": 1} == dry.counts == wet.counts
    assert [
        ("John lives in Paris.", "John lives in Rome.", "person:john: residence is paris or rome")
    ] == house.rows(
        "MATCH (a:Memory {status: 'active'})-[e:CONTRADICTS]->(b:Memory {status: 'active'})"
        " WHERE a.space STARTS WITH $tenant RETURN a.content, b.content, e.reason"
    )
    assert {"spaces": 0} == run(house, "detect_contradictions").counts
    assert all(
        item.contradicted
        for item in house.recall("where does John live?").items
        if "John" in item.memory.content
    )


def test_a_space_that_wants_it_has_its_contradictions_resolved(house):
    house.graphmem.policies.save(
        space_from_key(key(house)), {"upkeep.contradictions.resolve": True}
    )
    tell(house, "John lives in Rome.", "John lives in Paris.", entities=JOHN)

    assert 1 == run(house, "detect_contradictions").counts["superseded"]

    assert ["John lives in Paris."] == active(house)
    assert {"spaces": 0} == run(house, "detect_contradictions").counts


def test_consolidation_finds_contradictions_and_a_space_without_it_has_them_found_by_themselves(
    house,
):
    tell(house, "John lives in Rome.", "John lives in Paris.", entities=JOHN)
    runner = house.graphmem.runner

    assert {"spaces": 0} == runner.run("detect_contradictions", space_key=key(house)).counts
    dry, wet = run(house, dry_run=True), run(house)
    assert 1 == dry.counts["contradiction"] == wet.counts["contradiction"]
    assert {"spaces": 0} == runner.run("detect_contradictions", space_key=key(house)).counts
    house.graphmem.policies.save(space_from_key(key(house)), {"upkeep.consolidate.enabled": False})
    house.clock.advance(minutes=1)
    tell(house, "John lives in Oslo.", entities=JOHN)
    assert 2 == runner.run("detect_contradictions", space_key=key(house)).counts["contradiction"]


def told_anew(house):
    tell(house, "John lives in Paris.", entities=JOHN)


def told_with_an_old_date(house):
    long_ago = house.clock.now() - timedelta(days=400)
    tell(house, "John lives in Paris.", entities=JOHN, created_at=long_ago, updated_at=long_ago)


def revised(house):
    reword(house, told(house, "John likes tea."), "John lives in Paris.")


def restored(house):
    put(house, "John lives in Lyon.", Status.ACTIVE)


def entities_became_one(house):
    house.graphmem.entity_keeper.merge(
        space_from_key(key(house)), "person:johnny", "person:john", caller=house.caller
    )


def split_was_undone(house):
    keeper, space = house.graphmem.entity_keeper, space_from_key(key(house))
    tell(house, "John lives in Oslo.", entities=JOHN)
    apart = told(house, "John lives in Oslo.")
    jon = EntityRef(key="person:jon", label="Jon")
    split = keeper.split(space, "person:john", jon, [apart.uid], caller=house.caller)
    run(house, "detect_contradictions")
    house.clock.advance(minutes=15)
    keeper.undo(split.uid, caller=house.caller)


def told(house, content):
    ((where,),) = house.rows(
        "MATCH (m:Memory {content: $content}) WHERE m.space STARTS WITH $tenant RETURN m.key",
        content=content,
    )
    return house.graphmem.memories.by_key([where])[where]


def put(house, content, status):
    change = ChangeStatus(memory=told(house, content), status=status, reason=None)
    house.graphmem.gateway.execute(change, house.caller)


@pytest.mark.parametrize(
    "change",
    [told_anew, told_with_an_old_date, revised, restored, entities_became_one, split_was_undone],
)
def test_a_later_pass_finds_what_disagrees_with_what_was_looked_at_before(house, change):
    tell(house, "John lives in Rome.", "John likes tea.", "John lives in Lyon.", entities=JOHN)
    tell(house, "Johnny lives in Oslo.", entities=(EntityRef(key="person:johnny"),))
    put(house, "John lives in Lyon.", Status.ARCHIVED)
    before = run(house).counts
    house.clock.advance(minutes=1)

    change(house)
    after = run(house).counts

    assert (0, 1) == (before.get("contradiction", 0), after["contradiction"])
    assert [(0,)] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant AND m.unchecked RETURN count(m)"
    )


@pytest.mark.parametrize(("found", "most"), [(0, 1), (1, 2)])
def test_a_pass_compares_what_is_new_with_the_newest_of_its_entities(house, found, most):
    house.graphmem.policies.save(
        space_from_key(key(house)), {"upkeep.contradictions.memories": most}
    )
    tell(house, "John lives in Rome.", "John likes tea.", entities=JOHN)
    run(house, "detect_contradictions")
    house.clock.advance(minutes=1)
    told_anew(house)

    assert found == run(house).counts.get("contradiction", 0)
    assert 1 == run(house, "detect_contradictions").counts.get("contradiction", 0) + found


def test_what_changed_while_it_was_looked_at_is_looked_at_again(house, monkeypatch):
    tell(house, "John lives in Rome.", entities=JOHN)
    run(house)
    house.clock.advance(minutes=1)
    told_anew(house)
    find = contradiction_job.find_disagreements

    def said_again(statements):
        found = find(statements)
        monkeypatch.setattr(contradiction_job, "find_disagreements", find)
        house.write(a_request("John lives in Rome.", source=EXTRACTED, entities=JOHN))
        return found

    monkeypatch.setattr(contradiction_job, "find_disagreements", said_again)
    first, second = run(house).counts, run(house).counts

    assert (0, 1) == (first.get("contradiction", 0), second["contradiction"])


def test_a_look_that_was_off_is_made_whole_once_it_is_on(house):
    policies, space = house.graphmem.policies, space_from_key(key(house))
    tell(house, "John lives in Rome.", "John lives in Paris.", entities=JOHN)
    house.rows("MATCH (m:Memory) WHERE m.space STARTS WITH $tenant REMOVE m.unchecked")
    policies.save(space, {"upkeep.contradictions.enabled": False})
    run(house)
    policies.save(space, {"upkeep.contradictions.enabled": True})
    house.clock.advance(minutes=1)

    assert 1 == run(house).counts["contradiction"]


def test_a_space_that_wants_no_contradictions_found_has_none(house):
    house.graphmem.policies.save(
        space_from_key(key(house)), {"upkeep.contradictions.enabled": False}
    )
    tell(house, "John lives in Rome.", "John lives in Paris.", entities=JOHN)

    assert "contradiction" not in run(house).counts


def test_a_model_finds_what_the_rules_do_not(house):
    runner, model = with_model(
        house,
        {"contradictions": [{"pair": 0, "confidence": 0.95, "reason": "a vegan eats no steak"}]},
    )
    tell(house, "John is a strict vegan.", "John is a strict steak eater.", entities=JOHN)
    house.graphmem.policies.save(
        space_from_key(key(house)), {"upkeep.contradictions.similarity": 0.1}
    )
    runner.run("expire", space_key=key(house))

    fresh, model = with_model(
        house,
        {"contradictions": [{"pair": 0, "confidence": 0.95, "reason": "a vegan eats no steak"}]},
    )
    record = fresh.run("detect_contradictions", space_key=key(house), by_hand=True)

    assert 1 == record.counts["contradiction"]
    assert 1 == len(model.asked)
    assert [(0.95,)] == house.rows(
        "MATCH (a:Memory)-[e:CONTRADICTS]->() WHERE a.space STARTS WITH $tenant RETURN e.weight"
    )
