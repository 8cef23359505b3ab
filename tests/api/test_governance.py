"""Governed memory over HTTP (004): calls, phases, promotion, denial, retries and bad input."""

import json
import random
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from governed import PROFILE, agree, called, kinds, recalled, recorded, why

from graphmem.governance.keeper import GovernanceKeeper
from graphmem.governance.owners import owners_of
from graphmem.governance.request import CallRequest, PhaseToken
from graphmem.governance.scoring import Query, best
from graphmem.model.caller import Role
from graphmem.model.governance import ItemKind

ADA = {"state": {"user": {"id": "s1"}}, "identity": {"id": "ada"}}
ALL = {"short_term": 4, "semantic": True, "profile": True}


@pytest.fixture
def assistant(api):
    agree(api, **ALL)
    return api


def texts(items):
    return [item["text"] for item in items]


def listed(api, space="session:s1", kind="semantic", **filters):
    query = "".join(f"&{name}={value}" for name, value in filters.items())
    found = api.get(f"{PROFILE}/items?space={space}&kind={kind}{query}")
    return found.get_json()["items"]


@pytest.fixture
def elsewhere(assistant):
    """Another tenant, empty but for the same contract."""
    tenant = f"{assistant.house.caller.tenant}-2"
    other = assistant.with_key(Role.ADMIN, "*", tenant=tenant)
    agree(other, **ALL)
    yield other
    assistant.house.rows(
        "MATCH (n) WHERE n.space STARTS WITH $other + '/' OR n.tenant = $other DETACH DELETE n",
        other=tenant,
    )


SAID = (
    "My name is Ada.",
    "Remember this for me: I prefer tabs.",
    "Actually, my name is Bob.",
    "My password is a secret.",
    "We decided to use Go.",
    "We decided to use Go.",
)


def test_the_same_calls_give_the_same_in_another_tenant_also_as_recall_and_record(
    assistant, elsewhere
):
    tools = {"tool_events": [{"tool": "calc", "result": 4}]}
    for text in SAID:
        whole = called(assistant, text, **ADA, **tools)
        before = recalled(elsewhere, text, **ADA)
        after = recorded(elsewhere, text, **ADA, **tools)

        assert whole["events"] == before["events"] + after["events"]
        assert (whole["recalled"], whole["written"]) == (before["recalled"], after["written"])
        assert whole["clock"] == after["clock"]


def test_what_is_promoted_is_found_in_another_session_of_the_person_only(assistant):
    given = called(assistant, "Remember this for me: I prefer tabs.", **ADA)
    again = {"state": {"user": {"id": "s2"}}, "identity": {"id": "ada"}}
    stranger = {"state": {"user": {"id": "s3"}}, "identity": {"id": "eve"}}

    assert [("promoted", "hint:remember_for_me"), ("deleted", "promoted")] == why(
        given["events"], "promoted", "deleted"
    )
    (found,) = recalled(assistant, "tabs?", **again)["recalled"]
    assert "user:ada:semantic:1" == found["id"]
    assert "session:s1:semantic:1" == found["meta"]["promoted_from"]
    assert [] == recalled(assistant, "tabs?", **stranger)["recalled"]
    (source,) = listed(assistant)
    assert ("superseded", "promoted", False) == (
        source["status"],
        source["reason"],
        source["is_present"],
    )


def test_a_session_belongs_to_the_person_who_first_wrote_to_it(assistant):
    called(assistant, "Hello.", **ADA)
    body = {"input": "Hello.", "state": ADA["state"], "identity": {"id": "eve"}}
    found = assistant.post(f"{PROFILE}/recall", body)

    assert (409, "session_of_another") == (found.status_code, found.get_json()["error"]["code"])


def test_sessions_of_a_person_share_a_clock_and_others_have_their_own(assistant):
    first = called(assistant, "Hello.", **ADA)
    second = called(assistant, "Hello.", state={"user": {"id": "s2"}}, identity={"id": "ada"})
    other = called(assistant, "Hello.", state={"user": {"id": "s3"}}, identity={"id": "eve"})

    assert first["clock"] < second["clock"]
    assert first["clock"] == other["clock"]


def test_snippets_decay_beyond_their_ticks_and_are_forgotten_with_a_reason(api):
    rule = {"mode": "decay", "ttl_ticks": 3}
    agree(api, semantic=True, retention={"semantic": {"preference": rule}})
    recorded(api, "I prefer tabs.", **ADA)  # of tick 2
    for number in range(2):
        given = recorded(api, f"We decided on number {number}.", **ADA)
        assert [] == kinds(given["events"], "forget")
    given = recorded(api, "We decided on another.", **ADA)

    assert [("forget", "decay"), ("deleted", "expired")] == why(
        given["events"], "forget", "deleted"
    )
    assert "I prefer tabs." not in texts(recalled(api, "tabs", **ADA)["recalled"])


def test_a_ttl_is_told_when_a_pass_has_looked_and_ends_at_its_tick(api):
    rule = {"mode": "ttl", "ttl_ticks": 3}
    agree(api, semantic=True, retention={"semantic": {"preference": rule}})
    given = recorded(api, "I prefer tabs.", **ADA)
    (found,) = recalled(api, "tabs", **ADA)["recalled"]
    recorded(api, "We decided on one.", **ADA)
    kept = recalled(api, "tabs", **ADA)["recalled"]
    ended = recorded(api, "We decided on two.", **ADA)

    assert "expires_at" not in given["written"][0]["meta"]
    assert found["created_at"] + 3 == found["meta"]["expires_at"]
    assert "I prefer tabs." in texts(kept)
    assert [("forget", "ttl_expired")] == why(ended["events"], "forget")


def test_phases_hide_what_was_before_unless_history_is_recalled(assistant):
    called(assistant, "I prefer tabs.", **ADA)
    token = {"state": ADA["state"] | {"_memory_phase_token": "b", "_memory_phase_name": "B"}}
    given = called(assistant, "We decided to use Go.", **ADA | token)
    hidden = recalled(assistant, "tabs", **ADA)
    agree(assistant, **ALL, phase={"mode": "current_plus_history"})
    whole = recalled(assistant, "tabs", **ADA)

    assert [("phase_started", "manual")] == why(given["events"], "phase_started")
    assert "I prefer tabs." not in texts(hidden["recalled"])
    assert {"phase-1": 3, "phase-2": 3} == whole["events"][0]["phase_counts"]["session"]
    phases = assistant.get(f"{PROFILE}/phases?space=session:s1").get_json()
    assert [("phase-2", "B"), ("phase-1", None)] == [
        (each["phase_id"], each["phase_name"]) for each in phases["items"]
    ]


def test_a_diff_of_phases_is_also_there_without_a_call(assistant):
    called(assistant, "My name is Ada.", **ADA)
    token = {"state": ADA["state"] | {"_memory_phase_token": "b"}}
    called(assistant, "Actually, my name is Bob.", **ADA | token)
    path = f"{PROFILE}/phases/diff?space=session:s1"

    diff = assistant.get(f"{path}&from=phase-1&to=phase-2").get_json()
    assert (2, 2) == (diff["replaced_count"], diff["added_count"])
    assert 404 == assistant.get(f"{path}&from=phase-1&to=phase-3").status_code
    assert 404 == assistant.get(f"{path}&from=x&to=phase-1").status_code


def test_max_phases_drops_the_ledgers_of_the_oldest(api):
    agree(api, **ALL, phase={"max_phases": 2})
    for token in "abc":
        called(
            api, f"Hello {token}.", **ADA | {"state": ADA["state"] | {"_memory_phase_token": token}}
        )
    phases = api.get(f"{PROFILE}/phases?space=session:s1").get_json()["items"]

    assert [True, True, False] == [each["has_ledger"] for each in phases]
    diff = api.get(f"{PROFILE}/phases/diff?space=session:s1&from=phase-1&to=phase-3").get_json()
    assert (0, []) == (diff["added_count"], diff["top_changes"])


DENIED = "My ssn is zanzibar-78"


def test_a_denied_text_is_nowhere_in_the_store(assistant):
    given = called(assistant, DENIED, f"You said: {DENIED}.", **ADA)
    headers = {"Idempotency-Key": "once"}
    body = {"input": DENIED, "output": "I see."} | ADA
    first = assistant.post(f"{PROFILE}/calls", body, **headers).get_json()
    again = assistant.post(f"{PROFILE}/calls", body, **headers).get_json()

    assert {"privacy_deny_sensitive"} == {
        event["reason"] for event in kinds(given["events"], "denied")
    }
    assert "zanzibar" in kinds(given["events"], "denied")[0]["attempted"]["meta"]["dedup_key"]
    assert first["trace_id"] == again["trace_id"]
    assert "zanzibar" not in json.dumps(again)
    for trace_id in (given["trace_id"], first["trace_id"]):
        kept = assistant.get(f"/v1/traces/{trace_id}").get_json()
        assert "zanzibar" not in json.dumps(kept)
        assert "(redacted)" == kept["events"][0]["query"]
    packed = assistant.house.rows(
        "MATCH (t:Trace) WHERE t.tenant + '/' = $tenant AND t.packed IS NOT NULL RETURN t.packed"
    )
    assert 2 == len(packed)
    assert [] == [each for (each,) in packed if b"zanzibar" in zlib.decompress(bytes(each))]
    nodes = assistant.house.rows(
        "MATCH (n) WHERE n.space STARTS WITH $tenant OR n.tenant + '/' = $tenant"
        " RETURN labels(n), properties(n)"
    )
    assert 10 < len(nodes)
    assert [] == [labels for labels, values in nodes if "zanzibar" in str(values)]


def test_what_only_screening_refuses_has_its_code_and_the_rest_is_kept(assistant):
    token = "ghp_" + "a1B2c3D4" * 5  # what a deny list of words does not know
    given = called(assistant, f"We decided on {token}.", "Fine.", **ADA)

    assert ["screening_secret"] * 2 == [e["reason"] for e in kinds(given["events"], "denied")]
    assert ["Fine."] == texts(given["written"])


def test_a_retry_key_gives_the_first_answer_and_writes_nothing(assistant):
    body = {"input": "I prefer tabs.", "output": "I see."} | ADA
    first, again = (
        assistant.post(f"{PROFILE}/calls", body, **{"Idempotency-Key": "k"}).get_json()
        for _ in "12"
    )
    other = assistant.post(f"{PROFILE}/calls", body | {"output": "No."}, **{"Idempotency-Key": "k"})

    assert first == again
    assert 409 == other.status_code
    assert 1 == len(listed(assistant))


def test_a_trace_has_the_whole_events_and_an_item_its_life(assistant):
    given = called(assistant, "My name is Ada.", **ADA)
    corrected = called(assistant, "Actually, my name is Bob.", **ADA)
    trace = assistant.get(f"/v1/traces/{corrected['trace_id']}").get_json()
    life = assistant.get(f"{PROFILE}/items/session:s1:profile:1/events").get_json()

    assert corrected["events"] == trace["events"]
    assert [given["trace_id"], corrected["trace_id"]] == [
        each["trace_id"] for each in life["items"]
    ]
    last = [event["type"] for event in life["items"][1]["events"]]
    assert ["memory_recall", "memory_conflict", "memory_deleted"] == last


def test_a_plain_call_meets_items_but_may_only_retract_them(assistant):
    called(assistant, "My name is Ada.", **ADA)
    (fact,) = listed(assistant, kind="profile")
    path = f"/v1/memories/{fact['uid']}"
    changed = assistant.client.patch(
        f"{path}?space=session:s1", json={"importance": 1}, headers={"X-API-Key": assistant.key}
    )
    beside = assistant.post("/v1/memories", {"space": "session:s1", "content": "Ada"})

    assert (409, "kept_by_room") == (changed.status_code, changed.get_json()["error"]["code"])
    assert 201 == beside.status_code
    assert 200 == assistant.post(f"{path}/retract?space=session:s1", {}).status_code
    assert 409 == assistant.post(f"{path}/restore?space=session:s1", {}).status_code
    given = called(assistant, "My name is Bob.", **ADA)
    assert [] == kinds(given["events"], "conflict")
    assert "Ada" not in texts(given["recalled"])
    assert ["Bob", "Ada"] == texts(listed(assistant, kind="profile"))
    assert ["Bob"] == texts(listed(assistant, kind="profile", status="present"))


def test_a_key_for_a_session_alone_has_closed_borders_elsewhere(assistant):
    key = assistant.with_key(Role.WRITER, "session:s1")
    given = called(key, "Remember this for me: I prefer tabs.", **ADA)
    borders = {e["from_space"]: e["reason"] for e in kinds(given["events"], "border_check")[:4]}

    assert {
        "session": "allowed",
        "user": "space_disabled",
        "project": "space_disabled",
        "system": "space_disabled",
    } == borders
    assert [("promotion_denied", "promotion_disallowed")] == why(
        given["events"], "promotion_denied"
    )
    other = assistant.with_key(Role.WRITER, "session:s2")
    assert 403 == other.post(f"{PROFILE}/calls", {"input": "a", "output": "b"} | ADA).status_code


WORDS = "tabs spaces go rust tea jazz vim metric oslo alpha be".split()
SAYS = (
    "I prefer {}.",
    "We decided to use {}.",
    "We must always use {}.",
    "Actually, {}.",
    "Hm {}.",
)
ASKED = ("tabs", "ab", "go rust", "o r", "what about tea and jazz", "zebra", "...", "use oslo")


MIXED = {
    "semantic": {"decision": {"mode": "never"}, "preference": {"mode": "ttl", "ttl_ticks": 30}}
}


@pytest.mark.parametrize(
    ("phase", "forgetting"),
    [
        ("current_only", {"forget_policy": "never"}),
        ("current_plus_history", {"forget_policy": "never"}),
        ("current_only", {"forget_policy": "decay"}),
        ("current_only", {"forget_policy": "ttl", "retention": MIXED}),
        ("current_plus_history", {"forget_policy": "decay", "retention": MIXED}),
    ],
)
def test_a_bounded_recall_gives_what_scoring_every_snippet_gives(
    api, monkeypatch, phase, forgetting
):
    monkeypatch.setattr("graphmem.governance.reading.NEWEST", 7)  # so that old ones are searched
    contract = {
        "semantic": True,
        "write_policy": "aggressive",
        "dedupe_enabled": False,
        "phase": {"mode": phase},
    }
    agree(api, **contract, forget_policy="never")
    chosen = random.Random(4)  # noqa: S311 - the same in every run
    for number in range(90):
        text = chosen.choice(SAYS).format(" ".join(chosen.choices(WORDS, k=chosen.randint(1, 3))))
        token = {"_memory_phase_token": f"p{number // 60}"}
        keep(api, text, state=ADA["state"] | token)
    agree(api, **contract, **forgetting)
    before = all_snippets(api)
    recalled_of = {asked: recalled(api, asked, **ADA)["recalled"] for asked in ASKED}
    everything = all_snippets(api)  # the first recall forgets, the others see the same
    assert ("never" == forgetting["forget_policy"]) == (len(before) == len(everything))
    last = max(item.phase.index for item in everything)
    by_phase = [
        [item for item in everything if item.phase.index == index]
        for index in range(last, 0 if "history" in phase else last - 1, -1)
    ]

    for asked in ASKED:
        expected = best(by_phase, Query.of(asked), most=3)
        assert [(each.item.id, each.score) for each in expected] == [
            (item["id"], item["meta"]["score"]) for item in recalled_of[asked]
        ], asked


def all_snippets(api):
    space = owners_of(api.house.caller.tenant, ADA["state"], {}).session
    governance = api.house.graphmem.of(GovernanceKeeper).governance
    page = governance.items(space, ItemKind.SEMANTIC, "present", None, limit=200)
    return [listed.item for listed in page.items]


def test_clients_of_one_session_at_once_get_ids_without_gap_or_repeat(assistant):
    with ThreadPoolExecutor(8) as pool:
        given = list(pool.map(lambda n: keep(assistant, f"We decided on number {n}."), range(16)))

    numbers = sorted(int(item["id"].rpartition(":")[2]) for items in given for item in items)
    assert list(range(1, 17)) == numbers
    ticks = [item["created_at"] for items in given for item in items]
    assert len(set(ticks)) == len(ticks)


def keep(api, text, state=ADA["state"], identity=ADA["identity"]):
    """The snippets that a record of a text keeps, by the service itself, as threads may."""
    caller = api.house.caller
    token = state.get("_memory_phase_token")
    request = CallRequest(
        profile="assistant",
        owners=owners_of(caller.tenant, state, identity),
        input=text,
        output="I see.",
        token=PhaseToken(token=token) if token else None,
        recalls=False,
    )
    call = api.house.graphmem.of(GovernanceKeeper).call(request, caller=caller)
    return [item for item in call.written if item["kind"] == "semantic"]


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"input": " "}, "input"),
        ({"input": "a" * 32_001}, "input"),
        ({"input": "a\ud800"}, "input"),
        ({"output": None}, "output"),
        ({"output": "a" * 32_001}, "output"),
        ({"state": []}, "state"),
        ({"identity": "ada"}, "identity"),
        ({"tool_events": {}}, "tool_events"),
        ({"tool_events": ["a"]}, "tool_events.0"),
        ({"tool_events": [{"a": "\ud800"}]}, "tool_events"),
        ({"state": {"a": "\ud800"}}, "state"),
        ({"tool_events": [{"a": "b" * 32_000}]}, "tool_events"),
        ({"project_root": "a/b"}, "project_root"),
        ({"project_root": "/a", "project": "a"}, "project"),
        ({"state": {"user": {"id": "a/b"}}}, "state.user.id"),
        ({"state": {"_memory_phase_token": ["x"]}}, "state._memory_phase_token"),
        (
            {
                "state": {
                    "_memory_phase_diff_from": "phase-1",
                    "_memory_phase_diff_to": "phase-2",
                    "_memory_phase_diff_space": "moon",
                }
            },
            "state._memory_phase_diff_space",
        ),
    ],
)
def test_a_call_that_is_wrong_names_the_field_and_keeps_nothing(assistant, body, path):
    found = assistant.post(f"{PROFILE}/calls", {"input": "Hello.", "output": "Hi."} | body)

    assert 422 == found.status_code, found.get_json()
    assert [path] == list(found.get_json()["error"]["fields"])
    assert [] == listed(assistant, "session:anonymous", "short_term")


def test_a_call_without_a_contract_and_a_profile_of_no_form_are_told(api):
    assert 404 == api.post(f"{PROFILE}/recall", {"input": "Hello."}).status_code
    assert 422 == api.post("/v1/governed/a%20b/recall", {"input": "Hello."}).status_code
    assert 404 == api.get("/v1/contracts/assistant").status_code


def test_a_contract_has_versions_and_the_same_again_is_none(api):
    agree(api, short_term=2)
    again = api.client.put(
        "/v1/contracts/assistant", json={"short_term": 2}, headers={"X-API-Key": api.key}
    )
    agree(api, semantic=True)
    versions = api.get("/v1/contracts/assistant/versions").get_json()["items"]

    assert (200, 1) == (again.status_code, again.get_json()["version"])
    assert [(2, 0), (1, 2)] == [(v["version"], v["contract"]["short_term"]) for v in versions]
    writer = api.with_key(Role.WRITER, "*")
    refused = writer.client.put(
        "/v1/contracts/assistant", json={}, headers={"X-API-Key": writer.key}
    )
    assert 403 == refused.status_code


@pytest.mark.parametrize(
    "fact",
    [
        "My name is",
        "my timezone is",
        "my language is",
        "my project is",
        "my editor is",
    ],
)
def test_a_fact_that_holds_a_secret_is_denied(assistant, fact):
    given = called(assistant, f"{fact} password", **ADA)

    assert ["I see."] == texts(given["written"])
    assert {"privacy_deny_sensitive"} == {e["reason"] for e in kinds(given["events"], "denied")}


def test_a_contract_that_denies_everything_works_and_says_so(api):
    agree(
        api,
        **ALL,
        promotion={k: {"allowed_event_types": []} for k in ("short_term", "semantic", "profile")},
    )
    given = called(api, "My name is Ada.", **ADA)

    assert [] == given["written"]
    assert {"policy_deny_promotion"} == {e["reason"] for e in kinds(given["events"], "denied")}


def test_a_preview_says_what_a_contract_would_do_and_changes_nothing(assistant):
    called(assistant, "I prefer tabs.", **ADA)
    called(assistant, "My name is Ada.", **ADA)
    rule = {"mode": "decay", "ttl_ticks": 1}
    contract = {
        "semantic": True,
        "deny_event_types": ["fact"],
        "retention": {"semantic": {"preference": rule}},
    }
    body = {"contract": contract, "spaces": ["session:s1", "user:ada"]}
    found = assistant.post("/v1/contracts/assistant/preview", body).get_json()

    assert {"session:s1:short_term:3", "session:s1:semantic:2", "session:s1:profile:1"} == {
        each["id"] for each in found["denied"]
    }
    assert [{"id": "session:s1:semantic:1", "reason": "decay"}] == found["expiring"]
    assert {("session:s1:semantic:1", "to:user"), ("session:s1:semantic:2", "to:user")} <= {
        (each["id"], each["reason"]) for each in found["promotable"]
    }
    assert (7, 3) == (found["counts"]["items"], found["counts"]["denied"])
    assert 2 == len(listed(assistant, status="present"))
    wrong = assistant.post("/v1/contracts/assistant/preview", body | {"contract": {"x": 1}})
    assert ["contract.x"] == list(wrong.get_json()["error"]["fields"])


IMPOSED = {"space": "session:s1", "kind": "profile", "text": "Ada Lovelace", "key": "name"}


def test_an_imposed_item_beats_what_was_said_and_only_a_correction_beats_it(assistant):
    called(assistant, "My name is Ada.", **ADA)
    found = assistant.post(f"{PROFILE}/imposed", IMPOSED)
    later = called(assistant, "My name is Bob.", **ADA)
    corrected = called(assistant, "Actually, my name is Cid.", **ADA)

    assert 201 == found.status_code, found.get_json()
    imposed = found.get_json()
    assert ("system_imposed", "session:s1:profile:2") == (
        imposed["item"]["meta"]["authority"],
        imposed["item"]["id"],
    )
    assert [("conflict", "authority"), ("deleted", "superseded")] == why(
        imposed["events"], "conflict", "deleted"
    )
    assert [("conflict", "authority")] == why(later["events"], "conflict")
    assert [("conflict", "correction")] == why(corrected["events"], "conflict")
    trace = assistant.get(f"/v1/traces/{imposed['trace_id']}").get_json()
    assert imposed["events"] == trace["events"]


def test_what_is_imposed_on_all_is_recalled_by_everybody_with_ticks_of_its_own(assistant):
    body = {"space": "system:system", "kind": "semantic", "text": "We use tabs here."}
    first = assistant.post(f"{PROFILE}/imposed", body).get_json()["item"]
    second = assistant.post(f"{PROFILE}/imposed", body | {"text": "We use Go here."}).get_json()

    assert first["created_at"] < second["item"]["created_at"]
    found = recalled(assistant, "tabs?", **ADA)["context"]["semantic"]
    assert ["We use tabs here.", "We use Go here."] == texts(found)


@pytest.mark.parametrize(
    ("changes", "status", "path"),
    [
        ({"space": "session:nobody"}, 404, None),
        ({"space": "namespace:x"}, 422, "space"),
        ({"space": "user:ada/coach"}, 422, "space"),
        ({"kind": "short_term"}, 422, "kind"),
        ({"kind": "semantic"}, 422, "key"),
        ({"key": "shoe"}, 422, "key"),
        ({"text": " "}, 422, "text"),
        ({"text": "password"}, 403, None),
    ],
)
def test_what_cannot_be_imposed_is_told_and_changes_nothing(assistant, changes, status, path):
    called(assistant, "Hello.", **ADA)
    found = assistant.post(f"{PROFILE}/imposed", IMPOSED | changes)

    assert status == found.status_code, found.get_json()
    assert [path] == list(found.get_json()["error"].get("fields", {None: 0}))
    assert [] == listed(assistant, kind="profile")


def test_only_an_admin_imposes_and_the_same_again_is_a_conflict(assistant):
    called(assistant, "Hello.", **ADA)
    writer = assistant.with_key(Role.CURATOR, "*")

    assert 403 == writer.post(f"{PROFILE}/imposed", IMPOSED).status_code
    assert [201, 409] == [assistant.post(f"{PROFILE}/imposed", IMPOSED).status_code for _ in "12"]


@pytest.mark.parametrize(("kept", "found"), [(3, 3), (4, 3)])
def test_a_recall_has_as_many_snippets_as_the_contract_says(api, kept, found):
    agree(api, semantic=True)
    for number in range(kept):
        recorded(api, f"We decided on number {number}.", **ADA)

    assert found == len(recalled(api, "Which number?", **ADA)["recalled"])


HISTORY = {"profile": True, "phase": {"mode": "current_plus_history"}}


def keep_facts(api, count):
    """Let a session have facts of one kind, as if none had superseded the one before it."""
    for number in range(count):
        recorded(api, f"My name is Ada {number}.", **ADA)
        uid = listed(api, kind="profile")[0]["uid"]
        api.house.rows(
            "MATCH (m:Memory {uid: $uid}) WHERE m.space STARTS WITH $tenant"
            " SET m.governed_dedup = m.uid",
            uid=uid,
        )
    assert count == len(listed(api, kind="profile", status="present", limit=50))


@pytest.mark.parametrize(("kept", "found"), [(20, 20), (21, 20)])
def test_a_recall_has_at_most_twenty_facts_and_the_oldest(api, kept, found):
    agree(api, **HISTORY, forget_policy="never")
    keep_facts(api, kept)

    names = texts(recalled(api, "Who am I?", **ADA)["recalled"])
    assert found == len(names)
    assert "Ada 0" == names[0]


def test_facts_that_end_leave_room_for_twenty_that_last(api):
    agree(api, **HISTORY, forget_policy="never")
    keep_facts(api, 24)
    rule = {"mode": "decay", "ttl_ticks": 20}
    agree(api, **HISTORY, retention={"profile": {"fact": rule}})

    given = recalled(api, "Who am I?", **ADA)

    ended = len(kinds(given["events"], "forget"))
    assert 0 < ended <= 4
    assert [f"Ada {number}" for number in range(ended, ended + 20)] == texts(given["recalled"])


@pytest.mark.parametrize(
    ("rule", "ended_by_call"),
    [
        ({"mode": "decay", "ttl_ticks": 4}, [16, 16, 4, 0, 0]),
        ({"mode": "ttl", "ttl_ticks": 4}, [17, 20, 0, 0, 0]),
        ({"mode": "ttl", "ttl_ticks": 90}, [0] * 5),
    ],
)
def test_a_contract_that_ends_more_than_a_call_may_is_carried_out_over_several(
    api, monkeypatch, rule, ended_by_call
):
    agree(api, semantic=True, forget_policy="never")
    for number in range(40):
        keep(api, f"We decided on number {number}.")
    agree(api, semantic=True, retention={"semantic": {"decision": rule}})
    monkeypatch.setattr("graphmem.governance.reading.ENDING_MOST", 20)

    calls = [recalled(api, "Which number?", **ADA) for _ in range(5)]

    assert 1 == len({tuple(texts(each["recalled"])) for each in calls})
    ended = [len(kinds(each["events"], "forget")) for each in calls]
    assert ended_by_call == ended
    told = ["expires_at" in item["meta"] for item in listed(api, status="present", limit=50)]
    assert {"ttl" == rule["mode"]} == set(told)


def test_an_old_snippet_that_words_find_is_told_its_tick_where_a_call_cannot_tell_all(
    api, monkeypatch
):
    agree(api, semantic=True, semantic_top_k=5, forget_policy="never")
    keep(api, "We decided on the zebra.")
    for number in range(40):
        keep(api, f"We decided on number {number}.")
    rule = {"mode": "ttl", "ttl_ticks": 90}
    agree(api, semantic=True, semantic_top_k=5, retention={"semantic": {"decision": rule}})
    monkeypatch.setattr("graphmem.governance.reading.ENDING_MOST", 20)

    found = recalled(api, "zebra", **ADA)["recalled"]

    (old,) = [item for item in found if item["text"] == "We decided on the zebra."]
    kept = {item["id"]: item for item in listed(api, status="present", limit=50)}
    assert old["meta"]["expires_at"] == kept[old["id"]]["meta"].get("expires_at")


def test_eight_sessions_at_once_have_what_each_would_have_alone(assistant):
    def talk(number):
        state = {"user": {"id": f"of-{number}"}}
        return [
            [item["id"] for item in keep(assistant, f"We decided on {n}.", state, {})]
            for n in range(3)
        ]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(talk, range(8)))
    assert [
        [[f"session:of-{number}:semantic:{n}"] for n in (1, 2, 3)] for number in range(8)
    ] == found


def test_a_plain_recall_finds_items_beside_plain_memories(assistant):
    called(assistant, "We decided to use Neo4j for storage.", **ADA)
    assistant.post("/v1/memories", {"space": "session:s1", "content": "Storage is cheap."})
    assistant.house.graphmem.runner.run("embed_pending")
    body = {"spaces": ["session:s1"], "query": "storage decided Neo4j"}
    found = assistant.post("/v1/recall", body).get_json()["items"]

    kept = {each["memory"]["kept_by"] for each in found}
    assert {None, "governance"} == kept
    assert "governance" == found[0]["memory"]["kept_by"]


def test_events_may_be_left_out_of_an_answer_and_are_kept_all_the_same(assistant):
    body = {"input": "I prefer tabs.", "output": "I see."} | ADA
    found = assistant.post(f"{PROFILE}/calls?events=false", body).get_json()
    kept = assistant.get(f"/v1/traces/{found['trace_id']}").get_json()

    assert "events" not in found
    assert {"memory_recall", "memory_write"} <= {event["type"] for event in kept["events"]}
    assert "policy" in kept["events"][0]


def test_events_show_texts_in_short_and_without_what_may_be_a_secret(assistant):
    said = "I like my keyboard " + "very " * 40
    given = called(assistant, said, "b" * 300, **ADA)
    again = recalled(assistant, "What?", **ADA)

    assert [said, "b" * 300] == texts(given["written"])[:2]
    assert ["(redacted)", "b" * 200 + "... (truncated)"] == texts(
        kinds(given["events"], "write")[0]["written"]
    )[:2]
    assert "(redacted)" in texts(again["events"][0]["recalled"])
    assert said in texts(again["recalled"])


def test_a_key_for_a_session_alone_moves_no_clock_of_the_person_and_learns_nothing_of_it(assistant):
    called(assistant, "Remember this for me: I prefer tabs.", state={}, identity={"id": "bob"})
    before = called(assistant, "Hello.", state={}, identity={"id": "bob"})["clock"]
    key = assistant.with_key(Role.WRITER, "session:x")
    own = {"state": {"user": {"id": "x"}}, "identity": {"id": "bob"}}
    first = called(key, "Hello.", **own)
    called(key, "Remember this for the project: I prefer tabs.", **own)

    assert first["clock"] < before
    assert {} == first["events"][0]["phase_counts"]
    after = called(assistant, "Hello.", state={}, identity={"id": "bob"})
    assert before == after["written"][0]["created_at"]
    places = assistant.house.rows(
        "MATCH (p:GovernedPlace) WHERE p.space STARTS WITH $tenant + 'project' RETURN p.key"
    )
    assert [] == places


def test_words_about_a_phase_that_may_be_secret_are_hidden(assistant):
    token = {"_memory_phase_token": "a", "_memory_phase_name": "my password x"}
    called(assistant, "Hello.", state=ADA["state"] | token, identity=ADA["identity"])
    (phase,) = assistant.get(f"{PROFILE}/phases?space=session:s1").get_json()["items"]

    assert "(redacted)" == phase["phase_name"]


def test_the_life_of_an_item_of_any_owner_leaves_out_spaces_that_the_key_may_not_read(assistant):
    own = {"state": {"user": {"id": "\u00e91"}}, "identity": {"id": "ada"}}
    called(assistant, "Remember this for me: I prefer tabs.", **own)
    key = assistant.with_key(Role.READER, "session:\u00e91")
    path = f"{PROFILE}/items/session:\u00e91:semantic:1/events"
    whole, part = (each.get(path).get_json()["items"][0]["events"] for each in (assistant, key))

    assert {"memory_write", "memory_promoted", "memory_deleted"} <= {e["type"] for e in whole}
    assert {"memory_border_check"} == {event["type"] for event in part}
    assert "user:ada" not in json.dumps(part)


def test_the_winner_of_a_conflict_claims_its_key(assistant):
    called(assistant, "My name is Ada.", **ADA)
    called(assistant, "Actually, my name is Bob.", **ADA)
    claimed = assistant.house.rows(
        "MATCH (k:ClaimKey)-[:CLAIMS]->(m:Memory) WHERE k.key STARTS WITH $tenant"
        " AND k.key CONTAINS 'profile' RETURN m.content"
    )
    assert [("Bob",)] == claimed
