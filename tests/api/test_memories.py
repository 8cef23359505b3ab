import pytest

from graphmem.model.caller import Role
from graphmem.model.space import FIRST_TENANT

GOOD = {"space": "user:ada", "content": "Ada likes tea."}


def test_a_new_memory_is_201_and_a_known_one_200(api):
    first = api.post("/v1/memories", GOOD)
    again = api.post("/v1/memories", GOOD)

    assert [(201, "created"), (200, "reinforced")] == [
        (answer.status_code, answer.get_json()["outcome"]) for answer in (first, again)
    ]
    assert first.get_json()["memory"]["uid"] == again.get_json()["memory"]["uid"]
    assert ['"1"', '"2"'] == [answer.headers["ETag"] for answer in (first, again)]


def test_null_says_the_same_as_an_absent_field(api):
    body = GOOD | {"actor": None, "expires_at": None, "tags": None, "source": None}

    assert 201 == api.post("/v1/memories", body).status_code


def test_times_come_back_as_they_were_written(api):
    body = GOOD | {
        "valid_until": "2026-03-01T09:30:00.123456+02:00",
        "expires_at": "2030-01-01T00:00:00Z",
    }

    memory = api.post("/v1/memories", body).get_json()["memory"]

    assert ("2026-03-01T07:30:00.123456Z", "2030-01-01T00:00:00Z") == (
        memory["valid_until"],
        memory["expires_at"],
    )
    assert memory["occurred_at"] is None


def test_a_given_vector_is_used_as_it_is(api):
    vector = [0.0] * 384
    vector[7] = 1.0

    memory = api.post(
        "/v1/memories", GOOD | {"embedding": vector, "content": "One. Two."}
    ).get_json()["memory"]

    assert memory["embedded"]
    assert [(vector,)] == api.house.rows(
        "MATCH (c:Chunk) WHERE c.space STARTS WITH $tenant RETURN c.embedding"
    )


def test_a_memory_is_found_by_its_uid_where_that_is_unique(api):
    api.post("/v1/memories", GOOD | {"uid": "x"})
    assert "Ada likes tea." == api.get("/v1/memories/x").get_json()["content"]

    api.post("/v1/memories", GOOD | {"uid": "x", "space": "user:bob", "content": "Bob."})
    assert 422 == api.get("/v1/memories/x").status_code
    assert "Bob." == api.get("/v1/memories/x?space=user:bob").get_json()["content"]


def test_a_list_is_paged_newest_first_without_gaps_or_repeats(api):
    for number in range(7):
        api.post("/v1/memories", GOOD | {"content": f"Fact {number}."})
        api.house.clock.advance(seconds=1 if number % 2 else 0)

    seen, cursor = [], ""
    for _ in range(4):
        page = api.get(f"/v1/memories?space=user:ada&limit=2{cursor}").get_json()
        seen += [memory["content"] for memory in page["items"]]
        cursor = f"&cursor={page['next_cursor']}"
        assert 7 == page["total"]

    assert page["next_cursor"] is None
    assert 7 == len(seen) == len(set(seen))
    assert "Fact 6." == seen[0]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("type=Goal", ["Goal."]),
        ("type=Goal&type=Fact", ["Goal.", "Old.", "Tagged."]),
        ("tag=a", ["Tagged."]),
        ("entity=place:Kyoto", ["Tagged."]),
        ("conversation_id=c", ["Goal."]),
        ("status=superseded", ["Gone."]),
        ("created_before=2026-03-01T09:30:01Z", ["Old."]),
        ("created_after=2026-03-01T09:30:01Z", ["Goal.", "Tagged."]),
    ],
)
def test_a_list_is_filtered(api, query, expected):
    api.post("/v1/memories", GOOD | {"content": "Old."})
    api.post("/v1/memories", GOOD | {"content": "Gone.", "uid": "gone"})
    api.house.clock.advance(minutes=1)
    api.post(
        "/v1/memories",
        GOOD | {"content": "Tagged.", "tags": ["a", "b"], "entities": ["place:kyoto"]},
    )
    api.post(
        "/v1/memories",
        GOOD
        | {
            "content": "Goal.",
            "type": "Goal",
            "source": {"conversation_id": "c"},
            "updates": ["gone"],
        },
    )

    items = api.get(f"/v1/memories?space=user:ada&{query}").get_json()["items"]

    assert expected == sorted(memory["content"] for memory in items)


def test_a_retry_with_the_same_key_gives_the_same_answer(api):
    header = {"Idempotency-Key": "abc"}
    first = api.post("/v1/memories", GOOD, **header)
    again = api.post("/v1/memories", GOOD, **header)
    other = api.post("/v1/memories", GOOD | {"content": "Other."}, **header)

    assert (201, 201, 409) == (first.status_code, again.status_code, other.status_code)
    assert first.get_json() == again.get_json()


def test_a_request_id_is_echoed_and_a_bad_one_replaced(api):
    assert "my-id" == api.get("/health/live", **{"X-Request-ID": "my-id"}).headers["X-Request-ID"]
    assert "a b" != api.get("/health/live", **{"X-Request-ID": "a b"}).headers["X-Request-ID"]


def test_without_a_valid_key_nothing_is_said(api):
    for headers in (
        {},
        {"X-API-Key": "gm_wrong"},
        {"Authorization": "Bearer "},
        {"Authorization": "Basic x"},
    ):
        answer = api.client.get("/v1/memories?space=user:ada", headers=headers)
        assert (401, "unauthenticated") == (answer.status_code, answer.get_json()["error"]["code"])
    bearer = {"Authorization": f"Bearer {api.key}"}
    assert 200 == api.client.get("/v1/memories?space=user:ada", headers=bearer).status_code


def test_a_key_of_another_tenant_sees_nothing_not_even_that_it_exists(api):
    api.post("/v1/memories", GOOD | {"uid": "x"})
    foreign = api.with_key(Role.ADMIN, "*", tenant=f"{api.house.caller.tenant}-other")

    assert 404 == foreign.get("/v1/memories/x").status_code
    assert 404 == foreign.get("/v1/memories/x?space=user:ada").status_code
    assert 0 == foreign.get("/v1/memories?space=user:ada").get_json()["total"]
    assert (
        []
        == foreign.post("/v1/recall", {"spaces": ["user:ada"], "query": "tea"}).get_json()["items"]
    )
    refused = foreign.post("/v1/memories", GOOD | {"updates": ["x"]})
    assert 422 == refused.status_code


def test_a_key_acts_only_in_its_role_and_spaces(api):
    reader = api.with_key(Role.READER, "user:*")
    writer = api.with_key(Role.WRITER, "user:ada")

    assert 403 == reader.post("/v1/memories", GOOD).status_code
    assert 200 == reader.get("/v1/memories?space=user:ada").status_code
    assert 403 == reader.get("/v1/memories?space=project:x").status_code
    assert 201 == writer.post("/v1/memories", GOOD).status_code
    assert 403 == writer.post("/v1/memories", GOOD | {"space": "user:bob"}).status_code
    assert 403 == writer.post("/v1/recall", {"spaces": ["user:bob"], "query": "x"}).status_code
    assert 403 == writer.get("/v1/admin/keys").status_code
    batch = writer.post(
        "/v1/memories/batch", {"items": [GOOD | {"space": "user:bob"}, GOOD]}
    ).get_json()
    assert ["refused", "reinforced"] == [result["outcome"] for result in batch["results"]]


@pytest.mark.parametrize(
    ("bad", "status", "code"),
    [
        ({"importance": 101}, 422, "invalid_input"),
        ({"updates": ["nowhere"]}, 422, "invalid_input"),
        ({"content": "My key is sk-a1b2c3d4e5f6g7h8i9j0k1l2."}, 403, "policy_refused"),
    ],
)
def test_an_atomic_batch_that_is_rolled_back_has_the_status_of_its_first_cause(
    api, bad, status, code
):
    items = [GOOD | {"content": "Never stored."}, GOOD | bad]

    answer = api.post("/v1/memories/batch", {"items": items, "atomic": True})

    body = answer.get_json()
    assert (status, code) == (answer.status_code, body["error"]["code"])
    if status == 422:
        assert {f"items.1.{name}" for name in bad} == {
            path.removesuffix(".0") for path in body["error"]["fields"]
        }
    assert ["rolled_back", code] == [result["error"]["code"] for result in body["results"]]
    assert 0 == api.get("/v1/memories?space=user:ada").get_json()["total"]


@pytest.mark.parametrize("part", ["owner*", "*", "owner/per*sona"])
def test_a_space_that_a_key_could_take_for_a_pattern_is_refused(api, part):
    answer = api.post("/v1/memories", GOOD | {"space": f"user:{part}"})

    assert 422 == answer.status_code
    assert "*" in answer.get_json()["error"]["fields"]["space"][0]


def test_a_name_in_another_unicode_form_is_the_same_space(api):
    uid = api.post("/v1/memories", GOOD | {"space": "user:cafe\u0301"}).get_json()["memory"]["uid"]

    for name in ("user:cafe\u0301", "user:caf\u00e9"):
        found = api.get(f"/v1/memories?space={name}").get_json()["items"]
        assert [(uid, "user:caf\u00e9")] == [(each["uid"], each["space"]) for each in found]


def test_spaces_with_names_of_older_versions_are_read_and_named_by_the_doctor(api):
    tenant, house = api.house.caller.tenant, api.house
    for owner in ("old*", "cafe\u0301"):
        uid = api.post("/v1/memories", GOOD | {"space": "user:new"}).get_json()["memory"]["uid"]
        house.rows(
            "MATCH (m:Memory {uid: $uid}) SET m.space = $space, m.key = $space + '|' + m.uid"
            " MERGE (s:Space {key: $space}) SET s.space = $space",
            uid=uid,
            space=f"{tenant}/user:{owner}",
        )
        house.rows("MATCH (k:ClaimKey) WHERE k.space STARTS WITH $tenant DETACH DELETE k")

        assert 1 == api.get(f"/v1/memories?space=user:{owner}").get_json()["total"]
    assert {f"{tenant}/user:old*", f"{tenant}/user:cafe\u0301"} <= {
        space.key for space in house.graphmem.spaces.outdated()
    }


def test_keys_are_made_listed_and_revoked(api):
    made = api.post(
        "/v1/admin/keys", {"name": "app", "role": "writer", "spaces": ["user:*"]}
    ).get_json()
    assert made["key"].startswith("gm_")

    listed = api.get("/v1/admin/keys").get_json()["items"]
    assert made["id"] in [key["id"] for key in listed]
    assert not any("key" in key or "hash" in key for key in listed)

    bearer = {"Authorization": f"Bearer {made['key']}"}
    assert 200 == api.client.get("/v1/memories?space=user:ada", headers=bearer).status_code
    revoked = api.client.delete(f"/v1/admin/keys/{made['id']}", headers={"X-API-Key": api.key})
    assert revoked.get_json()["revoked_at"]
    assert 401 == api.client.get("/v1/memories?space=user:ada", headers=bearer).status_code


@pytest.mark.parametrize(
    "change",
    [
        {"role": "king"},
        {"spaces": []},
        {"spaces": ["robot:*"]},
        {"name": ""},
        {"tenant": "a b"},
        {"bogus": 1},
    ],
)
def test_a_bad_key_request_is_refused(api, change):
    assert (
        422
        == api.post(
            "/v1/admin/keys", {"name": "app", "role": "writer", "spaces": ["user:*"]} | change
        ).status_code
    )


def test_only_the_first_tenant_makes_keys_for_others(api):
    body = {"name": "app", "role": "writer", "spaces": ["*"], "tenant": "somebody-else"}

    assert 403 == api.post("/v1/admin/keys", body).status_code


def test_a_uid_that_many_spaces_have_is_found_in_the_named_one(api):
    for number in range(15):
        api.post(
            "/v1/memories",
            {"space": f"user:u{number:02}", "content": f"Of {number}.", "uid": "profile"},
        )

    assert "Of 14." == api.get("/v1/memories/profile?space=user:u14").get_json()["content"]


def test_an_admin_of_some_spaces_makes_no_key_for_others(api):
    narrow = api.with_key(Role.ADMIN, "project:apollo")

    for spaces, status in ((["*"], 403), (["user:*"], 403), (["project:apollo"], 201)):
        assert (
            status
            == narrow.post(
                "/v1/admin/keys", {"name": "x", "role": "admin", "spaces": spaces}
            ).status_code
        )


def test_an_admin_of_some_spaces_sees_and_revokes_only_what_it_holds(api):
    narrow = api.with_key(Role.ADMIN, "user:*")
    ids = {}
    for name, spaces in (("inside", ["user:ada"]), ("beside", ["user:ada", "project:x"])):
        body = {"name": name, "role": "reader", "spaces": spaces}
        ids[name] = api.post("/v1/admin/keys", body).get_json()["id"]

    listed = {key["id"] for key in narrow.get("/v1/admin/keys").get_json()["items"]}
    statuses = [
        api.client.delete(f"/v1/admin/keys/{uid}", headers={"X-API-Key": narrow.key}).status_code
        for uid in (ids["beside"], ids["inside"])
    ]

    assert ids["inside"] in listed
    assert ids["beside"] not in listed
    assert [404, 200] == statuses


def test_a_narrow_admin_of_the_first_tenant_makes_no_key_for_others(api):
    narrow = api.with_key(Role.ADMIN, "user:*", tenant=FIRST_TENANT)
    body = {"name": "app", "role": "writer", "spaces": ["user:*"], "tenant": "somebody-else"}

    assert 403 == narrow.post("/v1/admin/keys", body).status_code


def test_a_pattern_has_at_most_four_stars(api):
    for stars, status in ((4, 201), (5, 422)):
        body = {"name": "app", "role": "reader", "spaces": ["user:" + "*a" * stars]}
        assert status == api.post("/v1/admin/keys", body).status_code


def test_a_repeat_finds_the_one_of_several_periods_that_it_touches(api):
    def said(*years):
        times = {
            name: f"{year}-01-01T00:00:00Z"
            for name, year in zip(("valid_from", "valid_until"), years, strict=True)
        }
        answer = api.post(
            "/v1/memories", {"space": "user:ada", "content": "Ada lives in Rome."} | times
        ).get_json()
        return answer["outcome"], answer["memory"]["uid"]

    first, second = said(2010, 2012)[1], said(2030, 2032)[1]
    assert first != second

    assert ("reinforced", second) == said(2031, 2033)
    assert ("reinforced", second) == said(2033, 2034)
    assert "created" == said(2040, 2041)[0]


def test_a_restored_memory_is_said_again_at_its_time(api):
    body = {"space": "user:ada", "content": "Ada lives in Rome."}
    times = {"valid_from": "2040-01-01T00:00:00Z", "valid_until": "2041-01-01T00:00:00Z"}
    uid = api.post("/v1/memories", body | times).get_json()["memory"]["uid"]
    for what in ("retract", "restore"):
        api.post(f"/v1/memories/{uid}/{what}", {})
    api.post("/v1/memories", body | {"valid_until": "2030-01-01T00:00:00Z"})

    again = api.post("/v1/memories", body | times).get_json()

    assert ("reinforced", uid) == (again["outcome"], again["memory"]["uid"])
