"""A career corpus never claims more than it checked: random calls with faults put in (000)."""

import random
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest
from careers import PATH, approved, bootstrapped, drafted, sent
from corpora import a_corpus, a_project, an_experience, documents

from graphmem.corpus.facts import corpus_memories
from graphmem.corpus.keeper import CorpusKeeper
from graphmem.corpus.packing import corpus_in
from graphmem.corpus.pushing import PushDraft
from graphmem.corpus.revisions import ImportRevision, RevertTo
from graphmem.corpus.schema import corpus_problems
from graphmem.errors import StoreUnavailable
from graphmem.model.policy.corpus import CorpusPolicy
from graphmem.model.space import parse_space

POLICY = CorpusPolicy()
SESSIONS = ("one", "two")
STEPS = 30
SOUND = {"CORPUS_PARTIAL", "CORPUS_READY", "REPO_NO_CORPUS"}
FAULTS = (
    "",
    "",
    "before the write",
    "before the proof",
    "in what was written",
    "in what was there",
)
WRITES = (PushDraft, RevertTo, ImportRevision)
HELD = """
MATCH (c:CorpusCommit {sha: $sha}) WHERE c.space STARTS WITH $tenant
MATCH (c)-[h:HOLDS]->(d:CorpusDocument)
"""
OLD = "EXISTS { MATCH (:CorpusRepository {space: d.space})-[:VERIFIED]->()-[:HOLDS]->(d) }"


def away(*_, **__):
    raise StoreUnavailable


@dataclass
class World:
    """A corpus, what is done to it by chance, and what it acknowledged."""

    api: Any
    monkeypatch: Any
    choose: random.Random
    acknowledged: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)

    @property
    def keeper(self):
        return self.api.house.graphmem.of(CorpusKeeper)

    @property
    def space(self):
        return parse_space("corpus:ada", tenant=self.api.house.caller.tenant)

    def call(self, path, body=None, method="POST"):
        return sent(self.api, method, f"{PATH}/{path}", {} if body is None else body)

    # --- what is done

    def edit(self, session, step):
        item = self.choose.choice(
            [a_project(role=f"r{step}"), an_experience(title=f"t{step}"), an_experience(title=step)]
        )
        kind = "projects" if "role" in item else "experience"
        self.call(f"draft/{kind}?session={session}", item, "PUT")

    def approve(self, session):
        sections = self.choose.choice([(), ("projects",), ("experience", "profile")])
        approved(self.api, *sections, session=session)

    def write(self, session):
        """A push, a revert or an import, with something that goes wrong within it."""
        kind = self.choose.choice(["push", "push", "push", "revert", "import"])
        scaffold = {"scaffold": True} if self.choose.random() < 0.2 else {}
        files = {path: each.text for path, each in documents(a_corpus()).items()}
        body, path = {
            "push": ({"technical": True, **scaffold}, f"push?session={session}"),
            "revert": ({"revision": self.choose.randint(1, 6), "technical": True}, "revert"),
            "import": ({"files": files, "into": "repository"}, "import"),
        }[kind]
        fault = self.choose.choice(FAULTS)
        with ExitStack() as stack:
            self.put_in(stack, fault)
            done = self.call(path, body)
        self.seen.add(f"{kind} {fault}".strip())
        if done.get("persisted"):
            self.check_claim(done)
        return done

    def put_in(self, stack, fault):
        patch = stack.enter_context(self.monkeypatch.context())
        prove = CorpusKeeper.prove
        if fault == "before the write":
            for operation in WRITES:
                patch.setattr(operation, "apply_records", away)
        if fault == "before the proof":
            patch.setattr(CorpusKeeper, "prove", away)
        if fault.startswith("in what"):
            which = OLD if fault.endswith("there") else f"NOT {OLD}"

            def damaged(keeper, space, attempt, *rest, **more):
                patch.setattr(CorpusKeeper, "prove", prove)  # what ends onboarding is let be
                self.api.house.rows(f"{HELD} WHERE {which} SET d.text = 'x'", sha=attempt.sha)
                return prove(keeper, space, attempt, *rest, **more)

            patch.setattr(CorpusKeeper, "prove", damaged)

    def damage(self):
        """Somebody changes a document of the verified revision by hand."""
        self.api.house.rows(
            "MATCH (r:CorpusRepository {space: $tenant + 'corpus:ada'})-[:VERIFIED]->()"
            "-[:HOLDS {path: 'corpus_skills.json'}]->(d) SET d.text = '{broken'"
        )

    # --- what must hold

    def check_claim(self, done):
        """What says persisted was read back whole just now; what says validated is valid."""
        verified = self.keeper.corpora.find(self.space).verified
        assert done["ok"]
        assert verified.is_intact or not done["pushed"]
        if done["pushed"]:
            assert done["verification"]["ok"]
            self.acknowledged.add(verified.sha)
        if done["pushed"] and done["validated"]:
            assert () == corpus_problems(corpus_in(verified.documents), POLICY)

    def check(self):
        """The verified revision is whole and its memories are there, or it is said to be not."""
        self.keeper.settle(self.space, self.api.house.caller)
        known = sent(self.api, "GET", PATH, status=200)
        history = sent(self.api, "GET", f"{PATH}/history?limit=200")["items"]
        proved = [each for each in history if not each["failed"]]
        assert self.acknowledged <= {each["commit_sha"] for each in proved}
        verified = self.keeper.corpora.find(self.space).verified
        if verified is None:
            assert [] == proved
            assert set() == self.told()
            return
        assert list(range(verified.revision, 0, -1)) == [each["revision"] for each in proved]
        corpus = corpus_in(verified.documents) if verified.is_intact else None
        is_valid = corpus is not None and () == corpus_problems(corpus, POLICY)
        has_corpus = bool(verified.documents) or not verified.is_intact
        assert known["state"] not in (SOUND if has_corpus and not is_valid else {"CORPUS_INVALID"})
        if is_valid:
            wanted = corpus_memories(corpus, verified.documents, POLICY)
            assert {each.content for each in wanted} == self.told()

    def told(self):
        rows = self.api.house.rows(
            "MATCH (m:Memory {space: $tenant + 'corpus:ada', status: 'active'}) RETURN m.content"
        )
        return {content for (content,) in rows}


@pytest.mark.parametrize("seed", range(6))
def test_whatever_goes_wrong_what_is_told_is_true(api, monkeypatch, seed):
    world = World(api=api, monkeypatch=monkeypatch, choose=random.Random(seed))  # noqa: S311 - no secret
    bootstrapped(api)
    for session in SESSIONS:
        drafted(api, a_corpus(), session=session)

    for step in range(STEPS):
        session = world.choose.choice(SESSIONS)
        api.house.clock.advance(seconds=1)
        if world.choose.random() < 0.6:
            world.edit(session, step)
        if world.choose.random() < 0.7:
            world.approve(session)
        if world.choose.random() < 0.05:
            world.damage()
        done = world.write(session)
        code = done.get("error", {}).get("code")
        if code == "ref_conflict" or world.choose.random() < 0.1:
            world.call(f"pull?session={session}", {"force": world.choose.random() < 0.5})
        if code == "corpus_invalid":
            world.call("repair")
            world.call(f"draft/restore?session={session}")
        world.check()

    assert {"push", "revert"} <= {each.partition(" ")[0] for each in world.seen}
