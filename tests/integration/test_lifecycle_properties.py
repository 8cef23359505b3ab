"""What holds of the lifecycle whatever is said, and with whatever switches (003)."""

import random

import pytest
from sessions import Session

from graphmem.model.memory import Status

SWITCHES = (
    "episode_note_mode_enabled",
    "memory_boxes_enabled",
    "trace_weaver_enabled",
    "verbatim_artifacts_enabled",
    "threading_enabled",
    "chunking_enabled",
    "memory_linking_enabled",
    "contradiction_detection_enabled",
    "intent_routing_enabled",
    "inject_questions",
    "query_expansion_enabled",
    "rerank_enabled",
    "feedback_enabled",
    "negative_examples_enabled",
    "keep_turns",
    "entity_near",
)
SAID = (
    "I prefer tea over coffee.",
    "I prefer green tea over coffee.",
    "FYI I live in Lyon and I work at Siemens.",
    "Actually, I work at Bosch, not at Siemens.",
    "We decided to use Neo4j for storage.",
    "FYI yesterday the storage cluster failed.",
    "FYI last Monday I met Eve Miller in Paris.",
    "FYI maybe I could perhaps move to Rome someday.",
    "You must never deploy on a Friday.",
    "FYI I can speak Spanish fluently.",
    "FYI I will send the report tomorrow.",
    "My birthday is June 3.",
    "Thanks!",
)


def consolidate(session):
    house = session.house
    return house.graphmem.runner.run("consolidate", space_key=session.space.key, by_hand=True)


def nodes(session):
    """How many nodes there are of each label of what is kept of the space."""
    return dict(
        session.house.rows(
            "MATCH (n) WHERE n.space = $space AND NOT n:JobRun AND NOT n:Topic AND NOT n:Entity"
            " UNWIND labels(n) AS label RETURN label, count(*)",
            space=session.space.key,
        )
    )


def memories(session, where):
    return dict(
        session.house.rows(
            f"MATCH (m:Memory {{space: $space}}) WHERE {where}"
            " RETURN m.uid, m.content + '|' + m.status + '|' + coalesce(m.kept_by, '')"
            " ORDER BY m.uid",
            space=session.space.key,
        )
    )


def episodes(session):
    return dict(
        session.house.rows(
            "MATCH (m:Memory {space: $space, memory_kind: 'episode'}) RETURN m.uid, m.content",
            space=session.space.key,
        )
    )


def sealed(session):
    return session.house.rows(
        "MATCH (b:Box {space: $space})-[h:HOLDS]->(m) WHERE b.sealed_at IS NOT NULL"
        " RETURN b.key, b.seal_reason, b.topics, toString(b.sealed_at), m.key, m.space, h.number"
        " ORDER BY b.key, h.number, m.key",
        space=session.space.key,
    )


def lines(session):
    """What every line of profile, index and context rests on."""
    keeper, caller = session.keeper, session.house.caller
    told = keeper.contexts.of(session.space, None, "What holds?", max_tokens=None, caller=caller)
    profile = keeper.notebooks.profile(session.space)
    artefacts = keeper.notebooks.artefact_page(session.space, None, limit=50).items
    return {
        *told.context.uids,
        *(uid for line in profile for uid in line.uids),
        *(artefact.memory for artefact in artefacts),
    }


def active(session):
    return set(memories(session, "m.status = 'active'"))


@pytest.mark.parametrize("seed", range(10))
def test_a_pass_takes_nothing_away_and_a_second_one_changes_nothing(house, seed):
    chance = random.Random(seed)  # noqa: S311 - examples, no secrets
    session = Session(house)
    session.want(**dict.fromkeys(chance.sample(SWITCHES, chance.randint(0, len(SWITCHES))), True))
    said = [(chance.choice(SAID), chance.randint(0, 80)) for _ in range(chance.randint(5, 12))]
    for content, minutes in said:
        house.clock.advance(minutes=minutes)
        session.say(content)
    uids = sorted(active(session))
    house.rows("MATCH (m:Memory {uid: $uid}) SET m.pinned = true", uid=chance.choice(uids))
    before = nodes(session), memories(session, "m.pinned"), episodes(session), sealed(session)
    house.clock.advance(hours=1)

    consolidate(session)
    after = nodes(session), memories(session, "m.pinned"), episodes(session), sealed(session)
    second = consolidate(session)

    assert all(after[0].get(label, 0) >= count for label, count in before[0].items())
    assert before[1] == after[1]
    assert before[2] == {uid: after[2][uid] for uid in before[2]}
    assert all(row in after[3] for row in before[3])
    assert all(row[5] == session.space.key for row in after[3])
    assert {"topics", "spaces"} >= {what for what, count in second.counts.items() if count}
    assert after[0] == nodes(session)
    assert lines(session) <= active(session)
    for uid in sorted(active(session))[:2]:
        session.put_away(uid, Status.RETRACTED)
    assert lines(session) <= active(session)


ON_BY_DEFAULT = ("fact_deduplication_enabled", "recall_planner_enabled", "identity_enabled")
LABELS_OF = {
    "memory_boxes_enabled": {"Box"},
    "verbatim_artifacts_enabled": {"Artefact"},
    "threading_enabled": {"Thread"},
}


@pytest.mark.parametrize("switch", [None, *SWITCHES, *ON_BY_DEFAULT, "knowledge_index_enabled"])
def test_each_part_works_alone_and_leaves_nothing_of_the_others(house, switch):
    session = Session(house)
    off = dict.fromkeys((*SWITCHES, *ON_BY_DEFAULT, "knowledge_index_enabled"), False)
    session.want(**off | ({switch: True} if switch else {}))
    for content in SAID[:6]:
        session.say(content)
        house.clock.advance(minutes=20)
    run = consolidate(session)
    found = set(nodes(session))

    assert "succeeded" == run.status
    assert {"I prefer tea over coffee."} <= {
        content.partition("|")[0] for content in memories(session, "true").values()
    }
    assert lines(session) <= active(session)
    for name, labels in LABELS_OF.items():
        assert (name == switch) == (labels <= found), name
