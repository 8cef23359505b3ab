def test_a_recall_answers_with_items_citations_and_mode(api):
    source = {"type": "channel_transcript", "conversation_id": "c-1"}
    api.post("/v1/memories", {"space": "user:ada", "content": "Ada likes tea.", "source": source})

    answer = api.post(
        "/v1/recall", {"spaces": ["user:ada"], "query": "tea", "explain": True}
    ).get_json()

    item = answer["items"][0]
    assert ("hybrid", [], [], []) == (
        answer["mode"],
        answer["degraded"],
        answer["edges"],
        answer["cards"],
    )
    assert {
        "uid": item["memory"]["uid"],
        "source_type": "channel_transcript",
        "source_path": None,
        "conversation_id": "c-1",
        "workflow_run_id": None,
        "step_id": None,
    } == item["citation"]
    assert 1 == item["explanation"]["arms"]["text"]["rank"]
    assert {"vector", "text", "confidence", "contradiction"} == set(item["explanation"]["factors"])
    assert 0 <= item["score"] <= 1


def test_an_explanation_is_given_only_when_asked(api):
    api.post("/v1/memories", {"space": "user:ada", "content": "Ada likes tea."})

    answer = api.post("/v1/recall", {"spaces": ["user:ada"], "query": "tea"}).get_json()

    assert "explanation" not in answer["items"][0]


def test_orchestrators_are_not_mixed(api):
    body = {"spaces": ["orchestrator:a", "user:ada"], "query": "x"}

    answer = api.post("/v1/recall", body)

    assert (403, "scope_denied") == (answer.status_code, answer.get_json()["error"]["code"])


def test_edges_among_the_results_come_with_them(api):
    api.post("/v1/memories", {"space": "user:ada", "content": "Tea is good.", "uid": "a"})
    api.post(
        "/v1/memories",
        {"space": "user:ada", "content": "Tea is great.", "uid": "b", "related_to": ["a"]},
    )

    edges = api.post("/v1/recall", {"spaces": ["user:ada"], "query": "tea"}).get_json()["edges"]

    assert [("b", "a", "RELATED_TO", 1.0)] == [
        (e["from"], e["to"], e["type"], e["weight"]) for e in edges
    ]
