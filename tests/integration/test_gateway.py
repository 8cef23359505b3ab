"""The gateway on a real graph."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from builders import NOW, a_request

from graphmem.errors import Conflict, Forbidden, InvalidInput, PolicyRefused
from graphmem.gateway.edges import DrawEdge, EdgeRequest
from graphmem.gateway.writing import RolledBack
from graphmem.model.caller import Caller, Role
from graphmem.model.edge import EdgeType
from graphmem.model.entity import EntityRef
from graphmem.model.source import Source, SourceType
from graphmem.model.space import Space, SpaceKind
from graphmem.model.writing import IdempotencyKey, OnSameKey, Outcome


def outcomes(report):
    return [result.outcome for result in report.results]


def test_a_memory_is_stored_with_its_labels_chunks_claims_and_trace(house):
    report = house.write(a_request("Ada likes tea. She drinks it hot.", actor="Ada"))

    assert [Outcome.CREATED] == outcomes(report)
    assert [(["Fact", "Memory"], 3, 1)] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant"
        " RETURN COLLECT { UNWIND labels(m) AS l RETURN l ORDER BY l }, COUNT {"
        " (:Chunk)-[:OF]->(m) },"
        " COUNT { (:ClaimKey)-[:CLAIMS]->(m) }"
    )
    assert [("write", "test")] == house.rows(
        "MATCH (t:Trace {uid: $uid}) RETURN t.kind, t.key_id", uid=report.trace_id
    )


def test_what_was_written_comes_back_as_it_was(house):
    request = a_request(
        "Grüße aus Łódź 🎉",
        uid="x-1",
        actor="Ada",
        context="around it",
        importance=77,
        confidence=0.25,
        entities=(EntityRef(key="person:Ada L", label="Ada L."),),
        logical_key="greeting",
        occurred_at=NOW - timedelta(days=3, microseconds=7),
        valid_from=NOW - timedelta(days=2),
        valid_until=NOW + timedelta(days=2),
        expires_at=NOW + timedelta(days=9),
        pinned=True,
        tags=("b", "a"),
        metadata={"deep": {"list": [1, 2.5, None, "x"]}},
        source=Source(type=SourceType.WORKFLOW_OUTPUT, workflow_run_id="r", step_id="s", key="k"),
    )
    written = house.write(request).results[0].memory

    stored = house.graphmem.memories.by_uid(house.caller.tenant, "x-1")

    assert (written,) == stored
    for name in (
        "content",
        "actor",
        "context",
        "importance",
        "confidence",
        "occurred_at",
        "valid_from",
        "valid_until",
        "expires_at",
        "pinned",
        "tags",
        "metadata",
        "source",
    ):
        assert getattr(request, name) == getattr(stored[0], name)


def test_twenty_parallel_adds_of_one_content_leave_one_memory(house):
    with ThreadPoolExecutor(20) as pool:
        reports = list(
            pool.map(lambda _: house.write(a_request("Said by all at once.")), range(20))
        )

    assert 1 == sum(outcomes(report) == [Outcome.CREATED] for report in reports)
    assert [(1, 20)] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant RETURN count(m), max(m.mention_count)"
    )


def test_a_thousand_chinese_facts_are_a_thousand_memories(house):
    facts = [a_request(f"用户喜欢{chr(0x4E00 + number)}") for number in range(1000)]

    for start in range(0, 1000, 500):
        house.write(*facts[start : start + 500])

    assert [(1000,)] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant RETURN count(m)"
    )


def test_a_revision_is_kept_whole(house):
    house.write(a_request("First text.", uid="x", tags=("keep",)))
    house.write(a_request("Second text.", uid="x"))

    assert [("Second text.", ["keep"], "First text.", 1, 1)] == house.rows(
        "MATCH (m:Memory)-[:HAS_REVISION]->(r:Revision) WHERE m.space STARTS WITH $tenant"
        " RETURN m.content, m.tags, r.content, r.version,"
        " size(COLLECT { MATCH (c:Chunk)-[:OF]->(m) RETURN c })"
    )
    assert "Second text." == house.contents("second")[0]
    assert "First text." not in house.contents("first")


def test_superseding_moves_status_chunks_and_token_together(house):
    house.write(a_request("Ada drinks coffee.", uid="old"))
    house.write(a_request("Ada drinks tea.", uid="new", updates=("old",)))

    assert [("new", "old", "superseded", "update", ["superseded"])] == house.rows(
        "MATCH (n:Memory)-[:UPDATES]->(o:Memory) WHERE n.space STARTS WITH $tenant"
        " RETURN n.uid, o.uid, o.status, o.status_reason, COLLECT { MATCH (c:Chunk)-[:OF]->(o)"
        " RETURN c.status }"
    )
    assert ["Ada drinks tea."] == house.contents("What does Ada drink?")
    assert {"Ada drinks tea.", "Ada drinks coffee."} == set(
        house.contents("What does Ada drink?", include_superseded=True)
    )


def test_a_value_that_changes_back_ends_with_the_right_current_one(house):
    for content in ("cola", "coffee", "cola"):
        house.write(a_request(content, logical_key="drink", on_same_key=OnSameKey.SUPERSEDE))

    assert [("cola", "active"), ("coffee", "superseded"), ("cola", "superseded")] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant RETURN m.content, m.status ORDER BY"
        " m.uid DESC"
    )


def test_entities_live_in_the_space_without_persona(house):
    ref = EntityRef(key="person:John Doe")
    house.write(
        a_request("A.", space="user:ada/coach", entities=(ref,)), a_request("B.", entities=(ref,))
    )

    assert [("person:john_doe", "John Doe", 2)] == house.rows(
        "MATCH (e:Entity) WHERE e.space STARTS WITH $tenant"
        " RETURN e.entity_key, e.label, size(COLLECT { MATCH (m)-[:MENTIONS]->(e) RETURN m })"
    )


def test_a_bad_item_never_takes_the_others_with_it(house):
    report = house.write(
        a_request("Good."),
        a_request(""),
        a_request("X", updates=("nope",)),
        InvalidInput({"a": ["b"]}),
    )

    assert [Outcome.CREATED, Outcome.REFUSED, Outcome.REFUSED, Outcome.REFUSED] == outcomes(report)
    assert [None, ["content"], ["updates.0"], ["a"]] == [
        list(result.error.fields) if result.error else None for result in report.results
    ]


@pytest.mark.parametrize("bad", [{"content": ""}, {"content": "X", "updates": ("nope",)}])
def test_an_atomic_batch_stores_all_or_nothing(house, bad):
    report = house.write(a_request("Good."), a_request(**bad), atomic=True)

    assert [Outcome.REFUSED, Outcome.REFUSED] == outcomes(report)
    assert isinstance(report.results[0].error, RolledBack)
    assert [(0, 0)] == house.rows(
        "OPTIONAL MATCH (m:Memory) WHERE m.space STARTS WITH $tenant WITH count(m) AS memories"
        " OPTIONAL MATCH (k:ClaimKey) WHERE k.space STARTS WITH $tenant RETURN memories, count(k)"
    )
    assert [Outcome.CREATED] == outcomes(house.write(a_request("Good."), atomic=True))


def test_a_refused_secret_leaves_a_trace_and_nothing_else(house):
    report = house.write(a_request("my password: hunter2hunter2"))

    assert isinstance(report.results[0].error, PolicyRefused)
    assert [('[{"index":0,"outcome":"refused","code":"screening_secret"}]',)] == house.rows(
        "MATCH (t:Trace {uid: $uid}) RETURN t.events", uid=report.trace_id
    )
    assert [(0,)] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant RETURN count(m)"
    )


def test_a_key_may_write_only_where_its_patterns_and_role_let_it(house):
    def write_as(role, *spaces):
        caller = Caller(key_id="k", tenant=house.caller.tenant, role=role, spaces=spaces)
        return house.graphmem.writing.write([a_request("A.")], caller=caller).results[0]

    assert isinstance(write_as(Role.READER, "*").error, Forbidden)
    assert isinstance(write_as(Role.WRITER, "project:*").error, Forbidden)
    assert Outcome.CREATED == write_as(Role.WRITER, "user:*").outcome


def test_a_retry_key_answers_again_and_writes_nothing(house):
    key = IdempotencyKey(
        key=f"{house.caller.tenant}|retry",
        request_digest="d",
        created_at=NOW,
        expires_at=NOW + timedelta(hours=1),
    )
    first = house.write(a_request("Once."), idempotency=key)
    again = house.write(a_request("Once."), idempotency=key)

    assert (first.trace_id, outcomes(first)) == (again.trace_id, outcomes(again))
    assert 1 == again.results[0].memory.mention_count
    other = IdempotencyKey(
        key=key.key, request_digest="other", created_at=NOW, expires_at=key.expires_at
    )
    with pytest.raises(Conflict):
        house.write(a_request("Other."), idempotency=other)


def test_parallel_retries_of_one_request_write_once(house):
    key = IdempotencyKey(
        key=f"{house.caller.tenant}|race",
        request_digest="d",
        created_at=NOW,
        expires_at=NOW + timedelta(hours=1),
    )

    with ThreadPoolExecutor(8) as pool:
        reports = list(
            pool.map(lambda _: house.write(a_request("Race."), idempotency=key), range(8))
        )

    assert 1 == len({report.trace_id for report in reports})
    assert [(1,)] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant RETURN m.mention_count"
    )


def test_without_an_embedder_the_memory_is_stored_and_found_by_words(house):
    house.embedder.is_broken = True
    written = house.write(a_request("Ada likes tea.")).results[0].memory

    assert not written.embedded
    bundle = house.recall("tea")
    assert (["Ada likes tea."], "full_text_only") == (
        [item.memory.content for item in bundle.items],
        bundle.mode,
    )
    assert ("embedder_unavailable", "embedding_pending: 1") == bundle.degraded


def test_writers_of_crossing_edges_do_not_deadlock(house):
    house.write(*[a_request(f"Seed {number}.", uid=f"s{number}") for number in range(6)])

    def write(number):
        uids = [f"s{(number + step) % 6}" for step in range(3)]
        return house.write(
            a_request(f"Edge {number}.", updates=tuple(uids), related_to=tuple(reversed(uids)))
        )

    with ThreadPoolExecutor(8) as pool:
        reports = list(pool.map(write, range(24)))

    assert {Outcome.SUPERSEDED} == {report.results[0].outcome for report in reports}


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("relative.md", "SourcePathMustBeAbsolute"),
        ("/etc/passwd", "folder that the service may cite"),
        ("{root}/../shared/a.md", "SourcePathMustBeCanonical"),
        ("{root}/missing.md", "SourcePathCanonicalizeFailed"),
        ("{root}/link.md", "SourcePathMustBeCanonical"),
    ],
)
def test_a_source_path_must_be_absolute_canonical_there_and_allowed(house, path, problem):
    root = house.graphmem.settings.write.source_roots[0]
    root.mkdir(parents=True)
    (root / "a.md").write_text("a")
    (root / "link.md").symlink_to(root / "a.md")
    source = Source(type=SourceType.INGEST_FILE, path=path.format(root=root))

    error = house.write(a_request("A.", source=source)).results[0].error

    assert problem in error.fields["source.path"][0]
    good = Source(type=SourceType.INGEST_FILE, path=str(root / "a.md"))
    assert [Outcome.CREATED] == outcomes(house.write(a_request("A.", source=good)))


@pytest.mark.parametrize("space", ["user:ada", "orchestrator:main"])
@pytest.mark.parametrize("where", ["{data}/{name}", "/etc/{name}", "{root}/out/{name}"])
def test_whether_a_file_outside_is_there_is_not_told(house, space, where):
    data = house.graphmem.settings.server.data_dir
    root = house.graphmem.settings.write.source_roots[0]
    for folder in (data, root):
        folder.mkdir(parents=True)
    (data / "hostname").write_text("there")
    (root / "out").symlink_to("/etc")

    said = []
    for name in ("hostname", "not-there"):
        path = where.format(data=data, root=root, name=name)
        source = Source(type=SourceType.INGEST_FILE, path=path)
        error = house.write(a_request("A.", space=space, source=source)).results[0].error
        said += error.fields["source.path"]

    assert ["Must lie inside a folder that the service may cite."] * 2 == said


def test_parallel_adds_of_one_new_uid_end_in_one_memory_and_no_error(house):
    with ThreadPoolExecutor(8) as pool:
        reports = list(
            pool.map(
                lambda number: house.write(a_request(f"Text {number}.", uid="same")), range(16)
            )
        )

    assert {None} == {report.results[0].error for report in reports}
    assert [(1, 16)] == house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant RETURN count(m), max(m.version)"
    )


def test_adds_beside_a_supersession_of_the_same_content_are_never_lost(house):
    house.write(a_request("Contested.", uid="old"))

    def write(number):
        if number % 2:
            return house.write(a_request("Contested."))
        return house.write(a_request(f"Other {number}.", updates=("old",)))

    with ThreadPoolExecutor(8) as pool:
        reports = list(pool.map(write, range(16)))

    assert {None} == {report.results[0].error for report in reports}
    assert "Contested." in house.contents("contested", include_superseded=True)


def test_screening_sees_what_would_be_stored(house):
    for text in ("pass\u0001word: hunter2hunter2", "postgres://a:b\u0001cd@host"):
        assert isinstance(house.write(a_request(text)).results[0].error, PolicyRefused)


def test_a_retry_key_is_forgotten_after_its_time(house):
    def key(hours):
        now = NOW + timedelta(hours=hours)
        return IdempotencyKey(
            key=f"{house.caller.tenant}|day",
            request_digest="d",
            created_at=now,
            expires_at=now + timedelta(hours=24),
        )

    first = house.write(a_request("Daily."), idempotency=key(0))
    assert first.trace_id == house.write(a_request("Daily."), idempotency=key(23)).trace_id
    assert first.trace_id != house.write(a_request("Daily."), idempotency=key(24)).trace_id


def test_a_merge_beside_writers_leaves_no_memory_under_the_former_name(house):
    bob, ada = (EntityRef(key=f"person:{name}") for name in ("bob", "ada"))
    house.write(a_request("Ada is here.", entities=(ada,)), a_request("Bob too.", entities=(bob,)))
    space = Space(tenant=house.caller.tenant, kind=SpaceKind.USER, owner="ada")

    def write(number):
        return house.write(a_request(f"Fact {number}.", entities=(bob,)))

    with ThreadPoolExecutor(8) as pool:
        writing = [pool.submit(write, number) for number in range(40)]
        house.graphmem.entity_keeper.merge(space, "person:bob", "person:ada", caller=house.caller)
        assert not any(future.result().first_error for future in writing)

    assert [("person:ada", 42)] == house.rows(
        "MATCH (m:Memory)-[:MENTIONS]->(e:Entity) WHERE m.space STARTS WITH $tenant"
        " RETURN e.entity_key, count(m)"
    )
    key = f"{house.caller.tenant}/user:ada"
    counts = house.graphmem.runner.run("integrity", space_key=key, by_hand=True).counts
    assert 0 == counts["stale_copies"] + counts["mentions_of_merged"]


def test_two_edges_drawn_at_once_under_one_uid_are_one(house):
    house.write(*(a_request(f"Memory {uid}.", uid=uid) for uid in "abc"))
    space = Space(tenant=house.caller.tenant, kind=SpaceKind.USER, owner="ada")

    def draw(end):
        request = EdgeRequest(
            space=space, from_uid="a", to_uid=end, type=EdgeType.RELATED_TO, uid="e"
        )
        try:
            house.graphmem.gateway.execute(DrawEdge(request=request), house.caller)
        except Conflict:
            return "conflict"
        return "drawn"

    with ThreadPoolExecutor(2) as pool:
        assert ["conflict", "drawn"] == sorted(pool.map(draw, "bc"))
