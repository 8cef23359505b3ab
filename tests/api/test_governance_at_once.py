"""Many governed calls at once, and processes that are killed: no gap, no repeat, no half call."""

import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from governed import PROFILE, agree, recorded
from waiting import eventually

from graphmem.governance import governed_operation
from graphmem.governance.keeper import GovernanceKeeper
from graphmem.governance.owners import owners_of
from graphmem.governance.request import CallRequest

ADA = {"state": {"user": {"id": "s1"}}, "identity": {"id": "ada"}}
CALLS = """
import json, os, signal, sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from fakes import FixedClock
from graphmem.adapters.embedders import HashEmbedder
from graphmem.bootstrap import build
from graphmem.governance.keeper import GovernanceKeeper
from graphmem.governance.owners import owners_of
from graphmem.governance.request import CallRequest
from graphmem.model.caller import Caller, Role
from graphmem.settings import load_settings
from graphmem.store.connection import Connection

uri, user, password, tenant, now, first, last = sys.argv[1:]
connection = Connection(uri, user=user, password=password)
clock = FixedClock(datetime.fromisoformat(now))
built = build(load_settings({}), connection, clock=clock, embedder=HashEmbedder())
keeper = built.of(GovernanceKeeper)
caller = Caller(key_id="k", tenant=tenant, role=Role.ADMIN, spaces=("*",))

def call(number):
    owners = owners_of(tenant, {"user": {"id": "s1"}}, {"id": "ada"})
    said = f"We decided on number {number}."
    request = CallRequest(profile="assistant", owners=owners, input=said, output=f"Noted {number}.")
    written = keeper.call(request, caller=caller).written
    return [(each["id"], each["created_at"]) for each in written]
"""
AT_ONCE = """
print("ready", flush=True)
sys.stdin.readline()
with ThreadPoolExecutor(4) as pool:
    print(json.dumps(list(pool.map(call, range(int(first), int(last))))), flush=True)
"""
KILLS_ITSELF = """
import {module} as module

def end(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

module.{where} = end
call(int(first))
"""


@pytest.fixture
def assistant(api):
    agree(api, short_term=6, semantic=True, forget_policy="never")
    return api


def process(api, neo4j_address, script, first, last):
    house = api.house
    arguments = [*neo4j_address, house.caller.tenant, house.clock.now().isoformat()]
    return subprocess.Popen(
        [sys.executable, "-c", CALLS + script, *arguments, str(first), str(last)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_calls_of_two_processes_have_ids_and_ticks_without_gap_or_repeat(assistant, neo4j_address):
    running = [process(assistant, neo4j_address, AT_ONCE, first, first + 8) for first in (0, 8)]
    assert ["ready", "ready"] == [each.stdout.readline().strip() for each in running]
    outputs = [each.communicate("go\n", timeout=120)[0] for each in running]

    written = [item for output in outputs for call in json.loads(output) for item in call]
    semantic = sorted(int(id_.rpartition(":")[2]) for id_, _ in written if "semantic" in id_)
    assert list(range(1, 17)) == semantic
    ticks = sorted(tick for _, tick in written)
    assert list(range(2, 2 + len(ticks))) == ticks
    found = assistant.get(f"{PROFILE}/items?space=session:s1&kind=semantic&status=present")
    assert 16 == found.get_json()["total"]


@pytest.mark.parametrize(
    ("module", "where"),
    [
        ("graphmem.governance.governed_call", "decide_memories"),
        ("graphmem.governance.governed_operation", "save_changes"),
    ],
)
def test_a_call_that_is_killed_leaves_nothing_and_the_next_tick_follows(
    assistant, neo4j_address, module, where
):
    before = recorded(assistant, "I prefer tabs.", **ADA)
    script = KILLS_ITSELF.format(module=module, where=where)
    with process(assistant, neo4j_address, script, 1, 2) as killed:
        assert -signal.SIGKILL == killed.wait(timeout=120)
    after = recorded(assistant, "I prefer spaces.", **ADA)

    assert before["clock"] == after["written"][0]["created_at"]
    assert "session:s1:short_term:3" == after["written"][0]["id"]


def waits_for_a_lock(api):
    shown = "SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked' RETURN status"
    return bool(api.house.rows(shown))


def test_who_waits_for_a_call_of_the_person_sees_the_project_that_it_began(assistant, monkeypatch):
    promoting, committing = threading.Event(), threading.Event()
    save = governed_operation.save_changes

    def wait_and_save(*arguments, **more):
        promoting.set()
        assert committing.wait(60)
        save(*arguments, **more)

    def call(session, said):
        house = assistant.house
        owners = owners_of(house.caller.tenant, {"user": {"id": session}}, {"id": "ada"})
        request = CallRequest(profile="assistant", owners=owners, input=said, output="I see.")
        return house.graphmem.of(GovernanceKeeper).call(request, caller=house.caller)

    for session in ("s1", "s2"):
        call(session, "Hello.")
    monkeypatch.setattr(governed_operation, "save_changes", wait_and_save)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(call, "s1", "Remember this for the project: we decided to use Go.")
        assert promoting.wait(60)
        second = pool.submit(call, "s2", "What did we decide to use?")
        assert eventually(lambda: waits_for_a_lock(assistant))
        committing.set()

        assert "project" in {item["meta"]["space"] for item in first.result().written}
        assert "project" in {item["meta"]["space"] for item in second.result().recalled}
