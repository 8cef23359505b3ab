"""Looks: what a proved revision is by its documents, and the facts that follow from it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from graphmem.corpus.approvals import section_hashes
from graphmem.corpus.assembly import assembled
from graphmem.corpus.documents import LEGACY, MANIFEST, digest
from graphmem.corpus.manifest import has_corpus
from graphmem.corpus.push_plan import PushPlan
from graphmem.corpus.recent import Recent
from graphmem.corpus.schema import corpus_problems
from graphmem.corpus.service_metadata import is_complete
from graphmem.corpus.state import CorpusFacts
from graphmem.model.corpus import (
    Corpus,
    CorpusRepository,
    Documents,
    Section,
    StoredCommit,
    text_digest,
)
from graphmem.model.policy.corpus import CorpusPolicy
from graphmem.model.space import Space

_KEPT = 64  # revisions of any owners
_OWNERS_KEPT = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Look:
    """What documents are: the corpus that can be read in them, and whether it has its form.

    ``is_valid`` is true where there is no corpus; what is damaged is not valid.
    """

    corpus: Corpus | None = None
    hashes: Mapping[Section, str] = field(default_factory=dict)  # of what the sections say
    has_corpus: bool = False
    is_valid: bool = True


class Looks:
    """Looks at revisions; each that was looked at lately is known by the hashes of its texts."""

    def __init__(self) -> None:
        self._known: Recent[Look] = Recent(_KEPT)
        self._newest: Recent[frozenset[str]] = Recent(_OWNERS_KEPT)

    def at(self, stored: StoredCommit | None, policy: CorpusPolicy) -> Look:
        """What a revision is; it is read anew, so that damage is seen."""
        if stored is None:
            return Look()
        key = _key(stored.documents, stored.commit.tree, policy)
        if known := self._known.get(key):
            return known
        found = _look(stored, policy)
        self._known.put(key, found)
        return found

    def note(self, plan: PushPlan, policy: CorpusPolicy) -> Look:
        """What a plan is, which the validator let pass; known by the hashes of its texts."""
        key = _key(plan.documents, plan.tree, policy)
        found = self._known.get(key)
        if found is None:
            found = Look(corpus=plan.corpus, hashes=section_hashes(plan.corpus), has_corpus=True)
            self._known.put(key, found)
        return found

    def see(self, space: Space, look: Look) -> None:
        """Note what an owner's corpus is now."""
        self._newest.put(space.key, frozenset(look.hashes.values()))

    def newest(self, space: Space) -> frozenset[str]:
        """What the sections of an owner's corpus said when it was last looked at, as hashes."""
        return self._newest.get(space.key) or frozenset()

    def of_draft(self, text: str) -> Look:
        """What a draft says by its JSON text, which is not looked at as a whole corpus."""
        key = text_digest(text)
        if known := self._known.get(key):
            return known
        corpus = json.loads(text)
        found = Look(corpus=corpus, hashes=section_hashes(corpus), has_corpus=True)
        self._known.put(key, found)
        return found


def _key(documents: Documents, tree: Mapping[str, str], policy: CorpusPolicy) -> str:
    texts = {path: document.sha256 for path, document in documents.items()}
    return digest([texts, dict(tree), repr(policy)])


def _look(stored: StoredCommit, policy: CorpusPolicy) -> Look:
    if not has_corpus(stored.documents):
        is_lost = bool({MANIFEST, LEGACY} & stored.commit.tree.keys())
        return Look(has_corpus=is_lost, is_valid=not is_lost)
    corpus = assembled(stored.documents).corpus
    is_sound = corpus is not None and not corpus_problems(corpus, policy)
    return Look(
        corpus=corpus,
        hashes=section_hashes(corpus) if corpus else {},
        has_corpus=True,
        is_valid=is_sound and stored.is_intact,
    )


def facts_of(repository: CorpusRepository, look: Look) -> CorpusFacts:
    """What is recorded of an owner's corpus, as its state follows from it."""
    return CorpusFacts(
        has_repository=repository.is_there,
        has_corpus=look.has_corpus,
        is_valid=look.is_valid,
        is_complete=is_complete(look.corpus),
        has_failed_write=repository.has_failed_write,
    )
