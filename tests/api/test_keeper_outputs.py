"""What the keeper makes, over HTTP: summaries of entities and topics of a space."""

from graphmem.model.caller import Role

SOURCE = {
    "type": "workflow_output",
    "workflow_run_id": "w",
    "step_id": "s",
    "captured_by": "extractor",
}
THINGS = ("a dog", "a cat", "two sons", "a car", "a boat", "a house")


def consolidated(api):
    items = [
        {
            "space": "user:ada",
            "content": f"John has {thing}.",
            "source": SOURCE,
            "entities": ["person:john"],
        }
        for thing in THINGS
    ]
    assert 200 == api.post("/v1/memories/batch", {"items": items}).status_code
    run = api.post("/v1/jobs/consolidate/runs", {"space": "user:ada"}).get_json()["run"]
    assert 1 == run["counts"]["entity_summaries"]


def test_an_entity_is_read_with_its_summary(api):
    consolidated(api)

    entity = api.get("/v1/entities/person:john?space=user:ada").get_json()

    assert ("person:john", "John", 6) == (entity["key"], entity["label"], entity["mentions"])
    assert entity["summary"].startswith("John has ")
    assert [("user:ada", 6, "rules")] == [
        (s["space"], s["facts"], s["by"]) for s in entity["summaries"]
    ]


def test_an_entity_without_a_summary_says_so(api):
    api.post("/v1/memories", {"space": "user:ada", "content": "Hi.", "entities": ["person:john"]})

    entity = api.get("/v1/entities/person:john?space=user:ada").get_json()

    assert (None, []) == (entity["summary"], entity["summaries"])
    assert 404 == api.get("/v1/entities/person:nobody?space=user:ada").status_code
    assert 404 == api.get("/v1/entities/nobody?space=user:ada").status_code


def test_topics_of_a_space_are_read(api):
    for content in ("Chess is fun.", "Chess is hard.", "Tea is good.", "Tea is hot."):
        api.post("/v1/memories", {"space": "user:ada/coach", "content": content})
    api.post("/v1/jobs/consolidate/runs", {"space": "user:ada/coach"})

    found = api.get("/v1/spaces/user:ada/coach/topics").get_json()

    assert ["chess", "tea"] == [item["topic"] for item in found["items"]]
    assert [2, 2] == [len(item["uids"]) for item in found["items"]]
    first = api.get("/v1/spaces/user:ada/coach/topics?limit=1").get_json()
    rest = api.get(
        f"/v1/spaces/user:ada/coach/topics?limit=1&cursor={first['next_cursor']}"
    ).get_json()
    assert (["tea"], 2, None) == (
        [item["topic"] for item in rest["items"]],
        first["total"],
        rest["next_cursor"],
    )
    assert 0 == api.get("/v1/spaces/user:ada/topics").get_json()["total"]
    assert 422 == api.get("/v1/spaces/nonsense/topics").status_code
    assert (
        403 == api.with_key(Role.READER, "user:bob").get("/v1/spaces/user:ada/topics").status_code
    )
