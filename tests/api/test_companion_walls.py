"""Personas of a user know nothing of each other, tenants and users neither: by no call at all.

Whatever is said to a persona alone carries a mark of its own, and what a user says to all personas
another. An answer may hold the marks of its tenant, user and persona that its key may see.
"""

import random
import re
from dataclasses import dataclass, field
from typing import Any

import pytest
from companions import put_persona

from graphmem.intake.export_import import export_lines
from graphmem.model.caller import Role
from graphmem.model.space import parse_space

MARK = re.compile(r"zq(\d+)q")
USERS, PERSONAS = ("ada", "bob"), ("coach", "aide", "mentor")
ALL = None  # personas
CALLS = 1_000
READS = (
    "/v1/companions/{user}/memories?persona={persona}",
    "/v1/companions/{user}/spine?persona={persona}",
    "/v1/companions/{user}/spine/1?persona={persona}",
    "/v1/companions/{user}/{persona}/messages",
    "/v1/companions/{user}/{persona}/state",
    "/v1/companions/{user}/{persona}/sessions",
    "/v1/companions/{user}/{persona}/rolling-summaries",
    "/v1/companions/{user}/{persona}/todos",
    "/v1/companions/{user}/{persona}/context",
    "/v1/companions/{user}/{persona}/context?query=call+tea&budget=9000",
)
FOR_ALL = (
    "/v1/companions/{user}",
    "/v1/companions/{user}/seed",
    "/v1/companions/{user}/memories",
    "/v1/companions/{user}/spine",
    "/v1/companions/{user}/entity-suggestions",
)
OF_A_SPACE = (
    "/v1/memories?space={space}",
    "/v1/entities?space={space}",
    "/v1/conversations?space={space}",
    "/v1/conversations/companion/turns?space={space}",
)


@dataclass(kw_only=True)
class World:
    """Marks by tenant, user and persona, keys, and how many messages were said to whom."""

    api: Any
    tenants: tuple[str, str]
    marks: dict[tuple[str, str, str | None], str]
    keys: list[tuple[Any, str, str]]  # a client, its tenant, and its one pattern
    said: dict[tuple[str, str, str | None], int] = field(default_factory=dict)

    def mark(self, *whose: str | None) -> str:
        return self.marks[whose]  # type: ignore[index]

    def next_number(self, *whose: str | None) -> int:
        self.said[whose] = self.said.get(whose, 0) + 1  # type: ignore[index,arg-type]
        return self.said[whose]  # type: ignore[index]


@pytest.fixture(scope="module")
def world(api_of_module):
    """Two tenants of two users and three personas each, and keys for one space each."""
    api = api_of_module
    own = api.house.caller.tenant
    tenants = (own, f"{own}-b")
    whose = [
        (tenant, user, who) for tenant in tenants for user in USERS for who in (*PERSONAS, ALL)
    ]
    patterns = ["*", *USERS, *(f"{user}/{persona}" for user in USERS for persona in PERSONAS)]
    made = World(
        api=api,
        tenants=tenants,
        marks={each: f"zq{number}q" for number, each in enumerate(whose)},
        keys=[
            (api.with_key(Role.WRITER, f"user:{pattern}", tenant=tenant), tenant, pattern)
            for tenant in tenants
            for pattern in patterns
        ],
    )
    for tenant in tenants:
        admin = api.with_key(Role.ADMIN, "*", tenant=tenant)
        for persona in PERSONAS:
            put_persona(admin, persona)
        for user in USERS:
            for persona in PERSONAS:
                for _ in range(8):
                    assert 201 == speak(made, admin, tenant, user, persona).status_code
    yield made
    api.house.rows("MATCH (n) WHERE n.space STARTS WITH $others DETACH DELETE n", others=f"{own}-")
    api.house.rows("MATCH (n:Persona {tenant: $other}) DELETE n", other=tenants[1])


def speak(world, api, tenant, user, persona):
    """Say what is for one persona, and what is for all of the user's, in turn."""
    number = world.next_number(tenant, user, persona)
    own, shared = world.mark(tenant, user, persona), world.mark(tenant, user, ALL)
    said = (
        f"I'll call {own} number {number} tomorrow.",
        f"I live in {shared}.",
        f"I keep worrying about {own} number {number}.",
        f"My friend {shared.title()} likes tea.",
    )
    body = {"message_id": f"m-{number}", "role": "user", "content": said[number % 4]}
    return api.post(f"/v1/companions/{user}/{persona}/messages", body)


def keep(world, api, tenant, user, persona):
    """Keep something by hand for one persona."""
    number, own = world.next_number(tenant, user, persona), world.mark(tenant, user, persona)
    body = {"type": "PROJECT", "content": f"Works on {own} {number}.", "pinned": number % 2 == 0}
    return api.post(f"/v1/companions/{user}/memories", body | {"persona": persona})


def state_todo(world, api, tenant, user, persona):
    """Keep a todo by hand."""
    number, own = world.next_number(tenant, user, persona), world.mark(tenant, user, persona)
    body = {"kind": "HABIT", "content": f"Water {own} {number}."}
    return api.post(f"/v1/companions/{user}/{persona}/todos", body)


def recall(world, api, tenant, user, persona):
    """Recall for a persona."""
    body = {"query": "call friend tea works", "limit": 50}
    return api.post(f"/v1/companions/{user}/{persona}/recall", body)


WRITES = (speak, speak, keep, state_todo, recall, recall)


def covers(pattern, user, persona):
    """Whether a key of a pattern may meet what a user said to a persona, or to all of them.

    What he says to all stands in the messages of each, so a key of one persona may meet it too.
    """
    of_user = pattern in {"*", user}
    return of_user or (
        pattern.startswith(f"{user}/") and persona in {ALL, pattern[len(user) + 1 :]}
    )


def allowed(world, tenant, pattern, seen):
    """The marks of what a key may see of some of the tenant."""
    return {
        world.mark(tenant, user, persona)[2:-1]
        for user, persona in seen
        if covers(pattern, user, persona)
    }


def one_call(world, chosen):
    """Make a call; gives the answer and the marks that it may hold."""
    api, tenant, pattern = chosen.choice(world.keys)
    user, persona = chosen.choice(USERS), chosen.choice(PERSONAS)
    if pattern != "*" and chosen.random() < 0.6:  # more often than not something of its own
        user = pattern.partition("/")[0]
        persona = pattern.partition("/")[2] or persona
    kind = chosen.choice(("write", "read", "for all", "space"))
    if kind == "write":
        found = chosen.choice(WRITES)(world, api, tenant, user, persona)
        return found, allowed(world, tenant, pattern, [(user, persona), (user, ALL)])
    if kind == "read":
        found = api.get(chosen.choice(READS).format(user=user, persona=persona))
        return found, allowed(world, tenant, pattern, [(user, persona), (user, ALL)])
    if kind == "for all":
        found = api.get(chosen.choice(FOR_ALL).format(user=user))
        return found, allowed(world, tenant, pattern, [(user, ALL)])
    space = chosen.choice((f"user:{user}", f"user:{user}/{persona}"))
    every = [(user, each) for each in (*PERSONAS, ALL)]
    if chosen.random() < 0.5:
        found = api.post("/v1/recall", {"spaces": [space], "query": "call friend tea works"})
    else:
        found = api.get(chosen.choice(OF_A_SPACE).format(space=space))
    return found, allowed(world, tenant, pattern, every)


def marks_of(text):
    return set(MARK.findall(text.lower()))


def test_a_thousand_calls_bring_nothing_of_another_persona_user_or_tenant(world):
    chosen = random.Random(1)  # noqa: S311 - nothing secret
    statuses, leaks, seen = {}, [], set()
    for number in range(CALLS):
        if number % 250 == 100:  # sessions end, and are summed up
            world.api.house.clock.advance(minutes=31)
            world.api.house.graphmem.runner.run("companion_sessions")
        found, expected = one_call(world, chosen)
        marks = marks_of(found.get_data(as_text=True))
        if marks - expected:
            leaks.append((found.request.path, marks - expected, found.get_data(as_text=True)[:400]))
        assert found.status_code < 500, found.get_data(as_text=True)
        statuses[found.status_code] = statuses.get(found.status_code, 0) + 1
        seen |= marks

    assert [] == leaks
    assert set(map(str, range(len(world.marks)))) == seen
    assert statuses[200] + statuses.get(201, 0) > CALLS / 3, statuses
    assert statuses[403] > CALLS / 10, statuses


def test_spines_and_exports_hold_what_is_theirs(world):
    graphmem = world.api.house.graphmem
    tenant = world.tenants[0]
    for user in USERS:
        for persona in PERSONAS:
            spine = world.api.get(f"/v1/companions/{user}/spine?persona={persona}").get_json()
            others = {world.mark(tenant, user, each) for each in PERSONAS if each != persona}
            assert world.mark(tenant, user, persona) in spine["content"]
            assert not any(other in spine["content"] for other in others)
            space = parse_space(f"user:{user}/{persona}", tenant=tenant)
            exported = marks_of("".join(export_lines(graphmem.transfers, space)))
            may = {world.mark(tenant, user, persona)[2:-1], world.mark(tenant, user, ALL)[2:-1]}
            assert world.mark(tenant, user, persona)[2:-1] in exported
            assert exported <= may
