"""Personas, users and their memories over HTTP, in the words of 001."""

import pytest
from companions import put, put_persona, say

from graphmem.model.caller import Role
from graphmem.model.space import parse_space

ADA = "/v1/companions/ada"
JOHN = {
    "type": "PEOPLE",
    "content": "John is my cofounder.",
    "subtype": {"entity_type": "person", "fact_type": "relationship"},
    "entity_refs": ["person:John Doe", "org:acme"],
    "entity_label": "John Doe",
    "importance": 2,
}


def store(api, **changes):
    return api.post(f"{ADA}/memories", JOHN | changes)


def listed(api, query=""):
    return [each["content"] for each in api.get(f"{ADA}/memories{query}").get_json()["items"]]


def test_a_persona_is_made_changed_read_and_listed_by_its_slug(api):
    made, other = put_persona(api, prompt="Be kind."), put_persona(api, "aide")
    changed = put(api, "/v1/personas/coach", {"is_active": False})

    assert [201, 201, 200] == [each.status_code for each in (made, other, changed)]
    expected = {"name": "Coach", "prompt": "Be kind.", "enable_spine": True, "is_active": False}
    assert expected.items() <= api.get("/v1/personas/coach").get_json().items()
    page = api.get("/v1/personas?limit=1").get_json()
    assert (["aide"], 2) == ([each["slug"] for each in page["items"]], page["total"])
    more = api.get(f"/v1/personas?limit=1&cursor={page['next_cursor']}").get_json()
    assert ["coach"] == [each["slug"] for each in more["items"]]
    assert 404 == api.get("/v1/personas/nobody").status_code


@pytest.mark.parametrize(
    ("slug", "body", "status", "path"),
    [
        ("Coach", {"name": "x"}, 422, "slug"),
        ("spine", {"name": "x"}, 422, "slug"),
        ("a" * 65, {"name": "x"}, 422, "slug"),
        ("coach", {}, 422, "name"),
        ("coach", {"name": " "}, 422, "name"),
        ("coach", {"name": "x", "is_active": "yes"}, 422, "is_active"),
        ("coach", {"name": "x", "colour": 1}, 422, "colour"),
        ("coach", {"name": "x", "prompt": "y" * 32_001}, 422, "prompt"),
    ],
)
def test_what_is_no_persona_is_refused_by_the_name_of_the_field(api, slug, body, status, path):
    answer = put(api, f"/v1/personas/{slug}", body)

    assert (status, [path]) == (answer.status_code, list(answer.get_json()["error"]["fields"]))


def test_a_persona_belongs_to_its_tenant_and_needs_a_curator(api):
    put_persona(api)
    writer = api.with_key(Role.WRITER, "*")
    stranger = api.with_key(Role.ADMIN, "*", tenant="other")

    assert 403 == put_persona(writer).status_code
    assert 200 == writer.get("/v1/personas/coach").status_code
    assert 404 == stranger.get("/v1/personas/coach").status_code
    assert 0 == stranger.get("/v1/personas").get_json()["total"]


def test_a_user_has_an_email_and_a_seed(api):
    assert 404 == api.get(ADA).status_code
    made = put(api, ADA, {"email": "ada@example.org"})
    seeded = put(api, f"{ADA}/seed", {"content": "Ada is an engineer."})

    assert [201, 200] == [made.status_code, seeded.status_code]
    assert "ada@example.org" == api.get(ADA).get_json()["email"]
    assert "Ada is an engineer." == api.get(f"{ADA}/seed").get_json()["content"]
    assert "" == api.get("/v1/companions/bob/seed").get_json()["content"]
    assert 200 == put(api, ADA, {"email": None}).status_code
    assert api.get(ADA).get_json()["email"] is None


def test_a_memory_is_kept_with_all_that_001_says_of_it(api):
    answer = store(api)

    assert (201, "created") == (answer.status_code, answer.get_json()["outcome"])
    memory = answer.get_json()["memory"]
    assert {
        "user": "ada",
        "persona": None,
        "type": "PEOPLE",
        "memory_key": "people|person|john_doe|relationship",
        "entity_refs": ["person:john_doe", "org:acme"],
        "entity_label": "John Doe",
        "importance": 2,
        "pinned": False,
        "source": "seeded_profile",
        "status": "ACTIVE",
        "mention_count": 1,
        "folded_from_ids": [],
    }.items() <= memory.items()
    document = api.get("/openapi.json").get_json()["components"]["schemas"]
    assert set(document["CompanionMemory"]["properties"]) == set(memory)


def test_what_is_said_again_under_a_key_is_united(api):
    store(api)
    again = store(
        api,
        content="John is my co-founder and lives in Rome.",
        entity_refs=["person:john_doe", "place:rome"],
        importance=1,
    )

    assert (200, "revised") == (again.status_code, again.get_json()["outcome"])
    memory = again.get_json()["memory"]
    assert ["person:john_doe", "org:acme", "place:rome"] == memory["entity_refs"]
    assert (2, 2) == (memory["importance"], memory["mention_count"])
    assert ["John is my co-founder and lives in Rome."] == listed(api)
    history = api.get(f"/v1/memories/{memory['uid']}/history?space=user:ada").get_json()
    assert 2 == history["total"]


def test_refs_past_five_are_dropped_and_seventeen_are_refused(api):
    refs = [f"person:p{number}" for number in range(17)]

    assert refs[:5] == store(api, entity_refs=refs[:16]).get_json()["memory"]["entity_refs"]
    assert 422 == store(api, entity_refs=refs).status_code


def test_equal_words_about_two_people_are_two_memories(api):
    for name in ("mom", "john"):
        store(api, content="Lives in Rome.", entity_refs=[f"person:{name}"])

    assert ["Lives in Rome.", "Lives in Rome."] == listed(api)


def test_a_pinned_memory_is_critical(api):
    assert 3 == store(api, pinned=True, importance=0).get_json()["memory"]["importance"]


def test_memories_are_listed_by_type_status_and_persona(api):
    put_persona(api)
    put_persona(api, "aide")
    store(api)
    api.house.clock.advance(seconds=1)
    store(api, type="PROFILE", content="Lives in Austin.", entity_refs=[], subtype={})
    api.house.clock.advance(seconds=1)
    store(api, content="Ada calls me boss.", persona="coach")

    assert ["Ada calls me boss.", "Lives in Austin.", JOHN["content"]] == listed(
        api, "?persona=coach"
    )
    assert ["Lives in Austin.", JOHN["content"]] == listed(api) == listed(api, "?persona=aide")
    assert ["Lives in Austin."] == listed(api, "?type=PROFILE")
    assert [] == listed(api, "?status=ARCHIVED")
    assert [422, 422, 422] == [
        api.get(f"{ADA}/memories?{query}").status_code
        for query in ("type=OPEN_LOOP", "status=active", "persona=Coach!")
    ]


def test_a_retracted_memory_is_archived_and_can_be_restored_unless_its_key_is_taken(api):
    uid = store(api).get_json()["memory"]["uid"]
    path = f"/v1/memories/{uid}"
    assert 200 == api.post(f"{path}/retract?space=user:ada", {"reason": "wrong"}).status_code
    assert [JOHN["content"]] == listed(api, "?status=ARCHIVED")
    assert 200 == api.post(f"{path}/restore?space=user:ada", {}).status_code
    api.post(f"{path}/retract?space=user:ada", {})
    assert "created" == store(api).get_json()["outcome"]

    assert 409 == api.post(f"{path}/restore?space=user:ada", {}).status_code


def test_a_plain_write_never_meets_a_memory_of_the_room(api):
    uid = store(api).get_json()["memory"]["uid"]
    plain = api.post("/v1/memories", {"space": "user:ada", "content": JOHN["content"]})
    keyed = {"space": "user:ada", "content": "x", "logical_key": "people|person|john_doe|fact"}
    patched = api.client.patch(
        f"/v1/memories/{uid}?space=user:ada", json={"content": "x"}, headers={"X-API-Key": api.key}
    )

    assert (201, "created") == (plain.status_code, plain.get_json()["outcome"])
    assert "created" == api.post("/v1/memories", keyed).get_json()["outcome"]
    assert (409, "kept_by_room") == (patched.status_code, patched.get_json()["error"]["code"])
    assert [JOHN["content"]] == listed(api)


def test_a_plain_recall_finds_memories_of_the_room_beside_plain_ones(api):
    store(api)
    found = api.post("/v1/recall", {"spaces": ["user:ada"], "query": "cofounder"}).get_json()

    assert [("companion", 70)] == [
        (each["memory"]["kept_by"], each["memory"]["importance"]) for each in found["items"]
    ]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"type": "OPEN_LOOP"}, "type"),
        ({"type": "people"}, "type"),
        ({"content": " "}, "content"),
        ({"content": "x" * 32_001}, "content"),
        ({"importance": 4}, "importance"),
        ({"importance": "2"}, "importance"),
        ({"importance": 1.5}, "importance"),
        ({"confidence": 1.1}, "confidence"),
        ({"subtype": {"entity_type": "tool"}}, "subtype.entity_type"),
        ({"subtype": {"fact_type": "x"}}, "subtype.fact_type"),
        ({"source": "dream"}, "source"),
        ({"entity_refs": ["tool:vim"]}, "entity_refs.0"),
        ({"entity_refs": ["ada"]}, "entity_refs.0"),
        ({"entity_label": "x" * 101}, "entity_label"),
        ({"persona": "nobody"}, "persona"),
        ({"colour": 1}, "colour"),
    ],
)
def test_bad_input_names_its_field_and_stores_nothing(api, changes, path):
    answer = store(api, **changes)

    assert (422, [path]) == (answer.status_code, list(answer.get_json()["error"]["fields"]))
    assert [] == listed(api)


def test_a_user_with_a_star_and_a_secret_are_refused(api):
    assert 422 == api.post("/v1/companions/a*a/memories", JOHN).status_code
    secret = store(api, content="my password: hunter2hunter2")

    assert (403, "policy_refused") == (secret.status_code, secret.get_json()["error"]["code"])
    assert [] == listed(api)


def test_a_key_needs_the_space_of_the_user(api):
    put_persona(api)
    reader = api.with_key(Role.READER, "user:ada")
    other = api.with_key(Role.WRITER, "user:bob")
    of_persona = api.with_key(Role.WRITER, "user:ada/coach")

    assert [403, 403, 403] == [
        store(reader).status_code,
        store(other).status_code,
        store(of_persona, persona="coach").status_code,
    ]
    assert [200, 403] == [each.get(f"{ADA}/memories").status_code for each in (reader, other)]


def test_what_an_operator_states_is_newer_than_messages_of_before(api):
    put_persona(api)
    store(api, content="Nora lives in Rome.", entity_refs=["person:nora"], entity_label="Nora")
    said = say(api, "My sister Nora lives in Porto.", occurred_at="2025-03-01T09:30:00Z")

    assert ["reinforced"] == [each["outcome"] for each in said.get_json()["memories"]]
    assert ["Nora lives in Rome."] == listed(api)


def test_a_ref_of_400_characters_is_kept_and_a_longer_one_is_refused(api):
    put_persona(api)

    assert 201 == store(api, entity_refs=["person:" + "x" * 393]).status_code
    refused = store(api, entity_refs=["person:" + "x" * 394])
    assert 422 == refused.status_code
    assert "entity_refs.0" in refused.get_json()["error"]["fields"]


def refs(api):
    page = api.get(f"{ADA}/memories?status=ACTIVE").get_json()
    return sorted((each["content"], each["entity_refs"]) for each in page["items"])


def test_a_merge_of_entities_shows_the_key_that_is_left_and_unites_and_can_be_undone(api):
    about = {"importance": 2, "subtype": {"entity_type": "person", "fact_type": "fact"}}
    for name in ("makesh", "mukesh"):
        person = f"person:{name}"
        store(api, content=f"{name} likes tea.", entity_refs=[person], **about)
    store(api, content="Makesh is my boss.", entity_refs=["person:makesh"])
    before = refs(api)
    merged = api.post(
        "/v1/entities/person:makesh/merge", {"space": "user:ada", "into": "person:mukesh"}
    ).get_json()

    assert {"person:mukesh"} == {ref for _, each in refs(api) for ref in each}
    again = store(api, content="Mukesh is my boss now.", entity_refs=["person:mukesh"])
    assert (200, 2) == (again.status_code, again.get_json()["memory"]["mention_count"])
    other = store(api, content="Makesh is my old boss.", entity_refs=["person:makesh"])
    assert 3 == other.get_json()["memory"]["mention_count"]
    undone = api.post(f"/v1/entities/merges/{merged['merge_id']}/undo", {})
    assert 200 == undone.status_code
    assert [each for _, each in before] == [each for _, each in refs(api)]


def test_mentions_lift_importance_where_the_policy_says_so(api):
    space = parse_space("user:ada", tenant=api.house.caller.tenant)
    api.house.graphmem.policies.save(space, {"companion.reinforce": True})
    lifted = [store(api, importance=1).get_json()["memory"]["importance"] for _ in range(10)]

    assert [1, 1, *[2] * 7, 3] == lifted
    assert 3 == store(api, importance=0).get_json()["memory"]["importance"]


def test_without_the_switch_no_number_of_mentions_lifts_importance(api):
    assert {1} == {store(api, importance=1).get_json()["memory"]["importance"] for _ in range(11)}


def test_another_fact_under_a_key_is_a_memory_of_its_own_where_the_policy_says_so(api):
    space = parse_space("user:ada", tenant=api.house.caller.tenant)
    api.house.graphmem.policies.save(space, {"companion.distinct_facts": True})
    outcomes = [
        store(api, content=content).get_json()["outcome"]
        for content in ("John is my cofounder.", "John is tall.", "john is tall", JOHN["content"])
    ]

    assert ["created", "created", "reinforced", "reinforced"] == outcomes
    assert 2 == len(listed(api))


def overrides(api, **meant):
    body = {"overrides": {f"person:{name}": f"person:{key}" for name, key in meant.items()}}
    return put(api, f"{ADA}/entity-overrides", body)


def test_an_override_says_what_a_variant_means_and_merges_what_is_stored(api):
    store(api, content="Makesh is my boss.", entity_refs=["person:makesh"])
    writer = api.with_key(Role.WRITER, "user:ada")
    saved = overrides(writer, makesh="mukesh", mukes="mukesh").get_json()

    assert 1 == len(saved["merges"])
    assert saved["overrides"] == api.get(f"{ADA}/entity-overrides").get_json()["overrides"]
    assert [["person:mukesh"]] == [each for _, each in refs(api)]
    again = store(api, content="Mukes is my boss.", entity_refs=["person:mukes"])
    assert 2 == again.get_json()["memory"]["mention_count"]
    said = say(api, "Makesh is my boss and he likes tea.", persona(api))
    assert {"person:mukesh"} == {ref for _, each in refs(api) for ref in each}, said.get_json()
    undo = api.post(f"/v1/entities/merges/{saved['merges'][0]}/undo", {})
    assert 200 == undo.status_code
    assert [] == overrides(api, makesh="mukesh", mukes="mukesh").get_json()["merges"]


def persona(api):
    put_persona(api)
    return 1


@pytest.mark.parametrize(
    "meant",
    [{"makesh": "makesh"}, {"a": "b", "b": "c"}, {"boeing_737": "boeing_747"}, {"a": "B c"}],
)
def test_an_override_that_can_not_be_is_refused_by_its_variant(api, meant):
    found = overrides(api, **meant)

    assert 422 == found.status_code
    assert next(iter(found.get_json()["error"]["fields"])).startswith("overrides.person:")
    assert {} == api.get(f"{ADA}/entity-overrides").get_json()["overrides"]


def test_near_names_are_suggested_with_their_likeness(api):
    for number, name in enumerate(("mukesh", "mukesh", "makesh", "john", "boeing_737")):
        store(api, content=f"Number {number}.", entity_refs=[f"person:{name}"])
    store(api, content="x y z", entity_refs=["person:mukesh"], subtype={"fact_type": "habit"})
    page = api.get(f"{ADA}/entity-suggestions").get_json()

    assert [("person:makesh", "person:mukesh", "nearly_equal")] == [
        (each["key"], each["into"], each["likeness"]) for each in page["items"]
    ]
    overrides(api, makesh="mukesh")
    assert 0 == api.get(f"{ADA}/entity-suggestions").get_json()["total"]
