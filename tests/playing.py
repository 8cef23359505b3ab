"""What a tenant can do over HTTP, played once: each call of the service that touches memories."""

from typing import Any

ADA, MAIN = "user:ada", "orchestrator:main"
RECALLS: list[dict[str, Any]] = [
    {},
    {"cards": True, "graph": True, "explain": True},
    {"tags": ["drink"], "limit": 3},
    {"entities": ["person:ada"]},
    {"types": ["Fact"], "include_superseded": True, "include_archived": True},
    {"known_at": "2026-03-01T09:30:00Z", "cards": True},
    {"as_of": "2026-03-01T09:30:00Z"},
    {"conversation_id": "c-1", "plan": True},
    {"ranker": "rrf", "captured_by": ["user"]},
]
LISTS = [
    "/v1/memories?space={space}&limit=2",
    "/v1/memories?space={space}&type=Fact&status=active&tag=drink",
    "/v1/memories?space={space}&entity=person:ada&known_at=2026-03-01T09:30:00Z",
    "/v1/memories?space={space}&conversation_id=c-1&as_of=2026-03-01T09:30:00Z",
    "/v1/edges?space={space}&limit=1",
    "/v1/edges?space={space}&memory=tea&type=RELATED_TO",
    "/v1/entities?space={space}&limit=1",
    "/v1/entities?space={space}&type=person&prefix=a",
    "/v1/entities/person:ada?space={space}",
    "/v1/entities/person:ada/card?space={space}",
    "/v1/entities/person:ada/card?space={space}&known_at=2026-03-01T09:30:00Z",
    "/v1/entities/merges?space={space}",
    "/v1/memories/tea?space={space}",
    "/v1/memories/tea",
    "/v1/memories/tea/history",
    "/v1/memories/tea/neighbours?depth=2",
    "/v1/spaces",
    "/v1/spaces/policy?space={space}",
    "/v1/spaces/{space}/topics",
]


def play(api: Any) -> None:
    """Do everything once, with the same names whoever does it."""
    write(api)
    change(api)
    ask(api)
    orchestrate(api)
    for job in api.house.graphmem.runner.jobs:
        if not job.by_command_only and not job.spans_spaces:
            api.post(f"/v1/jobs/{job.name}/runs", {"space": ADA})
    api.house.graphmem.journal.flush()


def write(api: Any) -> None:
    """Memories of every kind, and edges between them."""
    memories: list[dict[str, Any]] = [
        {"content": "Ada likes tea.", "uid": "tea", "tags": ["drink"], "logical_key": "drink"},
        {"content": "Ada met Eve in Rome. They had tea there.", "uid": "rome", "updates": ["tea"]},
        {"content": "Eve said hello.", "uid": "turn-1", "context": {"conversation_id": "c-1"}},
        {
            "content": "Ada said hello too.",
            "uid": "turn-2",
            "after": "turn-1",
            "context": {"conversation_id": "c-1"},
        },
        {"content": "Ada likes coffee.", "uid": "coffee", "related_to": ["rome"]},
    ]
    entities = ["person:ada", "person:eve", "place:rome"]
    for memory in memories:
        api.post("/v1/memories", {"space": ADA, "entities": entities} | memory)
    items = [{"space": ADA, "content": f"Number {number}.", "tags": ["n"]} for number in range(12)]
    api.post("/v1/memories/batch", {"items": items})
    for kind in ("RELATED_TO", "CAUSED_BY", "CONTRADICTS"):
        body = {"space": ADA, "from": "rome", "to": "coffee", "type": kind, "uid": f"e-{kind}"}
        api.post("/v1/edges", body)


def change(api: Any) -> None:
    """Corrections, statuses, edges removed, entities merged, split and parted again."""
    headers = {"X-API-Key": api.key}
    for body in ({"content": "Ada likes green tea."}, {"importance": 90}, {"tags": ["drink"]}):
        api.client.patch("/v1/memories/tea", json=body, headers=headers)
    for verb in ("archive", "restore", "retract", "restore", "unfold"):
        api.post(f"/v1/memories/coffee/{verb}", {})
    api.client.delete("/v1/edges/e-RELATED_TO", headers=headers)
    merge = {"space": ADA, "into": "person:ada"}
    split = {"space": ADA, "into": {"key": "place:roma"}, "memories": ["rome"]}
    for path, body in (("person:eve/merge", merge), ("place:rome/split", split)):
        change = api.post(f"/v1/entities/{path}", body).get_json()
        api.post(f"/v1/entities/merges/{change.get('merge_id', 'none')}/undo", {})


def ask(api: Any) -> None:
    """Recalls, lists, what follows on them, and why."""
    for options in RECALLS:
        body = {"spaces": [ADA, "user:bob"], "query": "What does Ada like?"} | options
        trace = api.post("/v1/recall", body).get_json()["trace_id"]
    api.house.graphmem.journal.flush()
    api.get(f"/v1/traces/{trace}/why/tea")
    for path in LISTS:
        answer = api.get(path.format(space=ADA))
        cursor = answer.get_json().get("next_cursor")
        if cursor:
            api.get(f"{path.format(space=ADA)}&cursor={cursor}")


def orchestrate(api: Any) -> None:
    """What orchestrators do."""
    body: dict[str, Any] = {"space": MAIN}
    run = {"workflow_run_id": "r", "step_id": "s", "attempt": 1, "outputs": {"decision": "Tea."}}
    api.post("/v1/write-backs/workflow-output", body | run)
    api.post("/v1/write-backs/diagnostics", body | {"finding_id": "f", "content": "It was slow."})
    turn = {"conversation_id": "c", "message_id": "m-0", "content": "Tea is ready."}
    api.post("/v1/write-backs/transcript", body | turn)
    for purpose in ("selector", "diagnostics"):
        message = {"purpose": purpose, "message_id": f"m-{purpose}", "content": "Is there tea?"}
        api.post("/v1/context", body | message | {"conversation_id": "c"})
    api.post("/v1/bulletins", body | {"message_id": "m-3", "query": "tea"})
    api.get(f"/v1/bulletins/m-3?space={MAIN}")
    notes = {"filename": "notes.md", "content": "We ship on Friday.\n\nAnd drink tea."}
    api.post("/v1/ingest", body | notes)
    api.post("/v1/ingest/scan", body)
