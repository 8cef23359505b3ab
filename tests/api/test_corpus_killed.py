"""Processes that are killed within a push: nothing half is told, nothing acknowledged is lost."""

import json
import os
import subprocess
import sys

from careers import approved, bootstrapped, pushed, sent, state
from corpora import a_corpus, a_project, documents

from graphmem.corpus.facts import corpus_memories
from graphmem.corpus.keeper import CorpusKeeper
from graphmem.corpus.packing import corpus_in
from graphmem.model.policy.corpus import CorpusPolicy
from graphmem.model.space import parse_space

STATEMENTS_MOST = 40  # of one push
PUSHES = """
import os, signal, sys
from datetime import datetime

from fakes import FixedClock
from graphmem.adapters.embedders import HashEmbedder
from graphmem.bootstrap import build
from graphmem.corpus.keeper import CorpusKeeper
from graphmem.corpus.push_plan import PushRequest
from graphmem.model.caller import Caller, Role
from graphmem.model.space import parse_space
from graphmem.settings import load_settings
from graphmem.store.connection import Connection, Transaction

uri, user, password, tenant, now, most = sys.argv[1:]
run = Transaction.run

def push(number):
    connection = Connection(uri, user=user, password=password)
    clock = FixedClock(datetime.fromisoformat(now))
    built = build(load_settings({}), connection, clock=clock, embedder=HashEmbedder())
    caller = Caller(key_id="k", tenant=tenant, role=Role.ADMIN, spaces=("*",))
    space = parse_space(f"corpus:o{number}", tenant=tenant)
    left = number

    def run_or_die(self, *arguments, **parameters):
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return run(self, *arguments, **parameters)

    Transaction.run = run_or_die
    result = built.of(CorpusKeeper).push(space, "default", PushRequest(), caller=caller)
    assert result.persisted
    print(number, flush=True)

for number in range(int(most)):
    child = os.fork()
    if not child:
        push(number)
        os._exit(0)
    if os.waitpid(child, 0)[1] != signal.SIGKILL:
        break
"""


def path_of(number):
    return f"/v1/corpora/o{number}"


def prepared(api, number):
    """A corpus whose draft is approved and waits for its push."""
    path = path_of(number)
    corpus = a_corpus()
    corpus["metadata"] |= {"onboarding_complete": True}
    files = {name: document.text for name, document in documents(corpus).items()}
    bootstrapped(api, path)
    sent(api, "POST", f"{path}/import", {"files": files, "into": "repository"}, 200)
    sent(api, "PUT", f"{path}/draft/projects", a_project(role="owner"), 200)
    approved(api, "projects", path=path)


def pushes_that_die(api, neo4j_address):
    """Push in processes that are killed at their first, second … statement; which one was not."""
    house = api.house
    arguments = [*neo4j_address, house.caller.tenant, house.clock.now().isoformat()]
    done = subprocess.run(
        [sys.executable, "-c", PUSHES, *arguments, str(STATEMENTS_MOST)],
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    (acknowledged,) = done.stdout.split()
    return int(acknowledged)


def role_in(api, path):
    files = sent(api, "GET", f"{path}/export", status=200)["files"]
    (project,) = [text for name, text in files.items() if "project_" in name]
    return json.loads(project)["project"]["role"]


def check_whole(api, number):
    """The verified revision is whole, and the memories are its own."""
    keeper = api.house.graphmem.of(CorpusKeeper)
    space = parse_space(f"corpus:o{number}", tenant=api.house.caller.tenant)
    verified = keeper.corpora.find(space).verified
    assert verified.is_intact
    corpus = corpus_in(verified.documents)
    wanted = corpus_memories(corpus, verified.documents, CorpusPolicy())
    told = api.house.rows(
        "MATCH (m:Memory {space: $space, status: 'active'}) RETURN m.content", space=space.key
    )
    assert {each.content for each in wanted} == {content for (content,) in told}


def test_a_push_that_is_killed_at_any_statement_is_whole_or_not_there(api, neo4j_address):
    for number in range(STATEMENTS_MOST):
        prepared(api, number)

    acknowledged = pushes_that_die(api, neo4j_address)
    api.house.graphmem.runner.run("corpus_verify", by_hand=True)

    found = []
    for number in range(acknowledged + 1):
        path = path_of(number)
        check_whole(api, number)
        assert "CORPUS_READY" == state(api, path)
        is_in = role_in(api, path) == "owner"
        assert is_in is not sent(api, "GET", path)["dirty"]
        found.append(is_in)
        again = pushed(api, path)
        assert (True, "owner") == (again["persisted"], role_in(api, path))
    assert found[-1]
    assert found == sorted(found)
    assert not found[0]
