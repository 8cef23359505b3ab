"""Conversations over HTTP: turns word for word, and what is remembered of them."""

import pytest
from doc_examples import example

from graphmem.conversations.append import AppendTurns
from graphmem.model.caller import Role
from graphmem.model.conversation import Saying, TurnRole
from graphmem.model.source import CapturedBy
from graphmem.model.space import parse_space

CHAT = "/v1/conversations/chat"
SPACE = "space=user:ada"


def turn(content="Hello.", **changes):
    return {"role": "user", "content": content} | changes


def say(api, *turns, path=CHAT, remember=False, space="user:ada"):
    return api.post(f"{path}/turns", {"space": space, "turns": list(turns), "remember": remember})


def said(api, path=CHAT, query=""):
    return [item["content"] for item in listed(api, path, query)]


def listed(api, path=CHAT, query=""):
    answer = api.get(f"{path}/turns?{SPACE}{query}")
    assert 200 == answer.status_code, answer.json
    return answer.json["items"]


def observe(api, content="Ada likes tea.", conversation="chat", **changes):
    source = {"conversation_id": conversation, "captured_by": "user"}
    body = {"space": "user:ada", "content": content, "source": source} | changes
    answer = api.post("/v1/memories", body)
    assert answer.status_code < 300, answer.json
    return answer.json


def delete(api, path):
    return api.client.delete(path, headers={"X-API-Key": api.key})


def memory(api, uid):
    return api.get(f"/v1/memories/{uid}?{SPACE}").json


def test_turns_come_back_byte_for_byte_in_the_order_in_which_they_came(api):
    texts = ["", " a\t\r\n\r\n ", "e\u0301\u200d\ufeff", "\u2028\x01\x7f"]

    answer = say(api, *map(turn, texts))

    assert 201 == answer.status_code
    assert ["created"] * 4 == [each["outcome"] for each in answer.json["turns"]]
    assert texts == said(api)
    assert [each["uid"] for each in answer.json["turns"]] == [each["uid"] for each in listed(api)]


def test_a_turn_says_all_that_was_given(api):
    given = {
        "role": "tool",
        "content": "42",
        "actor": "calculator",
        "at": "2026-02-01T08:00:00Z",
        "metadata": {"uid": 1, "z": {"a": [None, True]}},
        "message_id": "m-1",
    }

    say(api, given)

    (found,) = listed(api)
    assert given == {name: found[name] for name in given}
    assert "chat" == found["conversation_id"]
    assert "2026-03-01T09:30:00Z" == found["recorded_at"]
    assert [] == found["memories"]
    one = api.get(f"{CHAT}/turns/{found['uid']}?{SPACE}").json
    assert found == one


def test_without_a_time_a_turn_was_said_when_it_was_recorded(api):
    say(api, turn(), remember=True)

    (found,) = listed(api)
    assert found["recorded_at"] == found["at"]
    assert found["at"] == memory(api, found["memories"][0])["occurred_at"]


def test_a_conversation_begins_with_its_first_turn(api):
    assert 404 == api.get(f"{CHAT}?{SPACE}").status_code
    say(api, turn())
    api.house.clock.advance(days=1)
    say(api, turn())

    assert {
        "id": "chat",
        "space": "user:ada",
        "title": None,
        "user": None,
        "kept_by": None,
        "created_at": "2026-03-01T09:30:00Z",
        "updated_at": "2026-03-02T09:30:00Z",
        "turns": 2,
    } == api.get(f"{CHAT}?{SPACE}").json


def test_conversations_are_listed_the_latest_first_of_exactly_their_space(api):
    for number in range(3):
        say(api, turn(), path=f"/v1/conversations/c{number}")
        api.house.clock.advance(minutes=1)
    say(api, turn(), space="user:ada/coach")

    first = api.get(f"/v1/conversations?{SPACE}&limit=2").json
    rest = api.get(f"/v1/conversations?{SPACE}&cursor={first['next_cursor']}").json

    assert ["c2", "c1"] == [each["id"] for each in first["items"]]
    assert (3, ["c0"], None) == (
        first["total"],
        [each["id"] for each in rest["items"]],
        rest["next_cursor"],
    )


def test_title_and_user_are_changed_and_taken_away(api):
    say(api, turn())
    patch = api.client.patch

    def change(**values):
        body = {"space": "user:ada"} | values
        return patch(CHAT, json=body, headers={"X-API-Key": api.key})

    assert ("Tea", "ada") == (
        change(title="Tea", user="ada").json["conversation"]["title"],
        api.get(f"{CHAT}?{SPACE}").json["user"],
    )
    assert change(title=None).json["conversation"]["title"] is None
    assert 422 == change(title="").status_code
    assert 403 == change(title="key sk-proj-" + "a1B2" * 12).status_code


def test_the_same_message_again_changes_nothing_and_another_content_is_a_conflict(api):
    say(api, turn("One.", message_id="m"))

    again = say(api, turn("One.", message_id="m"))
    other = say(api, turn("Two."), turn("Other.", message_id="m"))

    assert (200, "unchanged") == (again.status_code, again.json["turns"][0]["outcome"])
    assert (409, "conflict") == (other.status_code, other.json["error"]["code"])
    assert ["One."] == said(api)
    within = say(api, turn("A.", message_id="n"), turn("A.", message_id="n"))
    assert ["created", "unchanged"] == [each["outcome"] for each in within.json["turns"]]


def test_what_is_wrong_is_named_by_its_path_and_nothing_is_stored(api):
    bad = say(
        api,
        turn(),
        turn("\x00", actor="", message_id="m" * 257, metadata={"a": "\x00"}),
        {"role": "nobody"},
    )

    assert 422 == bad.status_code
    assert {
        "turns.1.content",
        "turns.1.actor",
        "turns.1.message_id",
        "turns.1.metadata",
        "turns.2.role",
        "turns.2.content",
    } == set(bad.json["error"]["fields"])
    assert 422 == say(api, turn("\ud800")).status_code
    assert 422 == say(api).status_code
    assert 422 == say(api, *[turn()] * 101).status_code
    assert 403 == say(api, turn(), turn("sk-proj-" + "a1B2" * 12)).status_code
    assert 404 == api.get(f"{CHAT}?{SPACE}").status_code


def test_a_turn_may_have_a_million_characters_and_no_more(api):
    long = "é" * 1_000_000

    assert 201 == say(api, turn(long)).status_code
    assert [long] == said(api)
    assert 422 == say(api, turn(long + "a")).status_code


def test_pages_of_long_turns_are_shorter_and_go_on(api):
    texts = [str(number) * 900_000 for number in range(6)]
    for text in texts:
        say(api, turn(text))

    newest = api.get(f"{CHAT}/turns?{SPACE}&limit=6").json
    older = api.get(f"{CHAT}/turns?{SPACE}&before={newest['next_cursor']}").json

    assert texts == [each["content"] for each in (*older["items"], *newest["items"])]
    assert (4, 6, None) == (len(newest["items"]), newest["total"], older["next_cursor"])


def test_pages_go_backwards_and_forwards_from_a_turn(api):
    say(api, *[turn(str(number)) for number in range(7)])
    uids = [each["uid"] for each in listed(api)]

    newest = api.get(f"{CHAT}/turns?{SPACE}&limit=3").json
    before = api.get(f"{CHAT}/turns?{SPACE}&limit=3&before={newest['next_cursor']}").json
    after = api.get(f"{CHAT}/turns?{SPACE}&limit=3&after={uids[0]}").json

    assert ["4", "5", "6"] == [each["content"] for each in newest["items"]]
    assert ["1", "2", "3"] == [each["content"] for each in before["items"]]
    assert ["1", "2", "3"] == [each["content"] for each in after["items"]]
    assert uids[3] == after["next_cursor"]
    assert [] == listed(api, query=f"&before={uids[0]}")
    delete(api, f"{CHAT}/turns/{uids[3]}?{SPACE}")
    assert ["4", "5", "6"] == said(api, query=f"&after={uids[3]}")
    assert 422 == api.get(f"{CHAT}/turns?{SPACE}&before=nobody").status_code
    assert 422 == api.get(f"{CHAT}/turns?{SPACE}&before={uids[1]}&after={uids[0]}").status_code


@pytest.mark.parametrize(
    ("path", "conversation"),
    [
        ("/v1/conversations/a%2Fturns", "a/turns"),
        ("/v1/conversations/%25zz%20%C3%BC", "%zz ü"),
        ("/v1/conversations/u%CC%88", "ü"),
        ("/v1/conversations/turns", "turns"),
        ("/v1/conversations/%3Fid%3D1%23", "?id=1#"),
    ],
)
def test_an_id_is_one_segment_of_the_path_whatever_it_holds(api, path, conversation):
    assert 201 == say(api, turn(), path=path).status_code

    assert conversation == api.get(f"{path}?{SPACE}").json["id"]
    assert ["Hello."] == said(api, path)
    (found,) = listed(api, path)
    assert 200 == delete(api, f"{path}/turns/{found['uid']}?{SPACE}").status_code


@pytest.mark.parametrize("conversation", [".", ".."])
def test_an_id_that_no_path_can_hold_is_named_behind_it(api, conversation):
    answer = api.post(
        f"/v1/conversations/turns?id={conversation}", {"space": "user:ada", "turns": [turn()]}
    )

    assert 201 == answer.status_code
    one = api.get(f"/v1/conversations?{SPACE}&id={conversation}").json
    assert (conversation, 1) == (one["id"], one["turns"])
    turns = api.get(f"/v1/conversations/turns?{SPACE}&id={conversation}").json
    assert ["Hello."] == [each["content"] for each in turns["items"]]


def test_ids_are_at_most_256_characters_and_longer_ones_of_memories_stay_readable(api):
    longest, longer = "c" * 256, "d" * 300

    assert 201 == say(api, turn(), path=f"/v1/conversations/{longest}").status_code
    assert 422 == say(api, turn(), path=f"/v1/conversations/{longer}").status_code
    observe(api, conversation=longer)
    assert ["Ada likes tea."] == said(api, f"/v1/conversations/{longer}")
    assert 404 == api.get(f"/v1/conversations/%FF?{SPACE}").status_code


def test_a_remembered_turn_is_an_observation_of_its_own(api):
    say(api, turn("I like tea. ", actor="Ada"), turn("I like tea. "), remember=True)
    say(api, {"role": "assistant", "content": "So do I."}, remember=True)

    turns = listed(api)
    first, second, third = (memory(api, each["memories"][0]) for each in turns)
    assert ("I like tea.", "Observation", "Ada") == (
        first["content"],
        first["type"],
        first["actor"],
    )
    assert ("user", "assistant") == (second["actor"], third["actor"])
    assert {
        "type": "channel_transcript",
        "path": None,
        "conversation_id": "chat",
        "workflow_run_id": None,
        "step_id": None,
        "captured_by": "user",
        "key": None,
    } == first["source"]
    assert "system" == third["source"]["captured_by"]
    assert [turns[0]["uid"]] == first["turns"]
    assert "I like tea.\nSo do I." == second["context"]


def test_what_shows_nothing_is_a_turn_and_no_memory(api):
    answer = say(api, turn(""), turn(" \n\u200b"), turn("Seen."), remember=True)

    assert [0, 0, 1] == [len(each["memories"]) for each in answer.json["turns"]]


def test_a_long_turn_is_remembered_in_parts_and_read_whole(api):
    long = "I walked along the river. " * 2_000

    (kept,) = say(api, turn(long), remember=True).json["turns"]

    assert [long] == said(api)
    whole, *parts = (memory(api, uid) for uid in kept["memories"])
    assert whole["content"].startswith(f"A turn of {len(parts)} parts.")
    assert {(kept["uid"],)} == {tuple(each["turns"]) for each in (whole, *parts)}
    delete(api, f"{CHAT}/turns/{kept['uid']}?{SPACE}")
    assert {"retracted"} == {memory(api, uid)["status"] for uid in kept["memories"]}


def test_each_time_a_memory_is_said_in_a_conversation_is_a_turn(api):
    first = observe(api, " Ada likes tea.\r\n", actor="Ada")
    again = observe(api, "Ada likes tea.", conversation="other", actor="Ada")

    assert "reinforced" == again["outcome"]
    assert [" Ada likes tea.\r\n"] == said(api)
    (there,) = listed(api, "/v1/conversations/other")
    assert first["memory"]["turns"] + [there["uid"]] == again["memory"]["turns"]
    assert [first["memory"]["uid"]] == there["memories"]
    assert "user" == there["role"]


def test_what_an_extractor_put_into_words_nobody_said(api):
    source = {"conversation_id": "chat", "captured_by": "extractor"}
    made = observe(api, source=source)

    assert [] == made["memory"]["turns"]
    assert 404 == api.get(f"{CHAT}?{SPACE}").status_code


def test_a_source_that_says_something_else_revises_its_turn(api):
    source = {"conversation_id": "chat", "key": "k"}
    observe(api, "We meet at 3.", source=source)
    api.house.clock.advance(minutes=5)
    unchanged = observe(api, "We meet at 3.", source=source)
    revised = observe(api, "We meet at 4.", source=source)

    assert ("unchanged", "revised") == (unchanged["outcome"], revised["outcome"])
    (found,) = listed(api)
    assert ("We meet at 4.", [found["uid"]]) == (found["content"], revised["memory"]["turns"])
    history = api.get(f"{CHAT}/turns/{found['uid']}/history?{SPACE}").json
    assert [
        ("We meet at 4.", "2026-03-01T09:35:00Z", None),
        ("We meet at 3.", "2026-03-01T09:30:00Z", "2026-03-01T09:35:00Z"),
    ] == [tuple(each.values()) for each in history["items"]]
    assert 2 == history["total"]


def test_a_source_that_leaves_a_memory_takes_its_turn_along(api):
    kept = observe(api, "We meet at 3.", conversation="a")["memory"]
    observe(api, "We meet at 3.", source={"conversation_id": "chat", "key": "k"})
    moved = observe(api, "We meet at 4.", source={"conversation_id": "chat", "key": "k"})

    (found,) = listed(api)
    assert ([found["uid"]], "We meet at 4.") == (moved["memory"]["turns"], found["content"])
    assert [moved["memory"]["uid"]] == found["memories"]
    assert 1 == len(memory(api, kept["uid"])["turns"])


def test_what_becomes_of_a_memory_leaves_its_turn(api):
    uid = observe(api)["memory"]["uid"]

    api.post(f"/v1/memories/{uid}/retract", {"reason": "wrong"})

    (found,) = listed(api)
    assert ("Ada likes tea.", []) == (found["content"], found["memories"])


def test_the_newest_turn_is_taken_back_and_its_message_is_free_again(api):
    say(api, turn("One."), turn("Two.", message_id="m"), remember=True)
    gone = listed(api)[-1]

    popped = api.post(f"{CHAT}/turns/pop", {"space": "user:ada"})

    assert ("Two.", gone["uid"]) == (popped.json["turn"]["content"], popped.json["turn"]["uid"])
    assert ["One."] == said(api)
    assert ("retracted", "turn_taken_back", []) == tuple(
        memory(api, gone["memories"][0])[name] for name in ("status", "status_reason", "turns")
    )
    assert 404 == api.get(f"{CHAT}/turns/{gone['uid']}?{SPACE}").status_code
    assert 201 == say(api, turn("Other.", message_id="m")).status_code
    assert 1 + 1 == api.get(f"{CHAT}?{SPACE}").json["turns"]


def test_a_deleted_message_is_not_said_again(api):
    say(api, turn("One.", message_id="m"))

    counts = delete(api, f"{CHAT}/turns/{listed(api)[0]['uid']}?{SPACE}").json["counts"]

    assert {"turns": 1, "memories_retracted": 0, "memories_kept": 0} == counts
    again = say(api, turn("One.", message_id="m"))
    assert (409, "retracted") == (again.status_code, again.json["error"]["code"])


def test_what_other_turns_carry_only_loses_the_one(api):
    uid = observe(api)["memory"]["uid"]
    observe(api)
    observe(api, conversation="other")

    def delete_newest(path):
        return delete(api, f"{path}/turns/{listed(api, path)[-1]['uid']}?{SPACE}").json["counts"]

    assert {"turns": 1, "memories_retracted": 0, "memories_kept": 1} == delete_newest(CHAT)
    assert ["chat", "other"] == conversations_of(api, uid)
    delete_newest(CHAT)
    assert ["other"] == conversations_of(api, uid)
    assert 1 == delete_newest("/v1/conversations/other")["memories_retracted"]
    assert "retracted" == memory(api, uid)["status"]


def conversations_of(api, uid):
    return [each["conversation_id"] for each in memory(api, uid)["sources"]]


def test_a_deleted_conversation_is_gone_and_opens_again_without_what_it_said(api):
    say(api, *[turn(str(number)) for number in range(5)], remember=True)
    observe(api, "Kept elsewhere.")
    observe(api, "Kept elsewhere.", conversation="other")

    done = delete(api, f"{CHAT}?{SPACE}").json

    assert {"turns": 6, "memories_retracted": 5, "memories_kept": 1} == done["counts"]
    assert 404 == api.get(f"{CHAT}?{SPACE}").status_code
    assert 404 == api.get(f"{CHAT}/turns?{SPACE}").status_code
    assert ["Kept elsewhere."] == [
        each["content"] for each in api.get(f"/v1/memories?{SPACE}").json["items"]
    ]
    say(api, turn("New."))
    assert ["New."] == said(api)


def test_a_transcript_is_a_turn_with_its_message_id(api):
    body = {"space": "orchestrator:main", "message_id": "m-1", "conversation_id": "chat"}
    written = api.post("/v1/write-backs/transcript", body | {"content": "Ship it.\n"})
    (found,) = api.get(f"{CHAT}/turns?space=orchestrator:main").json["items"]

    assert ("Ship it.\n", "m-1", "user") == tuple(
        found[name] for name in ("content", "message_id", "role")
    )
    assert 1 == len(found["memories"]), written.json
    api.post("/v1/write-backs/transcript", body | {"content": "Ship it later."})
    (found,) = api.get(f"{CHAT}/turns?space=orchestrator:main").json["items"]
    assert "Ship it later." == found["content"]
    delete(api, f"{CHAT}/turns/{found['uid']}?space=orchestrator:main")
    again = api.post("/v1/write-backs/transcript", body | {"content": "Ship it later."})
    assert (409, "retracted") == (again.status_code, again.json["error"]["code"])


def test_a_popped_transcript_may_be_said_again(api):
    body = {"space": "orchestrator:main", "message_id": "m-1", "conversation_id": "chat"}
    api.post("/v1/write-backs/transcript", body | {"content": "Ship it."})

    api.post(f"{CHAT}/turns/pop", {"space": "orchestrator:main"})

    again = api.post("/v1/write-backs/transcript", body | {"content": "Ship it now."})
    assert 200 == again.status_code, again.json
    (found,) = api.get(f"{CHAT}/turns?space=orchestrator:main").json["items"]
    assert "Ship it now." == found["content"]


def test_who_may_not_write_reads_and_who_may_not_read_sees_nothing(api):
    say(api, turn())
    reader = api.with_key(Role.READER, "user:ada")
    stranger = api.with_key(Role.ADMIN, "*", tenant="else")

    assert ["Hello."] == said(reader)
    assert 403 == say(reader, turn()).status_code
    assert 403 == reader.post(f"{CHAT}/turns/pop", {"space": "user:ada"}).status_code
    assert 403 == delete(reader, f"{CHAT}?{SPACE}").status_code
    assert 403 == api.with_key(Role.ADMIN, "user:bob").get(f"{CHAT}?{SPACE}").status_code
    assert 404 == stranger.get(f"{CHAT}?{SPACE}").status_code
    assert [] == stranger.get(f"/v1/conversations?{SPACE}").json["items"]


def test_a_write_of_turns_leaves_a_trace(api):
    done = say(api, turn(message_id="m"), remember=True).json

    trace = api.get(f"/v1/traces/{done['trace_id']}").json
    (event,) = trace["events"]
    assert ("turn", done["turns"][0]["uid"], "created") == (
        trace["kind"],
        event["turn"],
        event["outcome"],
    )


def test_a_space_of_conversations_alone_is_listed(api):
    assert [] == api.get("/v1/spaces").json["items"]
    say(api, turn())

    assert [SPACE.removeprefix("space=")] == [
        each["space"] for each in api.get("/v1/spaces").json["items"]
    ]
    delete(api, f"{CHAT}?{SPACE}")
    assert [] == api.get("/v1/spaces").json["items"]


def test_a_conversation_of_a_room_is_written_by_that_room_alone(api):
    graphmem, caller = api.house.graphmem, api.house.caller
    said = AppendTurns(
        space=parse_space("user:ada", tenant=caller.tenant),
        conversation_id="chat",
        sayings=[Saying(uid="t", role=TurnRole.USER, content="Hello.", native={"mood": 1})],
        policy=graphmem.policy,
        kept_by="notes",
    )
    graphmem.gateway.execute(said, caller)

    refused = [
        say(api, turn()),
        api.client.patch(
            CHAT, json={"space": "user:ada", "title": "x"}, headers={"X-API-Key": api.key}
        ),
        api.post(f"{CHAT}/turns/pop", {"space": "user:ada"}),
        api.post(
            "/v1/memories",
            {"space": "user:ada", "content": "x", "source": {"conversation_id": "chat"}},
        ),
    ]

    assert [(409, "kept_by_room")] * 4 == [
        (each.status_code, each.json["error"]["code"]) for each in refused
    ]
    (found,) = listed(api)
    assert ("notes", {"mood": 1}) == (api.get(f"{CHAT}?{SPACE}").json["kept_by"], found["native"])
    assert 1 == delete(api, f"{CHAT}/turns/t?{SPACE}").json["counts"]["turns"]
    assert 200 == delete(api, f"{CHAT}?{SPACE}").status_code
    assert 201 == say(api, turn()).status_code


@pytest.mark.parametrize(
    "path", ["//turns", "/turns?id=", "/%20/turns", "/turns?id=%ff", "/%ff/turns"]
)
def test_an_id_that_names_nothing_is_refused(api, path):
    answer = api.post(f"/v1/conversations{path}", {"space": "user:ada", "turns": [turn()]})

    assert answer.status_code in {404, 405, 422}
    assert [] == api.get(f"/v1/conversations?{SPACE}").json["items"]


def test_a_long_turn_is_remembered_and_deleted_in_steps(api):
    long = "I walked along the river and saw a heron. " * 9_000

    kept = say(api, turn(long), remember=True).json["turns"][0]
    done = delete(api, f"{CHAT}?{SPACE}").json

    assert 90 < len(kept["memories"]) == done["counts"]["memories_retracted"]
    assert 1 == done["counts"]["turns"]
    assert [] == api.get(f"/v1/memories?{SPACE}").json["items"]


def test_what_was_said_more_often_than_sources_are_shown_goes_with_its_turns(api):
    for number in range(40):
        observe(api, source={"conversation_id": "chat", "key": f"k-{number}"})
    uid = observe(api, conversation="other")["memory"]["uid"]

    assert 1 == delete(api, f"{CHAT}?{SPACE}").json["counts"]["memories_kept"]
    assert (["other"], 1) == (conversations_of(api, uid)[-1:], memory(api, uid)["sources_total"])
    delete(api, f"/v1/conversations/other?{SPACE}")
    assert "retracted" == memory(api, uid)["status"]


@pytest.mark.parametrize("text_only", [False, True])
@pytest.mark.parametrize("way", ["by index", "exact", "known at"])
def test_a_memory_is_found_by_each_of_its_conversations_however_many_there_are(api, way, text_only):
    for number in range(40):
        observe(api, "Ada likes tea.", f"chat-{number}", tags=["drinks"])
        api.house.clock.advance(seconds=1)
    observe(api, "Ada likes tea with milk.", "other", tags=["drinks"])
    more = {"exact": {"tags": ["drinks"]}, "known at": {"known_at": api.house.clock.now()}}

    def found(conversation, **changes):
        asked = {"conversation_id": conversation, "text_only": text_only, **more.get(way, {})}
        return api.house.contents("tea", **asked, **changes)

    for conversation in ("chat-0", "chat-5", "chat-39"):
        assert ["Ada likes tea."] == found(conversation)
        assert ["Ada likes tea."] == found(conversation, captured_by=[CapturedBy.USER])
        assert [] == found(conversation, captured_by=[CapturedBy.SYSTEM])
    assert [] == found("chat-40")


@pytest.mark.parametrize("identity", ["logical_key", "uid"])
def test_words_that_only_a_deleted_turn_gave_go_with_it(api, identity):
    named = {identity: "city"}
    uid = observe(api, "Ada lives in Lyon.", "a", **named)["memory"]["uid"]
    api.house.clock.advance(minutes=1)
    observe(api, "Ada lives in Paris.", "b", **named)

    delete(api, f"/v1/conversations/b?{SPACE}")

    left = memory(api, uid)
    assert ("Ada lives in Lyon.", "active") == (left["content"], left["status"])
    again = observe(api, "Ada lives in Lyon.", "c", dedupe="content")
    assert {"logical_key": "reinforced", "uid": "created"}[identity] == again["outcome"]


def test_words_that_were_there_before_stay_when_a_turn_repeated_them(api):
    uid = observe(api, "Tea.", source={"type": "manual"})["memory"]["uid"]
    body = {"space": "user:ada", "content": "Green tea."}
    api.client.patch(f"/v1/memories/{uid}", json=body, headers={"X-API-Key": api.key})
    api.client.patch(
        f"/v1/memories/{uid}", json={"content": "Green tea."}, headers={"X-API-Key": api.key}
    )
    api.house.clock.advance(minutes=1)
    assert "reinforced" == observe(api, "Green tea.")["outcome"]

    delete(api, f"{CHAT}?{SPACE}")

    assert "Green tea." == memory(api, uid)["content"]


def transcribe(api, content, message="m-1", conversation="chat"):
    body = {"space": "orchestrator:main", "message_id": message, "conversation_id": conversation}
    return api.post("/v1/write-backs/transcript", body | {"content": content})


def pop_transcript(api, conversation="chat"):
    path = f"/v1/conversations/{conversation}/turns/pop"
    assert 200 == api.post(path, {"space": "orchestrator:main"}).status_code


def test_a_popped_transcript_is_said_again_whatever_became_of_its_memory(api):
    transcribe(api, "Yes.")
    transcribe(api, "Yes.", "m-2", "other")
    pop_transcript(api)
    again = [transcribe(api, text) for text in ("No.", "No, never.")]
    pop_transcript(api)
    again.append(transcribe(api, "Perhaps."))

    assert [200] * 3 == [each.status_code for each in again], [each.json for each in again]
    assert (
        "Perhaps." == api.get(f"{CHAT}/turns?space=orchestrator:main").json["items"][0]["content"]
    )


def test_a_pop_forgets_no_key_that_another_turn_still_says(api):
    source = {"conversation_id": "a", "key": "k"}
    observe(api, "One.", source=source)
    observe(api, "One.", conversation="b")
    api.post("/v1/conversations/b/turns/pop", {"space": "user:ada"})

    assert "unchanged" == observe(api, "One.", source=source)["outcome"]


def test_two_versions_of_one_source_in_one_call_are_one_turn(api):
    source = {"conversation_id": "chat", "key": "k"}
    items = [
        {"space": "user:ada", "content": content, "source": source}
        for content in ("At 3.", "At 4.")
    ]

    answer = api.post("/v1/memories/batch", {"items": items}).json

    assert ["created", "revised"] == [each["outcome"] for each in answer["results"]]
    assert ["At 4."] == said(api)


def test_the_first_page_of_a_history_may_be_the_present_words_alone(api):
    source = {"conversation_id": "chat", "key": "k"}
    for content in ("At 3.", "At 4."):
        observe(api, content, source=source)
    path = f"{CHAT}/turns/{listed(api)[0]['uid']}/history?{SPACE}&limit=1"

    first = api.get(path).json
    second = api.get(f"{path}&cursor={first['next_cursor']}").json

    assert ["At 4.", "At 3."] == [first["items"][0]["content"], second["items"][0]["content"]]
    assert (2, None) == (first["total"], second["next_cursor"])


def test_words_are_screened_as_they_were_sent_too(api):
    body = {"space": "user:ada", "content": "x\x01sk-proj-" + "a1B2" * 12}

    answer = api.post("/v1/memories", body | {"source": {"conversation_id": "chat"}})

    assert 403 == answer.status_code


def test_a_turn_with_parts_that_show_nothing_is_remembered(api):
    answer = say(api, turn("Seen. " * 3_000 + "\u200b" * 40_000), remember=True)

    assert 201 == answer.status_code, answer.json
    assert answer.json["turns"][0]["memories"]


def test_a_message_twice_in_one_call_shows_its_memory_both_times(api):
    answer = say(api, turn(message_id="m"), turn(message_id="m"), remember=True).json["turns"]

    assert answer[0]["memories"] == answer[1]["memories"] != []


def test_deleting_ends_when_many_memories_of_a_turn_were_retracted_before(api):
    kept = say(api, turn("I walked along the river. " * 12_000), remember=True).json["turns"][0]
    for uid in kept["memories"][:35]:
        assert 200 == api.post(f"/v1/memories/{uid}/retract?{SPACE}", {}).status_code

    answer = delete(api, f"{CHAT}?{SPACE}").json

    left = len(kept["memories"]) - 35
    assert 0 < left
    assert {"turns": 1, "memories_retracted": left, "memories_kept": 0} == answer["counts"]


def test_a_source_that_leaves_for_another_memory_leaves_no_turn_behind(api):
    def from_chat(content, conversation, **changes):
        source = {"conversation_id": conversation, "key": "k"}
        return observe(api, content, source=source, **changes)

    by_hand = {"type": "manual", "key": "by hand"}
    uid = observe(api, "We meet at 3.", source=by_hand)["memory"]["uid"]
    from_chat("We meet at 3.", "a")
    from_chat("We meet at 3.", "b", importance=9)

    from_chat("We meet at 4.", "b")
    delete(api, f"/v1/conversations/a?{SPACE}")

    assert "active" == memory(api, uid)["status"]
    assert [] == memory(api, uid)["turns"]


@pytest.mark.parametrize("deleted", [["b"], ["b", "c"], ["c", "b"]])
def test_words_taken_back_once_are_not_restored_again(api, deleted):
    uid = observe(api, "Ada lives in Lyon.", "a", logical_key="city")["memory"]["uid"]
    spoken = {"Paris": "b", "Rome": "c" if "c" in deleted else "b"}
    for city, conversation in spoken.items():
        api.house.clock.advance(minutes=1)
        observe(api, f"Ada lives in {city}.", conversation, logical_key="city")

    for conversation in deleted:
        api.house.clock.advance(minutes=1)
        delete(api, f"/v1/conversations/{conversation}?{SPACE}")

    assert "Ada lives in Lyon." == memory(api, uid)["content"]


def test_words_that_another_source_says_too_stay(api):
    by_hand = {"type": "manual", "key": "by hand"}
    observe(api, "Ada lives in Lyon.", "a", logical_key="city")
    api.house.clock.advance(minutes=1)
    uid = observe(api, "Ada lives in Paris.", "b", logical_key="city")["memory"]["uid"]
    api.house.clock.advance(minutes=1)
    observe(api, "Ada lives in Paris.", source=by_hand, logical_key="city")

    delete(api, f"/v1/conversations/b?{SPACE}")

    assert "Ada lives in Paris." == memory(api, uid)["content"]


def test_words_come_back_with_all_that_was_said_with_them(api):
    lyon = {"entities": ["place:lyon"], "tags": ["home"], "importance": 40}
    paris = {"entities": ["place:paris"], "tags": ["office"], "importance": 90}
    uid = observe(api, "Ada lives in Lyon.", "a", logical_key="city", **lyon)["memory"]["uid"]
    before = memory(api, uid)
    api.house.clock.advance(minutes=1)
    observe(api, "Ada lives in Paris.", "b", logical_key="city", **paris)

    delete(api, f"/v1/conversations/b?{SPACE}")

    after = memory(api, uid)
    said_then = ("content", "summary", "entities", "tags", "importance", "type", "actor")
    assert {name: before[name] for name in said_then} == {name: after[name] for name in said_then}


@pytest.mark.parametrize("path", ["//[", "//[::1", "/v1//["])
def test_a_path_that_looks_like_an_address_is_answered(api, path):
    answer = api.client.get("/", environ_overrides={"REQUEST_URI": path})

    assert answer.status_code < 500


def test_the_example_of_the_docs_is_answered(api):
    body = example("**Conversations.**")

    answer = api.post("/v1/conversations/chat/turns", body)

    assert 201 == answer.status_code, answer.json
    assert body["turns"] == [
        {name: found[name] for name in given}
        for found, given in zip(listed(api), body["turns"], strict=True)
    ]
