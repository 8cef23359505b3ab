"""What a companion keeps, beside plain memories, turns of 003 and a hundred days of upkeep."""

from dataclasses import replace

import pytest
from builders import a_request
from sessions import Session

from graphmem.bootstrap import build
from graphmem.companion.keeper import CompanionKeeper
from graphmem.model.companion import (
    EntityKind,
    FactKind,
    FactSource,
    FactType,
    NewFact,
    Subtype,
)
from graphmem.model.conversation import Saying, TurnRole
from graphmem.model.entity import EntityRef
from graphmem.model.memory import MemoryType
from graphmem.model.source import CapturedBy, Source, SourceType
from graphmem.model.space import parse_space

USER, COACH = "user:ada", "user:ada/coach"
SWITCHES = {
    "upkeep.speculative.enabled": True,
    "upkeep.commitments.enabled": True,
    "upkeep.curate.enabled": True,
    "upkeep.consolidate.enabled": True,
    "upkeep.archive.enabled": True,
}
JOBS = (
    *("expire", "decay_commitments", "archive", "curate_dedupe", "curate_fold"),
    *("consolidate", "detect_contradictions", "integrity"),
)
SAID = (
    "I live in Oslo and my email is ada@one.example.",
    "My sister Nora lives in Porto.",
    "My sister Nora likes tea.",
    "My sister Nora owns a boat.",
    "I might call Nora. I'll call mom tomorrow at 6 pm.",
)
PLAIN = (
    "I live in Oslo.",
    "My sister Nora lives in Porto.",
    "My sister Nora likes tea.",
    "My sister Nora owns a boat.",
    "My sister Nora owns a boat.",
)
NORA = (EntityRef(key="person:nora"),)
DIAGNOSTICS = Source(type=SourceType.DIAGNOSTICS, captured_by=CapturedBy.EXTRACTOR)
KEPT = """
MATCH (m:Memory) WHERE m.space STARTS WITH $tenant AND m.kept_by = 'companion'
RETURN m {.*, embedded: null} ORDER BY m.key
"""
OTHERS = """
MATCH (m:Memory) WHERE m.space STARTS WITH $tenant AND coalesce(m.kept_by, '') <> 'companion'
RETURN m {.*, embedded: null} ORDER BY m.key
"""


@pytest.fixture
def awake(house, connection, settings):
    """A service with every switch on."""
    built = build(settings, connection, clock=house.clock, embedder=house.embedder)
    for name in (USER, COACH):
        space = parse_space(name, tenant=house.caller.tenant)
        built.policies.save(space, SWITCHES | {"companion.curate.enabled": False})
    yield replace(house, graphmem=built)
    built.journal.close()
    built.events.close()


def speak(house, day=0):
    keeper, caller = house.graphmem.of(CompanionKeeper), house.caller
    keeper.save_persona("coach", {"name": "Coach"}, caller=caller)
    space = parse_space(COACH, tenant=caller.tenant)
    for number, text in enumerate(SAID):
        house.clock.advance(minutes=1)
        said = Saying(uid="", role=TurnRole.USER, content=text, message_id=f"m-{day}-{number}")
        assert keeper.messages.say(space, said, caller=caller, judges_now=True).is_new


def note_of_nora(house):
    """Three facts of a person, which the curator folds."""
    keeper, user = house.graphmem.of(CompanionKeeper), parse_space(USER, tenant=house.caller.tenant)
    for fact_type in list(FactType)[:3]:
        fact = NewFact(
            kind=FactKind.PEOPLE,
            content=f"My sister Nora has a {fact_type}.",
            entity_refs=("person:nora",),
            subtype=Subtype(entity_type=EntityKind.PERSON, fact_type=fact_type),
            source=FactSource.SHADOW_EXTRACTION,
        )
        keeper.store(user, fact, caller=house.caller)


def write_others(house):
    """Plain memories, a commitment, and turns from which 003 takes facts."""
    for text in PLAIN:
        house.clock.advance(minutes=1)
        house.write(a_request(text, space=USER, entities=NORA, dedupe="none", source=DIAGNOSTICS))
    house.write(a_request("Call mom.", space=COACH, type=MemoryType.TODO, source=DIAGNOSTICS))
    house.write(a_request("May be sold.", space=USER, confidence=0.2, source=DIAGNOSTICS))
    session = Session(house, USER)
    session.read("FYI my sister Nora lives in Porto. I live in Oslo.")


def a_hundred_days(house, jobs):
    for _ in range(5):
        house.clock.advance(days=20)
        for name in (USER, COACH):
            key = parse_space(name, tenant=house.caller.tenant).key
            for job in jobs:
                house.graphmem.runner.run(job, space_key=key)


def test_what_others_write_and_do_in_a_hundred_days_changes_nothing_that_a_companion_keeps(awake):
    speak(awake)
    kept = awake.rows(KEPT)
    assert len(kept) >= 5
    write_others(awake)
    others = awake.rows(OTHERS)
    a_hundred_days(awake, JOBS)

    assert others != awake.rows(OTHERS)  # the jobs were at work
    assert kept == awake.rows(KEPT)


def test_what_a_companion_does_in_a_hundred_days_changes_nothing_that_others_keep(awake):
    write_others(awake)
    others = awake.rows(OTHERS)
    speak(awake)
    note_of_nora(awake)
    for name in (USER, COACH):
        space = parse_space(name, tenant=awake.caller.tenant)
        awake.graphmem.policies.save(space, SWITCHES)
    a_hundred_days(awake, ("companion_judge", "companion_sessions", "companion_curate"))

    assert [("curated_fold",)] == awake.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant AND m.kept_by = 'companion'"
        " AND m.native CONTAINS 'curated_fold' RETURN 'curated_fold'"
    )
    assert others == awake.rows(OTHERS)
