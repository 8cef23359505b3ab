"""Entities are found by the words of their names, whole names first, and nobody else's are."""

from urllib.parse import quote

import pytest

from graphmem.gateway.migration_steps import index_names
from graphmem.model.caller import Role
from graphmem.model.tokens import term_salt


def declare(api, name, type_="other", **more):
    body = {"space": "user:ada", "type": type_, "name": name} | more
    answer = api.post("/v1/entities", body)
    assert answer.status_code < 300, answer.get_data(as_text=True)
    return answer.get_json()["key"]


def add(api, content, *entities, **more):
    body = {"space": "user:ada", "content": content, "entities": list(entities)} | more
    return api.post("/v1/memories", body).get_json()["memory"]["uid"]


def page(api, query, more="", space="user:ada"):
    return api.get(f"/v1/entities?space={space}&query={quote(query)}{more}").get_json()


def found(api, query, more="", space="user:ada"):
    return [item["label"] for item in page(api, query, more, space)["items"]]


NAMES = ["C", "C++", "C#", "A+", "A-", "+1", "-1", ".NET", "Net", "1/5", "1.5", "AT&T", "AT T"]


def test_the_whole_name_comes_first_signs_included(api):
    for name in NAMES:
        declare(api, name)
        declare(api, f"{name} of old", aliases=[f"{name} again"])

    for name in NAMES:
        assert name == found(api, name)[0]
        assert name == found(api, name.lower())[0]
        assert f"{name} of old" == found(api, f"{name} again")[0]


def test_a_whole_name_comes_before_another_name_and_that_before_words(api):
    declare(api, "Johnson Johnson Johnson")
    declare(api, "Ada Lovelace", aliases=["JOHNSON"])
    declare(api, "Johnson")
    declare(api, "Boris Johnson")

    assert ["Johnson", "Ada Lovelace"] == found(api, "johnson")[:2]
    assert {"Johnson Johnson Johnson", "Boris Johnson"} == set(found(api, "Johnson")[2:])
    assert "Boris Johnson" == found(api, "boris johnson")[0]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Jonson", ["Johnson"]),
        ("jonathen", ["Jonathan"]),
        ("Łodz", ["Łódź"]),
        ("東京", ["東京都"]),
        ("JOHNSON", ["Johnson"]),
        ("the johnsons", ["Johnson"]),
        ("Anm", []),
        ("An", []),
        ("Apollo 12", ["Apollo 11"]),
        ("12", []),
        ("nobody", []),
        ("!", []),
    ],
)
def test_near_spellings_are_found_but_not_those_of_short_words_and_numbers(api, query, expected):
    for name in ("Johnson", "Jonathan", "Łódź", "東京都", "Ann", "Apollo 11"):
        declare(api, name)

    assert expected == found(api, query)


def test_what_mentions_and_changes_do_to_names_is_found(api):
    add(api, "One.", {"key": "person:jon_doe", "label": "Jonny"})
    add(api, "Two.", {"key": "person:john_doe", "label": "Whitaker"})
    add(api, "Three.", {"key": "person:john_doe", "label": "Zebedee"})
    before = [found(api, name) for name in ("Jonny", "Whitaker", "Zebedee")]
    body = {"space": "user:ada", "into": "person:john_doe"}
    merge_id = api.post("/v1/entities/person:jon_doe/merge", body).get_json()["merge_id"]

    assert [["Jonny"], ["Whitaker"], ["Whitaker"]] == before
    assert [["Whitaker"]] * 3 == [found(api, name) for name in ("Jonny", "Whitaker", "Zebedee")]
    api.post(f"/v1/entities/merges/{merge_id}/undo", {})
    assert before == [found(api, name) for name in ("Jonny", "Whitaker", "Zebedee")]

    uid = add(api, "Four.", "person:john_doe")
    body = {"space": "user:ada", "memories": [uid]}
    body["into"] = {"key": "person:smith", "label": "Agent Smith"}
    api.post("/v1/entities/person:john_doe/split", body)
    headers = {"X-API-Key": api.key}
    body = {"space": "user:ada", "name": "SMITH", "aliases": ["Mister Anderson"]}
    api.client.patch("/v1/entities/person:smith", json=body, headers=headers)
    assert [[], ["SMITH"], ["SMITH"]] == [
        found(api, name) for name in ("agent", "Smith", "anderson")
    ]
    declare(api, "Morpheus")
    api.client.delete("/v1/entities/other:morpheus?space=user:ada", headers=headers)
    assert [] == found(api, "Morpheus")


def test_a_search_is_paged_in_a_total_order_and_filtered_by_type(api):
    expected = [declare(api, f"Tea {n:02}", "tool" if n % 2 else "other") for n in range(11)]
    seen, cursor = [], ""
    while True:
        some = page(api, "tea", f"&limit=3{cursor}")
        seen += [item["key"] for item in some["items"]]
        assert 11 == some["total"]
        if some["next_cursor"] is None:
            break
        cursor = f"&cursor={some['next_cursor']}"

    assert sorted(expected) == sorted(seen)
    assert seen == [item["key"] for item in page(api, "tea")["items"]]
    assert (5, 5) == (len(found(api, "tea", "&type=tool")), page(api, "tea", "&type=tool")["total"])
    listed = api.get("/v1/entities?space=user:ada&limit=1").get_json()["next_cursor"]
    searched = page(api, "tea", "&limit=1")["next_cursor"]
    for bad in (f"query=tea&cursor={listed}", f"cursor={searched}"):
        assert 422 == api.get(f"/v1/entities?space=user:ada&{bad}").status_code
    for bad in ("query=%20", "query=tea&prefix=t", f"query={'x' * 201}", "query=a%00"):
        assert 422 == api.get(f"/v1/entities?space=user:ada&{bad}").status_code


@pytest.mark.parametrize(
    "query",
    ['a" OR *:*', "*", "space_token:x", "(((((", "a~ b^9 [1 TO 2]", "AND OR NOT", "\\", "~"],
)
def test_no_sign_of_a_query_acts(api, query):
    declare(api, "Secret plan")

    assert "Secret plan" not in found(api, query)


def test_only_what_the_key_may_see_is_found(api):
    declare(api, "Zanzibar")
    add(api, "Told the lawyer.", "place:zanzibar_town", space="user:ada/lawyer")
    add(api, "Of Bob.", "place:zanzibar", space="user:bob")
    stranger = api.with_key(Role.ADMIN, "*", tenant=f"{api.house.caller.tenant}-2")
    coach = api.with_key(Role.READER, "user:ada/coach")

    assert ["Zanzibar"] == found(api, "zanzibar")
    assert ["Zanzibar", "Zanzibar Town"] == found(api, "zanzibar", space="user:ada/lawyer")
    assert [] == found(stranger, "zanzibar")
    assert [] == found(coach, "zanzibar", space="user:ada/coach")
    assert 403 == coach.get("/v1/entities?space=user:ada&query=zanzibar").status_code


def test_the_words_of_a_tenant_are_its_own(api):
    declare(api, "Zanzibar")

    ((words, tokens),) = api.house.rows(
        "MATCH (e:Entity) WHERE e.space STARTS WITH $tenant RETURN e.search_names, e.space_token"
    )

    assert f" {term_salt(api.house.caller.tenant)}zanzibar" == words
    assert 4 == len(tokens.split())


def test_names_of_an_older_store_are_indexed_by_a_migration(api):
    add(api, "One.", {"key": "person:jon_doe", "label": "Jonny"}, "person:ann")
    add(api, "Two.", {"key": "person:jon_doe", "label": "Zebedee"})
    api.post("/v1/entities/person:ann/merge", {"space": "user:ada", "into": "person:jon_doe"})
    fields = (
        "MATCH (e:Entity) WHERE e.space STARTS WITH $tenant"
        " RETURN e.key, e.search_names, e.space_token ORDER BY e.key"
    )
    before = api.house.rows(fields)
    api.house.rows(
        "MATCH (e:Entity) WHERE e.space STARTS WITH $tenant REMOVE e.search_names, e.space_token"
    )

    said = []
    for _ in range(2):  # as after a cut
        index_names(api.house.graphmem.connection, said.append)

    assert before == api.house.rows(fields)
    assert ["Jonny"] == found(api, "zebedee") == found(api, "Ann")
    assert said[-1].endswith("entities are indexed under their names")
