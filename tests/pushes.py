"""Pushes of Ada's career corpus for tests: short ways to ask, and what was given."""

import json
from datetime import timedelta

from corpora import NOW, a_corpus, a_file, an_experience, hex_ids, without
from hypothesis import strategies as st

from graphmem.corpus.approvals import section_hash
from graphmem.corpus.assembly import assembled
from graphmem.corpus.documents import LEGACY
from graphmem.corpus.normalise import normalised
from graphmem.corpus.push import decide_push
from graphmem.corpus.push_plan import PushRequest, PushWorld
from graphmem.model.corpus import Approval, Basis, Head, Section
from graphmem.model.policy.corpus import CorpusPolicy

POLICY = CorpusPolicy()
LATER = NOW + timedelta(days=1)
EXPERIENCE_FILE = "corpus_experience_exp_1.json"
PROJECT_FILE = "corpus_project_proj_1.json"
CHIEF = an_experience(title="Chief")
SOME_SECTIONS = st.sets(st.sampled_from(list(Section)))


def yes(corpus, *sections):
    return tuple(
        Approval(
            section=section,
            content_sha256=section_hash(corpus, section),
            basis=Basis.CURRENT_CHAT,
            approved=True,
            at=NOW,
        )
        for section in sections or Section
    )


def world(draft, base=None, approvals=None, **changes):
    """What a push of a draft rests on; without approvals all of it is approved."""
    values = {
        "has_repository": True,
        "is_invalid": False,
        "draft": draft,
        "base": base or Head(),
        "approvals": yes(draft) if approvals is None else approvals,
    }
    return PushWorld(**(values | changes))


def push(draft, base=None, approvals=None, *, request=None, now=LATER, **changes):
    return decide_push(
        request or PushRequest(),
        world(draft, base, approvals, **changes),
        POLICY,
        now=now,
        new_id=hex_ids(),
    )


def targets(*sections, **more):
    return PushRequest(targets=sections, **more)


def written(plan):
    return Head(revision=plan.revision, documents=plan.documents)


def outcome(result):
    return result.ok, result.reason, result.error_code


def normal(corpus):
    """A corpus in its one form, without a claim that onboarding is complete."""
    found = normalised(corpus)
    return {**found, "metadata": without(found["metadata"], "onboarding_complete")}


def a_legacy(corpus=None):
    text = json.dumps(corpus or a_corpus())
    return Head(revision=1, documents={LEGACY: a_file(LEGACY, text)})


def metadata(plan):
    return assembled(plan.documents).corpus["metadata"]
