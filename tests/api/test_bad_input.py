"""Bad input: the right status, a message that names the field, nothing stored, never a 500."""

import json

import pytest

GOOD = {"space": "user:ada", "content": "Ada likes tea."}


def good(**changes):
    return GOOD | changes


def nested(depth):
    return {"a": nested(depth - 1)} if depth else {}


BODIES = {
    "unknown field": (good(bogus=1), 422, "bogus"),
    "unknown field that no text can hold": (good(**{"\ud800": 1}), 422, "\ud800"),
    "metadata nested too deep": (good(metadata=nested(100)), 422, "metadata"),
    "wrong type": (good(importance="high"), 422, "importance"),
    "number as text": (good(importance="5"), 422, "importance"),
    "fraction for an integer": (good(importance=5.5), 422, "importance"),
    "content that is no text": (good(content=5), 422, "content"),
    "confidence as text": (good(confidence="0.5"), 422, "confidence"),
    "infinite confidence": (good(confidence=float("inf")), 422, "confidence"),
    "not a number": (good(confidence=float("nan")), 422, "confidence"),
    "not a number in a vector": (good(embedding=[float("nan")] * 384), 422, "embedding"),
    "vector of another size": (good(embedding=[1.0] * 3), 422, "embedding"),
    "zero vector": (good(embedding=[0] * 384), 422, "embedding"),
    "vector of texts": (good(embedding=["1"] * 384), 422, "embedding"),
    "inverted interval": (
        good(valid_from="2026-01-02T00:00:00Z", valid_until="2026-01-01T00:00:00Z"),
        422,
        "valid_until",
    ),
    "naive time": (good(occurred_at="2026-01-01T00:00:00"), 422, "occurred_at"),
    "date instead of a time": (good(occurred_at="2026-01-01"), 422, "occurred_at"),
    "year that no calendar has": (good(occurred_at="99999-01-01T00:00:00Z"), 422, "occurred_at"),
    "time that leaves the calendar in UTC": (
        good(occurred_at="0001-01-01T00:00:00+14:00"),
        422,
        "occurred_at",
    ),
    "too long": (good(content="x" * 33_000), 422, "content"),
    "empty": (good(content=""), 422, "content"),
    "blank": (good(content=" \n\t "), 422, "content"),
    "NUL": (good(content="a\x00b"), 422, "content"),
    "lone surrogate": (good(content="a\ud800b"), 422, "content"),
    "lone surrogate in a tag": (good(tags=["\udfff"]), 422, "tags.0"),
    "NUL in metadata": (good(metadata={"a": "\x00"}), 422, "metadata"),
    "lone surrogate in a source": (good(source={"key": "\ud800"}), 422, "source.key"),
    "unknown type": (good(type="Rumour"), 422, "type"),
    "unknown space form": (good(space="ada"), 422, "space"),
    "space with a wall in it": (good(space="user:a|b"), 422, "space"),
    "space that names a tenant": (good(space="other/user:ada"), 422, "space"),
    "missing space": ({"content": "A."}, 422, "space"),
    "missing content": ({"space": "user:ada"}, 422, "content"),
    "reserved metadata key": (good(metadata={"user_id": "x"}), 422, "metadata.user_id"),
    "metadata that is a list": (good(metadata=[1]), 422, "metadata"),
    "metadata too large": (good(metadata={"a": "x" * 20_000}), 422, "metadata"),
    "too many tags": (good(tags=["t"] * 33), 422, "tags"),
    "entity without type": (good(entities=["ada"]), 422, "entities.0.key"),
    "entity of another form": (good(entities=[5]), 422, "entities.0"),
    "edge to nothing": (good(updates=["nope"]), 422, "updates.0"),
    "transcript without conversation": (
        good(source={"type": "channel_transcript"}),
        422,
        "source.conversation_id",
    ),
    "unknown field in the source": (good(source={"bogus": 1}), 422, "source.bogus"),
    "a list instead of an object": ([1], 422, "body"),
    "a text instead of an object": ("x", 422, "body"),
    "nothing": (None, 422, "body"),
    "pinned that is no truth": (good(pinned="yes"), 422, "pinned"),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_bad_memory_is_refused_with_the_path_of_its_field(api, name):
    body, status, path = BODIES[name]

    answer = api.post("/v1/memories", body)

    assert status == answer.status_code, answer.get_data(as_text=True)
    error = answer.get_json()["error"]
    assert ("invalid_input", answer.headers["X-Request-ID"]) == (error["code"], error["request_id"])
    assert path in error["fields"]
    assert all(len(text) > 5 for texts in error["fields"].values() for text in texts)
    assert [(0,)] == api.house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant RETURN count(m)"
    )


RECALLS = {
    "blank query": ({"query": "  "}, "query"),
    "empty query": ({"query": ""}, "query"),
    "query too long": ({"query": "x" * 8_001}, "query"),
    "lone surrogate": ({"query": "\ud800"}, "query"),
    "no space": ({"spaces": []}, "spaces"),
    "nine spaces": ({"spaces": [f"user:{n}" for n in range(9)]}, "spaces"),
    "bad space": ({"spaces": ["user:ada", "x"]}, "spaces.1"),
    "limit of zero": ({"limit": 0}, "limit"),
    "limit of 201": ({"limit": 201}, "limit"),
    "limit as text": ({"limit": "5"}, "limit"),
    "huge limit": ({"limit": 10**30}, "limit"),
    "unknown ranker": ({"ranker": "magic"}, "ranker"),
    "candidates above the limit": ({"candidates_vector": 501}, "candidates_vector"),
    "unknown type": ({"types": ["Rumour"]}, "types.0"),
    "bad entity": ({"entities": ["ada"]}, "entities"),
    "score that is not a number": ({"min_score": float("nan")}, "min_score"),
    "unknown field": ({"bogus": 1}, "bogus"),
}


@pytest.mark.parametrize("name", RECALLS)
def test_a_bad_recall_is_refused_with_the_path_of_its_field(api, name):
    changes, path = RECALLS[name]

    answer = api.post("/v1/recall", {"spaces": ["user:ada"], "query": "tea"} | changes)

    assert 422 == answer.status_code
    assert path in answer.get_json()["error"]["fields"]


LISTS = {
    "no space": ("", "space"),
    "unknown parameter": ("space=user:ada&bogus=1", "bogus"),
    "bad status": ("space=user:ada&status=gone", "status"),
    "limit of zero": ("space=user:ada&limit=0", "limit"),
    "naive time": ("space=user:ada&created_after=2026-01-01T00:00:00", "created_after"),
    "cursor of nonsense": ("space=user:ada&cursor=nonsense", "cursor"),
    "cursor of another space": (
        "space=user:ada&cursor=MjAyNi0wMS0wMVQwMDowMDowMCswMDowMCB0L3VzZXI6Ym9ifG0",
        "cursor",
    ),
    "bad entity": ("space=user:ada&entity=ada", "entity"),
}


@pytest.mark.parametrize("name", LISTS)
def test_a_bad_list_is_refused_with_the_name_of_its_parameter(api, name):
    query, path = LISTS[name]

    answer = api.get(f"/v1/memories?{query}")

    assert 422 == answer.status_code
    assert any(path in field for field in answer.get_json()["error"]["fields"])


REQUESTS = {
    "malformed JSON": (b"{", "application/json", 400, "malformed"),
    "not UTF-8": (b'{"a": "\xff"}', "application/json", 400, "malformed"),
    "nested too deep": (b"[" * 100_000, "application/json", 400, "malformed"),
    "a number of 5,000 digits": (
        b'{"importance": ' + b"9" * 5_000 + b"}",
        "application/json",
        400,
        "malformed",
    ),
    "a form": (b"content=x", "application/x-www-form-urlencoded", 415, "not_json"),
    "text": (b"hello", "text/plain", 415, "not_json"),
    "a huge body": (b'"' + b"x" * (33 * 1024 * 1024) + b'"', "application/json", 413, "too_large"),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_that_is_not_json_is_refused(api, name):
    data, content_type, status, code = REQUESTS[name]

    answer = api.client.post(
        "/v1/memories", data=data, content_type=content_type, headers={"X-API-Key": api.key}
    )

    assert (status, code) == (answer.status_code, answer.get_json()["error"]["code"])


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("GET", "/v1/memories/nope", 404, "not_found"),
        ("GET", "/v1/memories/a%20b", 404, "not_found"),
        ("GET", "/v1/memories/" + "x" * 200, 404, "not_found"),
        ("DELETE", "/v1/memories", 405, "method_not_allowed"),
        ("GET", "/v1/recall", 405, "method_not_allowed"),
    ],
)
def test_every_error_has_the_one_body(api, method, path, status, code):
    answer = api.client.open(path, method=method, headers={"X-API-Key": api.key})

    assert (status, code) == (answer.status_code, answer.get_json()["error"]["code"])
    assert answer.get_json()["error"]["request_id"]


def test_a_batch_reports_each_bad_item_and_stores_the_good_ones(api):
    items = [
        GOOD,
        good(content=""),
        {"space": "user:ada"},
        5,
        None,
        good(content="my password: hunter2hunter2"),
    ]

    answer = api.post("/v1/memories/batch", {"items": items}).get_json()

    assert ["created", "refused", "refused", "refused", "refused", "refused"] == [
        r["outcome"] for r in answer["results"]
    ]
    assert ["invalid_input"] * 4 + ["policy_refused"] == [
        r["error"]["code"] for r in answer["results"][1:]
    ]
    assert (1, 5) == (answer["counts"]["created"], answer["counts"]["refused"])


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"items": []},
        {"items": [GOOD] * 501},
        {"items": 5},
        {"items": [GOOD], "bogus": 1},
        {"items": [GOOD], "atomic": "yes"},
    ],
)
def test_a_bad_batch_is_refused_whole(api, body):
    assert 422 == api.post("/v1/memories/batch", body).status_code


def test_a_refused_secret_says_why_and_is_nowhere(api):
    answer = api.post("/v1/memories", good(content="my password: hunter2hunter2"))

    assert 403 == answer.status_code
    assert ("policy_refused", "screening_secret") == (
        answer.get_json()["error"]["code"],
        answer.get_json()["error"]["reason"],
    )
    assert "hunter2" not in json.dumps(answer.get_json())


def problems_of(answer):
    assert 422 == answer.status_code
    return [text for texts in answer.get_json()["error"]["fields"].values() for text in texts]


TEA = {"space": "user:ada", "content": "Tea."}
MANY, KEYS = [1] * 300_000, dict.fromkeys(map(str, range(90_000)), 1)
TOO_MANY = {
    "references": ("memories", TEA | {"updates": MANY}),
    "tags": ("memories", TEA | {"tags": MANY}),
    "entities": ("memories", TEA | {"entities": MANY}),
    "metadata": ("memories", TEA | {"metadata": KEYS}),
    "fields": ("memories", KEYS),
    "items": ("memories/batch", {"items": MANY}),
    "types": ("recall", {"spaces": ["user:ada"], "query": "tea", "types": MANY}),
    "spaces": ("recall", {"spaces": MANY, "query": "tea"}),
    "outputs": ("write-backs/workflow-output", {"space": "orchestrator:main", "outputs": KEYS}),
}


@pytest.mark.parametrize("name", TOO_MANY)
def test_of_what_is_too_many_nothing_is_looked_at(api, name):
    path, body = TOO_MANY[name]

    told = problems_of(api.post(f"/v1/{path}", body))

    assert 1 == sum("At most" in text for text in told)
    assert len(told) < 5


def test_at_most_twenty_problems_of_a_memory_are_told(api):
    body = TEA | {"tags": ["\ud800"] * 30, "uid": "a b"}

    assert 20 == len(problems_of(api.post("/v1/memories", body)))


def test_a_run_of_marks_holds_nobody_up(api):
    for text in ("a" + "\u0301\u0323" * 15_000, "a" + "\u0301\u0323" * 200_000):
        for body in (
            {"space": "user:ada", "content": text},
            {"space": "user:ada", "content": "Tea.", "summary": text},
            {"space": f"user:{text}", "content": "Tea."},
            {"space": "user:ada", "content": "Tea.", "entities": [f"person:{text}"]},
            {"space": "user:ada", "content": "Tea.", "source": {"key": text}},
        ):
            assert api.post("/v1/memories", body).status_code in {201, 422}
        api.post("/v1/recall", {"spaces": ["user:ada"], "query": text[:8_000]})
    (memory,) = api.get("/v1/memories?space=user:ada").get_json()["items"]
    assert "a" + "\u0301\u0323" * 15_000 == memory["content"]  # as it was sent


@pytest.mark.parametrize("number", [5e-324, 1e-30, 0, 1e300])
def test_a_vector_that_is_nothing_in_32_bits_is_refused(api, number):
    vector = [number] * api.house.embedder.dimensions
    body = {"space": "user:ada", "content": "Tea.", "embedding": vector}

    assert "InvalidEmbedding" in str(problems_of(api.post("/v1/memories", body)))


def test_a_given_vector_is_compared_by_its_direction_alone(api):
    zeros = [0.0] * (api.house.embedder.dimensions - 2)
    near, far = [1e-9, 0.0, *zeros], [0.0, 1e9, *zeros]
    for content, vector in (("Near.", near), ("Far.", far)):
        body = {"space": "user:ada", "content": content, "embedding": vector}
        assert 201 == api.post("/v1/memories", body).status_code

    lengths = api.house.rows(
        "MATCH (c:Chunk) WHERE c.space STARTS WITH $tenant"
        " RETURN round(reduce(sum = 0.0, number IN c.embedding | sum + number * number), 3)"
    )

    assert [(1.0,), (1.0,)] == lengths
