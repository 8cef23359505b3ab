"""Feedback on what a recall gave, over HTTP: counts, the ranker that reads them, and refusals."""

import pytest

from graphmem.lifecycle.feedback import NoteLastRecall
from graphmem.model.caller import Role
from graphmem.model.feedback import LastRecall, query_hash
from graphmem.model.space import parse_space

PATH = "/v1/feedback"
NOTHING = {"feedback_up": 0, "feedback_down": 0, "negative_hits": 0}
BOTH = {"feedback_enabled": True, "negative_examples_enabled": True}


@pytest.fixture
def tea(api):
    """A key to Ada's space with one memory that says tea; her space counts feedback."""
    write(api, "tea", "Ada drinks tea.")
    want(api, **BOTH)
    return api


def write(api, uid, content, space="user:ada"):
    body = {"space": space, "uid": uid, "content": content}
    assert 201 == api.post("/v1/memories", body).status_code


def space_of(api, name="user:ada"):
    return parse_space(name, tenant=api.house.caller.tenant)


def want(api, space="user:ada", **values):
    overrides = {f"lifecycle.{name}": value for name, value in values.items()}
    api.house.graphmem.policies.save(space_of(api, space), overrides)


def recall(api, *spaces, **options):
    body = {"spaces": spaces or ["user:ada"], "query": "tea", "explain": True} | options
    return api.post("/v1/recall", body).get_json()


def give(api, useful, uid="tea", **options):
    """Say something of a memory; of a recall of its own where none is named."""
    if not {"trace_id", "session"} & options.keys():
        options["trace_id"] = recall(api)["trace_id"]
    return api.post(PATH, {"uid": uid, "useful": useful} | options)


def counts(api, uid="tea", space="user:ada"):
    """What a memory counts, as its node has it."""
    return api.house.rows(
        "MATCH (m:Memory {key: $key}) RETURN m.feedback_up, m.feedback_down, m.negative_hits",
        key=f"{space_of(api, space).key}|{uid}",
    )


def notes(api):
    """The notes that are kept, the newest first."""
    rows = api.house.rows(
        "MATCH (f:Feedback)-[:FEEDBACK_ON]->(m:Memory)"
        " WHERE m.space STARTS WITH $tenant AND f.note IS NOT NULL RETURN f.note ORDER BY f.at DESC"
    )
    return [note for (note,) in rows]


def refused(answer):
    error = answer.get_json()["error"]
    return answer.status_code, error["code"], list(error.get("fields", ()))


def test_an_answer_has_exactly_the_documented_fields(tea):
    document = tea.get("/openapi.json").get_json()["components"]["schemas"]
    answer = give(tea, useful=True)

    assert 200 == answer.status_code
    assert set(document["FeedbackAnswer"]["properties"]) == set(answer.get_json())


@pytest.mark.parametrize(
    ("switches", "useful", "counted"),
    [
        (["feedback_enabled"], True, {"feedback_up": 1}),
        (["feedback_enabled"], False, {"feedback_down": 1}),
        (["negative_examples_enabled"], True, {}),
        (["negative_examples_enabled"], False, {"negative_hits": 1}),
        ([*BOTH], True, {"feedback_up": 1}),
        ([*BOTH], False, {"feedback_down": 1, "negative_hits": 1}),
    ],
)
def test_each_switch_counts_what_is_its_own(tea, switches, useful, counted):
    want(tea, **dict.fromkeys(switches, True))
    answer = give(tea, useful=useful)

    assert (200, NOTHING | counted) == (answer.status_code, answer.get_json())
    assert [tuple((NOTHING | counted).values())] == counts(tea)


def test_where_both_are_off_nothing_is_counted(tea):
    want(tea)

    assert (409, "feedback_disabled", []) == refused(give(tea, useful=True))
    assert [(None, None, None)] == counts(tea)


def test_what_is_said_again_of_the_same_recall_replaces_what_was_said_before(tea):
    trace_id = recall(tea)["trace_id"]
    said = [
        give(tea, useful=useful, trace_id=trace_id).get_json() for useful in (False, False, True)
    ]

    bad, good = {"feedback_down": 1, "negative_hits": 1}, {"feedback_up": 1}
    assert [NOTHING | bad, NOTHING | bad, NOTHING | good] == said
    assert NOTHING | {"feedback_up": 2} == give(tea, useful=True).get_json()


def test_what_is_replaced_takes_away_only_what_it_counted(tea):
    want(tea, feedback_enabled=True)
    trace_id = recall(tea)["trace_id"]
    give(tea, useful=False, trace_id=trace_id)
    want(tea, negative_examples_enabled=True)
    give(tea, useful=False)
    again = give(tea, useful=True, trace_id=trace_id)

    assert NOTHING | {"negative_hits": 1} == again.get_json()


@pytest.mark.parametrize(
    ("useful", "times", "feedback", "negative"),
    [
        (True, 2, 0.1, 0),
        (True, 3, 0.15, 0),
        (True, 4, 0.15, 0),
        (False, 2, -0.2, -0.1),
        (False, 3, -0.3, -0.15),
        (False, 4, -0.3, -0.2),
        (False, 5, -0.3, -0.25),
        (False, 6, -0.3, -0.25),
    ],
)
def test_the_lifecycle_ranker_reads_the_counts(tea, useful, times, feedback, negative):
    (before,) = recall(tea, ranker="lifecycle")["items"]
    for _ in range(times):
        give(tea, useful=useful)
    (after,) = recall(tea, ranker="lifecycle")["items"]

    factors = after["explanation"]["factors"]
    assert pytest.approx((feedback, negative)) == (factors["feedback"], factors["negative"])
    moved = feedback + negative + factors["access"] - before["explanation"]["factors"]["access"]
    assert pytest.approx(before["score"] + moved, abs=2e-6) == after["score"]


def test_what_was_not_wanted_comes_behind_what_was(tea):
    write(tea, "more", "Ada drinks tea!")
    first = [item["memory"]["uid"] for item in recall(tea, ranker="lifecycle")["items"]]
    give(tea, useful=False, uid=first[0])
    give(tea, useful=True, uid=first[1])

    assert first[::-1] == [
        item["memory"]["uid"] for item in recall(tea, ranker="lifecycle")["items"]
    ]
    assert set(first) == {"tea", "more"}


def test_the_memory_itself_stays_as_it_is(tea):
    trace_id = recall(tea)["trace_id"]
    tea.house.graphmem.journal.flush()
    before = tea.get("/v1/memories/tea")
    tea.house.clock.advance(minutes=1)
    answer = give(tea, useful=False, note="Cold.", trace_id=trace_id)
    after = tea.get("/v1/memories/tea")

    assert 200 == answer.status_code
    assert (before.get_json(), before.headers["ETag"]) == (after.get_json(), after.headers["ETag"])


@pytest.mark.parametrize("step", ["retract", "archive"])
def test_a_memory_that_is_no_longer_active_counts_too(tea, step):
    trace_id = recall(tea)["trace_id"]
    assert 200 == tea.post(f"/v1/memories/tea/{step}", {}).status_code

    assert 1 == give(tea, useful=False, trace_id=trace_id).get_json()["negative_hits"]


def test_what_a_room_keeps_takes_no_feedback(tea):
    tea.house.rows("MATCH (m:Memory) WHERE m.space STARTS WITH $tenant SET m.kept_by = 'companion'")

    assert (409, "kept_by_room", []) == refused(give(tea, useful=True))
    assert [(None, None, None)] == counts(tea)


def test_what_the_recall_did_not_give_is_no_part_of_it(tea):
    write(tea, "more", "Ada drinks tea at five.")
    write(tea, "far", "Bob drinks tea.", space="user:bob")
    found = recall(tea, limit=1)
    (given,) = (item["memory"]["uid"] for item in found["items"])
    (cut,) = {"tea", "more"} - {given}

    for uid in (cut, "far", "nothing", "a|b", ""):
        answer = give(tea, useful=False, uid=uid, trace_id=found["trace_id"])
        assert (422, "invalid_input", ["uid"]) == refused(answer), uid
    assert [(None, None, None)] == counts(tea)


def test_a_trace_that_is_gone_or_never_was_is_404_and_one_of_a_write_422(tea):
    gone = recall(tea)["trace_id"]
    tea.house.graphmem.journal.flush()
    tea.house.rows("MATCH (t:Trace {uid: $gone}) DELETE t", gone=gone)
    body = {"space": "user:ada", "content": "New."}
    written = tea.post("/v1/memories", body).get_json()["trace_id"]

    for trace_id in (gone, "nothing"):
        answer = give(tea, useful=True, trace_id=trace_id)
        assert (404, "not_found", []) == refused(answer)
    answer = give(tea, useful=True, trace_id=written)
    assert (422, "invalid_input", ["trace_id"]) == refused(answer)


def test_a_memory_that_is_gone_is_404(tea):
    trace_id = recall(tea)["trace_id"]
    tea.house.rows("MATCH (m:Memory) WHERE m.space STARTS WITH $tenant DETACH DELETE m")

    assert (404, "not_found", []) == refused(give(tea, useful=True, trace_id=trace_id))


def test_no_key_moves_anything_in_a_space_that_it_may_not_write_in(tea):
    write(tea, "bobs", "Bob drinks tea.", space="user:bob")
    trace_id = recall(tea)["trace_id"]
    wide = recall(tea, "user:ada", "user:bob")["trace_id"]
    keys = {
        "another tenant": (
            tea.with_key(Role.ADMIN, "*", tenant=f"{tea.house.caller.tenant}-2"),
            trace_id,
            404,
        ),
        "another space": (tea.with_key(Role.ADMIN, "user:bob"), trace_id, 404),
        "one of two spaces": (tea.with_key(Role.ADMIN, "user:ada"), wide, 404),
        "a reader": (tea.with_key(Role.READER, "user:ada"), trace_id, 403),
        "no key": (type(tea)(client=tea.client, house=tea.house, key=""), trace_id, 401),
    }

    for name, (key, trace, status) in keys.items():
        assert status == give(key, useful=False, trace_id=trace).status_code, name
    assert [(None, None, None)] == counts(tea)
    assert 200 == give(tea, useful=False, trace_id=trace_id).status_code


def test_a_uid_of_two_spaces_needs_its_space(tea):
    write(tea, "tea", "Bob drinks tea.", space="user:bob")
    write(tea, "other", "Bob likes tea.", space="user:bob")
    want(tea, "user:bob", **BOTH)
    trace_id = recall(tea, "user:ada", "user:bob")["trace_id"]

    assert (422, "invalid_input", ["space"]) == refused(give(tea, useful=True, trace_id=trace_id))
    answer = give(tea, useful=True, trace_id=trace_id, space="user:bob")
    assert NOTHING | {"feedback_up": 1} == answer.get_json()
    assert [(None, None, None)] == counts(tea)
    other = give(tea, useful=True, uid="other", trace_id=trace_id, space="user:ada")
    assert (422, "invalid_input", ["uid"]) == refused(other)


def test_the_policy_of_the_space_of_the_memory_decides(tea):
    write(tea, "bobs", "Bob drinks tea.", space="user:bob")
    trace_id = recall(tea, "user:ada", "user:bob")["trace_id"]

    off = give(tea, useful=True, uid="bobs", trace_id=trace_id)
    assert (409, "feedback_disabled", []) == refused(off)
    assert 200 == give(tea, useful=True, trace_id=trace_id).status_code


def test_the_newest_twenty_notes_are_kept_and_every_answer_counts(tea):
    for number in range(20):
        tea.house.clock.advance(minutes=1)
        give(tea, useful=False, note=f"Note {number}.")
    assert [f"Note {number}." for number in reversed(range(20))] == notes(tea)
    give(tea, useful=True)
    assert 20 == len(notes(tea))
    tea.house.clock.advance(minutes=1)
    answer = give(tea, useful=False, note="Note 20.")

    assert [f"Note {number}." for number in reversed(range(1, 21))] == notes(tea)
    assert {"feedback_up": 1, "feedback_down": 21, "negative_hits": 21} == answer.get_json()


def test_a_note_is_replaced_with_what_was_said(tea):
    trace_id = recall(tea)["trace_id"]
    give(tea, useful=False, note="Cold.", trace_id=trace_id)
    give(tea, useful=False, note="Very cold.", trace_id=trace_id)
    assert ["Very cold."] == notes(tea)
    give(tea, useful=False, trace_id=trace_id)

    assert [] == notes(tea)


def test_a_note_of_200_characters_is_kept_and_one_of_201_is_422(tea):
    longer = give(tea, useful=False, note="x" * 201)

    assert (422, "invalid_input", ["note"]) == refused(longer)
    assert [(None, None, None)] == counts(tea)
    assert 200 == give(tea, useful=False, note="\u4f60" * 200).status_code
    assert ["\u4f60" * 200] == notes(tea)


def test_a_note_with_a_secret_is_refused_and_counts_nothing(tea):
    answer = give(tea, useful=False, note="The password is hunter2-Xy7: password=hunter2Xy7qq")

    assert (403, "policy_refused", []) == refused(answer)
    assert "screening_secret" == answer.get_json()["error"]["reason"]
    assert [(None, None, None)] == counts(tea)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"uid": None}, "uid"),
        ({"uid": "a\x00"}, "uid"),
        ({"useful": None}, "useful"),
        ({"useful": "yes"}, "useful"),
        ({"note": ""}, "note"),
        ({"note": "a\x00"}, "note"),
        ({"note": "\ud800"}, "note"),
        ({"note": 5}, "note"),
        ({"trace_id": None}, "trace_id"),
        ({"trace_id": "a\x00"}, "trace_id"),
        ({"session": "chat-1", "space": "user:ada"}, "trace_id"),
        ({"trace_id": None, "session": "chat-1"}, "space"),
        ({"trace_id": None, "space": "user:ada"}, "trace_id"),
        ({"space": "user:a*d"}, "uid"),
        ({"space": "nobody"}, "space"),
        ({"rating": 5}, "rating"),
    ],
)
def test_bad_input_is_422_under_its_field(tea, changes, field):
    body = {"trace_id": recall(tea)["trace_id"], "uid": "tea", "useful": False}

    assert (422, "invalid_input", [field]) == refused(tea.post(PATH, body | changes))
    assert [(None, None, None)] == counts(tea)


def remember(api, memories, *, recall="r-1", session="chat-1", query="tea for Ada"):
    """Note a last recall of a session of Ada."""
    last = LastRecall(
        space=space_of(api),
        session=session,
        recall=recall,
        memories=memories,
        query_hash=query_hash(query),
        at=api.house.clock.now(),
    )
    api.house.graphmem.gateway.execute(NoteLastRecall(last=last), api.house.caller)


def test_the_last_recall_of_a_session_is_what_is_meant(tea):
    write(tea, "more", "Ada drinks tea at five.")
    here = space_of(tea).key
    session = {"space": "user:ada", "session": "chat-1"}
    assert (404, "not_found", []) == refused(give(tea, useful=False, **session))
    remember(tea, [f"{here}|more"])
    remember(tea, [f"{here}|tea"], recall="r-2")
    remember(tea, [f"{here}|more"], recall="r-3", session="chat-2")

    older = give(tea, useful=False, uid="more", **session)
    assert (422, "invalid_input", ["uid"]) == refused(older)
    bad = NOTHING | {"feedback_down": 1, "negative_hits": 1}
    assert [bad, bad] == [give(tea, useful=False, **session).get_json() for _ in range(2)]
    remember(tea, [f"{here}|tea"], recall="r-4")
    assert bad | {"feedback_up": 1} == give(tea, useful=True, **session).get_json()


def test_of_the_last_recall_the_query_is_not_kept(tea):
    remember(tea, [f"{space_of(tea).key}|tea"], query="where is my zanzibar")

    ((kept,),) = tea.house.rows(
        "MATCH (l:LastRecall) WHERE l.space STARTS WITH $tenant RETURN properties(l)"
    )
    assert query_hash("where is my zanzibar") == kept["query_hash"]
    assert "zanzibar" not in str(kept)


def test_a_session_that_recalled_from_a_shared_space_names_its_memory(tea):
    write(tea, "ours", "We drink tea.", space="user:ours")
    want(tea, "user:ours", **BOTH)
    remember(tea, [f"{space_of(tea, 'user:ours').key}|ours"])
    session = {"space": "user:ada", "session": "chat-1", "uid": "ours"}
    narrow = tea.with_key(Role.WRITER, "user:ada")

    unseen = give(narrow, useful=True, **session)
    assert (422, "invalid_input", ["uid"]) == refused(unseen)
    assert NOTHING | {"feedback_up": 1} == give(tea, useful=True, **session).get_json()


def test_a_last_recall_of_a_space_elsewhere_is_not_to_be_had(tea):
    remember(tea, [f"{space_of(tea).key}|tea"])
    session = {"space": "user:ada", "session": "chat-1"}
    near = tea.with_key(Role.ADMIN, "user:bob")
    far = tea.with_key(Role.ADMIN, "*", tenant=f"{tea.house.caller.tenant}-2")

    assert [403, 404] == [give(key, useful=True, **session).status_code for key in (near, far)]
    assert [(None, None, None)] == counts(tea)


def test_a_trace_says_what_was_said_but_not_the_note(tea):
    trace_id = recall(tea)["trace_id"]
    give(tea, useful=False, note="Cold.", trace_id=trace_id)

    ((uid,),) = tea.house.rows(
        "MATCH (t:Trace {tenant: $name, kind: 'feedback'}) RETURN t.uid",
        name=tea.house.caller.tenant,
    )
    (event,) = tea.get(f"/v1/traces/{uid}").get_json()["events"]
    counted = NOTHING | {"feedback_down": 1, "negative_hits": 1}
    said = {"uid": "tea", "outcome": "feedback_given", "recall": trace_id, "useful": False}
    assert said | counted == event


@pytest.mark.parametrize(
    ("switches", "content", "suggested"),
    [
        ({"feedback_enabled": True}, "No, that's wrong.", True),
        ({"negative_examples_enabled": True}, "No, that's wrong.", True),
        ({"feedback_enabled": True}, "Nice weather today.", False),
        ({}, "No, that's wrong.", False),
    ],
)
def test_a_disagreement_suggests_feedback_where_a_space_counts_it(
    api, switches, content, suggested
):
    want(api, **switches)
    turn = {"role": "user", "content": content}
    meant = {"space": "user:ada", "session": "chat-1"}
    answer = api.post("/v1/turns", meant | turn).get_json()
    several = api.post("/v1/turns/batch", meant | {"turns": [turn, turn]}).get_json()

    assert (content != "Nice weather today.") == answer["signal"]["disagreement"]
    assert (meant if suggested else None) == answer["suggests_feedback"]
    assert answer["suggests_feedback"] == several["suggests_feedback"]
