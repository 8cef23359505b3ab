"""Generated requests over all routes by all kinds of keys: no byte of another's comes back.

Whatever is written in a space carries the mark of that space. An answer may hold the marks of the
spaces that its key may see, and no others. Requests name what everybody has, spaces and memories,
but never a mark that their key may not see, so none is an echo.
"""

import json
import random
import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import quote

import pytest
from companions import put_persona, say

from graphmem.model.caller import Role
from graphmem.model.space import Space, parse_space

SPACES = ("user:ada", "user:ada/work", "user:bob", "orchestrator:main", "corpus:docs")
PATTERNS = (("*",), ("user:ada",), ("user:*",), ("user:ada/work",), ("orchestrator:*", "user:b*"))
MARK = re.compile(r"zq(\d+)q")
WORDS = "tea pot river garden boat lamp".split()
UIDS = ("m-1", "m-2", "m-3", "gone")
SELDOM = {"cursor", "as_of", "known_at", "embedding", "dedupe", "on_same_key", "confidence"} | {
    *("created_after", "created_before", "occurred_at", "valid_from", "valid_until", "expires_at"),
    *("weight", "link_type", "edge_type", "captured_by", "authority", "min_score", "attempt"),
    *("candidates_vector", "candidates_text", "ranker", "type", "status", "pinned", "importance"),
    *("limit_chars", "repair", "logical_key", "after", "before", "is_active", "email"),
}
OF_COMPANIONS = "/v1/companions/"  # whose paths name a user and a persona instead of a space
EXCEPT = {  # what would take the keys of the test away, or is no JSON
    ("delete", "/v1/admin/keys/{key_id}"),
    ("get", "/metrics"),
}


@dataclass(kw_only=True)
class Key:
    """A key and what it may see."""

    api: Any
    tenant: str
    role: Role
    patterns: tuple[str, ...]

    def may_see(self, space: Space) -> bool:
        """Whether a space is one of its own; a pattern of an owner covers what is below."""
        names = (space.name, space.name.partition("/")[0])
        return space.tenant == self.tenant and any(
            fnmatchcase(name, pattern) for name in names for pattern in self.patterns
        )


@dataclass(kw_only=True)
class World:
    """Three tenants, their spaces with their marks, their keys, and what was found on the way."""

    keys: list[Key]
    marks: dict[Space, str]
    operations: list[tuple[str, str, dict[str, Any]]]
    schemas: dict[str, Any]
    traces: list[str] = field(default_factory=list)
    merges: list[str] = field(default_factory=list)
    turns: list[str] = field(default_factory=list)

    def mark(self, tenant: str, name: object) -> str:
        """The mark of a space; none where there is no such space."""
        try:
            return self.marks.get(parse_space(str(name), tenant=tenant), "")
        except ValueError:
            return ""


@pytest.fixture(scope="module")
def world(api_of_module):
    """Everything filled, through the API itself."""
    api = api_of_module
    own = api.house.caller.tenant
    tenants = (own, f"{own}-b", f"{own}-c")
    spaces = [parse_space(name, tenant=tenant) for tenant in tenants for name in SPACES]
    document = api.get("/openapi.json").get_json()
    made = World(
        keys=[
            Key(
                api=api.with_key(role, *patterns, tenant=tenant),
                tenant=tenant,
                role=role,
                patterns=patterns,
            )
            for tenant in tenants
            for role in Role
            for patterns in PATTERNS
        ],
        marks={space: f"zq{number}q" for number, space in enumerate(spaces)},
        operations=[
            (method, path, operation | {"parameters": parameters_of(operations, operation)})
            for path, operations in document["paths"].items()
            for method, operation in operations.items()
            if method in {"get", "post", "put", "patch", "delete"} and (method, path) not in EXCEPT
        ],
        schemas=document["components"]["schemas"],
    )
    for space, mark in made.marks.items():
        fill(api.with_key(Role.ADMIN, "*", tenant=space.tenant), space.name, mark)
    yield made
    api.house.rows("MATCH (n) WHERE n.space STARTS WITH $others DETACH DELETE n", others=f"{own}-")


def parameters_of(operations, operation):
    """The parameters of a path, and those of one of its methods."""
    return [*operations.get("parameters", ()), *operation.get("parameters", ())]


def fill(api, space, mark):
    """Memories, edges, entities and a recall of a space, all with its mark."""
    items = [
        {
            "space": space,
            "uid": uid,
            "content": f"{mark} likes {WORDS[number]} and {WORDS[number + 1]}.",
            "summary": f"{mark} in short",
            "tags": ["tea", f"tag-{mark}"],
            "entities": ["person:ada", f"project:{mark}"],
            "metadata": {"note": mark},
            "importance": 90,
            "source": {"key": f"key-{mark}-{uid}", "conversation_id": f"talk-{mark}"},
        }
        for number, uid in enumerate((*UIDS[:3], f"own-{mark}"))
    ]
    assert 200 == api.post("/v1/memories/batch", {"items": items}).status_code
    body = {"space": space, "from": "m-1", "to": "m-2", "type": "RELATED_TO", "reason": mark}
    assert 201 == api.post("/v1/edges", body | {"uid": f"e-{mark}"}).status_code
    body = {"space": space, "from": "person:ada", "to": f"project:{mark}", "label": f"owns {mark}"}
    assert 201 == api.post("/v1/relations", body | {"source_memory": "m-1"}).status_code
    if space.startswith("user:"):
        say_to_a_persona(api, space, mark)
    api.post("/v1/recall", {"spaces": [space], "query": f"{mark} tea"})


def user_and_persona(space):
    """The user and the persona of a space of a user; others have a user who is nobody."""
    kind, _, name = space.partition(":")
    user, _, persona = name.partition("/")
    return (user, persona or "coach") if kind == "user" and user.isalpha() else ("eve", "coach")


def say_to_a_persona(api, space, mark):
    """A message, a fact and a todo of a user with a persona, with the mark of the space."""
    user, persona = user_and_persona(space)
    put_persona(api, persona)
    path = f"{OF_COMPANIONS}{user}/{persona}"
    assert 201 == say(api, f"I live in {mark}. I'll call {mark} at noon.", path=path).status_code
    body = {"kind": "THREAD", "content": f"Whether {mark} is far."}
    assert 201 == api.post(f"{path}/todos", body).status_code
    body = {"type": "PEOPLE", "content": f"{mark} is kind.", "persona": persona}
    assert 201 == api.post(f"{OF_COMPANIONS}{user}/memories", body).status_code


class Maker:
    """Makes up requests of one key."""

    def __init__(self, world: World, key: Key, chosen: random.Random) -> None:
        self.world, self.key, self.chosen = world, key, chosen

    def request(self) -> tuple[str, str, Any]:
        """A method, an address and a body."""
        method, path, operation = self.chosen.choice(self.world.operations)
        space = self.space()
        if path.startswith(OF_COMPANIONS) and not space.startswith("user:"):
            space = "user:ada/work"
        parameters = operation.get("parameters", [])
        query = {}
        for each in parameters:
            if each.get("in") == "path":
                is_turn = each["name"] == "uid" and "/turns/" in path
                named = self.turn() if is_turn else str(self.value(each["name"], space, {}))
                path = path.replace(f"{{{each['name']}}}", quote(named, safe=""))
            elif each.get("in") == "query" and (
                each.get("required") or each["name"] == "space" or self.is_sent(each["name"])
            ):
                query[each["name"]] = self.value(each["name"], space, each.get("schema", {}))
        if query:
            path += "?" + "&".join(f"{name}={quote(str(value))}" for name, value in query.items())
        content = operation.get("requestBody", {}).get("content", {}).get("application/json")
        return method, path, self.body(content["schema"], space) if content else None

    def space(self) -> str:
        """A space, more often than not one that the key may see."""
        seen = [each for each in self.world.marks if self.key.may_see(each)]
        if seen and self.chosen.random() < 0.6:
            return self.chosen.choice(seen).name
        tenant = self.chosen.choice([each.tenant for each in self.world.marks])
        return self.chosen.choice((*SPACES, f"{tenant}/user:ada", "user:eve", "user:*"))

    def text(self, space: str) -> str:
        """Words, with the mark of the space where the key may write it there."""
        words = " ".join(self.chosen.choices(WORDS, k=3))
        return f"{self.own_mark(space)} {words} {self.chosen.randrange(1000)}.".strip()

    def turn(self) -> str:
        """A turn that somebody was told of."""
        return self.chosen.choice(self.world.turns or ["none"])

    def own_mark(self, space: str) -> str:
        return self.world.mark(self.key.tenant, space)

    def body(self, schema: dict[str, Any], space: str) -> Any:
        """A body by its schema; optional values now and then."""
        schema = self.world.schemas.get(schema.get("$ref", "").rpartition("/")[2], schema)
        wanted = schema.get("required", [])
        return {
            name: self.value(name, space, inner)
            for name, inner in schema.get("properties", {}).items()
            if name in wanted or name in {"space", "spaces"} or self.is_sent(name)
        }

    def is_sent(self, name: str) -> bool:
        """Whether a value that may be left out is sent."""
        return (name not in SELDOM and self.chosen.random() < 0.25) or self.chosen.random() < 0.02

    def value(self, name: str, space: str, schema: dict[str, Any]) -> Any:
        """A value of a name, as a caller might send it."""
        pick, mark = self.chosen.choice, self.own_mark(space)
        uids = (*UIDS, f"own-{mark}") if mark else UIDS
        values = {
            "space": lambda: space,
            "spaces": lambda: [space, *([self.space()] if self.chosen.random() < 0.3 else [])],
            "name": lambda: pick(
                (space, "expire", "archive", "curate_dedupe", "integrity", "embed_pending")
            ),
            "uid": lambda: pick(uids),
            "memory": lambda: pick(uids),
            "from": lambda: pick(uids),
            "to": lambda: pick(uids),
            "memories": lambda: [pick(uids)],
            "related": lambda: [pick(uids)],
            "key": lambda: pick(("person:ada", "person:eve", f"project:{mark or 'none'}")),
            "into": lambda: pick(("person:ada", "person:eve", "person:new")),
            "trace_id": lambda: pick(self.world.traces or ["none"]),
            "merge_id": lambda: pick(self.world.merges or ["none"]),
            "message_id": lambda: pick(("message-1", "message-2")),
            "conversation_id": lambda: f"talk-{mark}" if mark else "talk",
            "content": lambda: self.text(space),
            "query": lambda: " ".join(self.chosen.choices(WORDS, k=2)),
            "summary": lambda: self.text(space),
            "reason": lambda: "because",
            "actor": lambda: "Ada",
            "context": lambda: "before",
            "type": lambda: pick(("Fact", "Todo", "RELATED_TO", "CAUSED_BY", "person")),
            "description": lambda: self.text(space) or "known",
            "aliases": lambda: pick((["Addie"], ["Tea pot"])),  # names are shared with all personas
            "attributes": lambda: {"note": mark},
            "status": lambda: pick(("active", "superseded", "archived")),
            "entities": lambda: ["person:ada", f"project:{mark or 'none'}"],
            "entity": lambda: "person:ada",
            "prefix": lambda: pick(("p", "a", "")),
            "tag": lambda: "tea",
            "tags": lambda: ["tea"],
            "types": lambda: ["Fact"],
            "updates": lambda: [pick(uids)],
            "contradicts": lambda: [pick(uids)],
            "related_to": lambda: [pick(uids)],
            "caused_by": lambda: [pick(uids)],
            "part_of": lambda: [pick(uids)],
            "after": lambda: pick(uids),
            "items": lambda: [
                {"space": each, "content": self.text(each)} for each in (space, self.space())
            ],
            "turns": lambda: [
                {"role": "user", "content": self.text(space), "metadata": {"note": mark}}
            ],
            "title": lambda: self.text(space),
            "before": self.turn,
            "label": lambda: f"owns {mark}",
            "direction": lambda: pick(("in", "out", "both")),
            "source_memory": lambda: pick(uids),
            "outputs": lambda: [{"content": self.text(space), "type": "Decision"}],
            "source": lambda: {"conversation_id": f"talk-{mark or 'none'}"},
            "metadata": lambda: {"note": mark},
            "filename": lambda: "notes.txt",
            "role": lambda: pick([each.value for each in Role]),
            "limit": lambda: pick((1, 10, 50)),
            "cursor": lambda: "made-up",
            "purpose": lambda: pick(("prompt", "investigation")),
            "depth": lambda: pick((1, 2, 3)),
            "user": lambda: user_and_persona(space)[0],
            "persona": lambda: user_and_persona(space)[1],
            "slug": lambda: pick(("coach", "work", "other")),
            "prompt": lambda: "be kind",
            "overrides": lambda: pick(({"recall.fused.k": 7}, {"person:eva": "person:eve"})),
            "version": lambda: 1,
            "budget": lambda: pick((1, 200, 2_000)),
            "entity_refs": lambda: [f"person:{mark or 'none'}"],
            "tenant": lambda: pick([each.tenant for each in self.world.marks]),
        }
        if choices := [each for each in schema.get("enum", ()) if each is not None]:
            return pick(choices)
        if name in values:
            return values[name]()
        return {
            "boolean": lambda: self.chosen.random() < 0.5,
            "integer": lambda: self.chosen.randint(0, 100),
            "number": self.chosen.random,
            "array": list,
            "object": dict,
        }.get(str(schema.get("type")), lambda: pick(WORDS))()


def ask(world, number, seed):
    """Send so many requests; gives the statuses, and what must not have come back."""
    chosen = random.Random(seed)  # noqa: S311 - nothing secret
    statuses: dict[int, int] = {}
    leaks, failures, seen = [], [], set()
    for _ in range(number):
        key = chosen.choice(world.keys)
        method, path, body = Maker(world, key, chosen).request()
        answer = key.api.client.open(
            path,
            method=method.upper(),
            data=json.dumps(body) if body is not None else None,
            content_type="application/json" if body is not None else None,
            headers={"X-API-Key": key.api.key},
        )
        text = answer.get_data(as_text=True)
        marks = set(MARK.findall(f"{text} {answer.headers}"))
        allowed = {mark[2:-1] for space, mark in world.marks.items() if key.may_see(space)}
        if marks - allowed:
            leaks.append((key, method, path, body, sorted(marks - allowed), text[:300]))
        if answer.status_code >= 500:
            failures.append((key, method, path, body, text[:300]))
        seen |= marks
        statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
        keep(world, answer)
    return statuses, leaks, failures, seen


def keep(world, answer):
    """Note the ids that others may ask for."""
    found = answer.get_json(silent=True) or {}
    if isinstance(found, dict):
        world.traces += [found["trace_id"]] if isinstance(found.get("trace_id"), str) else []
        if isinstance(kept := found.get("turns"), list):
            world.turns += [turn["uid"] if isinstance(turn, dict) else turn for turn in kept]
        if isinstance(merge := found.get("merge"), dict):
            world.merges.append(merge.get("id", ""))
    del world.traces[:-200], world.turns[:-200]


def check(world, number, seed):
    world.keys[0].api.client.application.extensions["graphmem"] = world.keys[0].api.house.graphmem
    statuses, leaks, failures, seen = ask(world, number, seed)

    assert [] == leaks
    assert [] == failures
    works = sum(count for status, count in statuses.items() if status < 300)
    assert works > number / 5, statuses
    assert {401, 429} & statuses.keys() == set()
    assert len(seen) > len(world.marks) / 2


def test_a_thousand_requests_bring_nothing_of_anothers(world):
    check(world, 1_000, seed=1)


@pytest.mark.torture
@pytest.mark.parametrize("seed", range(2, 12))
def test_ten_thousand_requests_bring_nothing_of_anothers(world, seed):
    check(world, 1_000, seed)
