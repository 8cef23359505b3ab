"""Orders are total: where all counts, times and scores are equal there is still one order."""

import pytest

SPACE = "user:ada"
NUMBERS = range(7)


@pytest.fixture(scope="module")
def tied(api_of_module):
    """Memories, edges, entities, merges, versions and spaces that only their names tell apart."""
    api = api_of_module
    for number in NUMBERS:
        body = {
            "space": SPACE,
            "content": "All the same tea.",
            "dedupe": "none",
            "entities": [f"person:p{number}"],
        }
        assert 201 == api.post("/v1/memories", body).status_code
        other = {"space": f"user:u{number}", "content": "Tea."}
        assert 201 == api.post("/v1/memories", other).status_code
    uids = [each["uid"] for each in api.get(f"/v1/memories?space={SPACE}").get_json()["items"]]
    for uid in uids[1:]:
        body = {"space": SPACE, "from": uids[0], "to": uid, "type": "RELATED_TO"}
        assert 201 == api.post("/v1/edges", body).status_code
    for number in NUMBERS[1:4]:
        merge = {"space": SPACE, "into": "person:p0"}
        path = f"/v1/entities/person:p{number}/merge"
        if api.post(path, merge).status_code == 422:  # two names with different digits
            break
    return api


@pytest.fixture
def paged(tied):
    """What reads a list page by page, over the service of this module."""
    tied.client.application.extensions["graphmem"] = tied.house.graphmem

    def read(path, limit):
        found, cursor = [], ""
        while True:
            answer = tied.get(f"{path}limit={limit}{cursor}").get_json()
            assert len(answer["items"]) <= limit
            found += answer["items"]
            assert len(found) <= 10 * len(NUMBERS)  # else it goes round in a circle
            if answer["next_cursor"] is None:
                return found
            cursor = f"&cursor={answer['next_cursor']}"

    return read


@pytest.mark.parametrize(
    ("path", "names"),
    [
        (f"/v1/memories?space={SPACE}&", ("uid",)),
        (f"/v1/memories?space={SPACE}&known_at=2026-03-01T09:30:00Z&", ("uid",)),
        (f"/v1/memories?space={SPACE}&status=active&type=Fact&", ("uid",)),
        (f"/v1/edges?space={SPACE}&", ("uid",)),
        (f"/v1/entities?space={SPACE}&", ("key",)),
        (f"/v1/entities?space={SPACE}&prefix=p&", ("key",)),
        ("/v1/spaces?", ("space",)),
    ],
)
def test_a_list_read_one_by_one_shows_each_exactly_once_and_in_one_order(paged, path, names):
    def identity(item):
        return tuple(item[name] for name in names)

    whole = [identity(item) for item in paged(path, 200)]
    one_by_one = [identity(item) for item in paged(path, 1)]

    assert len(whole) >= len(NUMBERS) - 1
    assert len(set(whole)) == len(whole)
    assert whole == one_by_one
    assert whole == [identity(item) for item in paged(path, 3)]


@pytest.mark.parametrize("options", [{}, {"ranker": "rrf"}, {"ranker": "lifecycle"}])
def test_memories_of_equal_score_are_recalled_in_one_order_however_many_are_asked_for(
    tied, paged, options
):
    def recalled(limit):
        body = {"spaces": [SPACE], "query": "the same tea", "limit": limit} | options
        answer = tied.post("/v1/recall", body).get_json()
        return [(item["score"], item["memory"]["uid"]) for item in answer["items"]]

    bundles = [recalled(len(NUMBERS)) for _ in range(4)]

    # being recalled is counted behind, so the scores of all may rise together between two recalls
    assert [sorted(each, key=lambda item: (-item[0], item[1])) for each in bundles] == bundles
    (order,) = {tuple(uid for _, uid in each) for each in bundles}
    assert len(NUMBERS) == len(set(order))
