"""The wall: what belongs to another is not there, not even as a difference between two answers.

One service holds Ada's things for all tests here, and three strangers: nothing that a stranger does
may change what is Ada's, so no test has to build them anew. Every route that names a space or
something in one has its line in one of the tables; the OpenAPI document says which these are.
"""

import json
from itertools import chain

import pytest
from careers import approved, bootstrapped, drafted, pushed
from companions import put, put_persona, say
from corpora import a_corpus
from governed import PROFILE, agree, called

from api.memories.schemas import MemoryRequest
from graphmem.model.caller import Role

SECRET = "zanzibar"
CHAT = "/v1/conversations/chat"
COACH = "/v1/companions/ada/coach"
ADA = {"user": {"id": "ada"}}  # the state of a governed call of hers
MEMORIES, EDGES = 4, 2  # of Ada


@pytest.fixture(scope="module")
def world(api_of_module):
    """Ada's spaces full of things."""
    api = api_of_module
    for uid, entities in {
        "one": ["person:ada", "person:eve"],
        "two": ["person:ada", "person:eve", "place:x", "place:y"],
        "taken": [],
    }.items():
        body = {
            "space": "user:ada",
            "content": f"{SECRET} {uid}.",
            "uid": uid,
            "entities": entities,
            "importance": 90,
        }
        assert 201 == api.post("/v1/memories", body).status_code
    for kind, uid in (("CAUSED_BY", "edge"), ("PART_OF", "edge-2")):
        body = {"space": "user:ada", "from": "one", "to": "two", "type": kind, "uid": uid}
        assert 201 == api.post("/v1/edges", body).status_code
    api.post("/v1/entities/person:eve/merge", {"space": "user:ada", "into": "person:ada"})
    body = {"space": "user:ada", "type": "place", "name": "Declared", "description": SECRET}
    assert 201 == api.post("/v1/entities", body).status_code
    body = {"space": "orchestrator:ada", "content": f"{SECRET} decided.", "type": "Decision"}
    assert 201 == api.post("/v1/memories", body).status_code
    related = {"from": "person:ada", "to": "place:x", "label": f"saw {SECRET}"}
    answer = api.post("/v1/relations", related | {"space": "user:ada", "source_memory": "two"})
    assert 201 == answer.status_code
    waits = {"space": "user:ada", "session": SECRET, "role": "user", "content": f"{SECRET}."}
    assert 201 == api.post("/v1/turns", waits).status_code
    said = {"role": "user", "content": f"{SECRET} said.", "message_id": "message"}
    answer = api.post(f"{CHAT}/turns", {"space": "user:ada", "turns": [said]})
    assert 201 == answer.status_code
    body = {"space": "orchestrator:ada", "message_id": "message", "query": SECRET}
    assert SECRET in api.post("/v1/bulletins", body).get_json()["rendered"]
    put_persona(api, prompt=SECRET)
    assert 200 == put(api, "/v1/companions/ada/seed", {"content": SECRET}).status_code
    assert 201 == say(api, f"I'll ask about {SECRET} tomorrow.").status_code
    body = {"type": "PROFILE", "content": f"Born in {SECRET}."}
    assert 201 == api.post("/v1/companions/ada/memories", body).status_code
    agree(api, short_term=4)
    called(api, f"I know {SECRET}.", state=ADA, identity={"id": "ada"})
    bootstrapped(api)
    drafted(api, a_corpus(profile={"full_name": f"Ada {SECRET}"}))
    approved(api, "profile")
    assert pushed(api, target_sections=["profile"], scaffold=True)["persisted"]
    return api


@pytest.fixture
def walled(world):
    """Ada's key, over the service of this module."""
    world.client.application.extensions["graphmem"] = world.house.graphmem
    return world


@pytest.fixture(scope="module", params=["another tenant", "another space", "a persona of another"])
def other(request, world):
    """A key that may do everything elsewhere, with memories of its own of the same names."""
    world.client.application.extensions["graphmem"] = world.house.graphmem
    key = {
        "another tenant": lambda: world.with_key(
            Role.ADMIN, "*", tenant=f"{world.house.caller.tenant}-2"
        ),
        "another space": lambda: world.with_key(Role.ADMIN, "user:bob"),
        "a persona of another": lambda: world.with_key(Role.ADMIN, "user:bob/ada"),
    }[request.param]()
    space = "user:bob/ada" if "persona" in request.param else "user:bob"
    key.post(
        "/v1/memories",
        {"space": space, "content": "Of Bob.", "uid": "bobs", "entities": ["person:ada"]},
    )
    yield key, space
    world.house.rows(
        "MATCH (n) WHERE n.space STARTS WITH $other DETACH DELETE n",
        other=f"{world.house.caller.tenant}-",
    )


@pytest.fixture
def stranger(other, walled):
    """A stranger and its space."""
    return other


def call(key, method, path, body=None):
    sent = (
        {"data": json.dumps(body), "content_type": "application/json"} if body is not None else {}
    )
    return key.client.open(path, method=method, headers={"X-API-Key": key.key}, **sent)


# Routes that name one thing by its uid: what is in its place in the path, and the body.
BY_UID = {
    "GET /v1/memories/{uid}": ("one", None),
    "GET /v1/memories/{uid}/history": ("one", None),
    "GET /v1/memories/{uid}/sources": ("one", None),
    "GET /v1/memories/{uid}/neighbours": ("one", None),
    "PATCH /v1/memories/{uid}": ("one", {"importance": 1}),
    "POST /v1/memories/{uid}/retract": ("one", {}),
    "POST /v1/memories/{uid}/restore": ("one", {}),
    "POST /v1/memories/{uid}/archive": ("one", {}),
    "POST /v1/memories/{uid}/unfold": ("one", None),
    "POST /v1/memories/{uid}/share": ("one", {}),
    "DELETE /v1/edges/{uid}": ("edge", None),
    "POST /v1/entities/merges/{merge_id}/undo": ("merge", {}),
    "GET /v1/traces/{trace_id}": ("trace", None),
    "GET /v1/traces/{trace_id}/why/{uid}": ("trace", None),
}

# Routes that name a space: the path with what is Ada's in it, and the body.
BY_SPACE = {
    "GET /v1/memories": ("/v1/memories?space=user:ada", None),
    "GET /v1/edges": ("/v1/edges?space=user:ada", None),
    "GET /v1/entities": ("/v1/entities?space=user:ada", None),
    "GET /v1/entities/{key}": ("/v1/entities/person:ada?space=user:ada", None),
    "GET /v1/entities/{key}/card": ("/v1/entities/person:ada/card?space=user:ada", None),
    "GET /v1/entities/merges": ("/v1/entities/merges?space=user:ada", None),
    "GET /v1/conversations": ("/v1/conversations?space=user:ada", None),
    "GET /v1/conversations/{conversation_id}": (f"{CHAT}?space=user:ada", None),
    "PATCH /v1/conversations/{conversation_id}": (CHAT, {"space": "user:ada", "title": "Mine"}),
    "DELETE /v1/conversations/{conversation_id}": (f"{CHAT}?space=user:ada", None),
    "GET /v1/conversations/{conversation_id}/turns": (f"{CHAT}/turns?space=user:ada", None),
    "POST /v1/conversations/{conversation_id}/turns": (
        f"{CHAT}/turns",
        {"space": "user:ada", "turns": [{"role": "user", "content": "Mine."}]},
    ),
    "POST /v1/conversations/{conversation_id}/turns/pop": (
        f"{CHAT}/turns/pop",
        {"space": "user:ada"},
    ),
    "GET /v1/conversations/{conversation_id}/turns/{uid}": (
        f"{CHAT}/turns/one?space=user:ada",
        None,
    ),
    "GET /v1/conversations/{conversation_id}/turns/{uid}/history": (
        f"{CHAT}/turns/one/history?space=user:ada",
        None,
    ),
    "DELETE /v1/conversations/{conversation_id}/turns/{uid}": (
        f"{CHAT}/turns/one?space=user:ada",
        None,
    ),
    "POST /v1/turns": (
        "/v1/turns",
        {"space": "user:ada", "session": "chat", "role": "user", "content": "FYI it is mine."},
    ),
    "POST /v1/turns/batch": (
        "/v1/turns/batch",
        {"space": "user:ada", "session": "c", "turns": [{"role": "user", "content": "Mine."}]},
    ),
    "GET /v1/extractions": ("/v1/extractions?space=user:ada", None),
    "GET /v1/extractions/{uid}": ("/v1/extractions/one?space=user:ada", None),
    "POST /v1/extractions/preview": (
        "/v1/extractions/preview",
        {"space": "user:ada", "turns": [{"role": "user", "content": f"I know {SECRET[:4]}."}]},
    ),
    "GET /v1/spaces/{name}/buffers": ("/v1/spaces/user:ada/buffers", None),
    "POST /v1/spaces/{name}/buffers/flush": ("/v1/spaces/user:ada/buffers/flush", {}),
    "POST /v1/feedback": (
        "/v1/feedback",
        {"space": "user:ada", "session": "chat", "uid": "one", "useful": False},
    ),
    "GET /v1/spaces/{name}/threads": ("/v1/spaces/user:ada/threads", None),
    "POST /v1/lifecycle/context": (
        "/v1/lifecycle/context",
        {"space": "user:ada", "session": "chat", "query": f"What of {SECRET[:4]}?"},
    ),
    "GET /v1/spaces/{name}/boxes": ("/v1/spaces/user:ada/boxes", None),
    "GET /v1/spaces/{name}/boxes/{uid}": ("/v1/spaces/user:ada/boxes/one", None),
    "POST /v1/spaces/{name}/boxes/seal": ("/v1/spaces/user:ada/boxes/seal", {}),
    "GET /v1/spaces/{name}/topic-traces": ("/v1/spaces/user:ada/topic-traces", None),
    "GET /v1/spaces/{name}/topic-traces/{uid}": ("/v1/spaces/user:ada/topic-traces/one", None),
    "GET /v1/spaces/{name}/artefacts": ("/v1/spaces/user:ada/artefacts", None),
    "GET /v1/spaces/{name}/profile": ("/v1/spaces/user:ada/profile", None),
    "GET /v1/spaces/{name}/identity": ("/v1/spaces/user:ada/identity", None),
    "POST /v1/spaces/{name}/identity": ("/v1/spaces/user:ada/identity", {"text": "Mine."}),
    "GET /v1/spaces/{name}/questions": ("/v1/spaces/user:ada/questions", None),
    "POST /v1/spaces/{name}/questions/{uid}/resolve": (
        "/v1/spaces/user:ada/questions/one/resolve",
        {},
    ),
    "GET /v1/spaces/{name}/entity-index": ("/v1/spaces/user:ada/entity-index", None),
    "GET /v1/entities/{key}/activity": (
        "/v1/entities/person:ada/activity?space=user:ada",
        None,
    ),
    "GET /v1/relations": ("/v1/relations?space=user:ada", None),
    "POST /v1/relations": (
        "/v1/relations",
        {"space": "user:ada", "from": "person:ada", "to": "place:x", "label": "is in"},
    ),
    "DELETE /v1/relations/{uid}": ("/v1/relations/one?space=user:ada", None),
    "GET /v1/spaces/policy": ("/v1/spaces/policy?space=user:ada", None),
    "PUT /v1/spaces/policy": ("/v1/spaces/policy", {"space": "user:ada", "overrides": {}}),
    "GET /v1/spaces/{name}/policy": ("/v1/spaces/user:ada/policy", None),
    "GET /v1/spaces/{name}/topics": ("/v1/spaces/user:ada/topics", None),
    "POST /v1/recall": (
        "/v1/recall",
        {"spaces": ["user:ada"], "query": SECRET, "cards": True, "graph": True},
    ),
    "POST /v1/memories": ("/v1/memories", {"space": "user:ada", "content": "Mine."}),
    "POST /v1/edges": (
        "/v1/edges",
        {"space": "user:ada", "from": "one", "to": "two", "type": "PART_OF"},
    ),
    "POST /v1/entities": (
        "/v1/entities",
        {"space": "user:ada", "type": "person", "name": "Ada", "description": "Mine."},
    ),
    "PATCH /v1/entities/{key}": (
        "/v1/entities/person:ada",
        {"space": "user:ada", "description": "Mine."},
    ),
    "DELETE /v1/entities/{key}": ("/v1/entities/place:declared?space=user:ada", None),
    "POST /v1/entities/{key}/merge": (
        "/v1/entities/person:eve/merge",
        {"space": "user:ada", "into": "person:ada"},
    ),
    "POST /v1/entities/{key}/split": (
        "/v1/entities/person:ada/split",
        {"space": "user:ada", "into": {"key": "person:new"}, "memories": ["one"]},
    ),
    "POST /v1/jobs/{name}/runs": ("/v1/jobs/integrity/runs", {"space": "user:ada"}),
    "GET /v1/bulletins/{message_id}": ("/v1/bulletins/message?space=orchestrator:ada", None),
    "POST /v1/bulletins": (
        "/v1/bulletins",
        {"space": "orchestrator:ada", "message_id": "message", "query": SECRET},
    ),
    "POST /v1/context": (
        "/v1/context",
        {
            "space": "orchestrator:ada",
            "purpose": "selector",
            "message_id": "new",
            "content": f"What of {SECRET[:4]}?",
        },
    ),
    "POST /v1/ingest": (
        "/v1/ingest",
        {"space": "orchestrator:ada", "filename": "a.txt", "content": "Mine."},
    ),
    "POST /v1/ingest/scan": ("/v1/ingest/scan", {"space": "orchestrator:ada"}),
    "POST /v1/write-backs/diagnostics": (
        "/v1/write-backs/diagnostics",
        {"space": "orchestrator:ada", "finding_id": "f", "content": "Mine."},
    ),
    "POST /v1/write-backs/transcript": (
        "/v1/write-backs/transcript",
        {"space": "orchestrator:ada", "conversation_id": "c", "message_id": "m", "content": "M."},
    ),
    "POST /v1/write-backs/workflow-output": (
        "/v1/write-backs/workflow-output",
        {
            "space": "orchestrator:ada",
            "workflow_run_id": "r",
            "step_id": "s",
            "attempt": 1,
            "outputs": {"note": "Mine."},
        },
    ),
}

# Routes of governed memory, by what stands behind the profile.
OF_GOVERNED = {
    "POST /recall": {"input": SECRET[:4], "state": ADA},
    "POST /record": {"input": "Mine.", "output": "Mine.", "state": ADA},
    "POST /calls": {"input": "Mine.", "output": "Mine.", "state": ADA},
    "POST /imposed": {"space": "session:ada", "kind": "semantic", "text": "Mine."},
    "GET /phases": "?space=session:ada",
    "GET /phases/diff": "?space=session:ada&from=phase-1&to=phase-1",
    "GET /items": "?space=session:ada&kind=short_term",
    "GET /items/{item_id}/events": None,
}
BY_SPACE |= {
    f"{method} /v1/governed/{{profile}}{path}": (
        PROFILE
        + path.format(item_id="session:ada:short_term:1")
        + (asked if isinstance(asked, str) else ""),
        asked if isinstance(asked, dict) else None,
    )
    for (method, _, path), asked in (
        (route.partition(" "), asked) for route, asked in OF_GOVERNED.items()
    )
}

BY_SPACE["POST /v1/contracts/{profile}/preview"] = (
    "/v1/contracts/assistant/preview",
    {"contract": {}, "spaces": ["session:ada"]},
)

# Routes of companions, by what stands behind the user, or behind the user and the persona.
OF_COMPANIONS = {
    "GET": None,
    "PUT": {"email": "eve@example.com"},
    "GET /seed": None,
    "PUT /seed": {"content": "Mine."},
    "GET /memories": None,
    "POST /memories": {"type": "PROFILE", "content": "Mine."},
    "GET /entity-overrides": None,
    "PUT /entity-overrides": {"overrides": {"person:ada": "person:eve"}},
    "GET /entity-suggestions": None,
    "GET /spine": None,
    "GET /spine/{version}": None,
    "GET /{persona}/messages": None,
    "POST /{persona}/messages": {"message_id": "n", "role": "user", "content": "Mine."},
    "GET /{persona}/state": None,
    "GET /{persona}/sessions": None,
    "GET /{persona}/sessions/{uid}": None,
    "GET /{persona}/rolling-summaries": None,
    "GET /{persona}/todos": None,
    "POST /{persona}/todos": {"kind": "HABIT", "content": "Mine."},
    "PATCH /{persona}/todos/{uid}": {"content": "Mine."},
    "POST /{persona}/recall": {"query": SECRET},
    "GET /{persona}/context": None,
    "POST /{persona}/context": {"query": SECRET[:4]},
}
BY_SPACE |= {
    f"{method} /v1/companions/{{user}}{path}": (
        f"/v1/companions/ada{path}".format(persona="coach", version=1, uid="one"),
        body,
    )
    for (method, _, path), body in (
        (route.partition(" "), body) for route, body in OF_COMPANIONS.items()
    )
}


def _parted(route):
    return route.partition(" ")


# Routes of another form, each with a test of its own here.
OTHERWISE = {
    "POST /v1/memories/batch": "test_a_batch_stores_nothing_over_the_wall",
    "GET /v1/jobs/{name}/runs": "test_runs_of_jobs_elsewhere_are_not_shown",
    "GET /v1/admin/keys": "test_keys_are_seen_and_revoked_in_their_tenant_only",
    "POST /v1/admin/keys": "test_keys_are_seen_and_revoked_in_their_tenant_only",
    "DELETE /v1/admin/keys/{key_id}": "test_keys_are_seen_and_revoked_in_their_tenant_only",
    "GET /v1/personas": "test_personas_are_seen_and_changed_in_their_tenant_only",
    "GET /v1/personas/{slug}": "test_personas_are_seen_and_changed_in_their_tenant_only",
    "PUT /v1/personas/{slug}": "test_personas_are_seen_and_changed_in_their_tenant_only",
    "GET /v1/contracts": "test_contracts_are_seen_and_changed_in_their_tenant_only",
    "GET /v1/contracts/{profile}": "test_contracts_are_seen_and_changed_in_their_tenant_only",
    "GET /v1/contracts/{profile}/versions": (
        "test_contracts_are_seen_and_changed_in_their_tenant_only"
    ),
    "PUT /v1/contracts/{profile}": "test_contracts_are_seen_and_changed_in_their_tenant_only",
    "GET /v1/spaces": "test_own_recalls_cards_lists_and_spaces_hold_nothing_of_another",
}

# Routes of corpora, by what stands behind the owner.
OF_CORPORA = {
    "GET": None,
    "POST /bootstrap": {"turn": "t"},
    "GET /draft": None,
    "PATCH /draft": {"profile": {"full_name": "Eve"}},
    "PUT /draft/sections/{section}": {"full_name": "Eve"},
    "PUT /draft/{kind}": {"name": "Mine", "role": "lead"},
    "DELETE /draft/{kind}/{uid}": None,
    "POST /draft/restore": None,
    "POST /approvals": {
        "section": "profile",
        "approved": True,
        "basis": "current_chat",
        "content_sha256": "0" * 64,
    },
    "GET /approvals": None,
    "POST /push": {},
    "POST /pull": {},
    "POST /revert": {"revision": 1},
    "POST /repair": {},
    "GET /transitions": None,
    "POST /status": {"audience": "eve"},
    "GET /status": None,
    "POST /ingestions": {"source": "cv", "text": "Skills"},
    "POST /normalise": {"document": {}},
    "GET /onboarding": None,
    "GET /history": None,
    "GET /diff": "?from=0&to=1",
    "GET /export": None,
    "POST /import": {"corpus": {"profile": {"full_name": "Eve"}}},
}
OTHERWISE |= dict.fromkeys(
    (
        "GET /v1/corpora",
        *(f"{method} /v1/corpora/{{owner}}{path}" for method, _, path in map(_parted, OF_CORPORA)),
    ),
    "test_a_corpus_elsewhere_does_not_exist",
)

NAMES_A_SPACE = {"space", "spaces"}
HOLDS_REQUESTS = {"items"}  # of a batch: what the document says of them stands at the single one


def properties(document, schema):
    """The names of all fields of a schema, at any depth."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    below = chain(
        schema.get("properties", {}).values(),
        [schema["items"]] if "items" in schema else [],
        schema.get("anyOf", []),
    )
    found = set(schema.get("properties", {}))
    return found.union(*(properties(document, each) for each in below))


def routes_with_walls(document):
    """The routes that take a space, or name something in one by their path."""
    for path, operations in document["paths"].items():
        shared = operations.get("parameters", [])
        for method, operation in operations.items():
            if method == "parameters":
                continue
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            named = properties(document, body.get("schema", {}))
            named |= {each["name"] for each in (*shared, *operation.get("parameters", []))}
            in_path = any(each["in"] == "path" for each in shared)
            if in_path or named & (NAMES_A_SPACE | HOLDS_REQUESTS):
                yield f"{method.upper()} {path}"


def test_every_route_that_takes_a_space_or_a_uid_has_a_line_in_a_table(api):
    document = api.get("/openapi.json").get_json()

    listed = [*BY_UID, *BY_SPACE, *OTHERWISE]
    assert sorted(set(listed)) == sorted(listed)
    without_parameters = {
        "GET /v1/admin/keys",
        "GET /v1/contracts",
        "GET /v1/corpora",
        "GET /v1/personas",
        "GET /v1/spaces",
    }
    assert set(listed) - without_parameters == set(routes_with_walls(document))
    assert set(OTHERWISE.values()) <= set(globals())


def test_every_route_that_is_left_out_of_the_tables_asks_for_no_memories(api):
    document = api.get("/openapi.json").get_json()
    routes = {
        f"{method.upper()} {path}"
        for path, operations in document["paths"].items()
        for method in operations
        if method != "parameters"
    }

    assert {
        "GET /health/live",
        "GET /health/ready",
        "GET /metrics",
        "GET /version",
        "GET /v1/jobs",
    } == routes - {*BY_UID, *BY_SPACE, *OTHERWISE}


def uid_of(walled, what):
    """The uid of something of Ada's."""
    if what == "merge":
        answer = walled.get("/v1/entities/merges?space=user:ada")
        return answer.get_json()["items"][0]["merge_id"]
    if what == "trace":
        body = {"spaces": ["user:ada"], "query": SECRET}
        trace_id = walled.post("/v1/recall", body).get_json()["trace_id"]
        walled.house.graphmem.journal.flush()
        assert 200 == walled.get(f"/v1/traces/{trace_id}").status_code
        return trace_id
    return what


@pytest.mark.parametrize("route", sorted(BY_UID))
def test_a_memory_elsewhere_answers_like_one_that_never_was(stranger, walled, route):
    key, _ = stranger
    method, path = route.split()
    what, body = BY_UID[route]
    name = path.partition("{")[2].partition("}")[0]

    there, nowhere = (
        call(key, method, path.format(**{"uid": "one", name: uid}), body)
        for uid in (uid_of(walled, what), "nothing")
    )

    assert (404, 404) == (there.status_code, nowhere.status_code)
    assert without_id(there) == without_id(nowhere)


def test_an_edge_elsewhere_answers_like_one_that_never_was(stranger, walled):
    key, space = stranger

    there, nowhere = (call(key, "DELETE", f"/v1/edges/{uid}") for uid in ("edge", "nothing"))

    assert (404, 404) == (there.status_code, nowhere.status_code)
    assert without_id(there) == without_id(nowhere)
    for ends in ({"from": "one", "to": "bobs"}, {"from": "bobs", "to": "one"}):
        drawn = call(key, "POST", "/v1/edges", {"space": space, "type": "RELATED_TO"} | ends)
        missing = call(
            key,
            "POST",
            "/v1/edges",
            {"space": space, "type": "RELATED_TO"}
            | {k: v.replace("one", "zip") for k, v in ends.items()},
        )
        assert 422 == drawn.status_code
        assert without_id(drawn) == without_id(missing)
    assert EDGES == walled.get("/v1/edges?space=user:ada").get_json()["total"]


def test_feedback_cannot_be_given_over_the_wall(stranger, walled):
    key, _ = stranger
    body = {"uid": "one", "useful": False}

    there, nowhere = (
        call(key, "POST", "/v1/feedback", body | {"trace_id": uid})
        for uid in (uid_of(walled, "trace"), "nothing")
    )

    assert (404, 404) == (there.status_code, nowhere.status_code)
    assert without_id(there) == without_id(nowhere)


@pytest.mark.parametrize(
    "field", ["updates", "contradicts", "related_to", "caused_by", "part_of", "after"]
)
def test_a_write_cannot_point_over_the_wall(stranger, walled, field):
    key, space = stranger
    target = "one" if field == "after" else ["one"]

    answer = call(key, "POST", "/v1/memories", {"space": space, "content": "Mine.", field: target})

    assert 422 == answer.status_code
    assert "active" == walled.get("/v1/memories/one").get_json()["status"]


@pytest.mark.parametrize("route", sorted(BY_SPACE))
def test_naming_a_space_elsewhere_gives_nothing_of_it(stranger, walled, route):
    method = route.split()[0]
    path, body = BY_SPACE[route]
    key, _ = stranger
    if key_tenant(walled, key) != walled.house.caller.tenant:  # who may name it: its own is meant
        key = walled.with_key(Role.ADMIN, "*", tenant=f"{walled.house.caller.tenant}-3")

    answer = call(key, method, path, body)

    assert SECRET not in answer.get_data(as_text=True)
    is_other_tenant = key_tenant(walled, key) != walled.house.caller.tenant
    if not is_other_tenant:
        assert 403 == answer.status_code
    assert MEMORIES == walled.get("/v1/memories?space=user:ada").get_json()["total"]
    assert 1 == walled.get("/v1/memories?space=orchestrator:ada").get_json()["total"]
    assert EDGES == walled.get("/v1/edges?space=user:ada").get_json()["total"]
    chat = walled.get(f"{CHAT}?space=user:ada").get_json()
    assert (1, None) == (chat["turns"], chat["title"])
    assert 1 == walled.get(f"{COACH}/todos").get_json()["total"]
    assert 1 == walled.get(f"{COACH}/messages").get_json()["total"]
    assert SECRET == walled.get("/v1/companions/ada/seed").get_json()["content"]


def test_own_recalls_cards_lists_and_spaces_hold_nothing_of_another(stranger):
    key, space = stranger

    answers = [
        call(
            key,
            "POST",
            "/v1/recall",
            {"spaces": [space], "query": SECRET, "cards": True, "graph": True, "limit": 200},
        ),
        call(key, "GET", f"/v1/entities/person:ada/card?space={space}"),
        call(key, "GET", f"/v1/entities?space={space}"),
        call(key, "GET", f"/v1/memories?space={space}"),
        call(key, "GET", f"/v1/conversations?space={space}"),
        call(key, "GET", f"/v1/relations?space={space}&entity=person:ada&depth=3"),
        call(key, "GET", "/v1/spaces"),
    ]

    assert [200] * 7 == [answer.status_code for answer in answers]
    text = "".join(answer.get_data(as_text=True) for answer in answers)
    assert SECRET not in text
    assert "user:ada" not in text
    assert "Eve" not in text


def test_a_cursor_of_another_key_opens_nothing(stranger, walled):
    key, space = stranger
    for noun in ("memories", "edges", "entities"):
        cursor = walled.get(f"/v1/{noun}?space=user:ada&limit=1").get_json()["next_cursor"]
        assert cursor is not None

        answer = call(key, "GET", f"/v1/{noun}?space={space}&cursor={cursor}")

        text = answer.get_data(as_text=True)
        assert not [word for word in (SECRET, "place:x", "place:y", '"edge') if word in text]
        assert answer.status_code in {200, 422}


def test_a_merge_elsewhere_cannot_be_undone(stranger, walled):
    key, _ = stranger
    merge_id = walled.get("/v1/entities/merges?space=user:ada").get_json()["items"][0]["merge_id"]

    there, nowhere = (
        call(key, "POST", f"/v1/entities/merges/{uid}/undo", {}) for uid in (merge_id, "nothing")
    )

    assert (404, 404) == (there.status_code, nowhere.status_code)
    assert without_id(there) == without_id(nowhere)


def test_a_uid_that_is_taken_elsewhere_is_free_here(stranger, walled):
    key, space = stranger

    answer = call(key, "POST", "/v1/memories", {"space": space, "content": "Mine.", "uid": "taken"})

    assert (201, "created") == (answer.status_code, answer.get_json()["outcome"])
    there = walled.get("/v1/memories/taken?space=user:ada").get_json()
    assert f"{SECRET} taken." == there["content"]


def test_a_batch_stores_nothing_over_the_wall(stranger, walled):
    key, _ = stranger
    assert "space" in MemoryRequest().fields  # each of the items names one

    body = {"items": [{"space": "user:ada", "content": "Mine."}]}
    answer = call(key, "POST", "/v1/memories/batch", body)

    refused = answer.get_json()["counts"]["refused"]
    assert (key_tenant(walled, key) == walled.house.caller.tenant) == (refused == 1)
    assert MEMORIES == walled.get("/v1/memories?space=user:ada").get_json()["total"]


def test_runs_of_jobs_elsewhere_are_not_shown(stranger, walled):
    key, _ = stranger
    run = walled.post("/v1/jobs/integrity/runs", {"space": "user:ada"}).get_json()["run"]
    assert "succeeded" == run["status"]

    answer = call(key, "GET", "/v1/jobs/integrity/runs?limit=200")

    assert 200 == answer.status_code
    assert run["uid"] not in answer.get_data(as_text=True)
    assert run["uid"] in walled.get("/v1/jobs/integrity/runs").get_data(as_text=True)


@pytest.mark.parametrize("route", sorted(OF_CORPORA))
def test_a_corpus_elsewhere_does_not_exist(stranger, walled, route):
    key, _ = stranger
    is_of_tenant = key_tenant(walled, key) == walled.house.caller.tenant
    method, _, path = _parted(route)
    path = path.format(section="profile", kind="projects", uid="proj_1")
    asked = OF_CORPORA[route]
    path, body = (path + asked, None) if isinstance(asked, str) else (path, asked)

    there = call(key, method, f"/v1/corpora/ada{path}", body)
    nowhere = call(key, method, f"/v1/corpora/nobody{path}", body)

    assert SECRET not in there.get_data(as_text=True)
    assert there.status_code == nowhere.status_code
    if is_of_tenant:
        assert 404 == there.status_code
        assert without_id(there) == without_id(nowhere)
    assert [] == [each for each in key.get("/v1/corpora").get_json()["items"] if each["revision"]]
    mine = walled.get("/v1/corpora/ada").get_json()
    assert (1, "CORPUS_PARTIAL") == (mine["revision"], mine["state"])
    assert SECRET in walled.get("/v1/corpora/ada/draft").get_data(as_text=True)


def test_keys_are_seen_and_revoked_in_their_tenant_only(stranger, walled):
    key, _ = stranger
    if key_tenant(walled, key) == walled.house.caller.tenant:
        body = {"name": "wide", "role": "reader", "spaces": ["user:ada"]}
        assert 403 == call(key, "POST", "/v1/admin/keys", body).status_code
        return
    body = {"name": "over", "role": "reader", "spaces": ["*"]}
    own = {each["id"] for each in walled.get("/v1/admin/keys").get_json()["items"]}

    seen = {each["id"] for each in call(key, "GET", "/v1/admin/keys").get_json()["items"]}
    there, nowhere = (call(key, "DELETE", f"/v1/admin/keys/{uid}") for uid in (min(own), "nothing"))
    made = call(key, "POST", "/v1/admin/keys", body | {"tenant": walled.house.caller.tenant})

    assert set() == seen & own
    assert (404, 404, 403) == (there.status_code, nowhere.status_code, made.status_code)
    assert without_id(there) == without_id(nowhere)


def test_contracts_are_seen_and_changed_in_their_tenant_only(stranger, walled):
    key, _ = stranger
    is_of_tenant = key_tenant(walled, key) == walled.house.caller.tenant
    path = "/v1/contracts/assistant"

    listed = [each["profile"] for each in key.get("/v1/contracts").get_json()["items"]]
    assert (["assistant"] if is_of_tenant else []) == listed
    for each in (path, f"{path}/versions"):
        assert (200 if is_of_tenant else 404) == key.get(each).status_code
    if not is_of_tenant:
        assert 201 == put(key, path, {"short_term": 9}).status_code
    assert 4 == walled.get(path).get_json()["contract"]["short_term"]
    walled.house.rows(
        "MATCH (n) WHERE n.tenant STARTS WITH $other AND (n:AiProfile OR n:Contract)"
        " DETACH DELETE n",
        other=f"{walled.house.caller.tenant}-",
    )


def test_personas_are_seen_and_changed_in_their_tenant_only(stranger, walled):
    key, _ = stranger
    is_own = key_tenant(walled, key) == walled.house.caller.tenant

    listed = call(key, "GET", "/v1/personas").get_json()["items"]
    found = call(key, "GET", "/v1/personas/coach")
    made = call(key, "PUT", "/v1/personas/coach", {"name": "Coach"})

    assert is_own == (SECRET in str(listed))
    assert (200 if is_own else 404) == found.status_code
    assert (200 if is_own else 201) == made.status_code
    assert SECRET == walled.get("/v1/personas/coach").get_json()["prompt"]


def key_tenant(walled, key):
    return walled.house.graphmem.keys.find(key.key).tenant


def without_id(answer):
    error = answer.get_json()["error"]
    return {name: value for name, value in error.items() if name != "request_id"}
