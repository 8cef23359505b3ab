"""Many messages at once, and processes that are killed: nothing is lost, nothing counts twice."""

import os
import signal
import subprocess
import sys

import pytest
from companions import COACH, put_persona, say

OSLO = "I live in Oslo."
SPEAKS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from fakes import FixedClock
from graphmem.adapters.embedders import HashEmbedder
from graphmem.bootstrap import build
from graphmem.companion.keeper import CompanionKeeper
from graphmem.model.caller import Caller, Role
from graphmem.model.conversation import Saying, TurnRole
from graphmem.model.space import parse_space
from graphmem.settings import load_settings
from graphmem.store.connection import Connection

uri, user, password, tenant, now, first, last, words = sys.argv[1:]
clock = FixedClock(datetime.fromisoformat(now))
connection = Connection(uri, user=user, password=password)
built = build(load_settings({}), connection, clock=clock, embedder=HashEmbedder())
messages = built.of(CompanionKeeper).messages
caller = Caller(key_id="k", tenant=tenant, role=Role.ADMIN, spaces=("*",))

def say(number):
    said = Saying(uid="", role=TurnRole.USER, content=words, message_id=f"m-{number}")
    space = parse_space("user:ada/coach", tenant=tenant)
    return messages.say(space, said, caller=caller, judges_now=True).is_new
"""
MANY_AT_ONCE = """
print("ready", flush=True)
sys.stdin.readline()
with ThreadPoolExecutor(10) as pool:
    print(sum(pool.map(say, range(int(first), int(last)))), flush=True)
"""
KILLS_ITSELF = """
import os, signal
from graphmem.companion.{module} import {name}

def end(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

{name}.{method} = end
say(int(first))
"""
STEPS = {  # where a process ends: after which step, and whether the message was judged by then
    "before the message is kept": ("posting", "PostMessage", "apply", None),
    "before it is judged": ("judging", "Judging", "run", False),
    "while what it says is kept": ("keeping", "KeepJudged", "apply", False),
    "before it is followed up": ("following", "Following", "run", True),
}


@pytest.fixture
def coach(api):
    put_persona(api)
    return api


def process(coach, neo4j_address, script, first, last, words=OSLO):
    now, tenant = coach.house.clock.now().isoformat(), coach.house.caller.tenant
    arguments = [*neo4j_address, tenant, now, str(first), str(last), words]
    return subprocess.Popen(
        [sys.executable, "-c", SPEAKS + script, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )


def memories(coach):
    found = coach.get("/v1/companions/ada/memories").get_json()["items"]
    return [(memory["content"], memory["mention_count"]) for memory in found]


def state(coach):
    return coach.get(f"{COACH}/state").get_json()["state"]


def test_twenty_equal_messages_of_two_processes_are_one_memory_in_one_session(coach, neo4j_address):
    running = [process(coach, neo4j_address, MANY_AT_ONCE, first, first + 10) for first in (0, 10)]
    assert ["ready", "ready"] == [each.stdout.readline().strip() for each in running]
    outputs = [each.communicate("go\n", timeout=120)[0] for each in running]

    assert (["10\n", "10\n"], [0, 0]) == (outputs, [each.returncode for each in running])
    assert [(OSLO, 20)] == memories(coach)
    assert 20 == state(coach)["message_count"]
    (session,) = coach.get(f"{COACH}/sessions").get_json()["items"]
    assert 20 == session["turn_count"]


@pytest.mark.parametrize("ends", STEPS)
def test_what_a_killed_process_left_is_judged_once(coach, neo4j_address, ends):
    module, name, method, was_judged = STEPS[ends]
    script = KILLS_ITSELF.format(module=module, name=name, method=method)
    with process(coach, neo4j_address, script, 1, 2) as killed:
        assert -signal.SIGKILL == killed.wait(timeout=120)

    was_kept = was_judged is not None
    assert ([(OSLO, 1)] if was_judged else []) == memories(coach)
    assert int(was_kept) == state(coach)["message_count"]
    coach.house.clock.advance(minutes=5)
    judged = [coach.house.graphmem.runner.run("companion_judge").counts["judged"] for _ in "12"]
    assert [int(was_judged is False), 0] == judged
    again = say(coach, OSLO)

    assert (200 if was_kept else 201) == again.status_code
    assert [(OSLO, 1)] == memories(coach)
    assert 1 == state(coach)["message_count"]


@pytest.mark.parametrize(
    "ends", [ends for ends, (*_, judged) in STEPS.items() if judged is not None]
)
def test_what_a_message_means_for_todos_is_done_with_it_or_by_the_next_judge(
    coach, neo4j_address, ends
):
    for kind, content in (("COMMITMENT", "Go for a walk"), ("THREAD", "Wondering about the sky")):
        coach.post(f"{COACH}/todos", {"kind": kind, "content": content})
    module, name, method, was_judged = STEPS[ends]
    script = KILLS_ITSELF.format(module=module, name=name, method=method)
    with process(coach, neo4j_address, script, 1, 2, words="I did my walk today") as killed:
        assert -signal.SIGKILL == killed.wait(timeout=120)

    assert (0 if was_judged else 2) == pending_todos(coach)
    coach.house.clock.advance(minutes=5)
    coach.house.graphmem.runner.run("companion_judge")
    assert 0 == pending_todos(coach)
    assert 1 == coach.get(f"{COACH}/todos?status=COMPLETED").get_json()["total"]


def pending_todos(coach):
    return coach.get(f"{COACH}/todos?status=PENDING").get_json()["total"]
