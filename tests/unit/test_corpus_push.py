"""Pushes of a career corpus (000, 1.5): steps, retry, proof, and what a result claims."""

import json
from dataclasses import fields as record_fields
from dataclasses import replace
from datetime import timedelta

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
    hex_ids,
    mixed,
    without,
)
from hypothesis import given
from hypothesis import strategies as st

from graphmem.corpus.approvals import section_content, section_hash
from graphmem.corpus.assembly import assembled
from graphmem.corpus.blanks import is_blank
from graphmem.corpus.documents import LEGACY, MANIFEST, Changes
from graphmem.corpus.normalise import normalised
from graphmem.corpus.push import decide_push
from graphmem.corpus.push_attempts import completion, conflicted, proved, retried
from graphmem.corpus.push_plan import PushPlan, PushRequest, PushWorld
from graphmem.corpus.push_result import (
    PushCode,
    PushResult,
    Verified,
    may_retry,
    shown,
    sound,
    store_away,
    user_message,
    with_states,
    work_of,
)
from graphmem.corpus.schema import schema_problems
from graphmem.corpus.verification import verified
from graphmem.model.corpus import (
    Approval,
    Basis,
    CorpusState,
    Head,
    Section,
    Verification,
)
from graphmem.model.policy.corpus import CorpusPolicy

POLICY = CorpusPolicy()
LATER = NOW + timedelta(days=1)
EXPERIENCE_FILE = "corpus_experience_exp_1.json"
PROJECT_FILE = "corpus_project_proj_1.json"
CHIEF = an_experience(title="Chief")


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


def metadata(plan):
    return assembled(plan.documents).corpus["metadata"]


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


def normal(corpus):
    """A corpus in its one form, without a claim that onboarding is complete."""
    found = normalised(corpus)
    return {**found, "metadata": without(found["metadata"], "onboarding_complete")}


def test_other_files_of_a_repository_stay_where_they_are():
    readme = a_file("README.md", "hi")
    head = a_head(**{"README.md": readme})

    assert readme == push(a_corpus(experience=[CHIEF]), head).documents["README.md"]


def a_legacy(corpus=None):
    text = json.dumps(corpus or a_corpus())
    return Head(revision=1, documents={LEGACY: a_file(LEGACY, text)})


def test_a_corpus_in_one_file_is_split_by_the_first_push_and_not_before():
    clean = push(a_corpus(), a_legacy(), ())
    plan = push(a_corpus(experience=[CHIEF]), a_legacy(), request=targets(Section.EXPERIENCE))

    assert (True, "not_dirty") == (clean.ok, clean.reason)
    assert (LEGACY,) == plan.changes.deleted
    assert set(documents()) == set(plan.changes.changed)
    assert CHIEF == assembled(plan.documents).corpus["experience"][0]


SOME_SECTIONS = st.sets(st.sampled_from(list(Section)))


@given(
    CORPORA,
    CORPORA,
    SOME_SECTIONS,
    SOME_SECTIONS,
    st.none() | SOME_SECTIONS,
    st.booleans(),
    st.booleans(),
)
def test_nothing_unapproved_reaches_the_repository(
    there, other, edited, approved, wanted, scaffold, is_first
):
    there, draft = normal(there), normal(mixed(there, other, edited))
    base = Head() if is_first else a_head(corpus=there)
    before = {} if is_first else there
    approvals = (*yes(draft, *approved), *yes(there, *Section)) if approved else ()
    asked = PushRequest(targets=None if wanted is None else tuple(wanted), scaffold=scaffold)

    plan = push(draft, base, approvals, request=asked)

    if isinstance(plan, PushPlan):
        after = assembled(plan.documents).corpus
        for section in Section:
            is_new = section_content(after, section) != section_content(before, section)
            known = {each.content_sha256 for each in approvals if each.section is section}
            if is_new and not is_blank(after[section]):
                assert section_hash(after, section) in known
                assert wanted is None or section in wanted


# --- proof


def test_what_is_read_back_as_it_was_written_is_persisted():
    plan = push(a_corpus(experience=[CHIEF]), a_head(3))

    found = proved(plan, plan.documents)

    assert (True, "push_verified", None) == outcome(found)
    assert (True, True, True, True, True, True) == (
        found.pushed,
        found.persisted,
        found.validated,
        found.local_saved,
        found.remote_written,
        found.verify_ok,
    )
    assert (4, 0, Verified(ok=True)) == (found.revision, found.retry_count, found.verification)
    assert plan.documents[MANIFEST].sha256 == found.remote_blob_sha
    assert "Saved to memory/corpus." == user_message(found, is_technical=False)


def tampered(plan, path, text=None):
    rest = without(plan.documents, path)
    return rest if text is None else {**rest, path: a_file(path, text)}


@pytest.mark.parametrize(
    ("text", "reason"), [(None, "changed_path_missing"), ("{}", "blob_sha_mismatch")]
)
def test_a_tampered_tree_is_transport_corruption(text, reason):
    plan = push(a_corpus(experience=[CHIEF]), a_head())

    found = proved(plan, tampered(plan, EXPERIENCE_FILE, text))

    assert (False, f"{reason}:{EXPERIENCE_FILE}", PushCode.TRANSPORT_CORRUPTION) == outcome(found)
    assert (True, False, False) == (found.pushed, found.persisted, found.verify_ok)
    assert "Couldn't save to memory." == user_message(found, is_technical=False)


def test_a_document_that_is_still_there_is_found_before_all_else():
    plan = push(a_corpus(projects=[]), a_head())
    left = {**tampered(plan, MANIFEST), PROJECT_FILE: documents()[PROJECT_FILE]}

    assert f"deleted_path_still_present:{PROJECT_FILE}" == proved(plan, left).reason


def test_the_same_words_in_other_bytes_are_no_proof():
    plan = push(a_corpus(experience=[CHIEF]), a_head())
    indented = json.dumps(json.loads(plan.documents[EXPERIENCE_FILE].text), indent=2)

    assert not proved(plan, tampered(plan, EXPERIENCE_FILE, indented)).persisted


def test_what_was_not_written_is_no_part_of_the_proof():
    plan = push(a_corpus(experience=[CHIEF]), a_head())

    assert proved(plan, tampered(plan, PROJECT_FILE)).persisted


@given(st.sets(st.sampled_from("abcd")), st.sets(st.sampled_from("abcd")))
def test_a_proof_needs_every_path(there, changed):
    tree = {path: a_file(path, path).sha256 for path in "abcd"}
    gone = set("abcd") - changed
    read = {path: a_file(path, path) for path in there}

    found = verified(
        Changes(changed=tuple(sorted(changed)), deleted=tuple(sorted(gone))), tree, read
    )

    assert (there == changed) == found.ok == (found.error is None)


# --- retry


def test_a_conflict_is_retried_exactly_once():
    plan = push(a_corpus(experience=[CHIEF]), a_head())
    first, second = conflicted(plan), conflicted(replace(plan, retry_count=1))

    assert (True, False) == (may_retry(first), may_retry(second))
    assert (False, "ref_conflict", PushCode.REF_CONFLICT) == outcome(second)
    assert (1, False, False) == (second.retry_count, second.pushed, second.persisted)


@pytest.mark.parametrize("code", [code for code in PushCode if code is not PushCode.REF_CONFLICT])
def test_nothing_else_is_retried(code):
    assert not may_retry(PushResult(ok=False, reason="x", error_code=code))


def second_writer(base, **changes):
    """The head once somebody else pushed a change of the base."""
    return written(push(a_corpus(**changes), base, now=NOW))


def test_changes_to_other_documents_are_kept_and_joined():
    base = a_head(3)
    mine = push(a_corpus(experience=[CHIEF]), base)
    head = second_writer(base, projects=[a_project(role="dev")])

    plan = retried(mine, head, POLICY, now=LATER)
    result = proved(plan, plan.documents)
    corpus = assembled(plan.documents).corpus

    assert (4, 5, 1) == (plan.expected_revision, plan.revision, result.retry_count)
    assert (CHIEF, "dev") == (corpus["experience"][0], corpus["projects"][0]["role"])
    assert (EXPERIENCE_FILE, MANIFEST, "corpus_metadata.json") == plan.changes.changed
    assert result.persisted


def test_the_same_document_changed_by_both_is_a_conflict_that_names_it():
    base = a_head()
    mine = push(a_corpus(experience=[CHIEF]), base)
    head = second_writer(base, experience=[an_experience(title="Clerk")])

    found = retried(mine, head, POLICY, now=LATER)

    assert (False, f"ref_conflict:{EXPERIENCE_FILE}", PushCode.REF_CONFLICT) == outcome(found)
    assert (1, False, True) == (found.retry_count, found.persisted, found.is_failed_write)


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [([CHIEF], []), ([], [CHIEF])],
    ids=["they delete what I change", "I delete what they change"],
)
def test_a_document_that_one_changes_and_one_deletes_is_a_conflict(mine, theirs):
    base = a_head()
    plan = push(a_corpus(experience=mine), base)

    found = retried(plan, second_writer(base, experience=theirs), POLICY, now=LATER)

    assert PushCode.REF_CONFLICT is found.error_code


def test_what_both_changed_alike_is_no_conflict():
    base = a_head()
    mine = push(a_corpus(experience=[CHIEF], projects=[]), base)

    plan = retried(mine, second_writer(base, experience=[CHIEF]), POLICY, now=LATER)

    assert (PROJECT_FILE,) == plan.changes.deleted


def test_what_somebody_else_wrote_already_is_unchanged():
    base = a_head()
    mine = push(a_corpus(experience=[CHIEF]), base)

    found = retried(mine, second_writer(base, experience=[CHIEF]), POLICY, now=LATER)

    assert (True, "hashes_unchanged", 1) == (found.ok, found.reason, found.retry_count)


def test_new_items_of_two_writers_come_one_behind_the_other():
    base = a_head()
    one, two = an_experience("exp_2"), an_experience("exp_3")
    mine = push(a_corpus(experience=[an_experience(), one]), base)
    head = second_writer(base, experience=[two, an_experience()])

    plan = retried(mine, head, POLICY, now=LATER)

    assert [two, an_experience(), one] == assembled(plan.documents).corpus["experience"]


def test_an_order_that_one_of_them_changed_is_kept():
    three = [an_experience(f"exp_{number}") for number in range(3)]
    base = a_head(corpus=a_corpus(experience=three))
    mine = push(a_corpus(experience=three[::-1]), base)
    head = second_writer(base, experience=[*three, an_experience("exp_9")])

    plan = retried(mine, head, POLICY, now=LATER)

    assert ["exp_2", "exp_1", "exp_0", "exp_9"] == [
        each["id"] for each in assembled(plan.documents).corpus["experience"]
    ]


def test_a_joined_corpus_is_validated_again():
    base = a_head(corpus=a_corpus(experience=[]))
    mine = push(a_corpus(experience=[an_experience("a")]), base)
    head = second_writer(base, experience=[an_experience("b")])

    found = retried(mine, head, CorpusPolicy(list_items=1), now=LATER)

    assert PushCode.VALIDATION_FAILED is found.error_code
    assert (1, False, False) == (found.retry_count, found.validated, found.persisted)


def test_a_head_that_is_no_corpus_takes_no_retry():
    base = a_head()
    mine = push(a_corpus(experience=[CHIEF]), base)
    head = a_head(2, **{MANIFEST: a_file(MANIFEST, "{")})

    assert PushCode.REF_CONFLICT is retried(mine, head, POLICY, now=LATER).error_code


def test_two_writers_of_a_corpus_in_one_file_are_joined_too():
    mine = push(a_corpus(experience=[CHIEF]), a_legacy())
    head = second_writer(a_legacy(), projects=[a_project(role="dev")])

    corpus = assembled(retried(mine, head, POLICY, now=LATER).documents).corpus

    assert ("Chief", "dev") == (corpus["experience"][0]["title"], corpus["projects"][0]["role"])


def test_8_writers_of_8_experiences_are_all_in_with_one_retry_each_at_most():
    items = [an_experience(f"exp_{number}") for number in range(8)]
    base = a_head(corpus=a_corpus(experience=items))
    head = base
    for number in range(8):
        edited = [
            {**item, "title": f"Chief {number}"} if n == number else item
            for n, item in enumerate(items)
        ]
        plan = push(a_corpus(experience=edited), base)
        if plan.expected_revision != head.revision:
            plan = retried(plan, head, POLICY, now=LATER)
        assert head.revision == plan.expected_revision
        assert (number > 0) == plan.retry_count
        head = written(plan)

    assert 9 == head.revision
    assert [f"Chief {number}" for number in range(8)] == [
        each["title"] for each in assembled(head.documents).corpus["experience"]
    ]


@given(CORPORA, CORPORA, CORPORA, SOME_SECTIONS, SOME_SECTIONS)
def test_a_retry_joins_both_or_names_what_both_changed(base, one, two, mine, theirs):
    base, one, two = (normal(each) for each in (base, one, two))
    first = a_head(corpus=base)
    plan = push(mixed(base, one, mine), first)
    other = push(mixed(base, two, theirs), first, now=NOW)
    if not (isinstance(plan, PushPlan) and isinstance(other, PushPlan)):
        return
    found = retried(plan, written(other), POLICY, now=LATER)
    if isinstance(found, PushPlan):
        for path in set(plan.changes.paths) - {MANIFEST, "corpus_metadata.json"}:
            assert plan.documents.get(path) == found.documents.get(path)
        for path in set(other.changes.paths) - {MANIFEST, "corpus_metadata.json"}:
            assert other.documents.get(path) == found.documents.get(path)
    elif not found.ok:
        both = set(plan.changes.paths) & set(other.changes.paths)
        assert set(found.reason.partition(":")[2].split(",")) <= both


# --- the end of onboarding


def test_onboarding_ends_with_a_commit_of_its_own_once_all_seven_are_approved():
    head = a_head(5)

    plan = completion(head, yes(a_corpus()), now=LATER)

    assert (MANIFEST, "corpus_metadata.json") == plan.changes.paths
    assert (5, 6) == (plan.expected_revision, plan.revision)
    assert {
        "onboarding_complete": True,
        "onboarding_completed_utc": "2026-03-02T09:05:00Z",
    }.items() <= metadata(plan).items()
    assert () == schema_problems(assembled(plan.documents).corpus)


def test_it_does_not_end_before_or_twice():
    corpus = a_corpus()
    ended = a_corpus(metadata=corpus["metadata"] | {"onboarding_complete": True})

    assert completion(a_head(), yes(corpus, *list(Section)[1:]), now=LATER) is None
    assert completion(a_head(), yes(a_corpus(skills={})), now=LATER) is None
    assert completion(a_head(corpus=ended), yes(ended), now=LATER) is None
    assert completion(Head(), yes(corpus), now=LATER) is None
    assert completion(a_legacy(), yes(corpus), now=LATER) is None


# --- results


def test_technical_details_are_told_on_request_alone():
    plan = push(a_corpus(experience=[CHIEF]), a_head(3))
    good = proved(plan, plan.documents)
    bad = push(a_corpus(), has_repository=False)

    assert "Saved to memory/corpus. (reason push_verified, revision 4)" == user_message(
        good, is_technical=True
    )
    assert "Couldn't save to memory. (reason api_404, code memory_repo_not_found)" == user_message(
        bad, is_technical=True
    )


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_store_that_is_away_is_said_to_have_persisted_nothing(is_kept):
    found = store_away(is_kept=is_kept)

    assert (False, False, is_kept) == (found.ok, found.persisted, found.fallback_used)
    assert "Couldn't save to memory. NOT PERSISTED." == user_message(found, is_technical=False)
    assert found.is_failed_write


def test_an_answer_has_every_result_field_of_the_source():
    answer = shown(push(a_corpus(), has_repository=False), is_technical=False)

    assert {
        *("ok", "pushed", "persisted", "retry_count", "method", "remote_blob_sha"),
        *("remote_commit_sha", "remote_file_sha", "remote_branch", "verification", "reason"),
        *("error_code", "validated", "validation_ran", "local_saved", "remote_written"),
        *("verify_ok", "status_changed", "user_message", "fallback_used"),
    } == set(answer)
    assert ("graph_utf8_split", {"ok": False, "error": None}) == (
        answer["method"],
        answer["verification"],
    )
    assert json.dumps(answer)


def test_a_claim_to_persist_without_a_push_and_its_proof_is_invalid():
    claim = PushResult(ok=True, persisted=True, reason="push_verified")

    for lie in (claim, replace(claim, pushed=True), replace(claim, verify_ok=True)):
        found = sound(lie)
        assert (False, False, PushCode.PERSIST_CLAIM_INVALID) == (
            found.ok,
            found.persisted,
            found.error_code,
        )
    assert sound(replace(claim, pushed=True, verify_ok=True)).persisted


@pytest.mark.parametrize("reason", ["not_dirty", "hashes_unchanged"])
def test_what_did_not_change_may_claim_to_be_persisted(reason):
    assert sound(PushResult(ok=True, persisted=True, reason=reason)).persisted


def test_a_result_says_whether_the_state_changed():
    result = PushResult(ok=True, reason="x")

    assert with_states(result, CorpusState.NO_REPO, CorpusState.REPO_NO_CORPUS).status_changed
    assert not with_states(result, CorpusState.NO_REPO, CorpusState.NO_REPO).status_changed


@pytest.mark.parametrize(
    ("code", "is_failed"),
    [
        (
            code,
            code
            in {
                "ref_conflict",
                "transport_corruption",
                "persist_claim_invalid",
                "store_unavailable",
            },
        )
        for code in PushCode
    ],
)
def test_only_failures_of_the_last_two_steps_are_failed_writes(code, is_failed):
    assert is_failed == PushResult(ok=False, reason="x", error_code=code).is_failed_write


def test_a_status_tells_of_a_push_what_happened_there():
    plan = push(a_corpus(experience=[CHIEF]), a_head())
    good = work_of(proved(plan, plan.documents), number=3, now=NOW)
    bad = work_of(proved(plan, {}), number=4, now=NOW)
    early = work_of(
        push(a_corpus(), a_head(), (), request=targets(Section.SKILLS)), number=5, now=NOW
    )
    clean = work_of(push(a_corpus(), a_head(), ()), number=6, now=NOW)

    assert (True, True, "graph_utf8_split", Verification.OK, False) == (
        good.validated,
        good.persisted,
        good.method,
        good.verification,
        good.has_failed,
    )
    assert (False, Verification.FAILED, True) == (
        bad.persisted,
        bad.verification,
        bad.has_failed,
    )
    for work in (early, clean):
        assert (None, None, None, Verification.NOT_RUN) == (
            work.validated,
            work.persisted,
            work.method,
            work.verification,
        )
    assert (True, False) == (early.has_failed, clean.has_failed)


def test_every_field_of_a_result_is_shown_or_told_in_another_way():
    apart = {"problems", "revision"}

    assert {each.name for each in record_fields(PushResult)} - apart <= set(
        shown(PushResult(ok=True, reason="x"), is_technical=False)
    )
