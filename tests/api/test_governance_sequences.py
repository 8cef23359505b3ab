"""Any sequence of calls gives the same in another tenant, in two processes, whole or in halves."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
from governed import PROFILE, agree
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from uuid6 import uuid7

from graphmem.model.caller import Role

ANOTHER_PROCESS = """
import json, sys
from datetime import datetime

from fakes import FixedClock
from api.app import create_app
from graphmem.adapters.embedders import HashEmbedder
from graphmem.bootstrap import build
from graphmem.settings import load_settings
from graphmem.store.connection import Connection

uri, user, password, now = sys.argv[1:]
clock = FixedClock(datetime.fromisoformat(now))
connection = Connection(uri, user=user, password=password)
built = build(load_settings({}), connection, clock=clock, embedder=HashEmbedder())
client = create_app(built).test_client()
print("@@ready", flush=True)
for line in sys.stdin:
    path, body, key = json.loads(line)
    answer = client.post(path, json=body, headers={"X-API-Key": key})
    print("@@" + json.dumps([answer.status_code, answer.get_json()]), flush=True)
"""
MARK = "@@"
CONTRACTS = st.fixed_dictionaries(
    {
        "short_term": st.sampled_from([0, 2, 6]),
        "semantic": st.booleans(),
        "profile": st.booleans(),
        "write_policy": st.sampled_from(["none", "minimal", "normal", "aggressive"]),
        "dedupe_enabled": st.booleans(),
        "phase": st.sampled_from(
            [{"mode": "current_only"}, {"mode": "current_plus_history"}, {"max_phases": 1}]
        ),
        "retention": st.sampled_from(
            [
                {},
                {"semantic": {"decision": {"mode": "decay", "ttl_ticks": 3}}},
                {"semantic": {"preference": {"mode": "ttl", "ttl_ticks": 4}}},
                {"profile": {"fact": {"mode": "decay", "ttl_ticks": 5}}},
            ]
        ),
    }
)
SAID = st.sampled_from(
    [
        "My name is Ada.",
        "Actually, my name is Bob.",
        "Remember this for me: I prefer tabs.",
        "I prefer tabs.",
        "We decided to use Go.",
        "Remember this for the project: we decided to use Rust.",
        "Remember this for everyone: we must always use spaces.",
        "My password is a secret.",
        "What do I prefer?",
        "ok",
    ]
)
STATES = st.fixed_dictionaries(
    {"user": st.sampled_from([{"id": "s1"}, {"id": "s2"}])},
    optional={
        "_memory_phase_token": st.sampled_from(["a", "b"]),
        "_memory_phase_diff_from": st.just("phase-1"),
        "_memory_phase_diff_to": st.just("phase-2"),
    },
)
CALLS = st.lists(
    st.fixed_dictionaries(
        {"input": SAID, "output": st.sampled_from(["I see.", "Noted."]), "state": STATES},
        optional={
            "tool_events": st.just([{"tool": "calc", "result": 4}]),
            "project": st.just("p1"),
        },
    ),
    min_size=1,
    max_size=5,
)


class Other:
    """The API in a process of its own, which also logs."""

    def __init__(self, process):
        self.process = process
        assert "ready" == self.answer()

    def answer(self):
        """What it says next, past all that it logs."""
        marked = (line for line in self.process.stdout if line.startswith(MARK))
        return next(marked).removeprefix(MARK).strip()

    def post(self, path, body, key):
        self.process.stdin.write(json.dumps([path, body, key]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.answer())


@pytest.fixture(scope="module")
def other(house_of_module, neo4j_address) -> Iterator[Other]:
    arguments = [*neo4j_address, house_of_module.clock.now().isoformat()]
    with subprocess.Popen(
        [sys.executable, "-c", ANOTHER_PROCESS, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        yield Other(process)
        process.stdin.close()
        process.wait(30)


@pytest.fixture
def tenants(api_of_module):
    """Makes empty tenants, each with a client of its own, and forgets them afterwards."""
    made = []

    def make(contract):
        client = api_of_module.with_key(Role.ADMIN, "*", tenant=f"t-{uuid7()}")
        made.append(client)
        agree(client, **contract)
        return client

    yield make
    for client in made:
        tenant = client.house.graphmem.keys.find(client.key).tenant
        client.house.rows(
            "MATCH (n) WHERE n.space STARTS WITH $other + '/' OR n.tenant = $other DETACH DELETE n",
            other=tenant,
        )


def here(client, path, body):
    answer = client.post(path, body)
    assert 200 == answer.status_code, answer.get_json()
    return answer.get_json()


def there(other, client, path, body):
    status, answer = other.post(path, body, client.key)
    assert 200 == status, answer
    return answer


def of_request(body):
    return {name: value for name, value in body.items() if name not in {"output", "tool_events"}}


def shown(answer):
    return json.dumps(
        [answer[name] for name in ("recalled", "written", "events", "clock") if name in answer]
    )


@settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    print_blob=True,
)
@given(contract=CONTRACTS, calls=CALLS)
def test_a_sequence_gives_the_same_wherever_and_however_it_is_called(
    api_of_module, other, tenants, contract, calls
):
    whole, halves, quiet = (tenants(contract) for _ in range(3))
    for number, body in enumerate(calls):
        expected = here(whole, f"{PROFILE}/calls", body)
        check_causes(expected["events"])

        posts = [
            lambda path, body: here(halves, path, body),
            lambda path, body: there(other, halves, path, body),
        ]
        first, second = posts if number % 2 else posts[::-1]
        before = first(f"{PROFILE}/recall", of_request(body))
        after = second(f"{PROFILE}/record", body)
        assert shown(expected) == shown(
            {
                **before,
                **after,
                "recalled": before["recalled"],
                "events": before["events"] + after["events"],
            }
        )

        told = there(other, quiet, f"{PROFILE}/calls?events=false", body)
        assert shown({**expected, "events": []}) == shown({**told, "events": []})


def check_causes(events):
    """Each forget, deleted and promoted event has its cause before it; no copy has more authority.

    A forget event has its own: the rule that its snapshot shows.
    """
    ended, lost, opened, promoted, written = set(), set(), set(), set(), {}
    for event in events:
        kind, reason = event["type"].removeprefix("memory_"), event.get("reason")
        if kind == "write":
            written = {item["id"]: item for item in event["written"]}
        elif kind == "border_check" and event["allowed"]:
            opened.add((event["action"], event["from_space"], event.get("to_space")))
        elif kind == "conflict":
            lost.add(event["loser_id"])
        elif kind == "forget":
            assert reason in {"decay", "ttl_expired"}
            ended.add(event["memory_id"])
        elif kind == "promoted":
            assert ("promote", event["from_space"], event["to_space"]) in opened
            assert event["authority_used"] == written[event["to_id"]]["meta"]["authority"]
            promoted.add(event["from_id"])
        elif kind == "deleted":
            causes = {"expired": ended, "superseded": lost, "promoted": promoted}
            winner = written.get(event.get("replaced_by"), {"meta": {}})
            is_old_summary = reason == "superseded" and "summary_of" in winner["meta"]
            assert is_old_summary or event["memory_id"] in causes[reason]
