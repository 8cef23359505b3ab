"""The curator of the companion on a real graph."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from graphmem.companion.curate_job import CurateJob
from graphmem.companion.curator import CompanionCurator, Terms
from graphmem.companion.keeper import CompanionKeeper
from graphmem.companion.keeping import KeepJudged
from graphmem.companion.planning import PlannedFact, request_of_fact, request_of_todo
from graphmem.companion.projection import FACT_TYPES, fact_of
from graphmem.companion.todos import new_todo
from graphmem.conversations.keeper import ConversationKeeper
from graphmem.errors import Forbidden
from graphmem.gateway.status import ChangeStatus
from graphmem.model.caller import Role
from graphmem.model.companion import (
    CONVERSATION,
    ROOM,
    FactKind,
    FactSource,
    FactStatus,
    FactType,
    NewFact,
    Subtype,
    TodoKind,
)
from graphmem.model.conversation import Saying, TurnRole
from graphmem.model.job import Run
from graphmem.model.memory import MemoryType, Status
from graphmem.model.space import parse_space
from graphmem.store.companions import find_state
from graphmem.store.curating import Curating
from graphmem.store.kept import KeptFilter, KeptMemories

COACH = "user:ada/coach"
CHESS = "John likes chess."
ROME = ("person:john", "place:rome")


@pytest.fixture
def curator(house):
    """The curator over the parts of a house."""
    core = house.graphmem
    return CompanionCurator(
        gateway=core.gateway,
        policies=core.policies,
        curating=Curating(core.connection, kept_by=ROOM, types=FACT_TYPES),
        kept=KeptMemories(core.connection, core.index.slot),
        memories=core.memories,
        embedder=core.embedder,
        index=core.policy.index,
        ids=core.ids,
    )


def space_of(house, name=COACH):
    return parse_space(name, tenant=house.caller.tenant)


def write(house, content=CHESS, *, key="", name="user:ada", refs=("person:john",), **values):
    """Keep a memory as a row: under a key of its own, whatever the rules of keys say."""
    fact = NewFact(content=content, entity_refs=refs, **({"kind": FactKind.PEOPLE} | values))
    request = request_of_fact(fact, space=space_of(house, name), at=None)
    if key:
        own = {**request.native, "memory_key": f"{request.logical_key}|{key}"}
        request = replace(request, logical_key=own["memory_key"], native=own)
    house.clock.advance(seconds=1)
    (result,) = house.write(request).results
    assert result.error is None
    return result.memory


def write_facts(house, number, start=1, **values):
    keys = range(start, start + number)
    return [write(house, f"Fact {each}.", key=f"fact-{each}", **values) for each in keys]


def write_todo(house, content="Call mom."):
    request = request_of_todo(
        new_todo(TodoKind.COMMITMENT, content, None), space=space_of(house), at=None
    )
    return house.write(request).results[0].memory


def run(house, curator, name=COACH, **options):
    return curator.run_for(space_of(house, name), caller=house.caller, **options)


def run_job(house, curator, name="", **options):
    space = f"{house.caller.tenant}/{name}" if name else ""
    record = Run(uid="run", job="companion_curate", space=space, **options)
    CurateJob(curator=curator).run(record)
    return record


def kept(house, *names, statuses=(Status.ACTIVE,), types=FACT_TYPES):
    found = KeptMemories(house.graphmem.connection, house.graphmem.index.slot).page(
        KeptFilter(
            kept_by=ROOM,
            spaces=[space_of(house, name) for name in names or ("user:ada", COACH)],
            types=types,
            statuses=statuses,
        ),
        limit=200,
    )
    return found.items


def folds(house, *names, **options):
    facts = map(fact_of, kept(house, *names, **options))
    return [fact for fact in facts if fact.source is FactSource.CURATED_FOLD]


def contents(house, *names):
    return sorted(memory.content for memory in kept(house, *names))


def now_of(house, memory):
    return house.graphmem.memories.by_key([memory.key])[memory.key]


def snapshot(house):
    return house.rows(
        "MATCH (n) WHERE n.space STARTS WITH $tenant AND any(l IN labels(n) WHERE l IN"
        " ['Memory', 'SessionState', 'ClaimKey'])"
        " RETURN n.key, n.version, n.status, n.curator_last_run_at ORDER BY n.key"
    )


def retract(house, memory):
    change = ChangeStatus(memory=memory, status=Status.RETRACTED, reason=None)
    house.graphmem.gateway.execute(change, house.caller)


def integrity(house):
    space = space_of(house, "user:ada").key
    report = house.graphmem.runner.run("integrity", space_key=space, by_hand=True)
    return {name for name, n in report.counts.items() if n} - {"inspected", "spaces"}


# when


def test_curator_auto_trigger(house, curator):
    for number in range(30):
        write(house, key=str(number))
    seeded = write(
        house,
        "Ada is a nurse.",
        key="seeded",
        refs=(),
        kind=FactKind.PROFILE,
        source=FactSource.SEEDED_PROFILE,
    )
    extracted = write(house, "Ada is a nurse", key="said", refs=(), kind=FactKind.PROFILE)
    todos = [write_todo(house, f"Call mom {number}.") for number in range(3)]

    done = run(house, curator)

    assert (30, 0, 2) == (done.archived, done.folded, done.memories)
    assert [CHESS, "Ada is a nurse."] == sorted(contents(house))[::-1]
    assert (Status.ACTIVE, 2) == (
        now_of(house, seeded).status,
        now_of(house, seeded).mention_count,
    )
    assert (Status.ARCHIVED, "dedupe") == (
        now_of(house, extracted).status,
        now_of(house, extracted).status_reason,
    )
    assert [30] == [each.mention_count for each in kept(house) if each.content == CHESS]
    pending = kept(house, types=[MemoryType.TODO])
    assert sorted(pending, key=lambda each: each.uid) == sorted(todos, key=lambda each: each.uid)
    state = find_state(house.graphmem.connection, space_of(house)).curator
    assert (house.clock.now(), 2) == (state.last_run_at, state.last_memory_count_at_run)
    assert set() == integrity(house)


@pytest.mark.parametrize(("minutes", "expected"), [(23 * 60 + 59, False), (24 * 60, True)])
def test_a_user_is_due_again_after_a_day(house, curator, minutes, expected):
    assert run(house, curator)

    house.clock.advance(minutes=minutes)

    assert expected == (run(house, curator) is not None)


@pytest.mark.parametrize(("number", "expected"), [(24, False), (25, True)])
def test_a_user_is_due_after_25_new_memories_of_him_and_of_the_persona(
    house, curator, number, expected
):
    write(house, "Before.")
    run(house, curator)
    write(house, "For the coach.", name=COACH)
    write(house, "For another.", name="user:ada/aide")
    retract(house, write(house, "Wrong.", key="wrong"))
    write_todo(house)
    for each in range(number - 1):
        write(house, f"Fact {each}.", key=str(each))
    house.clock.advance(minutes=1)

    assert expected == (run(house, curator) is not None)


def test_what_the_curator_made_is_not_new(house, curator):
    house.graphmem.policies.save(space_of(house, "user:ada"), {"companion.curate.new_memories": 1})
    write_facts(house, 3)
    assert 1 == run(house, curator).folded
    house.clock.advance(minutes=1)
    assert run(house, curator) is None


@pytest.mark.parametrize(("seconds", "expected"), [(59, False), (60, True)])
def test_a_user_is_not_due_again_within_a_minute_and_is_with_another_persona(
    house, curator, seconds, expected
):
    run(house, curator)
    start = house.clock.now()
    for each in range(25):
        write(house, f"Fact {each}.", key=str(each))
    house.clock.advance(seconds=seconds - 25)

    assert timedelta(seconds=seconds) == house.clock.now() - start
    assert expected == (run(house, curator) is not None)
    assert run(house, curator, "user:ada/aide")


def test_of_two_runs_at_once_one_runs(house, curator):
    for number in range(40):
        write(house, key=str(number))

    with ThreadPoolExecutor(max_workers=4) as pool:
        done = list(pool.map(lambda _: run(house, curator), range(4)))

    assert [39] == [each.archived for each in done if each]
    assert [CHESS] == contents(house)


def test_what_is_not_due_leaves_no_state(house, curator):
    house.graphmem.policies.save(space_of(house), {"companion.curate.enabled": False})

    assert run(house, curator) is None
    assert [] == house.rows("MATCH (t:SessionState) WHERE t.space STARTS WITH $tenant RETURN t")


def test_a_forced_run_needs_no_switch_and_no_time(house, curator):
    house.graphmem.policies.save(space_of(house), {"companion.curate.enabled": False})

    assert run(house, curator, forced=True)
    assert run(house, curator, forced=True)


def test_a_run_needs_a_key_for_the_persona_and_the_user(house, curator):
    for caller in (
        replace(house.caller, role=Role.READER),
        replace(house.caller, spaces=(COACH,)),
    ):
        with pytest.raises(Forbidden):
            curator.run_for(space_of(house), caller=caller)


def test_a_dry_run_counts_the_same_and_touches_nothing(house, curator):
    for number in range(3):
        write(house, key=str(number))
    write_facts(house, 5)
    before = snapshot(house)

    dry = run(house, curator, dry_run=True)

    assert before == snapshot(house)
    wet = run(house, curator)
    assert (7, 1) == (dry.archived, dry.folded) == (wet.archived, wet.folded)
    assert (8, 2) == (dry.memories, wet.memories)


# repeats


def test_what_stays_is_led_back_to_the_turns_of_those_that_went(house, curator):
    first = said(house, "My sister Nora likes tea.")
    assert {first.uid} == turns(house, judge(house, first, first.content))
    again = write(house, "my sister Nora likes tea", key="x", refs=("person:nora",))

    run(house, curator)

    (stays,) = kept(house)
    assert (again.uid, 2) == (stays.uid, stays.mention_count)
    assert {first.uid} == turns(house, stays)
    assert set() == integrity(house)


def test_a_message_that_is_taken_back_leaves_what_another_one_says_too(house, curator):
    first, second = said(house, "My sister Nora likes tea."), said(house, "Hello.")
    judge(house, first, first.content)
    house.clock.advance(seconds=1)
    memory = judge(house, second, "my sister Nora likes tea", fact_type=FactType.HABIT)
    run(house, curator)
    assert {first.uid, second.uid} == turns(house, memory)

    delete(house, second)

    assert (Status.ACTIVE, {first.uid}) == (
        now_of(house, memory).status,
        turns(house, memory),
    )
    delete(house, first)
    assert Status.RETRACTED is now_of(house, memory).status


def test_more_repeats_than_a_batch_leave_one(house, curator, monkeypatch):
    monkeypatch.setattr("graphmem.companion.curator.BATCH", 10)
    for number in range(24):
        write(house, key=str(number))
    write(house, key="pinned", pinned=True)

    assert 24 == run(house, curator, dry_run=True).archived
    assert 24 == run(house, curator).archived
    (stays,) = kept(house)
    assert (25, True) == (stays.mention_count, stays.pinned)


def test_memories_of_one_moment_are_all_read_page_by_page(house, curator, monkeypatch):
    monkeypatch.setattr("graphmem.store.curating._ROWS_AT_ONCE", 2)
    monkeypatch.setattr(house.clock, "advance", lambda **_: None)
    written = write_facts(house, 5)
    written.append(write(house, "Ada is Ada.", refs=(), kind=FactKind.PROFILE, importance=3))

    read = list(curator.curating.active(space_of(house, "user:ada"), {}))

    assert {memory.key for memory in written} == {fact.key for fact in read}
    assert (6, {"Fact", "Identity"}) == (len(read), {memory.type.value for memory in written})


def test_repeats_of_two_spaces_and_of_other_personas_stay(house, curator):
    for name in ("user:ada", COACH, "user:ada/aide", "user:ada/aide"):
        write(house, name=name, key=str(len(kept(house, "user:ada/aide"))))

    assert 0 == run(house, curator).archived
    assert 1 == run(house, curator, "user:ada/aide").archived


def test_the_hygiene_variant_folds_nothing(house, curator):
    write(house, key="1", importance=2)
    write(house, key="2", importance=1)
    write(house, key="3", importance=3)
    write_facts(house, 3)

    user = space_of(house, "user:ada")
    house.graphmem.policies.save(user, {"companion.curate.only_small": True})
    done = curator.run(user, [space_of(house)], Terms(caller=house.caller))

    assert (1, 0) == (done.archived, done.folded)
    assert ["curator_v1_dedupe"] == [
        each.status_reason for each in kept(house, statuses=[Status.ARCHIVED])
    ]


# folds


def test_a_fold_is_found_shown_and_led_back_to_the_turns_of_its_members(house, curator):
    messages, members = judged(house, "likes tea", "has a dog", "hates fish")

    assert (3, 1) == (run(house, curator).archived, len(folds(house)))

    (fold,) = folds(house)
    (memory,) = kept(house)
    assert "Nora: " + " / ".join(each.content for each in messages) == fold.content
    assert tuple(member.uid for member in members) == fold.folded_from
    assert {each.uid for each in messages} == turns(house, memory) == set(memory.turns)
    assert memory.embedded
    assert [fold.content] == house.contents("who has a dog?")
    assert set() == integrity(house)


def test_folding_works_on_what_the_dedupe_left(house, curator):
    for number in range(3):
        write(house, key=str(number))
    write(house, "John has a dog.", key="dog")

    assert (2, 0) == (run(house, curator).archived, len(folds(house)))


def test_what_is_said_next_of_a_person_does_not_join_the_fold(house, curator):
    write_facts(house, 3)
    run(house, curator)
    (fold,) = folds(house)

    store(house, "John lives in Rome.")
    store(house, "John lives in Oslo.")

    assert [fold] == folds(house)
    assert [fold.content, "John lives in Oslo."] == sorted(contents(house), key=len)[::-1]


def test_a_second_fold_of_a_person_has_a_key_of_its_own(house, curator):
    write_facts(house, 5)
    write_facts(house, 3, 6)

    assert 2 == run(house, curator).folded
    assert {"people|none|john|fact", "people|person|john|fact|fold"} >= {
        fact.memory_key.removesuffix("-2") for fact in folds(house)
    }
    assert 2 == len({fact.memory_key for fact in folds(house)})


def test_a_fold_without_a_model_is_embedded_later(house, curator):
    write_facts(house, 3)
    house.embedder.is_broken = True

    run(house, curator)
    assert [False] == [each.embedded for each in kept(house)]

    house.embedder.is_broken = False
    house.graphmem.runner.run("embed_pending", by_hand=True)
    assert [True] == [each.embedded for each in kept(house)]


def test_each_space_is_folded_on_its_own_and_five_at_most_in_all(house, curator):
    for number in range(4):
        write_facts(house, 3, 10 * number, refs=(f"person:p{number}",))
        write_facts(house, 3, 10 * number, refs=(f"person:p{number}",), name=COACH)

    assert 5 == run(house, curator).folded
    assert [4, 1] == [len(folds(house, name)) for name in ("user:ada", COACH)]


def test_what_typed_edges_hold_is_not_folded(house, curator):
    members = write_facts(house, 3)
    house.rows(
        "MATCH (a:Memory {key: $one}), (b:Memory {key: $other})"
        " CREATE (a)-[:RELATED_TO {uid: 'e', weight: 1.0}]->(b)",
        one=members[0].key,
        other=write(house, "Alone.", refs=()).key,
    )

    assert 0 == run(house, curator).folded


def test_a_fold_whose_member_is_retracted_is_remade_and_then_taken_apart(house, curator):
    first, second, third = (
        write(house, "John likes Rome.", key="1", refs=ROME),
        write(house, "John has a dog.", key="2"),
        write(house, "John is tall.", key="3"),
    )
    run(house, curator)
    (made,) = kept(house)

    retract(house, first)

    (fold,) = folds(house)
    assert "John: John has a dog. / John is tall." == fold.content
    assert ((second.uid, third.uid), ("person:john",)) == (fold.folded_from, fold.entity_refs)
    assert (fold.uid, fold.memory_key, 2) == (
        made.uid,
        made.logical_key,
        fold.importance,
    )

    retract(house, second)

    (left,) = kept(house)
    assert (third.uid, third.native, third.logical_key) == (left.uid, left.native, left.logical_key)
    assert (Status.ARCHIVED, "unfold") == (
        now_of(house, made).status,
        now_of(house, made).status_reason,
    )
    assert FactStatus.ARCHIVED is fact_of(now_of(house, made)).status
    assert set() == integrity(house)


def test_a_fold_does_not_say_what_was_taken_back_with_its_message(house, curator):
    messages, members = judged(house, "sings", "skis", "swims")
    run(house, curator)

    delete(house, messages[1])

    (fold,) = folds(house)
    assert "Nora: My sister Nora sings. / My sister Nora swims." == fold.content
    assert (members[0].uid, members[2].uid) == fold.folded_from
    assert {messages[0].uid, messages[2].uid} == turns(house, kept(house)[0])
    assert Status.RETRACTED is now_of(house, members[1]).status
    delete(house, messages[0])
    assert ["My sister Nora swims."] == contents(house)
    assert set() == integrity(house)


def test_facts_of_an_entity_and_of_what_was_merged_into_it_are_folded_together(house, curator):
    write_facts(house, 2)
    write(house, "Johnny sails.", refs=("person:johnny",))
    assert 0 == run(house, curator, dry_run=True).folded
    house.graphmem.entity_keeper.merge(
        space_of(house, "user:ada"), "person:johnny", "person:john", caller=house.caller
    )

    assert 1 == run(house, curator).folded
    assert ["John: Fact 1. / Fact 2. / Johnny sails."] == contents(house)


# the job


def test_the_job_folds_projects_too_for_all_users_and_personas(house, curator):
    project = {"kind": FactKind.PROJECT, "refs": ("project:boat",)}
    for name in ("user:ada", COACH, "user:bob", "user:bob.2"):
        write_facts(house, 3, name=name, **project)
    write(house, name="user:bob/aide", key="1")
    write(house, name="user:bob/aide", key="2")
    own = ["user:ada", COACH, "user:bob", "user:bob/aide", "user:bob.2"]
    assert 0 == run(house, curator).folded

    house.clock.advance(seconds=59)
    assert (0, 0) == of_job(run_job(house, curator, COACH))
    house.clock.advance(seconds=1)
    spaces = {"user:ada": 2, "user:bob": 1, "user:bob.2": 1}
    for name, number in spaces.items():
        record = run_job(house, curator, name)
        assert (number, 1) == of_job(record)
        assert {space_of(house, name).key} == record.spaces

    assert [1, 1, 1, 0, 1] == [len(folds(house, name)) for name in own]
    assert [CHESS] == contents(house, "user:bob/aide")
    state = find_state(house.graphmem.connection, space_of(house, "user:bob/aide"))
    assert 2 == state.curator.last_memory_count_at_run


def of_job(record):
    return record.counts["folded"], record.counts["users"]


def test_the_job_finds_each_user_once(house, curator):
    for name in ("user:ada/x", "user:ada.b", "user:ada", COACH, "user:cleo/x", "project:p"):
        write(house, name=name)
    house.write(request_of_fact_without_room())

    users = [each for each in curator.curating.users() if each.tenant == house.caller.tenant]

    assert ["user:ada", "user:ada.b", "user:cleo"] == sorted(each.name for each in users)
    assert [COACH, "user:ada/x", "user:cleo/x"] == [
        each.name for each in curator.curating.personas(users)
    ]


def request_of_fact_without_room():
    fact = NewFact(kind=FactKind.PROFILE, content="Plain.")
    space = parse_space("user:dora", tenant="any")
    return replace(request_of_fact(fact, space=space, at=None), kept_by=None, native=None)


def test_the_job_does_nothing_dry_or_for_a_space_of_another_kind(house, curator):
    write_facts(house, 3)
    before = snapshot(house)

    assert (0, 0) == of_job(run_job(house, curator, "project:p"))
    assert (1, 1) == of_job(run_job(house, curator, "user:ada", dry_run=True))
    assert before == snapshot(house)


def test_the_job_obeys_the_switch_unless_somebody_asks_and_stops_when_told(house, curator):
    write_facts(house, 3)
    house.graphmem.policies.save(space_of(house, "user:ada"), {"companion.curate.enabled": False})

    assert (0, 0) == of_job(run_job(house, curator, "user:ada"))
    stopped = run_job(house, curator, "user:ada", by_hand=True, is_over=lambda: True)
    assert ((0, 0), True) == (of_job(stopped), stopped.was_cut)
    assert (1, 1) == of_job(run_job(house, curator, "user:ada", by_hand=True))


def test_what_is_wrong_with_one_user_stops_no_other(house, curator):
    broken = write(house, name="user:ada")
    write_facts(house, 3, name="user:bob")
    house.rows("MATCH (m:Memory {key: $key}) SET m.native = '{}'", key=broken.key)

    record = Run(uid="run", job="companion_curate")
    job = CurateJob(curator=curator)
    for user in ("user:ada", "user:bob"):
        record.space = space_of(house, user).key
        job.run(record)

    assert (1, 1, 1) == (*of_job(record), record.counts["failed"])
    assert [f"{space_of(house, 'user:ada').key}: KeyError"] == record.degraded


# what is said


def keeper(house):
    return house.graphmem.of(CompanionKeeper)


def said(house, content):
    """A message to the coach."""
    keeper(house).save_persona("coach", {"name": "Coach"}, caller=house.caller)
    house.clock.advance(seconds=1)
    saying = Saying(uid="", role=TurnRole.USER, content=content, message_id=str(house.clock.now()))
    done = keeper(house).messages.say(
        space_of(house), saying, caller=house.caller, judges_now=False
    )
    return done.turn


def judge(house, turn, content, **subtype):
    """Let a message say something of Nora."""
    refs = ("person:nora",)
    fact = NewFact(
        kind=FactKind.PEOPLE, content=content, entity_refs=refs, subtype=Subtype(**subtype)
    )
    request = request_of_fact(fact, space=space_of(house, "user:ada"), at=turn.at)
    preparation = house.graphmem.writing.preparation
    ready = preparation.embed(preparation.check([request], house.caller))
    operation = KeepJudged(
        space=space_of(house, "user:ada"),
        policy=house.graphmem.policy,
        config=house.graphmem.policies.of(space_of(house)).companion,
        facts=[PlannedFact(fact=fact, item=ready.items[0])],
        turn=turn,
        vectors=ready.vectors,
    )
    return house.graphmem.gateway.execute(operation, house.caller).answer.facts[0].memory


def judged(house, *said_of_her):
    """Messages about Nora, and a memory of each."""
    messages = [said(house, f"My sister Nora {what}.") for what in said_of_her]
    return messages, [
        judge(house, message, message.content, fact_type=fact_type)
        for message, fact_type in zip(messages, FactType, strict=False)
    ]


def store(house, content, refs=("person:john",)):
    fact = NewFact(kind=FactKind.PEOPLE, content=content, entity_refs=refs)
    house.clock.advance(seconds=1)
    keeper(house).store(space_of(house, "user:ada"), fact, caller=house.caller)


def turns(house, memory):
    rows = house.rows("MATCH (:Memory {key: $key})-[:FROM_TURN]->(t) RETURN t.uid", key=memory.key)
    return {uid for (uid,) in rows}


def delete(house, turn):
    house.graphmem.of(ConversationKeeper).delete_turn(
        turn.space, CONVERSATION, turn.uid, caller=house.caller
    )
