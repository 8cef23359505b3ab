"""Pushes of a career corpus (000, 1.5): the steps to a plan, in their order."""

import json

import pytest
from corpora import (
    CORPORA,
    NOW,
    a_corpus,
    a_file,
    a_head,
    a_project,
    an_experience,
    documents,
    mixed,
    without,
)
from hypothesis import given
from hypothesis import strategies as st
from pushes import (
    CHIEF,
    EXPERIENCE_FILE,
    PROJECT_FILE,
    SOME_SECTIONS,
    a_legacy,
    metadata,
    normal,
    outcome,
    push,
    targets,
    written,
    yes,
)

from graphmem.corpus.approvals import section_content, section_hash
from graphmem.corpus.assembly import assembled
from graphmem.corpus.blanks import is_blank
from graphmem.corpus.documents import LEGACY, MANIFEST, Changes
from graphmem.corpus.push_plan import PushPlan, PushRequest
from graphmem.corpus.push_result import (
    PushCode,
    user_message,
)
from graphmem.corpus.schema import schema_problems
from graphmem.model.corpus import (
    Head,
    Section,
)


def test_a_push_of_a_whole_draft_writes_all_its_documents_as_the_first_revision():
    plan = push(a_corpus(), now=NOW)

    assert (0, 1, 0) == (plan.expected_revision, plan.revision, plan.retry_count)
    assert set(documents()) == set(plan.written) == set(plan.documents)
    assert a_corpus() == assembled(plan.documents).corpus


def test_only_what_changed_is_written():
    plan = push(a_corpus(experience=[CHIEF]), a_head(3))

    assert Changes(changed=(EXPERIENCE_FILE, MANIFEST, "corpus_metadata.json")) == plan.changes
    assert (3, 4) == (plan.expected_revision, plan.revision)
    assert set(plan.changes.changed) == set(plan.payloads)
    assert plan.tree == {path: each.sha256 for path, each in plan.documents.items()}


def test_a_push_says_what_it_is_about_unless_it_is_told():
    draft = a_corpus(experience=[CHIEF])

    assert "Update experience" == push(draft, a_head()).message
    assert "Better" == push(draft, a_head(), request=PushRequest(message="Better")).message


def test_without_a_repository_there_is_nothing_to_push_to():
    found = push(a_corpus(), has_repository=False)

    assert (False, "api_404", PushCode.MEMORY_REPO_NOT_FOUND) == outcome(found)


def test_an_invalid_corpus_takes_no_push():
    assert PushCode.CORPUS_INVALID is push(a_corpus(), is_invalid=True).error_code


def test_an_empty_list_of_targets_is_an_error():
    found = push(a_corpus(), request=targets())

    assert PushCode.INVALID_INPUT is found.error_code
    assert ["target_sections"] == [problem.path for problem in found.problems]


def test_a_target_must_be_approved_even_where_nothing_changed():
    found = push(a_corpus(), a_head(), (), request=targets(Section.SKILLS, Section.PROFILE))

    assert (
        False,
        "approval_missing:skills,profile",
        PushCode.APPROVAL_MISSING,
    ) == outcome(found)
    assert (False, False, False) == (found.pushed, found.persisted, found.validation_ran)


def test_without_targets_every_changed_section_must_be_approved():
    draft = a_corpus(experience=[CHIEF], projects=[a_project(role="dev")])

    found = push(draft, a_head(), yes(draft, Section.EXPERIENCE))

    assert "approval_missing:projects" == found.reason
    assert isinstance(push(draft, a_head()), PushPlan)


def test_an_approval_of_another_content_does_not_count():
    draft = a_corpus(experience=[CHIEF])

    assert PushCode.APPROVAL_MISSING is push(draft, a_head(), yes(a_corpus())).error_code


def test_a_clean_draft_needs_no_call_to_the_repository():
    found = push(a_corpus(), a_head(), ())

    assert (True, "not_dirty", None) == outcome(found)
    assert (False, True, False) == (found.pushed, found.persisted, found.validation_ran)
    assert "No memory changes to save." == user_message(found, is_technical=False)


def test_missing_adapters_are_named_behind_approvals_and_before_the_schema():
    broken = a_corpus(profile={})

    found = push(broken, missing_adapters=("store", "clock"))

    assert (False, "missing_adapters:store,clock", PushCode.API_UNKNOWN) == outcome(found)


@pytest.mark.parametrize(
    "link", [3, {"name": "GitHub"}, {"name": "", "url": ["x"]}, {"name": "a", "url": "b", "c": 1}]
)
def test_an_invalid_link_shape_is_validation_failed(link):
    draft = a_corpus(profile={"full_name": "Ada", "links": [link]})

    found = push(draft, a_head())

    assert PushCode.VALIDATION_FAILED is found.error_code
    assert (True, False, False) == (found.validation_ran, found.validated, found.persisted)
    assert all(problem.path.startswith("profile.links.0") for problem in found.problems)


def test_a_draft_that_lacks_sections_is_validation_failed_with_all_paths():
    found = push({"profile": {"full_name": "Ada"}})

    assert {"experience", "projects", "skills", "certifications", "education"} == {
        problem.path for problem in found.problems
    }


def test_notes_that_speak_of_a_commit_are_refused_with_their_path():
    draft = a_corpus(experience=[an_experience(notes="from the last commit")])

    found = push(draft, a_head())

    assert PushCode.NOTES_POLICY_VIOLATION is found.error_code
    assert (True, False) == (found.validation_ran, found.validated)
    assert ["experience.0.notes"] == [problem.path for problem in found.problems]


def test_a_draft_that_says_the_same_in_its_one_form_is_unchanged():
    base = a_corpus(profile={"full_name": "Ada", "notes": None})
    draft = a_corpus(profile={"full_name": "Ada", "notes": " "})

    found = push(draft, a_head(corpus=base), yes(base))

    assert (True, "hashes_unchanged", None) == outcome(found)
    assert (True, True, False) == (found.validated, found.persisted, found.pushed)


def test_a_change_outside_the_approved_section_is_refused_by_its_paths():
    draft = a_corpus(experience=[CHIEF], projects=[])

    found = push(
        draft, a_head(), yes(draft, Section.EXPERIENCE), request=targets(Section.EXPERIENCE)
    )

    assert (
        False,
        f"disallowed_changed_paths:{PROJECT_FILE}",
        PushCode.UNAPPROVED_SECTION_CHANGES,
    ) == outcome(found)
    assert (True, True, False) == (found.validated, found.local_saved, found.persisted)


def test_another_order_of_items_is_a_change_of_their_section():
    two = [an_experience("exp_1"), an_experience("exp_2")]
    head = a_head(corpus=a_corpus(experience=two))
    draft = a_corpus(experience=two[::-1], projects=[])

    found = push(draft, head, request=targets(Section.PROJECTS))

    assert f"disallowed_changed_paths:{MANIFEST}" == found.reason


def test_targets_name_what_may_change_even_where_more_is_approved():
    draft = a_corpus(
        experience=[CHIEF],
        skills={"technical": ["Go"], "platforms": [], "methods": [], "domains": []},
    )

    found = push(draft, a_head(), request=targets(Section.EXPERIENCE))

    assert "disallowed_changed_paths:corpus_skills.json" == found.reason
    both = targets(Section.EXPERIENCE, Section.SKILLS)
    assert isinstance(push(draft, a_head(), request=both), PushPlan)


def partial(*names):
    return {name: a_corpus()[name] for name in ("profile", *names)}


def test_agreed_scaffold_makes_a_first_push_of_a_profile_valid():
    draft = partial()
    plan = push(draft, request=PushRequest(scaffold=True))
    corpus = assembled(plan.documents).corpus

    assert () == schema_problems(corpus)
    assert ([], [], "onboarding") == (
        corpus["experience"],
        corpus["skills"]["domains"],
        corpus["metadata"]["source"],
    )
    assert PushCode.VALIDATION_FAILED is push(draft).error_code


@pytest.mark.parametrize(
    "request_",
    [PushRequest(scaffold=True), targets(Section.PROFILE, scaffold=True)],
    ids=["approved", "targets"],
)
def test_what_is_not_approved_stays_in_the_draft_where_scaffold_is_agreed(request_):
    draft = partial("experience", "skills")

    plan = push(draft, approvals=yes(draft, Section.PROFILE), request=request_)

    corpus = assembled(plan.documents).corpus
    assert ([], []) == (corpus["experience"], corpus["skills"]["technical"])
    assert draft["profile"] == corpus["profile"]


def test_section_by_section_onboarding_fills_the_scaffold():
    draft, head = a_corpus(), Head()
    for section in list(Section)[:-1]:
        plan = push(draft, head, yes(draft, section), request=targets(section, scaffold=True))
        head = written(plan)

    assert without(draft, "metadata") == without(assembled(head.documents).corpus, "metadata")


def test_scaffold_never_takes_the_place_of_what_is_there():
    draft = a_corpus(experience=[CHIEF], projects=[a_project(role="dev")])

    found = push(
        draft,
        a_head(),
        yes(draft, Section.EXPERIENCE),
        request=targets(Section.EXPERIENCE, scaffold=True),
    )

    assert PushCode.UNAPPROVED_SECTION_CHANGES is found.error_code


def test_a_first_push_keeps_the_time_and_source_that_were_imported():
    given_ = {"last_updated_utc": "2020-01-01T00:00:00Z", "source": "manual_import"}

    assert given_ == metadata(push(a_corpus(metadata=given_)))


def test_later_pushes_set_them_and_keep_the_end_of_onboarding():
    ended = a_corpus()["metadata"] | {
        "onboarding_complete": True,
        "onboarding_completed_utc": "2026-02-02T00:00:00Z",
    }
    head = a_head(corpus=a_corpus(metadata=ended))

    found = metadata(push(a_corpus(experience=[CHIEF], metadata=ended), head))

    assert ended | {"last_updated_utc": "2026-03-02T09:05:00Z", "source": "user_update"} == found


@pytest.mark.parametrize("base", [None, a_head()], ids=["first", "later"])
def test_a_draft_never_claims_that_onboarding_is_complete(base):
    claim = a_corpus()["metadata"] | {"onboarding_complete": True, "source": "user_update"}

    found = metadata(push(a_corpus(metadata=claim, experience=[CHIEF]), base))

    assert "onboarding_complete" not in found
    assert "onboarding_completed_utc" not in found


@pytest.mark.parametrize("wrong", [{}, {"last_updated_utc": "x", "source": 3}, None, "x"])
def test_metadata_that_lacks_what_the_service_sets_gets_it(wrong):
    assert {"last_updated_utc": "2026-03-02T09:05:00Z", "source": "onboarding"} == metadata(
        push(a_corpus(metadata=wrong))
    )


@given(CORPORA)
def test_an_imported_corpus_is_written_as_its_files_were(corpus):
    corpus = normal(corpus)
    files = {
        path: a_file(path, json.dumps(json.loads(each.text), indent=1))
        for path, each in documents(corpus).items()
    }

    plan = push(corpus, files=files)

    assert files == plan.documents


def test_other_files_of_a_repository_stay_where_they_are():
    readme = a_file("README.md", "hi")
    head = a_head(**{"README.md": readme})

    assert readme == push(a_corpus(experience=[CHIEF]), head).documents["README.md"]


def test_a_corpus_in_one_file_is_split_by_the_first_push_and_not_before():
    clean = push(a_corpus(), a_legacy(), ())
    plan = push(a_corpus(experience=[CHIEF]), a_legacy(), request=targets(Section.EXPERIENCE))

    assert (True, "not_dirty") == (clean.ok, clean.reason)
    assert (LEGACY,) == plan.changes.deleted
    assert set(documents()) == set(plan.changes.changed)
    assert CHIEF == assembled(plan.documents).corpus["experience"][0]


@given(
    CORPORA,
    CORPORA,
    SOME_SECTIONS,
    SOME_SECTIONS,
    st.none() | SOME_SECTIONS,
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_nothing_unapproved_reaches_the_repository(
    there, other, edited, approved, wanted, scaffold, is_first, hides_more
):
    there, draft = normal(there), normal(mixed(there, other, edited))
    base = Head() if is_first else a_head(corpus=there)
    before = {} if is_first else there
    approvals = (*yes(draft, *approved), *yes(there, *Section)) if approved else ()
    asked = PushRequest(targets=None if wanted is None else tuple(wanted), scaffold=scaffold)

    more = {"__hidden__": 1} if hides_more else {}
    files = {
        path: a_file(path, json.dumps(json.loads(each.text) | more))
        for path, each in documents(draft).items()
    }

    plan = push(draft, base, approvals, request=asked, files=files)

    if isinstance(plan, PushPlan):
        assert not any("__hidden__" in each.text for each in plan.documents.values())
        after = assembled(plan.documents).corpus
        for section in Section:
            is_new = section_content(after, section) != section_content(before, section)
            known = {each.content_sha256 for each in approvals if each.section is section}
            if is_new and not is_blank(after[section]):
                assert section_hash(after, section) in known
                assert wanted is None or section in wanted


def test_what_scaffold_stands_in_for_is_named_so_that_the_draft_keeps_it():
    draft = partial("experience", "skills") | {"projects": []}

    plan = push(draft, approvals=yes(draft, Section.PROFILE), request=PushRequest(scaffold=True))

    assert (Section.EXPERIENCE, Section.SKILLS) == plan.withheld
    assert () == push(a_corpus(), request=PushRequest(scaffold=True)).withheld
