"""The integration tests that 002 asks for, by its names (docs/conformance/002.md)."""

import json

import pytest

from graphmem.model.caller import Role

SPACE = "orchestrator:main"


def upload(api, filename, content):
    text = content if isinstance(content, str) else json.dumps(content)
    return api.post(
        "/v1/ingest", {"space": SPACE, "filename": filename, "content": text}
    ).get_json()


def add(api, content, **more):
    return api.post("/v1/memories", {"space": SPACE, "content": content} | more).get_json()[
        "memory"
    ]


def say(api, content, message, conversation):
    body = {
        "space": SPACE,
        "message_id": message,
        "conversation_id": conversation,
        "content": content,
    }
    return api.post("/v1/write-backs/transcript", body).get_json()


def named(api):
    """How the settings name the orchestrator of the test's tenant."""
    return f"{api.house.caller.tenant}/main"


def recall(api, query, *spaces, **more):
    return api.post("/v1/recall", {"spaces": spaces or [SPACE], "query": query} | more)


def memory_folder(api):
    data = api.house.graphmem.settings.server.data_dir
    return data / "tenants" / api.house.caller.tenant / "orchestrators" / "main" / "memory"


def events(api, name):
    lines = (memory_folder(api) / "logs" / "memory.log").read_text("utf-8").splitlines()
    return [line for line in map(json.loads, lines) if line["event"] == name]


def test_ingest_folder_lifecycle(api):
    good, bad = upload(api, "good.md", "We ship on Friday."), upload(api, "bad.json", "{")

    ingest = memory_folder(api) / "ingest"
    assert ("processed", "rejected") == (good["status"], bad["status"])
    assert ["good.md", "good.md.processed.json"] == sorted(
        path.name for path in (ingest / "processed").iterdir()
    )
    assert ["bad.json", "bad.json.rejection.json"] == sorted(
        path.name for path in (ingest / "rejected").iterdir()
    )
    assert [] == [path for path in ingest.iterdir() if path.is_file()]
    assert ["good.md"] == [event["file"] for event in events(api, "memory.ingest.processed")]
    assert ["invalid_json"] == [
        event["reason_code"] for event in events(api, "memory.ingest.rejected")
    ]


def test_typed_node_and_edge_persistence(api):
    memory = {"importance": 70, "summary": "s", "confidence": 0.9, "status": "active"}
    content = {
        "memories": [
            memory | {"memoryId": "g", "type": "Goal", "content": "Ship."},
            memory | {"memoryId": "t", "type": "Todo", "content": "Write notes."},
        ],
        "edges": [
            {
                "edgeId": "e",
                "fromMemoryId": "t",
                "toMemoryId": "g",
                "edgeType": "PartOf",
                "weight": 0.5,
            }
        ],
    }

    assert "processed" == upload(api, "typed.json", content)["status"]

    assert [("g", ["Goal", "Memory"]), ("t", ["Memory", "Todo"])] == api.house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant"
        " UNWIND labels(m) AS label WITH m, label ORDER BY label RETURN m.uid, collect(label)"
        " ORDER BY m.uid"
    )
    assert [("t", "PART_OF", 0.5, "g")] == api.house.rows(
        "MATCH (a:Memory)-[e]->(b:Memory) WHERE a.space STARTS WITH $tenant RETURN a.uid,"
        " type(e), e.weight, b.uid"
    )


def test_hybrid_retrieval_returns_merged_results_with_citations(api):
    upload(api, "tea.txt", "Green tea is served at noon.")
    say(api, "Somebody asked about tea.", "m-1", "c-1")

    answer = recall(api, "green tea", explain=True).get_json()

    assert ("hybrid", 2) == (answer["mode"], len(answer["items"]))
    first = answer["items"][0]
    assert all(first["explanation"]["arms"][arm] for arm in ("vector", "text"))
    path = str(memory_folder(api) / "ingest" / "processed" / "tea.txt")
    assert {
        "uid",
        "source_type",
        "source_path",
        "conversation_id",
        "workflow_run_id",
        "step_id",
    } == set(first["citation"])
    assert {("ingest_file", path, None), ("channel_transcript", None, "c-1")} == {
        tuple(item["citation"][name] for name in ("source_type", "source_path", "conversation_id"))
        for item in answer["items"]
    }


def test_contradiction_handling_creates_graph_edges_and_status_transitions(api):
    add(api, "The office is in Bonn.", uid="bonn")
    add(api, "The office is in Berlin.", uid="berlin", contradicts=["bonn"])

    found = recall(api, "Where is the office?").get_json()
    assert {"bonn": True, "berlin": True} == {
        item["memory"]["uid"]: item["contradicted"] for item in found["items"]
    }
    assert [("berlin", "bonn", "CONTRADICTS")] == [
        (e["from"], e["to"], e["type"]) for e in found["edges"]
    ]

    add(api, "The office moved to Berlin.", uid="moved", updates=["bonn"])
    found = recall(api, "Where is the office?").get_json()
    assert {"moved": False, "berlin": False} == {
        item["memory"]["uid"]: item["contradicted"] for item in found["items"]
    }
    assert "superseded" == api.get(f"/v1/memories/bonn?space={SPACE}").get_json()["status"]


def test_same_orchestrator_cross_channel_recall_allowed(api):
    say(api, "We drink green tea at noon.", "m-1", "channel-one")
    say(api, "Something else entirely.", "m-2", "channel-two")

    item = recall(api, "what do we drink at noon?").get_json()["items"][0]

    assert ("We drink green tea at noon.", "channel-one") == (
        item["memory"]["content"],
        item["citation"]["conversation_id"],
    )


@pytest.mark.parametrize("spaces", [[SPACE, "orchestrator:other"], [SPACE, "user:ada"]])
def test_cross_orchestrator_recall_denied_and_logged(api, spaces):
    upload(api, "tea.txt", "Green tea.")

    answer = recall(api, "tea", *spaces)

    assert (403, "scope_denied") == (answer.status_code, answer.get_json()["error"]["code"])
    (event,) = events(api, "memory.recall.scope_denied")
    assert (spaces[1].partition(":")[2], "main") == (
        event["requested_orchestrator_id"],
        event["available_orchestrator_id"],
    )


def test_a_key_of_one_orchestrator_reads_no_other_and_that_is_logged(api, capsys):
    upload(api, "tea.txt", "Green tea.")

    assert 403 == recall(api.with_key(Role.READER, "orchestrator:other"), "tea").status_code

    said = [
        json.loads(line)
        for line in capsys.readouterr().out.splitlines()
        if line.startswith('{"timestamp"')
    ]
    assert [("main", None)] == [
        (line["requested_orchestrator_id"], line["available_orchestrator_id"])
        for line in said
        if line["event"] == "memory.recall.scope_denied"
    ]


def test_bulletin_injected_into_selector_step_context_every_message(api):
    uid = add(api, "We decided on green tea.", type="Decision")["uid"]

    for number, purpose in enumerate(("selector", "step", "selector")):
        body = {
            "space": SPACE,
            "purpose": purpose,
            "message_id": f"m-{number}",
            "content": f"Tea? {number}",
        }
        answer = api.post("/v1/context", body | {"conversation_id": "c-1"}).get_json()

        assert f"[{uid}]" in answer["rendered"]
        kept = api.get(f"/v1/bulletins/m-{number}?space={SPACE}").get_json()
        assert answer["rendered"] == kept["rendered"]


def test_memory_that_is_switched_off_takes_and_gives_nothing_and_bulletins_are_empty(api):
    uid, other = (
        add(api, content)["uid"] for content in ("We decided on green tea.", "Tea is hot.")
    )
    for name in ("jon", "john"):
        add(api, f"I met {name}.", entities=[f"person:{name}"])
    merged = api.post("/v1/entities/person:jon/merge", {"space": SPACE, "into": "person:john"})
    configuration = api.house.graphmem.policies.configuration
    configuration.orchestrators[named(api)] = {"enabled": False}
    api.house.graphmem.policies.reload()

    for path, body in (
        ("/v1/memories", {"content": "More tea."}),
        ("/v1/ingest", {"filename": "a.txt", "content": "Tea."}),
        ("/v1/ingest/scan", {}),
    ):
        answer = api.post(path, {"space": SPACE} | body)
        assert (403, "memory_disabled") == (answer.status_code, answer.get_json()["error"]["code"])
    assert "memory_disabled" == recall(api, "tea").get_json()["error"]["code"]
    edge = {"space": SPACE, "from": uid, "to": other, "type": "RELATED_TO"}
    assert 403 == api.post("/v1/edges", edge).status_code
    assert 403 == api.post(f"/v1/memories/{uid}/retract?space={SPACE}", {}).status_code
    undo = f"/v1/entities/merges/{merged.get_json()['merge_id']}/undo"
    assert 403 == api.post(undo, {}).status_code
    bulletin = api.post(
        "/v1/bulletins", {"space": SPACE, "message_id": "m", "query": "tea"}
    ).get_json()
    assert ("empty_bulletin", []) == (bulletin["fallback"], bulletin["citations"])
    assert 200 == recall(api, "tea", "user:ada").status_code
    assert (
        201
        == api.post("/v1/memories", {"space": "orchestrator:other", "content": "Tea."}).status_code
    )


def test_ingest_that_is_switched_off_leaves_files_where_they_are(api):
    api.house.graphmem.policies.configuration.orchestrators[named(api)] = {"ingest.enabled": False}
    api.house.graphmem.policies.reload()

    folder = memory_folder(api) / "ingest"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("Tea.")

    answer = api.post("/v1/ingest/scan", {"space": SPACE})

    assert (403, "ingest_disabled") == (answer.status_code, answer.get_json()["error"]["code"])
    assert "succeeded" == api.house.graphmem.runner.run("ingest").status.value
    assert ["a.txt"] == [path.name for path in folder.iterdir()]


def test_what_holds_in_an_orchestrator_is_shown_with_where_it_came_from(api):
    configuration = api.house.graphmem.policies.configuration
    configuration.orchestrators[named(api)] = {"retrieval.top_n": 2}
    api.house.graphmem.policies.reload()
    for number in range(4):
        add(api, f"Tea number {number}.")
    api.client.put(
        "/v1/spaces/policy",
        json={"space": SPACE, "overrides": {"recall.rrf.k": 7}},
        headers={"X-API-Key": api.key},
    )

    shown = api.get(f"/v1/spaces/{SPACE}/policy").get_json()

    assert {
        "value": 2,
        "origin": f"file: orchestrators.{named(api)}.memory.retrieval.top_n",
    } == shown["memory"]["memory.retrieval.top_n"]
    assert {"value": 7, "origin": f"space: {SPACE}"} == shown["memory"]["memory.retrieval.rrf_k"]
    assert {"value": True, "origin": "default"} == shown["memory"]["memory.enabled"]
    assert (7, f"space: {SPACE}") == (
        shown["policy"]["recall.rrf.k"],
        shown["origins"]["recall.rrf.k"],
    )
    assert shown == api.get(f"/v1/spaces/policy?space={SPACE}").get_json()
    assert 2 == len(recall(api, "tea").get_json()["items"])
    assert 4 == len(recall(api, "tea", limit=10).get_json()["items"])
    assert "memory" not in api.get("/v1/spaces/user:ada/policy").get_json()
