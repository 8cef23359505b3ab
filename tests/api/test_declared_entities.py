"""Entities that are declared, over HTTP: without a mention, corrected, shown and deleted."""

import json
from urllib.parse import quote

import pytest
from doc_examples import example

from graphmem.model.caller import Role

JOHN = "person:john_doe"
AT = "2026-03-01T09:30:00Z"
PASSWORD = "the password is hunter2-Xk29!pq"


def declare(api, name="John Doe", type_="person", **more):
    return api.post("/v1/entities", {"space": "user:ada", "type": type_, "name": name} | more)


def patch(api, key, **body):
    body = {"space": "user:ada"} | body
    sent = {"data": json.dumps(body), "content_type": "application/json"}
    return api.client.patch(f"/v1/entities/{key}", headers={"X-API-Key": api.key}, **sent)


def delete(api, key, space="user:ada"):
    headers = {"X-API-Key": api.key}
    return api.client.delete(f"/v1/entities/{key}?space={space}", headers=headers)


def one(api, key, space="user:ada"):
    return api.get(f"/v1/entities/{key}?space={space}")


def add(api, content, *entities, space="user:ada"):
    body = {"space": space, "content": content, "entities": list(entities)}
    return api.post("/v1/memories", body).get_json()["memory"]["uid"]


def keys(api, space="user:ada"):
    items = api.get(f"/v1/entities?space={space}").get_json()["items"]
    return [item["key"] for item in items]


SAID = {
    "description": "Ada's landlord",
    "aliases": ["Johnny", "J. D."],
    "attributes": {"born": 1980, "tall": True, "pets": ["cat"]},
}


def test_an_entity_is_declared_without_any_mention(api):
    answer = declare(api, **SAID)

    found = answer.get_json()
    trace_id = found.pop("trace_id")
    assert 201 == answer.status_code
    assert found == SAID | {
        "key": JOHN,
        "type": "person",
        "label": "John Doe",
        "space": "user:ada",
        "declared": True,
        "created_at": AT,
        "updated_at": AT,
        "outcome": "created",
    }
    shown = one(api, JOHN).get_json()
    assert SAID.items() <= shown.items()
    assert (0, None) == (shown["mentions"], shown["summary"])
    card = api.get(f"/v1/entities/{JOHN}/card?space=user:ada").get_json()
    assert ([], 0) == (card["facts"], card["mentions"])
    assert [JOHN] == keys(api)
    events = api.get(f"/v1/traces/{trace_id}").get_json()["events"]
    assert [{"entity": JOHN, "outcome": "entity_created"}] == events


def test_declared_again_what_is_given_is_written_over_and_the_label_stays(api):
    declare(api, **SAID)
    api.house.clock.advance(days=1)

    again = declare(
        api, name="JOHN doe", description="Moved away", aliases=["Jo", "Jo", "John Doe"]
    )

    found = again.get_json()
    assert (200, "revised", "John Doe") == (again.status_code, found["outcome"], found["label"])
    assert ("Moved away", ["Jo"]) == (found["description"], found["aliases"])
    assert SAID["attributes"] == found["attributes"]
    assert (AT, "2026-03-02T09:30:00Z") == (found["created_at"], found["updated_at"])


def test_what_says_nothing_new_changes_nothing(api):
    declare(api, **SAID)
    api.house.clock.advance(days=1)

    same = declare(api, **SAID).get_json()

    assert ("unchanged", None, AT) == (same["outcome"], same["trace_id"], same["updated_at"])
    assert (
        "revised" == declare(api, attributes=SAID["attributes"] | {"tall": 1}).get_json()["outcome"]
    )


def test_one_that_memories_mention_keeps_its_label(api):
    add(api, "John came.", {"key": JOHN, "label": "Johnny Doe"})

    answer = declare(api, description="Ada's landlord")

    found = answer.get_json()
    assert (200, "revised", "Johnny Doe") == (answer.status_code, found["outcome"], found["label"])
    assert 1 == one(api, JOHN).get_json()["mentions"]
    add(api, "John left.", JOHN)
    assert "Ada's landlord" == one(api, JOHN).get_json()["description"]


def test_a_correction_writes_what_it_names_and_null_takes_away(api):
    declare(api, **SAID)

    answer = patch(api, JOHN, name="John  DOE", description=None, attributes={"born": 1981})

    found = answer.get_json()
    assert (200, "John DOE", None) == (answer.status_code, found["label"], found["description"])
    assert ({"born": 1981}, SAID["aliases"]) == (found["attributes"], found["aliases"])
    for name in ("John Smith", "John Doe+", "!", "", "x" * 101, "\ud800"):
        assert 422 == patch(api, JOHN, name=name).status_code
    assert 404 == patch(api, "person:nobody", description="x").status_code
    assert 404 == patch(api, "nobody", description="x").status_code
    assert 404 == one(api, "person:nobody").status_code


@pytest.mark.parametrize(
    ("change", "fields"),
    [
        ({"type": "No Type"}, ["type"]),
        ({"name": "!"}, ["name"]),
        ({"name": "x" * 101}, ["name"]),
        ({"name": "\ud800"}, ["name"]),
        ({"name": "", "type": "x" * 41}, ["name", "type"]),
        ({"description": "x" * 2_001, "aliases": ["ok", "", "x" * 101]}, None),
        ({"aliases": ["x"] * 33}, ["aliases"]),
        ({"aliases": ["a\x00b"]}, ["aliases.0"]),
        ({"attributes": {"a": "x" * 4_096}}, ["attributes"]),
        ({"attributes": [1]}, ["attributes"]),
        ({"attributes": {"a": "\x00"}}, ["attributes"]),
        ({"space": "user:*"}, ["space"]),
        ({"space": "ada"}, ["space"]),
        ({"bogus": 1}, ["bogus"]),
    ],
)
def test_what_is_wrong_is_told_by_field_and_nothing_is_stored(api, change, fields):
    answer = declare(api, **change)

    fields = fields or ["aliases.1", "aliases.2", "description"]
    assert (422, fields) == (answer.status_code, sorted(answer.get_json()["error"]["fields"]))
    assert [] == keys(api)


@pytest.mark.parametrize(
    "change",
    [
        {"name": PASSWORD},
        {"description": PASSWORD},
        {"aliases": [PASSWORD]},
        {"attributes": {"note": {"inner": [PASSWORD]}}},
        {"attributes": {"password": "hunter2-Xk29!pq"}},
    ],
)
def test_secrets_are_refused(api, change):
    declare(api)

    answer = declare(api, **change)

    assert (403, "policy_refused") == (answer.status_code, answer.get_json()["error"]["code"])
    if "name" not in change:
        assert 403 == patch(api, JOHN, **change).status_code


def test_only_what_nothing_is_tied_to_is_deleted(api):
    declare(api)
    add(api, "John came.", JOHN)
    uid = add(api, "John left.", JOHN)

    refused = delete(api, JOHN)

    assert 409 == refused.status_code
    assert "2 mentions" in refused.get_json()["error"]["message"]
    api.house.rows(
        "MATCH (m:Memory)-[x:MENTIONS]->(e:Entity) WHERE m.space STARTS WITH $tenant DELETE x"
        " MERGE (o:Entity {key: e.key + '2', space: e.space}) MERGE (o)-[:RELATION]->(e)"
    )
    assert "1 relation." in delete(api, JOHN).get_json()["error"]["message"]
    api.house.rows("MATCH (o:Entity)-[r:RELATION]->() WHERE o.space STARTS WITH $tenant DELETE r")
    done = delete(api, JOHN)
    assert (204, 404, 404) == (
        done.status_code,
        delete(api, JOHN).status_code,
        one(api, JOHN).status_code,
    )
    trace = api.get(f"/v1/traces/{done.headers['X-Trace-ID']}").get_json()
    assert [{"entity": JOHN, "outcome": "entity_deleted"}] == trace["events"]
    assert uid


def test_what_a_merge_or_split_may_still_need_is_not_deleted(api):
    for name in ("Jon Doe", "John Doe", "Ann"):
        declare(api, name)
    body = {"space": "user:ada", "into": JOHN}
    merge_id = api.post("/v1/entities/person:jon_doe/merge", body).get_json()["merge_id"]

    assert [409, 409] == [delete(api, key).status_code for key in ("person:jon_doe", JOHN)]
    assert JOHN == patch(api, "person:jon_doe", description="x").get_json()["key"]
    api.post(f"/v1/entities/merges/{merge_id}/undo", {})
    assert [204, 204] == [delete(api, key).status_code for key in ("person:jon_doe", JOHN)]

    uid = add(api, "Ann came.", "person:ann")
    body = {"space": "user:ada", "into": "person:anna", "memories": [uid]}
    split = api.post("/v1/entities/person:ann/split", body).get_json()
    assert 409 == delete(api, "person:ann").status_code
    declare(api, "Anna")
    api.post(f"/v1/entities/merges/{split['merge_id']}/undo", {})
    assert 1 == one(api, "person:ann").get_json()["mentions"]
    assert 0 == one(api, "person:anna").get_json()["mentions"]
    assert 204 == delete(api, "person:anna").status_code


def test_it_belongs_to_the_owner_and_only_who_may_write_there_changes_it(api):
    writer = api.with_key(Role.WRITER, "user:ada")
    assert "user:ada" == declare(writer, **SAID, space="user:ada/coach").get_json()["space"]

    coach = api.with_key(Role.WRITER, "user:ada/coach")
    reader = api.with_key(Role.READER, "*")
    stranger = api.with_key(Role.ADMIN, "*", tenant="other")
    place = {"space": "user:ada/coach"}
    for key in (coach, reader):
        answers = declare(key, **place), patch(key, JOHN, **place), delete(key, JOHN, **place)
        assert [403, 403, 403] == [answer.status_code for answer in answers]
    assert [404, 404] == [patch(stranger, JOHN).status_code, delete(stranger, JOHN).status_code]
    assert 404 == one(stranger, JOHN).status_code
    assert 200 == one(reader, JOHN, "user:ada/coach").status_code


def test_a_key_of_a_persona_does_not_see_what_is_declared_with_the_owner(api):
    declare(api, **SAID)
    coach = api.with_key(Role.READER, "user:ada/coach")

    assert [] == keys(coach, "user:ada/coach")
    assert 404 == one(coach, JOHN, "user:ada/coach").status_code
    add(api, "Told the coach about John.", JOHN, space="user:ada/coach")
    seen = one(coach, JOHN, "user:ada/coach").get_json()
    assert (1, False, None, {}) == (
        seen["mentions"],
        seen["declared"],
        seen["description"],
        seen["attributes"],
    )


def test_a_name_with_signs_is_declared_under_its_own_key_or_goes_on_under_the_plain_one(api):
    add(api, "They sell plasters.", {"key": "org:johnson_johnson", "label": "Johnson & Johnson"})

    old = declare(api, "Johnson & Johnson", "org", description="Founded in 1886")
    new = declare(api, "Johnson&Johnson", "org")
    cpp = declare(api, "C++", "tool")

    assert (200, "org:johnson_johnson") == (old.status_code, old.get_json()["key"])
    assert (201, "org:johnson__and__johnson") == (new.status_code, new.get_json()["key"])
    assert (201, "tool:c__plus__plus", "C++") == (
        cpp.status_code,
        cpp.get_json()["key"],
        cpp.get_json()["label"],
    )
    path = quote("org:Johnson & Johnson")
    assert "org:johnson_johnson" == patch(api, path, aliases=["J&J"]).get_json()["key"]
    assert "C++" == one(api, quote("tool:C++")).get_json()["label"]


def test_no_job_merges_a_declared_entity_away(api):
    for name in ("Cat Fish", "Catfish"):
        declare(api, name, "other")
    declare(api, "dog fish", "other")
    add(api, "One.", "tool:dogfish")
    api.house.graphmem.runner.run(
        "consolidate", space_key=f"{api.house.caller.tenant}/user:ada", by_hand=True
    )

    assert ["other:cat_fish", "other:catfish", "other:dog_fish"] == keys(api)


def test_of_many_who_declare_at_once_one_makes_it(api):
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: declare(api, "Ann", attributes={"n": n}), range(8)))

    assert [200] * 7 + [201] == sorted(answer.status_code for answer in answers)
    assert [(1,)] == api.house.rows(
        "MATCH (e:Entity) WHERE e.space STARTS WITH $tenant RETURN count(e)"
    )


def test_the_example_of_the_docs_is_taken(api):
    body = example("**Declared entities.**")

    answer = api.post("/v1/entities", body)

    assert (201, JOHN) == (answer.status_code, answer.get_json()["key"])
    assert body["attributes"] == one(api, JOHN).get_json()["attributes"]
