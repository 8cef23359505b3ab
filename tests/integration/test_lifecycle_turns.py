"""Turns that become facts: what is kept of them, and how it leads back to them."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from builders import NOW, a_request
from fakes import FixedClock, SequentialIds
from sessions import Session

from graphmem.bootstrap import build
from graphmem.conversations.keeper import ConversationKeeper
from graphmem.demo import requests
from graphmem.errors import Conflict, InvalidInput, PolicyRefused, RetractedSource
from graphmem.lifecycle.buffer import Because, Choice
from graphmem.lifecycle.keeper import LifecycleKeeper
from graphmem.model.conversation import Saying, TurnRole
from graphmem.model.extraction import Category, FactOutcome, Heard
from graphmem.model.memory import MemoryType, Status
from graphmem.model.source import CapturedBy, SourceType


@pytest.fixture
def ada(house):
    return Session(house)


def test_a_high_signal_is_extracted_at_once_and_its_fact_leads_to_its_turn(ada):
    heeded = ada.say("FYI we moved to Lyon last week.")

    (turn,) = heeded.arrived.turns
    (fact,) = heeded.extractions[0].kept.facts
    memory = ada.memory(fact.uid)
    assert Choice.EXTRACT_NOW is turn.decision.choice
    assert (FactOutcome.CREATED, Category.MOMENT) == (fact.outcome, fact.category)
    assert (turn.turn.uid,) == memory.turns == fact.turns
    assert MemoryType.EVENT is memory.type
    assert (SourceType.CHANNEL_TRANSCRIPT, CapturedBy.EXTRACTOR, "chat-1") == (
        memory.source.type,
        memory.source.captured_by,
        memory.source.conversation_id,
    )
    assert ("Ada", None, NOW, 53) == (
        memory.actor,
        memory.kept_by,
        memory.occurred_at,
        memory.importance,
    )
    assert ("moment", "explicit") == (memory.native["category"], memory.native["tier"])


def test_a_fact_is_no_turn_and_has_no_neighbours(ada):
    ada.say("FYI we moved to Lyon last week. I work at Siemens.")
    ada.say("I love jazz and tea.")

    assert [(0,)] == ada.house.rows(
        "MATCH (:Memory)-[n:NEXT]->(b:Memory) WHERE b.space STARTS WITH $tenant RETURN count(n)"
    )
    assert [(2,)] == ada.house.rows(
        "MATCH (t:Turn) WHERE t.space STARTS WITH $tenant RETURN count(t)"
    )
    assert [(None,)] == ada.house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant RETURN DISTINCT m.context"
    )


def test_a_fact_is_found_by_its_words_its_date_and_its_speaker(ada):
    ada.say("FYI we moved to Lyon last week.")

    for cue in ("moved to Lyon", "March 2026", "Ada"):
        assert ["FYI we moved to Lyon last week."] == ada.house.contents(cue)


def test_four_turns_wait_and_the_fifth_makes_a_batch(ada):
    waiting = [ada.say(f"Nice weather number {n}").arrived.turns[0] for n in range(4)]
    fifth = ada.say("My cat is called Miso, by the way.")

    assert [1, 2, 3, 4] == [each.waiting for each in waiting]
    assert (Choice.EXTRACT_BATCH, Because.TURNS, 0) == (
        fifth.arrived.turns[0].decision.choice,
        fifth.arrived.turns[0].decision.reason,
        fifth.arrived.turns[0].waiting,
    )
    assert 5 == len(fifth.extractions[0].turns)


def test_a_batch_is_decided_as_if_its_turns_came_one_by_one(ada):
    contents = ["FYI one two three", *(f"Nice weather number {n}" for n in range(7)), "fyi end"]
    together = ada.say(*contents)
    apart = Session(ada.house, session="chat-2")
    alone = [apart.say(content).arrived.turns[0] for content in contents]

    assert [(each.decision.choice, each.waiting) for each in alone] == [
        (each.decision.choice, each.waiting) for each in together.arrived.turns
    ]
    assert [1, 5, 3] == [len(each.turns) for each in together.extractions]


def test_the_same_message_again_changes_nothing_and_other_words_are_refused(ada):
    first = ada.say("FYI we moved to Lyon.", message_id="m-1")
    again = ada.say("FYI we moved to Lyon.", message_id="m-1")

    assert not again.arrived.turns[0].is_new
    assert Because.UNCHANGED is again.arrived.turns[0].decision.reason
    assert "FYI we moved to Lyon." == again.arrived.turns[0].turn.content
    assert [first.extractions[0].uid] == [each.uid for each in again.extractions]
    assert 1 == len(ada.memories())
    with pytest.raises(Conflict):
        ada.say("FYI we moved to Nice.", message_id="m-1")


def test_a_message_that_was_deleted_is_not_said_again(ada):
    turn = ada.say("FYI we moved to Lyon.", message_id="m-1").arrived.turns[0].turn
    ada.delete_turn(turn.uid)

    with pytest.raises(RetractedSource):
        ada.say("FYI we moved to Lyon.", message_id="m-1")


def test_scheduled_work_is_kept_but_never_buffered(ada):
    cron = Session(ada.house, session="agent:cron:daily")
    turn = cron.say("FYI the backup ran.").arrived.turns[0]

    assert (Choice.KEEP, Because.CRON, 0) == (
        turn.decision.choice,
        turn.decision.reason,
        turn.waiting,
    )
    assert () == cron.keeper.buffers.page(cron.space, limit=10).items
    assert () == tuple(cron.memories())


@pytest.mark.parametrize("space", ["orchestrator:main", "corpus:ada"])
def test_spaces_of_other_kinds_take_no_turns(house, space):
    with pytest.raises(InvalidInput) as refused:
        Session(house, space).say("FYI we moved.")

    assert ["space"] == list(refused.value.fields)


def test_a_secret_is_refused_and_the_buffer_does_not_move(ada):
    ada.say("Nice weather")
    with pytest.raises(PolicyRefused):
        ada.say("and more", "my key is AKIAIOSFODNN7EXAMPLE, keep it")

    (buffer,) = ada.keeper.buffers.page(ada.space, limit=10).items
    assert 1 == buffer.turns


def test_a_turn_in_the_future_is_refused_and_one_from_before_keeps_its_time(ada):
    with pytest.raises(InvalidInput):
        ada.say("FYI we moved to Lyon.", at=NOW + timedelta(minutes=5, seconds=1))
    early = NOW - timedelta(days=30)
    fact = ada.fact("FYI we moved to Lyon.", at=early)

    assert early == ada.memory(fact.uid).occurred_at


def test_equal_words_are_skipped_however_they_came_in(ada):
    ada.house.write(a_request("I love green tea", confidence=0.3))
    fact = ada.fact("I love green-tea!!")

    memory = ada.memory(fact.uid)
    assert FactOutcome.SKIPPED is fact.outcome
    assert ("I love green tea", 2, 0.95, 2) == (
        memory.content,
        memory.mention_count,
        memory.confidence,
        memory.sources_total,
    )
    assert memory.expires_at is None
    assert fact.turns == memory.turns


def test_without_deduplication_repeats_are_stored(ada):
    ada.want(fact_deduplication_enabled=False)
    facts = [ada.fact("I love green tea."), ada.fact("I love green tea.")]

    assert [FactOutcome.CREATED] * 2 == [fact.outcome for fact in facts]
    assert 2 == len(ada.memories())


def test_a_correction_supersedes_what_states_the_same_of_the_same(ada):
    ada.house.write(a_request("Ada lives in Paris."))
    before = ada.fact("I live in Lyon.")
    other = ada.fact("I work at Siemens.")
    correction = ada.fact("Actually, I live in Rome, not Lyon.")

    assert FactOutcome.SUPERSEDED is correction.outcome
    assert [
        ("Ada lives in Paris.", "superseded"),
        ("I live in Lyon.", "superseded"),
        ("I work at Siemens.", "active"),
        ("Actually, I live in Rome, not Lyon.", "active"),
    ] == list(ada.memories())
    assert "correction" in ada.memory(correction.uid).tags
    assert Status.ACTIVE is ada.memory(other.uid).status
    assert [("I live in Lyon.",)] == ada.house.rows(
        "MATCH (:Memory {uid: $uid})-[:UPDATES]->(m:Memory {uid: $other}) RETURN m.content",
        uid=correction.uid,
        other=before.uid,
    )


def test_a_correction_of_nothing_stands_alone(ada):
    correction = ada.fact("Actually, I live in Rome, not Lyon.")

    assert FactOutcome.CREATED is correction.outcome


def test_what_a_room_keeps_is_neither_repeated_nor_corrected(ada):
    ada.house.write(
        a_request("I love green tea.", kept_by="companion"),
        a_request("I live in Lyon.", kept_by="companion", actor="Ada"),
    )
    facts = [ada.fact("I love green tea."), ada.fact("Actually, I live in Rome, not Lyon.")]

    assert [FactOutcome.CREATED] * 2 == [fact.outcome for fact in facts]
    assert ["active"] * 4 == [status for _, status in ada.memories()]


def test_a_plain_write_repeats_a_fact_and_corrects_it(ada):
    fact = ada.fact("I love green tea.")
    report = ada.house.write(a_request("i love green tea", type=MemoryType.PREFERENCE, actor="Ada"))

    assert ["reinforced"] == [result.outcome.value for result in report.results]
    assert 2 == ada.memory(fact.uid).mention_count


def test_doubtful_facts_go_quiet_unless_they_are_said_again(ada):
    fact = ada.fact("I want to try Redis, maybe someday.")
    memory = ada.memory(fact.uid)

    assert (0.35, NOW + timedelta(days=30)) == (memory.confidence, memory.expires_at)
    ada.say("I want to try Redis, maybe someday!")
    assert ada.memory(fact.uid).expires_at is None


def test_entities_are_mentioned_and_relationships_seen_from_both_ends(ada):
    extraction = ada.read("I work at Siemens. My sister Nora is married to Tom Baker.")

    assert {
        ("person-ada", "new"),
        ("company-siemens", "new"),
        ("person-nora", "new"),
        ("person-tom-baker", "new"),
    } == {(each.key, each.matched_by) for each in extraction.kept.entities}
    assert [
        ("person-ada", "works_at", "company-siemens"),
        ("person-nora", "married_to", "person-tom-baker"),
        ("person-nora", "sister_of", "person-ada"),
    ] == [(each["source"], each["label"], each["target"]) for each in extraction.kept.relationships]
    assert [("works_at", 1)] == ada.house.rows(
        "MATCH (:Entity {entity_key: 'org:siemens'})-[r:RELATION]-() WHERE r.space = $space"
        " RETURN r.label, size(r.memories)",
        space=ada.space.key,
    )


def test_a_known_entity_is_recognised_by_its_other_names(ada):
    ada.house.write(
        a_request("Acme makes anvils.", entities=(entity("org:acme_corp", "Acme Corp"),)),
        a_request("Acme, also.", entities=(entity("org:acme_corp", "The Anvil Firm"),)),
    )
    alias = ada.read("I work at The Anvil Firm these days.")
    joined = ada.read("I always thought that AcmeCorp is cheap.")

    assert ("company-acme-corp", "alias") in found_entities(alias)
    assert [("company-acme-corp", "equal_without_separators")] == found_entities(joined)


def found_entities(extraction):
    return [(each.key, each.matched_by) for each in extraction.kept.entities]


def entity(key, label):
    from graphmem.model.entity import EntityRef  # noqa: PLC0415

    return EntityRef(key=key, label=label)


def test_the_activity_of_an_entity_shows_the_newest_facts_first(ada):
    for number in range(22):
        ada.house.clock.advance(minutes=1)
        ada.say(f"I work at Siemens on project number {number}.")

    activity = ada.keeper.activity(ada.space, "company-siemens")
    assert 20 == len(activity)
    assert "I work at Siemens on project number 21." == activity[0].note


def test_a_deleted_turn_takes_along_what_rests_on_it_alone(ada):
    first = ada.fact("I love green tea.")
    again = ada.fact("I love green tea!")
    other = ada.fact("I live in Lyon.")

    ada.delete_turn(first.turns[0])
    assert Status.ACTIVE is ada.memory(first.uid).status
    ada.delete_turn(again.turns[0])
    assert Status.RETRACTED is ada.memory(first.uid).status
    assert Status.ACTIVE is ada.memory(other.uid).status


def test_a_deleted_turn_leaves_its_buffer(ada):
    turns = [ada.say(f"Nice weather number {n}").arrived.turns[0].turn for n in range(4)]
    ada.delete_turn(turns[1].uid)
    (buffer,) = ada.keeper.buffers.page(ada.space, limit=10).items

    assert (3, 63) == (buffer.turns, buffer.characters)
    assert Choice.KEEP is ada.say("My cat is called Miso.").arrived.turns[0].decision.choice
    assert Choice.EXTRACT_BATCH is ada.say("Her tail is long.").arrived.turns[0].decision.choice


def test_a_turn_that_is_deleted_before_it_is_read_gives_no_fact(ada):
    turn = ada.say("FYI we moved to Lyon.", wait=False).arrived.turns[0].turn
    ada.delete_turn(turn.uid)

    assert 1 == ada.run_job()["extractions"]
    assert () == tuple(ada.memories())


def test_the_job_reads_what_nobody_waited_for(ada):
    ada.say("FYI we moved to Lyon.", wait=False)
    (buffer,) = ada.keeper.buffers.page(ada.space, limit=10).items

    assert (1, 21) == (buffer.turns, buffer.characters)
    assert 1 == ada.run_job(dry_run=True)["extractions"]
    assert {"extractions": 1, "facts_created": 1}.items() <= ada.run_job().items()
    assert 0 == ada.run_job()["extractions"]
    (buffer,) = ada.keeper.buffers.page(ada.space, limit=10).items
    assert (0, 1) == (buffer.turns, buffer.extractions)


def test_the_job_reads_buffers_that_went_quiet(ada):
    ada.say("ok", "My cat is called Miso.")
    ada.house.clock.advance(minutes=15)
    assert 0 == ada.run_job()["extractions"]
    ada.house.clock.advance(seconds=1)

    assert {"extractions": 1, "facts_created": 1}.items() <= ada.run_job().items()
    (extraction,) = ada.keeper.page(ada.space, None, None, limit=10).items
    assert ("idle", True) == (extraction.reason, extraction.is_guarded)


def test_a_flush_reads_what_waits_now(ada):
    ada.say("My cat is called Miso.")
    other = Session(ada.house, session="chat-2")
    other.say("My dog is called Rex.")
    done = list(ada.keeper.flush(ada.space, "chat-1", caller=ada.house.caller))

    assert [["My cat is called Miso."]] == [
        [fact.content for fact in each.extraction.kept.facts] for each in done
    ]
    assert 1 == len(list(ada.keeper.flush(ada.space, None, caller=ada.house.caller)))
    assert [] == list(ada.keeper.flush(ada.space, None, caller=ada.house.caller))


def test_an_extraction_whose_reader_died_is_read_again_after_its_lease(ada):
    heeded = ada.say("FYI we moved to Lyon.", wait=False)
    (due,) = heeded.arrived.due
    claimed = ada.keeper.extractor.claim(due, caller=ada.house.caller)

    assert claimed is not None
    assert ada.keeper.extractor.claim_anew(due, caller=ada.house.caller) is None
    assert 0 == ada.run_job()["extractions"]
    ada.house.clock.advance(minutes=3)
    assert 1 == ada.run_job()["extractions"]
    assert ada.keeper.extractor.run(claimed, caller=ada.house.caller).answer is None
    assert 1 == len(ada.memories())


def test_two_that_bring_the_fifth_turn_at_once_make_one_extraction(ada):
    for number in range(4):
        ada.say(f"Nice weather number {number}")

    with ThreadPoolExecutor(4) as pool:
        said = [pool.submit(ada.say, f"My cat number {n} is called Miso.") for n in range(4)]
        heeded = [each.result() for each in said]

    assert 1 == sum(len(each.extractions) for each in heeded)
    assert [(8, 8)] == ada.house.rows(
        "MATCH (t:Turn) WHERE t.space STARTS WITH $tenant"
        " RETURN count(t), sum(COUNT { (t)<-[:READS]-() } + COUNT { (t)-[:WAITS_IN]->() })"
    )


def test_sessions_that_state_the_same_at_once_make_one_memory(ada):
    sessions = [Session(ada.house, session=f"chat-{n}") for n in range(4)]
    with ThreadPoolExecutor(4) as pool:
        facts = list(pool.map(lambda each: each.fact("I love green tea."), sessions))

    assert 1 == len({fact.uid for fact in facts})
    assert 4 == ada.memory(facts[0].uid).mention_count


def test_kept_turns_are_memories_too(ada):
    ada.want(keep_turns=True)
    ada.say("FYI we moved to Lyon last week. Nice weather here.")

    assert {("Observation",), ("Event",)} == set(
        ada.house.rows("MATCH (m:Memory {space: $space}) RETURN m.type", space=ada.space.key)
    )


def test_a_preview_tells_what_would_be_extracted_and_writes_nothing(ada):
    turns = [Heard(uid="0", role=TurnRole.USER, content="I work at Siemens.", at=NOW, actor="Ada")]
    plan = ada.keeper.preview(ada.space, turns, caller=ada.house.caller)

    assert ["I work at Siemens."] == [each.fact.content for each in plan.facts]
    assert [(0,)] == ada.house.rows("MATCH (n) WHERE n.space STARTS WITH $tenant RETURN count(n)")


def test_a_persona_has_turns_and_facts_of_its_own(ada):
    coach = Session(ada.house, "user:ada/coach")
    fact = coach.fact("I work at Siemens.")

    assert [("I work at Siemens.", "active")] == list(coach.memories())
    assert [] == list(ada.memories())
    assert [f"{ada.space.key}|org:siemens"] == [
        key
        for (key,) in ada.house.rows(
            "MATCH (:Memory {uid: $uid})-[:MENTIONS]->(e:Entity) RETURN e.key", uid=fact.uid
        )
    ]


def test_turns_by_the_route_of_conversations_are_kept_not_scanned(ada):
    keeper = ada.house.graphmem.of(ConversationKeeper)
    saying = Saying(uid="", role=TurnRole.USER, content="FYI we moved to Lyon.")
    keeper.append(ada.space, "chat-1", [saying], caller=ada.house.caller)

    assert () == ada.keeper.buffers.page(ada.space, limit=10).items
    assert isinstance(ada.keeper, LifecycleKeeper)


def test_two_runs_with_the_same_clock_and_ids_give_the_same_facts(connection, settings, house_at):
    found = []
    for _ in range(2):
        with house_at(connection) as house:
            graphmem = build(
                settings,
                connection,
                clock=FixedClock(),
                ids=SequentialIds(),
                embedder=house.embedder,
            )
            session = Session(replace(house, graphmem=graphmem))
            session.say(*requests_of_the_demo())
            found.append(
                house.rows(
                    "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant"
                    " RETURN m.uid, m.content, m.importance, m.confidence, m.turns, m.native"
                    " ORDER BY m.uid"
                )
            )

    assert found[0] == found[1]
    assert 20 < len(found[0])


def requests_of_the_demo():
    return [request.content for request in requests()]


def test_jobs_and_neighbours_leave_what_a_room_keeps_as_it_was(ada):
    kept = [
        a_request("I love green tea.", kept_by=room, uid=room, actor="Ada")
        for room in ("companion", "governance")
    ]
    ada.house.write(*kept, a_request("I love green tea.", uid="plain", actor="Ada"))
    fact = ada.fact("I love green tea!")
    ada.say("Actually, I love black tea, not green tea.")
    for job in ("extract", "curate_dedupe", "consolidate", "detect_contradictions", "expire"):
        ada.house.graphmem.runner.run(job, by_hand=True)

    assert "plain" == fact.uid
    assert [("companion", "active", 1), ("governance", "active", 1)] == ada.house.rows(
        "MATCH (m:Memory {space: $space}) WHERE m.kept_by IS NOT NULL"
        " RETURN m.uid, m.status, m.mention_count ORDER BY m.uid",
        space=ada.space.key,
    )
