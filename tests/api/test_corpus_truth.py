"""A career corpus never claims more than it checked: random calls with faults put in (000)."""

import random
from contextlib import ExitStack

import pytest
from careers import PATH, approved, bootstrapped, drafted, sent
from corpora import a_corpus, a_project, an_experience

from graphmem.corpus.facts import corpus_memories
from graphmem.corpus.keeper import CorpusKeeper
from graphmem.corpus.packing import corpus_in
from graphmem.corpus.pushing import PushDraft
from graphmem.errors import StoreUnavailable
from graphmem.model.policy.corpus import CorpusPolicy
from graphmem.model.space import parse_space

SESSIONS = ("one", "two")
STEPS = 25


class Fault:
    """What goes wrong with the next push."""

    def __init__(self, api, monkeypatch):
        self.api, self.monkeypatch = api, monkeypatch
        self.prove = CorpusKeeper.prove

    def put_in(self, stack, kind):
        patch = stack.enter_context(self.monkeypatch.context())
        if kind == "before the write":
            patch.setattr(PushDraft, "apply_records", away)
        if kind == "before the proof":
            patch.setattr(CorpusKeeper, "prove", away)
        if kind == "in the store":
            damaged = self._damaged
            patch.setattr(CorpusKeeper, "prove", lambda *all_, **more: damaged(*all_, **more))  # noqa: PLW0108

    def _damaged(self, keeper, space, attempt, *rest, **more):
        self.api.house.rows(
            "MATCH (c:CorpusCommit {sha: $sha})-[:HOLDS]->(d:CorpusDocument) WHERE NOT EXISTS {"
            " MATCH (:CorpusRepository)-[:VERIFIED]->()-[:HOLDS]->(d) } SET d.text = 'x'",
            sha=attempt.sha,
        )
        return self.prove(keeper, space, attempt, *rest, **more)


def away(*_, **__):
    raise StoreUnavailable


@pytest.mark.parametrize("seed", range(3))
def test_whatever_goes_wrong_what_is_told_is_true(api, monkeypatch, seed):
    choose, fault = random.Random(seed), None  # noqa: S311 - no secret
    fault = Fault(api, monkeypatch)
    keeper = api.house.graphmem.of(CorpusKeeper)
    space = parse_space("corpus:ada", tenant=api.house.caller.tenant)
    bootstrapped(api)
    for session in SESSIONS:
        drafted(api, a_corpus(), session=session)
    acknowledged = set()
    for step in range(STEPS):
        session = choose.choice(SESSIONS)
        api.house.clock.advance(seconds=1)
        if choose.random() < 0.6:
            item = choose.choice([a_project(role=f"r{step}"), an_experience(title=f"t{step}")])
            kind = "projects" if "role" in item else "experience"
            sent(api, "PUT", f"{PATH}/draft/{kind}?session={session}", item)
        if choose.random() < 0.7:
            approved(api, session=session)
        kind = choose.choice(["", "", "before the write", "before the proof", "in the store"])
        with ExitStack() as stack:
            fault.put_in(stack, kind)
            done = sent(api, "POST", f"{PATH}/push?session={session}", {"technical": True})
        if done.get("error", {}).get("code") == "ref_conflict":
            sent(api, "POST", f"{PATH}/pull?session={session}", {})
        if done["persisted"]:
            assert done["ok"]
            assert done["verify_ok"] or not done["pushed"]
            acknowledged.add(done.get("remote_commit_sha"))
        check(api, keeper, space, acknowledged)


def check(api, keeper, space, acknowledged):
    """The verified revision is whole, and its memories are those that are there."""
    keeper.settle(space, api.house.caller)
    verified = keeper.corpora.find(space).verified
    told = {
        content
        for (content,) in api.house.rows(
            "MATCH (m:Memory {space: $tenant + 'corpus:ada', status: 'active'}) RETURN m.content"
        )
    }
    if verified is None:
        assert set() == told
        return
    assert verified.is_intact
    corpus = corpus_in(verified.documents)
    wanted = corpus_memories(corpus, verified.documents, CorpusPolicy())
    assert {each.content for each in wanted} == told
    history = sent(api, "GET", f"{PATH}/history?limit=200")["items"]
    proved = [each for each in history if not each["failed"]]
    assert acknowledged - {None} <= {each["commit_sha"] for each in proved}
    revisions = [each["revision"] for each in proved]
    assert list(range(verified.revision, 0, -1)) == revisions
