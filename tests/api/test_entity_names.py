"""Names that differ only by signs are different entities everywhere; what was there stays."""

from urllib.parse import quote

import pytest

from graphmem.model.entity import entity_key

NAMES = [
    "C",
    "C++",
    "C#",
    "A+",
    "A-",
    "+1",
    "-1",
    ".NET",
    "Net",
    "1/5",
    "1.5",
    "AT&T",
    "AT T",
    "5 €",
]
J_AND_J, PLAIN = "Johnson & Johnson", "org:johnson_johnson"


def add(api, content, *entities, **more):
    body = {"space": "user:ada", "content": content, "entities": list(entities), "importance": 80}
    return api.post("/v1/memories", body | more).get_json()["memory"]


def listed(api, entity):
    answer = api.get(f"/v1/memories?space=user:ada&entity={quote(entity, safe='')}").get_json()
    return [memory["content"] for memory in answer["items"]]


def recalled(api, entity):
    body = {"spaces": ["user:ada"], "query": "anything", "entities": [entity]}
    return [item["memory"]["content"] for item in api.post("/v1/recall", body).get_json()["items"]]


def card(api, key, space="user:ada"):
    return api.get(f"/v1/entities/{quote(key, safe='')}/card?space={space}")


def facts(api, key):
    return [fact["content"] for fact in card(api, key).get_json()["facts"]]


def keys(api, query=""):
    answer = api.get(f"/v1/entities?space=user:ada{query}").get_json()
    return [item["key"] for item in answer["items"]]


def test_names_that_differ_by_signs_have_cards_and_filters_of_their_own(api):
    items = [
        {"space": "user:ada", "content": f"About {name}.", "importance": 80, "entities": [key]}
        for name in NAMES
        for key in [f"other:{name}"]
    ]
    assert 200 == api.post("/v1/memories/batch", {"items": items}).status_code

    assert len(NAMES) == len(keys(api))
    for name in NAMES:
        key = entity_key(f"other:{name}")
        for asked in (f"other:{name}", key):
            assert [f"About {name}."] == listed(api, asked) == recalled(api, asked)
        assert [f"About {name}."] == facts(api, key)


def test_a_name_with_signs_is_its_own_label(api):
    add(api, "One.", "tool:C++", {"key": "org:AT&T", "label": "The phone company"})
    add(api, "Two.", "tool:c__plus__plus", "org:AT&T")

    company, language = (card(api, key).get_json() for key in ("org:AT&T", "tool:C++"))
    assert ("The phone company", ["AT&T"]) == (company["label"], company["aliases"])
    assert ("C++", [], 2) == (language["label"], language["aliases"], language["mentions"])


def test_a_type_is_any_word(api):
    add(api, "One.", "robot:R2", "my_type:x", "person:r2")

    assert ["my_type:x", "person:r2", "robot:r2"] == keys(api)
    assert ["robot:r2"] == keys(api, "&type=robot")
    assert ["robot:r2"] == keys(api, "&prefix=robot:R")
    assert ["person:r2", "robot:r2"] == keys(api, "&prefix=r")
    assert 422 == api.get("/v1/entities?space=user:ada&type=Robot").status_code
    body = {"space": "user:ada", "content": "No.", "entities": ["No Type:x"]}
    assert 422 == api.post("/v1/memories", body).status_code


def test_a_prefix_may_hold_signs(api):
    add(api, "One.", *(f"tool:{name}" for name in ("C", "C#", "C+", "C++", ".NET")))

    assert ["tool:c__plus", "tool:c__plus__plus"] == keys(api, f"&prefix={quote('C+')}")
    assert ["tool:dot__net"] == keys(api, "&prefix=.n")


def test_what_was_there_before_goes_on_under_its_plain_key(api):
    add(api, "They sell plasters.", {"key": PLAIN, "label": J_AND_J})
    new = add(api, "They were founded in 1886.", f"org:{J_AND_J}")
    api.post("/v1/memories", {"space": "user:ada", "content": "No.", "entities": [PLAIN]})

    assert [PLAIN] == [each["key"] for each in new["entities"]]
    for name in (f"org:{J_AND_J}", PLAIN):
        assert 3 == len(listed(api, name)) == len(recalled(api, name))
        assert 3 == card(api, name).get_json()["mentions"]
    assert [PLAIN] == keys(api)


@pytest.mark.parametrize("name", ["org:Johnson&Johnson", "org:johnson & johnson"])
def test_another_spelling_is_the_entity_with_signs(api, name):
    add(api, "They sell plasters.", {"key": PLAIN, "label": J_AND_J})
    add(api, "Another.", name)

    assert [["They sell plasters."], ["Another."]] == [listed(api, PLAIN), listed(api, name)]
    assert ["Another."] == listed(api, "org:johnson__and__johnson")


def test_the_same_write_again_is_unchanged_where_the_plain_key_is_meant(api):
    add(api, "Old.", {"key": PLAIN, "label": J_AND_J})
    body = {"space": "user:ada", "uid": "j", "content": "New.", "entities": [f"org:{J_AND_J}"]}

    assert ["created", "unchanged"] == [
        api.post("/v1/memories", body).get_json()["outcome"] for _ in range(2)
    ]


def test_where_the_plain_one_was_merged_the_name_means_what_it_became(api):
    add(api, "They sell plasters.", {"key": PLAIN, "label": J_AND_J}, "org:jnj")
    body = {"space": "user:ada", "into": "org:jnj"}
    change = api.post(f"/v1/entities/{quote(f'org:{J_AND_J}', safe='')}/merge", body).get_json()
    new = add(api, "New.", f"org:{J_AND_J}")

    assert (PLAIN, "org:jnj") == (change["from"], change["into"])
    assert ["org:jnj"] == [each["key"] for each in new["entities"]]
    assert 2 == len(listed(api, f"org:{J_AND_J}"))


def test_no_job_merges_names_that_differ_by_signs(api):
    names = ("tool:C++", "other:C", "tool:C", "tool:Cat+Fish", "tool:Cat Fish", "tool:Catfish")
    labelled = {"key": "tool:dog", "label": "Dog#"}, {"key": "other:dog", "label": "Dog"}
    add(api, "One.", *names, *labelled)
    api.house.graphmem.runner.run(
        "consolidate", space_key=f"{api.house.caller.tenant}/user:ada", by_hand=True
    )

    assert [
        *("other:dog", "tool:c", "tool:c__plus__plus", "tool:cat__plus__fish", "tool:cat_fish"),
        "tool:dog",
    ] == keys(api)


def test_split_and_merge_take_names_with_signs(api):
    one = add(api, "About C.", "tool:C")["uid"]
    add(api, "Also about C.", "tool:C")
    body = {"space": "user:ada", "into": "tool:C++", "memories": [one]}
    change = api.post("/v1/entities/tool:C/split", body).get_json()

    assert ("tool:c", "tool:c__plus__plus") == (change["from"], change["into"])
    assert "C++" == card(api, "tool:C++").get_json()["label"]
    assert ["About C."] == listed(api, "tool:C++")


def test_a_prefix_is_looked_for_in_types_of_any_number(api):
    types = [f"t{number}" for number in range(80)]
    items = [
        {
            "space": "user:ada",
            "content": f"Note {start}.",
            "entities": [f"{type_}:x{start}" for type_ in types[start : start + 16]],
        }
        for start in range(0, 80, 16)
    ]
    api.post("/v1/memories/batch", {"items": items})

    assert (16, 80) == (len(keys(api, "&prefix=X16")), len(keys(api, "&prefix=x&limit=200")))


def test_each_owner_means_its_own_entity_by_a_name(api):
    name, both = f"org:{J_AND_J}", ["user:ada", "user:bob"]
    add(api, "Old.", {"key": PLAIN, "label": J_AND_J})
    add(api, "New.", name, space="user:bob")
    add(api, "Two Johnsons.", PLAIN, space="user:bob")
    add(api, "Merged of Bob.", "person:jon", "person:john", space="user:bob")
    add(api, "Jon of Ada.", "person:jon")
    api.post("/v1/entities/person:jon/merge", {"space": "user:bob", "into": "person:john"})

    for entity, expected in {
        name: {"Old.", "New."},
        "person:jon": {"Jon of Ada.", "Merged of Bob."},
    }.items():
        query = f"space=user:ada&space=user:bob&entity={quote(entity, safe='')}"
        items = api.get(f"/v1/memories?{query}").get_json()["items"]
        assert expected == {item["content"] for item in items}
        for more in ({}, {"known_at": "2030-01-01T00:00:00Z"}):
            body = {"spaces": both, "query": "two johnsons of bob", "entities": [entity]} | more
            answer = api.post("/v1/recall", body).get_json()
            assert expected == {item["memory"]["content"] for item in answer["items"]}
    assert (
        2
        == api.get(f"/v1/entities/{quote(name)}/card?space=user:ada&space=user:bob").get_json()[
            "mentions"
        ]
    )


@pytest.mark.parametrize("prefix", [".", "...", "!", "other:!"])
def test_no_name_begins_with_what_no_name_has(api, prefix):
    add(api, "A note.", "tool:C", "org:AT&T")

    answer = api.get(f"/v1/entities?space=user:ada&prefix={quote(prefix)}").get_json()

    assert ([], 0) == (answer["items"], answer["total"])
