"""Relations over HTTP: how entities stand to each other, and who sees it."""

import pytest
from doc_examples import example

from graphmem.model.caller import Role

SPACE = "user:ada"
ADA, ACME, BOB = "person:ada", "org:acme", "person:bob"


@pytest.fixture
def world(api):
    """Ada, Bob and Acme, and a memory of each of two personas."""
    for kind, name in (("person", "Ada"), ("person", "Bob"), ("org", "Acme")):
        body = {"space": SPACE, "type": kind, "name": name}
        assert 201 == api.post("/v1/entities", body).status_code
    for uid, space in (("m", SPACE), ("n", SPACE), ("c", f"{SPACE}/coach")):
        remember(api, uid, space)
    return api


def remember(api, uid, space=SPACE, **changes):
    body = {"space": space, "uid": uid, "content": f"Ada works at Acme, {uid} says."} | changes
    assert api.post("/v1/memories", body).status_code < 300


def post(api, label="works at", **changes):
    body = {"space": SPACE, "from": ADA, "to": ACME, "label": label} | changes
    return api.post("/v1/relations", body)


def listed(api, query="", space=SPACE):
    answer = api.get(f"/v1/relations?space={space}{query}")
    assert 200 == answer.status_code, answer.json
    return answer.json["items"]


def labels(api, query="", space=SPACE):
    return [each["label"] for each in listed(api, query, space)]


def delete(api, uid, space=SPACE):
    return api.client.delete(
        f"/v1/relations/{uid}?space={space}", headers={"X-API-Key": api.key}
    ).status_code


def status(api, uid, what, space=SPACE):
    assert 200 == api.post(f"/v1/memories/{uid}/{what}?space={space}", {}).status_code


def test_a_relation_is_posted_listed_and_deleted(world):
    given = {"weight": 0.5, "since": "2020-01-01T00:00:00Z", "until": "2030-01-01T00:00:00Z"}
    answer = post(world, **given)

    relation = answer.json["relation"]
    assert (201, "created") == (answer.status_code, answer.json["outcome"])
    assert {
        "space": SPACE,
        "from": {"key": ADA, "label": "Ada"},
        "to": {"key": ACME, "label": "Acme"},
        "label": "works at",
        "created_at": "2026-03-01T09:30:00Z",
        "memories": [],
        "by_hand": True,
        **given,
    } == {name: value for name, value in relation.items() if name != "uid"}
    assert [relation] == listed(world)
    trace = world.get(f"/v1/traces/{answer.json['trace_id']}").json
    assert [("relation_created", ADA)] == [(e["outcome"], e["from"]) for e in trace["events"]]
    assert 204 == delete(world, relation["uid"])
    assert [] == listed(world)
    assert 404 == delete(world, relation["uid"])


def test_what_is_wrong_is_named_and_nothing_is_stored(world):
    wrong = post(world, label="two\nlines" * 10, weight=2, **{"from": "nobody"})
    missing = post(world, to="org:none", source_memory="none")

    assert {"label", "weight", "from"} == set(wrong.json["error"]["fields"])
    assert {"to", "source_memory"} == set(missing.json["error"]["fields"])
    assert ["to"] == list(post(world, to=ADA).json["error"]["fields"])
    backwards = post(world, since="2026-02-01T00:00:00Z", until="2026-01-01T00:00:00Z")
    assert ["until"] == list(backwards.json["error"]["fields"])
    assert 422 == post(world, label="x" * 65).status_code
    assert 403 == post(world, label="sk-proj-" + "a1B2" * 12).status_code
    assert 201 == post(world, label="x" * 64).status_code
    assert 1 == len(listed(world))


def test_the_same_at_a_time_that_overlaps_takes_the_memory_on(world):
    first = post(world, source_memory="m", since="2020-01-01T00:00:00Z").json["relation"]
    again = post(world, source_memory="n", weight=0.2)
    known = post(world, source_memory="n")

    assert (200, "revised") == (again.status_code, again.json["outcome"])
    assert (200, "unchanged") == (known.status_code, known.json["outcome"])
    (relation,) = listed(world)
    assert (first["uid"], ["m", "n"], 1.0) == tuple(
        relation[name] for name in ("uid", "memories", "weight")
    )
    assert 201 == post(world, label="founded").status_code
    assert 201 == post(world, **{"from": ACME, "to": ADA}).status_code


def test_the_same_at_times_apart_are_two(world):
    post(world, since="2010-01-01T00:00:00Z", until="2012-01-01T00:00:00Z")
    apart = post(world, since="2015-01-01T00:00:00Z")
    touching = post(world, since="2012-01-01T00:00:00Z", until="2013-01-01T00:00:00Z")

    assert (201, 200) == (apart.status_code, touching.status_code)
    assert "2013-01-01T00:00:00Z" == touching.json["relation"]["until"]
    assert [apart.json["relation"]["uid"]] == [each["uid"] for each in listed(world)]


def test_it_holds_from_since_until_until(world):
    post(world, since="2020-01-01T00:00:00Z", until="2022-01-01T00:00:00Z")

    times = {
        "2019-12-31T23:59:59Z": 0,
        "2020-01-01T00:00:00Z": 1,
        "2021-12-31T23:59:59Z": 1,
        "2022-01-01T00:00:00Z": 0,
    }
    assert times == {at: len(listed(world, f"&as_of={at}")) for at in times}
    assert [] == listed(world)


def test_it_holds_while_one_of_its_memories_does(world):
    post(world, source_memory="m")
    post(world, source_memory="n")

    status(world, "m", "retract")
    assert ["works at"] == labels(world)
    remember(world, "next", updates=["n"])
    assert [] == labels(world)
    assert ["works at"] == labels(world, "&as_of=2026-03-01T09:29:00Z")
    status(world, "m", "restore")
    assert ["works at"] == labels(world)


def test_without_a_memory_it_holds_until_it_is_deleted(world):
    post(world, source_memory="m")
    post(world)

    status(world, "m", "retract")

    assert ["works at"] == labels(world)


def test_a_list_is_narrowed_by_entity_label_and_direction(world):
    post(world)
    post(world, "knows", **{"from": BOB, "to": ADA})

    assert ["works at", "knows"] == labels(world)
    assert ["knows"] == labels(world, "&label=knows")
    assert ["works at"] == labels(world, f"&entity={ADA}&direction=out")
    assert ["knows"] == labels(world, f"&entity={ADA}&direction=in")
    assert ["works at", "knows"] == labels(world, f"&entity={ADA}")
    assert ["knows"] == labels(world, f"&entity={BOB}")
    assert ["knows", "works at"] == labels(world, f"&entity={BOB}&depth=2")
    assert ["knows", "works at"] == labels(world, f"&entity={BOB}&depth=2&direction=out")
    assert [] == labels(world, f"&entity={ACME}&depth=3&direction=out")
    assert 422 == world.get(f"/v1/relations?space={SPACE}&depth=2").status_code
    assert 422 == world.get(f"/v1/relations?space={SPACE}&entity={ADA}&depth=4").status_code


@pytest.mark.parametrize("query", ["", f"&entity={ADA}"])
def test_pages_show_each_relation_once(world, query):
    for number in range(5):
        post(world, f"r{number}")

    found, cursor = [], ""
    while cursor is not None:
        page = world.get(f"/v1/relations?space={SPACE}&limit=2{query}{cursor}").json
        found += [each["label"] for each in page["items"]]
        cursor = page["next_cursor"] and f"&cursor={page['next_cursor']}"

    assert [f"r{number}" for number in range(5)] == found
    assert 5 == page["total"]


def test_who_may_not_read_what_it_rests_on_sees_nothing_of_it(world):
    body = {"space": f"{SPACE}/coach", "from": ADA, "to": ACME, "label": "dreams of"}
    assert 201 == world.post("/v1/relations", body | {"source_memory": "c"}).status_code
    assert 201 == world.post("/v1/relations", body | {"label": "told me of"}).status_code
    post(world)
    other = world.with_key(Role.ADMIN, f"{SPACE}/friend", SPACE)
    owner_alone = world.with_key(Role.READER, SPACE)

    assert ["works at"] == labels(other, space=f"{SPACE}/friend")
    assert ["works at"] == labels(other)
    assert ["dreams of", "told me of", "works at"] == labels(world, space=f"{SPACE}/coach")
    assert 404 == delete(other, listed(world, space=f"{SPACE}/coach")[0]["uid"])
    assert 404 == delete(other, listed(world)[0]["uid"], f"{SPACE}/friend")
    card = owner_alone.get(f"/v1/entities/{ADA}/card?space={SPACE}").json
    assert ["works at"] == [each["label"] for each in card["relations"]]
    stranger = world.with_key(Role.ADMIN, "*", tenant=f"{world.house.caller.tenant}-else")
    assert [] == listed(stranger)
    assert (
        403
        == world.with_key(Role.ADMIN, "user:bob").get(f"/v1/relations?space={SPACE}").status_code
    )


def test_a_persona_leaves_what_another_space_says_alone(world):
    mine = post(world, since="2020-01-01T00:00:00Z").json["relation"]
    body = {"space": f"{SPACE}/coach", "from": ADA, "to": ACME, "label": "works at"}
    other = world.post("/v1/relations", body | {"until": "2026-03-02T00:00:00Z"})

    assert 201 == other.status_code
    assert [mine] == listed(world)
    assert 404 == delete(world, other.json["relation"]["uid"])
    assert 204 == delete(world, mine["uid"])
    assert ["works at"] == labels(world, space=f"{SPACE}/coach")


def test_a_reader_posts_nothing(world):
    reader = world.with_key(Role.READER, SPACE)

    assert 403 == post(reader).status_code
    assert 403 == delete(reader, "any")


def test_relations_stand_on_cards_and_beside_neighbours(world):
    remember(world, "about", entities=[ADA], importance=90)
    post(world)

    recalled = world.post(
        "/v1/recall", {"spaces": [SPACE], "query": "Ada works at Acme", "cards": True}
    ).json
    card = next(each for each in recalled["cards"] if each["key"] == ADA)
    around = world.get(f"/v1/memories/about/neighbours?space={SPACE}").json

    assert [(ADA, "works at", ACME)] == [
        (each["from"], each["label"], each["to"]) for each in card["relations"]
    ]
    assert card["text"].endswith("Ada works at Acme")
    assert ["works at"] == [each["label"] for each in around["relations"]]


def test_the_graph_arm_goes_over_a_relation(world):
    remember(world, "seed", content="Ada likes sailing.", entities=[ADA])
    remember(world, "far", content="The harbour closes at nine.", entities=[ACME])

    def graph_of():
        body = {"spaces": [SPACE], "query": "Who likes sailing?", "graph": True, "explain": True}
        items = world.post("/v1/recall", body).json["items"]
        arms = {each["memory"]["uid"]: each["explanation"]["arms"]["graph"] for each in items}
        return arms.get("far")

    assert graph_of() is None
    post(world, since="2020-01-01T00:00:00Z")
    assert graph_of()["rank"] > 0


def test_a_merge_moves_relations_and_undo_gives_them_back(world):
    post(world)
    post(world, "is", to=BOB)
    merged = world.post(f"/v1/entities/{ADA}/merge", {"space": SPACE, "into": BOB}).json

    assert [(BOB, ACME)] == [(each["from"]["key"], each["to"]["key"]) for each in listed(world)]
    assert ["works at"] == labels(world, f"&entity={ADA}")
    world.post(f"/v1/entities/merges/{merged['merge_id']}/undo", {})
    assert [(ADA, ACME), (ADA, BOB)] == [
        (each["from"]["key"], each["to"]["key"]) for each in listed(world)
    ]


def test_a_split_takes_the_relations_of_its_memories_and_those_that_are_named(world):
    remember(world, "about", entities=[ADA])
    post(world, "rests on it", source_memory="about")
    named = post(world, "named").json["relation"]["uid"]
    post(world, "stays")
    body = {
        "space": SPACE,
        "into": {"key": "person:other"},
        "memories": ["about"],
        "relations": [named],
    }

    split = world.post(f"/v1/entities/{ADA}/split", body)

    assert ["rests on it", "named"] == labels(world, "&entity=person:other")
    assert ["stays"] == labels(world, f"&entity={ADA}")
    world.post(f"/v1/entities/merges/{split.json['merge_id']}/undo", {})
    assert 3 == len(listed(world, f"&entity={ADA}"))
    unknown = world.post(f"/v1/entities/{ADA}/split", body | {"relations": ["none"]})
    assert ["relations"] == list(unknown.json["error"]["fields"])


def test_an_entity_with_relations_is_not_deleted(world):
    post(world)

    answer = world.client.delete(
        f"/v1/entities/{ACME}?space={SPACE}", headers={"X-API-Key": world.key}
    )

    assert (409, True) == (answer.status_code, "1 relation" in answer.json["error"]["message"])


def test_without_a_time_the_relation_of_today_is_meant_and_the_others_stay(world):
    post(world, since="2010-01-01T00:00:00Z", until="2012-01-01T00:00:00Z")
    today = post(world, since="2015-01-01T00:00:00Z").json["relation"]

    again = post(world).json

    assert ("unchanged", today) == (again["outcome"], again["relation"])
    assert 2 == world.get(f"/v1/relations?space={SPACE}&ended=true").json["total"]


def test_relations_that_a_time_joins_are_one_and_the_other_is_told_as_deleted(world):
    first = post(world, since="2010-01-01T00:00:00Z", until="2012-01-01T00:00:00Z").json
    second = post(world, since="2015-01-01T00:00:00Z", until="2016-01-01T00:00:00Z").json

    joined = post(world, since="2011-01-01T00:00:00Z", until="2015-06-01T00:00:00Z").json

    assert "revised" == joined["outcome"]
    relation = joined["relation"]
    assert ("2010-01-01T00:00:00Z", "2016-01-01T00:00:00Z") == (
        relation["since"],
        relation["until"],
    )
    uids = {first["relation"]["uid"], second["relation"]["uid"]}
    assert relation["uid"] in uids
    (gone,) = uids - {relation["uid"]}
    assert 404 == delete(world, gone)
    trace = world.get(f"/v1/traces/{joined['trace_id']}").json
    told = ["relation_deleted", "relation_revised"]
    assert told == sorted(event["outcome"] for event in trace["events"])
    assert 1 == world.get(f"/v1/relations?space={SPACE}&ended=true").json["total"]


def test_the_example_of_the_docs_is_answered(world):
    body = example("**Relations.**")
    remember(world, body["source_memory"], entities=[body["from"]])

    answer = world.post("/v1/relations", body)

    assert (201, [body["source_memory"]]) == (
        answer.status_code,
        answer.json["relation"]["memories"],
    )
