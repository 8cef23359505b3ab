"""Migrations in Python, over what an older version stored. Each can be run again."""

import unicodedata

from builders import NOW, a_request

from graphmem.gateway.migration_steps import (
    claim_by_what_counts,
    date_former_vectors,
    end_what_is_superseded,
    give_spaces_nodes,
    join_unicode_forms,
    name_further_sources,
    salt_words,
    turn_what_was_said,
)
from graphmem.gateway.status import ChangeStatus
from graphmem.model.memory import MemoryType, Status
from graphmem.model.source import CapturedBy, Source
from graphmem.model.tokens import term_salt
from graphmem.model.transcript import message_uid
from graphmem.model.writing import Outcome

NFC, NFD = "caf\u00e9", "cafe\u0301"


def migrate(house, step):
    """Run a step twice, as after a cut; what it said the first time."""
    said = []
    step(house.graphmem.connection, said.append)
    step(house.graphmem.connection, lambda _: None)
    return said


def outcomes(house, *requests):
    return [result.outcome for result in house.write(*requests).results]


def content_claims(house):
    return house.rows(
        "MATCH (k:ClaimKey)-[:CLAIMS]->(m:Memory) WHERE m.space STARTS WITH $tenant"
        " AND k.key CONTAINS '|content|' RETURN k.key, m.uid ORDER BY m.uid"
    )


def test_claims_of_the_older_identity_become_those_of_the_new(house):
    house.write(a_request("We use .NET.", uid="a", logical_key="stack"))
    house.write(a_request("Ada likes tea."), a_request("Said twice.", dedupe="none"))
    expected = content_claims(house)
    house.rows(
        "MATCH (k:ClaimKey)-[:CLAIMS]->(m:Memory) WHERE m.space STARTS WITH $tenant"
        " AND k.key CONTAINS '|content|' SET k.key = m.space + '|content|old-' + m.uid"
    )

    said = migrate(house, claim_by_what_counts)

    assert expected == content_claims(house)
    assert said[-1].endswith("have a new content claim")
    assert [Outcome.REINFORCED, Outcome.CREATED] == outcomes(
        house, a_request("Ada likes tea"), a_request("Ada likes tea", type=MemoryType.OBSERVATION)
    )
    counts = house.graphmem.runner.run("integrity", space_key=space_key(house)).counts
    assert 0 == counts["memories_without_claim"] + counts["claims_without_memory"]


def test_what_is_superseded_without_an_end_gets_one(house):
    house.write(a_request("Old.", uid="a"))
    house.clock.advance(days=1)
    house.write(a_request("New.", uid="b", updates=("a",)))
    house.rows(
        "MATCH (m:Memory {uid: 'a'}) WHERE m.space STARTS WITH $tenant"
        " SET m.valid_until = null WITH m MATCH (c:Chunk)-[:OF]->(m) SET c.valid_until = 0"
    )

    migrate(house, end_what_is_superseded)

    (memory,) = house.graphmem.memories.by_uid(house.caller.tenant, "a")
    assert house.clock.now() == memory.valid_until
    counts = house.graphmem.runner.run("integrity", space_key=space_key(house)).counts
    assert 0 == counts["stale_copies"]


def space_key(house):
    return f"{house.caller.tenant}/user:ada"


def in_the_older_form(house, uid):
    """Give a memory the ids that an older version stored as they were sent."""
    tokens = house.rows(
        "MATCH (m:Memory {uid: $uid}) WHERE m.space STARTS WITH $tenant RETURN m.space_token",
        uid=uid,
    )
    assert 1 == len(tokens)
    house.rows(
        "MATCH (m:Memory {uid: $uid}) WHERE m.space STARTS WITH $tenant"
        " SET m.conversation_id = $name, m.tags = [$name], m.source_key = $name,"
        " m.space_token = 'old'"
        " WITH m MATCH (c:Chunk)-[:OF]->(m) SET c.conversation_id = $name",
        uid=uid,
        name=NFD,
    )
    house.rows(
        "MATCH (k:ClaimKey)-[:CLAIMS]->(m:Memory {uid: $uid}) WHERE m.space STARTS WITH $tenant"
        " AND k.key CONTAINS '|source|' SET k.key = m.space + '|source|' + $name",
        uid=uid,
        name=NFD,
    )


def turn(uid, text):
    source = Source(conversation_id=NFC, key=NFC if uid == "a" else None)
    return a_request(text, uid=uid, occurred_at=NOW, source=source, tags=(NFC,))


def test_ids_in_another_unicode_form_become_one_with_those_in_nfc(house):
    house.write(turn("a", "The first turn."))
    house.write(turn("b", "The second turn."))
    for uid in ("a", "b"):
        in_the_older_form(house, uid)
    house.rows(
        "MATCH (c:Conversation) WHERE c.key STARTS WITH $tenant SET c.key = c.space + '|' + $name",
        name=NFD,
    )
    house.write(turn("c", "The third turn."))

    migrate(house, join_unicode_forms)

    assert [("a", "b"), ("b", "c")] == house.rows(
        "MATCH (x:Memory)-[:NEXT]->(y:Memory) WHERE x.space STARTS WITH $tenant"
        " RETURN x.uid, y.uid ORDER BY x.uid"
    )
    assert 1 == len(house.rows("MATCH (c:Conversation) WHERE c.key STARTS WITH $tenant RETURN c"))
    for filters in ({"conversation_id": NFC}, {"tags": (NFC,)}):
        found = house.recall("turn", **filters).items
        assert {"a", "b", "c"} == {item.memory.uid for item in found}
    assert [Outcome.UNCHANGED] == outcomes(
        house, a_request("The first turn.", source=Source(key=NFD))
    )
    for (key,) in house.rows("MATCH (n) WHERE n.space STARTS WITH $tenant RETURN n.key"):
        assert key is None or unicodedata.is_normalized("NFC", key)


def sources_of(house, uid):
    (memory,) = house.graphmem.memories.by_uid(house.caller.tenant, uid)
    return memory.sources


def forget_sources(house):
    """As an older version left it: source claims alone, and no word of what was taken back."""
    space = "WHERE s.space STARTS WITH $tenant"
    house.rows(f"MATCH (s:Source) {space} DETACH DELETE s")
    house.rows(f"MATCH (s:ClaimKey) {space} REMOVE s.digest")
    house.rows(f"MATCH (s:ClaimKey)-[r:RETRACTED]->() {space} DELETE r")


def test_source_claims_beyond_the_first_become_sources_as_far_as_they_tell(house):
    def said(content, key, **fields):
        source = Source(key=key, conversation_id=f"c-{key}")
        return house.write(a_request(content, source=source, **fields)).results[0]

    said("Attempt one.", "a-1", uid="out")
    house.clock.advance(minutes=1)
    said("Attempt two.", "a-2", uid="out")
    # an older version kept the newest source flat
    house.rows(
        "MATCH (m:Memory {uid: 'out'}) WHERE m.space STARTS WITH $tenant"
        " SET m.source_key = 'a-2', m.conversation_id = 'c-a-2'"
    )
    repeated = said("Ada likes tea.", "t-1").memory.uid
    said("Ada likes tea.", "t-2")
    forget_sources(house)

    reports = migrate(house, name_further_sources)

    assert reports[-1].endswith("2 further sources made")
    out, tea = sources_of(house, "out"), sources_of(house, repeated)
    assert [("a-2", "c-a-2"), ("a-1", "c-a-1")] == [(s.key, s.conversation_id) for s in out]
    assert [("t-1", "c-t-1"), ("t-2", None)] == [(s.key, s.conversation_id) for s in tea]
    # what each said is known where it is certain
    assert [Outcome.UNCHANGED] * 3 == [
        said(content, key, **uid).outcome
        for content, key, uid in (
            ("Attempt one.", "a-1", {"uid": "out"}),
            ("Ada likes tea.", "t-1", {}),
            ("Ada likes tea.", "t-2", {}),
        )
    ]
    assert Outcome.REVISED == said("Ada likes coffee.", "t-2").outcome


def test_what_an_older_version_took_back_is_known(house):
    taken_back = [
        house.write(a_request("Ada likes tea.", uid=uid)).results[0].memory for uid in "ab"
    ]
    for memory in taken_back:
        change = ChangeStatus(memory=memory, status=Status.RETRACTED, reason=None)
        house.graphmem.gateway.execute(change, house.caller)
    forget_sources(house)

    migrate(house, name_further_sources)

    (told,) = house.write(a_request("Ada likes tea.")).results
    assert told.retracted_before in {"a", "b"}
    assert 2 == len(
        house.rows(
            "MATCH (k:ClaimKey)-[r:RETRACTED]->(m) WHERE k.space STARTS WITH $tenant RETURN r"
        )
    )


def words(house):
    return house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant"
        " RETURN m.search_text, m.search_context, m.search_actor ORDER BY m.uid"
    )


def test_the_words_of_other_tenants_get_their_salt_once(house):
    house.write(a_request("Tea in May.", uid="a", actor="Ada"), a_request("?!", uid="b"))
    expected = words(house)
    salt = term_salt(house.caller.tenant)
    house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant"
        " SET m.search_text = replace(m.search_text, $salt, ''),"
        " m.search_context = replace(m.search_context, $salt, ''),"
        " m.search_actor = replace(m.search_actor, $salt, '')",
        salt=salt,
    )
    assert "tea in may" == words(house)[0][0]

    migrate(house, salt_words)

    assert expected == words(house)
    assert "Tea in May." == house.contents("may")[0]


def test_spaces_get_nodes(house):
    house.write(a_request("Tea."), a_request("Pot.", space="user:bob"))
    house.rows("MATCH (s:Space) WHERE s.key STARTS WITH $tenant DELETE s")

    migrate(house, give_spaces_nodes)

    assert [("user:ada",), ("user:bob",)] == house.rows(
        "MATCH (s:Space) WHERE s.key STARTS WITH $tenant AND s.space = s.key"
        " RETURN split(s.key, '/')[1] ORDER BY s.key"
    )


def test_vectors_of_earlier_versions_get_the_time_when_they_were_replaced(house):
    house.write(a_request("Ada likes tea.", uid="a"))
    house.clock.advance(days=1)
    house.write(a_request("Ada likes coffee.", uid="a"))
    house.rows("MATCH (c:FormerChunk) WHERE c.space STARTS WITH $tenant REMOVE c.replaced_at")

    migrate(house, date_former_vectors)

    assert [(True,)] == house.rows(
        "MATCH (c:FormerChunk)-[:OF]->(r:Revision) WHERE c.space STARTS WITH $tenant"
        " RETURN DISTINCT c.replaced_at = r.replaced_at"
    )


def turns_of(house):
    return house.rows(
        "MATCH (m:Memory)-[f:FROM_TURN]->(t:Turn)-[:IN]->(c:Conversation)"
        " WHERE t.space STARTS WITH $tenant AND t.conversation = c.key AND m.turns = [t.uid]"
        " RETURN c.key, t.content, t.role, t.actor, t.message_id, f.said_by, c.turns"
        " ORDER BY c.key, t.number"
    )


def without_turns(house):
    house.rows("MATCH (t:Turn) WHERE t.space STARTS WITH $tenant DETACH DELETE t")
    house.rows("MATCH (m:Memory) WHERE m.space STARTS WITH $tenant REMOVE m.turns")
    house.rows(
        "MATCH (c:Conversation) WHERE c.space STARTS WITH $tenant"
        " REMOVE c.turns, c.numbered, c.created_at, c.updated_at, c.conversation_id"
    )


def test_what_was_said_gets_its_turns_in_the_order_of_the_chain(house):
    for name in ("a", "b"):
        house.write(
            *(
                a_request(f"{name}{number}", actor="Ada", source=Source(conversation_id=name))
                for number in range(30)
            )
        )
    key = "channel_transcript:m-1"
    said = Source(conversation_id="b", key=key, captured_by=CapturedBy.SYSTEM)
    house.write(a_request("Shipped.", source=said, proposed_uid=message_uid("m-1")))
    house.write(
        a_request("Derived.", source=Source(conversation_id="a", captured_by=CapturedBy.EXTRACTOR))
    )
    (gone,) = house.write(a_request("Wrong.", source=Source(conversation_id="c"))).results
    house.graphmem.gateway.execute(
        ChangeStatus(memory=gone.memory, status=Status.RETRACTED, reason=None), house.caller
    )
    expected = [row for row in turns_of(house) if row[1] != "Wrong."]
    without_turns(house)

    said = migrate(house, turn_what_was_said)

    assert [
        (*row[:4], None, *row[5:]) if row[1] != "Shipped." else (*row[:4], "m-1", *row[5:])
        for row in expected
    ] == turns_of(house)
    assert said[-1].endswith("61 turns made")
    house.write(a_request("Later.", source=Source(conversation_id="a")))
    assert "Later." == [row[1] for row in turns_of(house) if row[0].endswith("|a")][-1]


def test_memories_that_no_chain_leads_to_get_turns_too(house):
    house.write(*(a_request(f"T{n}", source=Source(conversation_id="a")) for n in range(9)))
    expected = [row[1] for row in turns_of(house)]
    without_turns(house)
    house.rows("MATCH (c:Conversation)-[l:LAST]->() WHERE c.space STARTS WITH $tenant DELETE l")

    migrate(house, turn_what_was_said)

    assert sorted(expected) == sorted(row[1] for row in turns_of(house))
