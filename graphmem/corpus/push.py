"""Push: whether a draft may become the next revision (000, steps 0 to 10). Pure.

The repository reads a world, writes the plan that it gives, and proves it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.corpus.approvals import changed_sections, is_dirty, standing
from graphmem.corpus.assembly import assembled
from graphmem.corpus.blanks import is_blank
from graphmem.corpus.documents import MANIFEST, Changes
from graphmem.corpus.manifest import section_of, with_ids
from graphmem.corpus.normalise import normalised
from graphmem.corpus.notes_policy import notes_problems
from graphmem.corpus.onboarding import scaffold_for
from graphmem.corpus.push_plan import PushPlan, PushRequest, PushWorld, planned
from graphmem.corpus.push_result import VALID, PushCode, PushReason, PushResult, invalid, refused
from graphmem.corpus.schema import SCHEMA_VERSION, Problem, corpus_problems
from graphmem.corpus.service_metadata import with_metadata
from graphmem.model.corpus import Corpus, Section
from graphmem.model.policy.corpus import CorpusPolicy

_REPO_GONE = "api_404"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Proposal:
    """A push on its way through the steps; ``corpus`` is what would be written."""

    request: PushRequest
    world: PushWorld
    policy: CorpusPolicy
    before: Corpus | None
    corpus: Corpus
    changed: tuple[Section, ...]
    withheld: tuple[Section, ...]

    @property
    def targets(self) -> tuple[Section, ...]:
        """The sections that it is meant for."""
        return self.changed if self.request.targets is None else self.request.targets


def decide_push(
    request: PushRequest,
    world: PushWorld,
    policy: CorpusPolicy,
    *,
    now: datetime,
    new_id: Callable[[], str],
) -> PushPlan | PushResult:
    """What a push writes, or the result that it has without writing."""
    before = assembled(world.base.documents).corpus
    draft = normalised(world.draft, drops_links=False)
    scaffold = _scaffold(request, world, draft, before)
    whole = {"schema_version": SCHEMA_VERSION, **draft, **scaffold}
    corpus = with_metadata(with_ids(whole, new_id), before, now)
    proposal = _Proposal(
        request=request,
        world=world,
        policy=policy,
        before=before,
        corpus=corpus,
        changed=changed_sections(before or {}, corpus),
        withheld=tuple(
            section
            for section in Section
            if section in scaffold and not is_blank(draft.get(section))
        ),
    )
    result = next(filter(None, (step(proposal) for step in _STEPS)), None)
    return result or _within_targets(proposal, now)


def _scaffold(
    request: PushRequest, world: PushWorld, draft: Corpus, before: Corpus | None
) -> Corpus:
    """The sections that scaffold stands in for, where that is agreed."""
    if not request.scaffold:
        return {}
    approved = tuple(standing(world.approvals, draft))
    kept = approved if request.targets is None else request.targets
    return scaffold_for(draft, kept, before)


def _repository(proposal: _Proposal) -> PushResult | None:
    if not proposal.world.has_repository:
        return refused(PushCode.MEMORY_REPO_NOT_FOUND, _REPO_GONE)
    return refused(PushCode.CORPUS_INVALID) if proposal.world.is_invalid else None


def _approvals(proposal: _Proposal) -> PushResult | None:
    if proposal.request.targets == ():
        problem = Problem(path="target_sections", message="Must name a section, or be left out.")
        return refused(PushCode.INVALID_INPUT, "target_sections_empty", problems=(problem,))
    approved = standing(proposal.world.approvals, proposal.corpus)
    lacking = [section.value for section in proposal.targets if section not in approved]
    if not lacking:
        return None
    return refused(PushCode.APPROVAL_MISSING, f"approval_missing:{','.join(lacking)}")


def _dirt(proposal: _Proposal) -> PushResult | None:
    if is_dirty(proposal.before, proposal.world.draft):
        return None
    return PushResult(ok=True, persisted=True, reason=PushReason.NOT_DIRTY)


def _adapters(proposal: _Proposal) -> PushResult | None:
    missing = ",".join(proposal.world.missing_adapters)
    return refused(PushCode.API_UNKNOWN, f"missing_adapters:{missing}") if missing else None


def _schema(proposal: _Proposal) -> PushResult | None:
    problems = corpus_problems(proposal.corpus, proposal.policy)
    return invalid(PushCode.VALIDATION_FAILED, problems) if problems else None


def _notes(proposal: _Proposal) -> PushResult | None:
    problems = notes_problems(proposal.corpus)
    return invalid(PushCode.NOTES_POLICY_VIOLATION, problems) if problems else None


def _unchanged(proposal: _Proposal) -> PushResult | None:
    """A draft that in its one form says what is there already."""
    if proposal.before is None or is_dirty(proposal.before, proposal.corpus):
        return None
    return replace(VALID, persisted=True, reason=PushReason.HASHES_UNCHANGED)


# in their order; the first result ends a push
_STEPS = (_repository, _approvals, _dirt, _adapters, _schema, _notes, _unchanged)


def _within_targets(proposal: _Proposal, now: datetime) -> PushPlan | PushResult:
    """The plan, unless it changes what it is not meant for."""
    plan = planned(
        proposal.world.base,
        proposal.corpus,
        base=proposal.world.base,
        files=proposal.world.files,
        message=proposal.request.message or _message(proposal.changed),
        now=now,
    )
    plan = replace(plan, withheld=proposal.withheld)
    disallowed = ",".join(_disallowed(proposal, plan.changes))
    if not disallowed:
        return plan
    return replace(
        VALID,
        ok=False,
        reason=f"disallowed_changed_paths:{disallowed}",
        error_code=PushCode.UNAPPROVED_SECTION_CHANGES,
    )


def _message(sections: tuple[Section, ...]) -> str:
    return f"Update {', '.join(sections) or 'the corpus'}"


def _disallowed(proposal: _Proposal, changed: Changes) -> Iterator[str]:
    """Changed documents of sections that say something else and are no targets.

    So what the service sets in metadata and scaffold never count, and the manifest only where it
    alone tells of such a section, by another order of its items.
    """
    outside = set(proposal.changed) - set(proposal.targets)
    yield from (path for path in changed.paths if section_of(path) in outside)
    if outside - {section_of(path) for path in changed.paths}:
        yield MANIFEST
