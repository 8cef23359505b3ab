"""Everything is killed again and again: nothing acknowledged is lost, and nothing is there twice.

How often a thing is killed can be set: GRAPHMEM_TORTURE_ROUNDS.
"""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from functools import partial

import psutil
import pytest
from corpora import a_corpus, an_experience
from crowds import Crowd
from waiting import eventually

pytestmark = pytest.mark.torture
ROUNDS = int(os.environ.get("GRAPHMEM_TORTURE_ROUNDS", "100"))
WRITERS = 4
READY_SECONDS = 30
VICTIMS = ("-m api", "-m jobs", "Neo4jCommunity", "all")
HASH = {"GRAPHMEM_EMBEDDER": "hash"}


class Writers(Crowd):
    """Four callers that write until they are told to stop, each text until it is there."""

    def __init__(self, service):
        self.service = service
        self.acknowledged = {}
        super().__init__(partial(self.run, writer) for writer in range(WRITERS))

    def run(self, writer):
        number = 0
        while not self.stop.is_set():
            content = f"Parcel p{writer}x{number}q was left with the neighbour."
            body = {"space": "user:torture", "content": content, "dedupe": "none"}
            while not self.written(body, f"key-{writer}-{number}"):
                time.sleep(0.1)
            number += 1

    def written(self, body, key):
        try:
            headers = {"Idempotency-Key": key}
            status, answer = self.service.call("POST", "/v1/memories", body, **headers)
        except (OSError, ValueError):
            return False
        if status not in {200, 201}:
            assert status >= 500, answer
            return False
        self.acknowledged[answer["memory"]["uid"]] = body["content"]
        return True


def kill_all(service):
    """Kill the service and all below it at once."""
    below = psutil.Process(service.process.pid).children(recursive=True)
    for process in (psutil.Process(service.process.pid), *below):
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    psutil.wait_procs(below, timeout=30)
    service.process.wait(30)


def memories(service, space):
    """All memories of a space, page by page."""
    cursor, found = "", []
    while True:
        page = service.call(
            "GET", f"/v1/memories?space={space}&limit=200" + (f"&cursor={cursor}" if cursor else "")
        )[1]
        found += page["items"]
        cursor = page.get("next_cursor")
        if not cursor:
            return found


def is_ready(service):
    try:
        return service.call("GET", "/health/ready")[0] == 200
    except (OSError, ValueError):
        return False


def ready_again(service, killed):
    """Seconds until the service serves without the killed processes."""
    began = time.monotonic()

    def is_back():
        return all(not each.is_running() for each in killed) and is_ready(service)

    assert eventually(is_back, seconds=3 * READY_SECONDS)
    return time.monotonic() - began


def integrity(service, space):
    """What the integrity job finds wrong in a space."""
    run = service.call("POST", "/v1/jobs/integrity/runs", {"space": space})[1]["run"]
    return {
        name: number
        for name, number in run["counts"].items()
        if number and name not in {"inspected", "spaces"}
    }


def test_kills_of_every_part_under_four_writers(tmp_path, service_in):
    chosen, waits = random.Random(7), Counter()  # noqa: S311 - nothing secret
    with service_in(tmp_path, **HASH) as service:
        with Writers(service) as writers:
            for number in range(ROUNDS):
                victim = VICTIMS[number % len(VICTIMS)]
                time.sleep(chosen.uniform(0.2, 1.5))
                if victim == "all":
                    kill_all(service)
                    service.begin()
                    seconds = ready_again(service, ())
                else:
                    killed = service.children(victim)
                    for process in killed:
                        process.send_signal(signal.SIGKILL)
                    seconds = ready_again(service, killed)
                waits[victim] = max(waits[victim], round(seconds, 1))
        found = memories(service, "user:torture")
        problems = integrity(service, "user:torture")

    print(len(writers.acknowledged), "acknowledged,", ROUNDS, "kills,", waits)  # noqa: T201
    assert len(writers.acknowledged) > ROUNDS
    assert writers.acknowledged == {each["uid"]: each["content"] for each in found}
    assert len(found) == len({each["content"] for each in found})
    assert {} == problems
    assert max(waits.values()) <= READY_SECONDS


def test_kills_during_the_first_start(tmp_path, service_in):
    chosen = random.Random(8)  # noqa: S311 - nothing secret
    with service_in(tmp_path / "warm", **HASH):
        pass  # jars are fetched and Java's cache is made by no start that counts
    for number in range(4):
        with service_in(tmp_path / f"first-{number}", begin_only=True, **HASH) as service:
            for _ in range(3):
                time.sleep(chosen.uniform(0.1, 9))
                kill_all(service)
                service.begin()
            assert ready_again(service, ()) <= READY_SECONDS
            body = {"space": "user:ada", "content": "Tea."}
            assert 201 == service.call("POST", "/v1/memories", body)[0]


def test_kills_while_files_are_taken_in(tmp_path, service_in):
    chosen = random.Random(9)  # noqa: S311 - nothing secret
    with service_in(tmp_path, **HASH) as service:
        space = "orchestrator:main"
        body = {"space": space, "filename": "first.txt", "content": "The first file."}
        assert service.call("POST", "/v1/ingest", body)[0] in {200, 201}
        ingest = next((tmp_path / "data").glob("orchestrators/main/memory/ingest"))
        names = [f"file-{number}.txt" for number in range(60)]
        for name in names:
            (ingest / name).write_text(f"{name} says something of its own.\n" * 3)
        for _ in range(4):
            run = threading.Thread(
                target=quietly, args=(service, "/v1/ingest/scan", {"space": space})
            )
            run.start()
            time.sleep(chosen.uniform(0.05, 1.5))
            kill_all(service)
            run.join(60)
            service.begin()
            assert ready_again(service, ()) <= READY_SECONDS
        assert eventually(
            lambda: (
                service.call("POST", "/v1/ingest/scan", {"space": space})[0] == 200
                and not list(ingest.glob("*.txt"))
            )
        )
        contents = Counter(each["content"].split()[0] for each in memories(service, space))

        assert dict.fromkeys(names, 1) == {name: contents[name] for name in names}
        assert {} == integrity(service, space)


def quietly(service, path, body):
    try:
        service.call("POST", path, body)
    except (OSError, ValueError):
        return


def test_kills_during_an_import_and_while_vectors_are_made_anew(tmp_path, service_in):
    chosen = random.Random(10)  # noqa: S311 - nothing secret
    with service_in(tmp_path, **HASH) as service:
        lines = [
            json.dumps({"memory": {"uid": f"m-{n}", "content": f"Line {n} of an import."}})
            for n in range(3_000)
        ]
        (tmp_path / "in.jsonl").write_text("\n".join(lines))

        def command(*arguments, **environment):
            return subprocess.Popen(
                [sys.executable, "-m", "graphmem", *arguments],
                env=service.environment | environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )

        def killed_and_repeated(*arguments, kills, **environment):
            for _ in range(kills):
                process = command(*arguments, **environment)
                time.sleep(chosen.uniform(1.0, 4.0))
                process.kill()
                process.communicate()
            said = ""

            def is_done():
                nonlocal said
                process = command(*arguments, **environment)
                said = process.communicate()[0]
                return process.returncode == 0

            assert eventually(is_done, seconds=120), (
                said
            )  # the lease of a killed run lasts a minute

        killed_and_repeated("import", "user:in", str(tmp_path / "in.jsonl"), kills=4)
        assert 3_000 == len(memories(service, "user:in"))
        assert {} == integrity(service, "user:in")

        killed_and_repeated("jobs", "run", "reembed", kills=4, GRAPHMEM_EMBEDDER="local")
        service.stop()
        service.environment["GRAPHMEM_EMBEDDER"] = "local"
        service.start()
        assert {True} == {each["embedded"] for each in memories(service, "user:in")}
        assert {} == integrity(service, "user:in")


class Careers(Crowd):
    """Two sessions that push changes of one career corpus, each of an experience of its own."""

    path = "/v1/corpora/ada"

    def __init__(self, service):
        self.service = service
        self.persisted = {"one": [], "two": []}  # numbers that were said to be
        self.commits = set()
        super().__init__(partial(self.run, session) for session in self.persisted)

    def sent(self, method, path, body=None):
        """An answer, or none where the service does not."""
        try:
            status, answer = self.service.call(method, f"{self.path}/{path}".rstrip("/"), body)
        except (OSError, ValueError):
            return {}
        return answer if status < 500 else {}

    def run(self, session):
        number = 0
        while not self.stop.is_set():
            number += 1
            self.pushed(session, number)

    def pushed(self, session, number):
        """Push a number, until it is said to be persisted or all is to stop."""
        item = an_experience(session, employer=session, bullets=[f"Number {number}"])
        while not self.stop.is_set():
            shown = self.sent("PUT", f"draft/experience?session={session}", item).get("sections")
            if shown and approved(self.sent, session, {"experience": shown["experience"]}):
                done = self.sent("POST", f"push?session={session}", {"technical": True})
                if done.get("persisted"):
                    assert done["verify_ok"] or not done["pushed"]
                    self.persisted[session].append(number)
                    self.commits |= {done["remote_commit_sha"]} if done["pushed"] else set()
                    return
                assert "ref_conflict" != done.get("error_code"), done
            time.sleep(0.05)


def approved(sent, session, shown):
    """Whether all sections of a draft are approved as they were shown."""
    said = [
        sent(
            "POST",
            f"approvals?session={session}",
            {
                "section": section,
                "approved": True,
                "basis": "current_chat",
                "content_sha256": each["content_sha256"],
            },
        )
        for section, each in shown.items()
    ]
    return all(each.get("approved") for each in said)


def test_kills_while_careers_are_pushed(tmp_path, service_in):
    chosen = random.Random(11)  # noqa: S311 - nothing secret
    with service_in(tmp_path, **HASH) as service:
        careers = Careers(service)
        items = [an_experience(name, employer=name) for name in careers.persisted]
        careers.sent("POST", "bootstrap", {"turn": "t"})
        careers.sent("PATCH", "draft?session=first", a_corpus(experience=items))
        shown = careers.sent("GET", "draft?session=first")["sections"]
        assert approved(careers.sent, "first", shown)
        assert "CORPUS_READY" == careers.sent("POST", "push?session=first", {})["state"]
        with careers:
            for number in range(max(4, ROUNDS // 8)):
                victim = VICTIMS[number % len(VICTIMS)]
                time.sleep(chosen.uniform(0.5, 2))
                if victim == "all":
                    kill_all(service)
                    service.begin()
                    ready_again(service, ())
                else:
                    killed = service.children(victim)
                    for process in killed:
                        process.send_signal(signal.SIGKILL)
                    ready_again(service, killed)
            time.sleep(2)
        careers.stop.clear()
        assert all(careers.persisted.values())
        for session, numbers in careers.persisted.items():
            careers.pushed(session, numbers[-1] + 1000)
        known = careers.sent("GET", "")
        history = [each for each in history_of(careers.sent) if not each["failed"]]
        corpus = careers.sent("GET", "export?form=single")["corpus"]
        told = {each["content"] for each in memories(service, "corpus:ada")}
        problems = integrity(service, "corpus:ada")

    print({name: len(numbers) for name, numbers in careers.persisted.items()})  # noqa: T201
    assert "CORPUS_READY" == known["state"]
    assert careers.commits <= {each["commit_sha"] for each in history}
    assert list(range(known["revision"], 0, -1)) == [each["revision"] for each in history]
    bullets = {each["id"]: each["bullets"] for each in corpus["experience"]}
    last = {name: [f"Number {numbers[-1]}"] for name, numbers in careers.persisted.items()}
    assert last == bullets
    assert {text for (text,) in last.values()} <= told
    assert {} == problems


def history_of(sent):
    """All revisions, page by page."""
    cursor, found = "", []
    while True:
        page = sent("GET", "history?limit=200" + (f"&cursor={cursor}" if cursor else ""))
        found += page["items"]
        cursor = page.get("next_cursor")
        if not cursor:
            return found
