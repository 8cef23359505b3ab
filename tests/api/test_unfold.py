"""Unfolding over HTTP."""

from graphmem.model.caller import Role

SOURCE = {
    "type": "workflow_output",
    "workflow_run_id": "w",
    "step_id": "s",
    "captured_by": "extractor",
}


def fold(api):
    items = [
        {
            "space": "user:ada",
            "content": f"Fact {i}.",
            "source": SOURCE,
            "entities": ["person:john"],
        }
        for i in range(3)
    ]
    uids = [
        result["uid"]
        for result in api.post("/v1/memories/batch", {"items": items}).get_json()["results"]
    ]
    run = api.post("/v1/jobs/curate_fold/runs", {"space": "user:ada"}).get_json()["run"]
    assert {"folded": 1, "archived": 3, "spaces": 1} == run["counts"]
    (folded,) = api.get("/v1/memories?space=user:ada").get_json()["items"]
    return folded["uid"], uids


def test_a_fold_is_seen_with_its_members_and_taken_apart(api):
    folded, uids = fold(api)
    lineage = api.get(f"/v1/memories/{folded}/history").get_json()["lineage"]

    answer = api.post(f"/v1/memories/{folded}/unfold", {}).get_json()

    assert {("FOLDED_FROM", uid) for uid in uids} == {
        (edge["type"], edge["to"]) for edge in lineage
    }
    assert ("archived", "unfold", sorted(uids)) == (
        answer["memory"]["status"],
        answer["memory"]["status_reason"],
        answer["restored"],
    )
    assert set(uids) == {
        item["uid"] for item in api.get("/v1/memories?space=user:ada").get_json()["items"]
    }
    assert (
        "unfolded" == api.get(f"/v1/traces/{answer['trace_id']}").get_json()["events"][0]["outcome"]
    )
    assert 409 == api.post(f"/v1/memories/{folded}/unfold", {}).status_code


def test_only_what_was_folded_is_unfolded_by_who_may_write_it(api):
    folded, uids = fold(api)

    assert 409 == api.post(f"/v1/memories/{uids[0]}/unfold", {}).status_code
    assert 404 == api.post("/v1/memories/nothing/unfold", {}).status_code
    assert (
        403 == api.with_key(Role.READER, "*").post(f"/v1/memories/{folded}/unfold", {}).status_code
    )
    assert (
        404
        == api.with_key(Role.WRITER, "user:bob")
        .post(f"/v1/memories/{folded}/unfold", {})
        .status_code
    )
    assert 409 == api.post(f"/v1/memories/{folded}/unfold", {}, **{"If-Match": '"9"'}).status_code
    assert 200 == api.post(f"/v1/memories/{folded}/unfold", {}, **{"If-Match": '"1"'}).status_code
