"""Pushes of a career corpus (000, 1.5): proof, retry, reverting, the end of onboarding."""

import json
from dataclasses import replace

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
from pushes import (
    CHIEF,
    EXPERIENCE_FILE,
    LATER,
    POLICY,
    PROJECT_FILE,
    SOME_SECTIONS,
    a_legacy,
    metadata,
    normal,
    outcome,
    push,
    written,
    yes,
)

from graphmem.corpus.assembly import assembled
from graphmem.corpus.documents import LEGACY, MANIFEST, Changes
from graphmem.corpus.push_attempts import completion, conflicted, proved, retried, reverted
from graphmem.corpus.push_plan import PushPlan, PushRequest
from graphmem.corpus.push_result import (
    PushCode,
    PushResult,
    Verified,
    may_retry,
    user_message,
)
from graphmem.corpus.schema import schema_problems
from graphmem.corpus.verification import tree_changes, verified
from graphmem.model.corpus import (
    Head,
    Section,
)
from graphmem.model.policy.corpus import CorpusPolicy


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


@pytest.mark.parametrize(
    ("text", "reason"), [(None, "changed_path_missing"), ("{}", "blob_sha_mismatch")]
)
def test_what_was_not_written_is_a_part_of_the_proof_too(text, reason):
    plan = push(a_corpus(experience=[CHIEF]), a_head())

    found = proved(plan, tampered(plan, PROJECT_FILE, text))

    assert (False, f"{reason}:{PROJECT_FILE}", PushCode.TRANSPORT_CORRUPTION) == outcome(found)


def test_a_document_that_nobody_wrote_is_no_part_of_a_proved_revision():
    plan = push(a_corpus(experience=[CHIEF]), a_head())

    found = proved(plan, {**plan.documents, "x.json": a_file("x.json", "{}")})

    assert "deleted_path_still_present:x.json" == found.reason


@given(st.sets(st.sampled_from("abcd")), st.sets(st.sampled_from("abcd")))
def test_a_proof_needs_every_path(there, changed):
    tree = {path: a_file(path, path).sha256 for path in "abcd"}
    gone = set("abcd") - changed
    read = {path: a_file(path, path) for path in there}

    found = verified(
        Changes(changed=tuple(sorted(changed)), deleted=tuple(sorted(gone))), tree, read
    )

    assert (there == changed) == found.ok == (found.error is None)


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


def test_a_document_that_no_manifest_names_and_is_no_json_breaks_no_retry():
    old = a_file("corpus_experience_old.json", "not json")
    base = a_head(3, **{old.path: old})
    mine = push(a_corpus(experience=[CHIEF]), base)
    head = second_writer(base, projects=[a_project(role="dev")])

    plan = retried(mine, head, POLICY, now=LATER)

    assert old.path not in plan.documents
    assert CHIEF == assembled(plan.documents).corpus["experience"][0]


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

    assert PushCode.CORPUS_INVALID is retried(mine, head, POLICY, now=LATER).error_code


def test_two_first_pushes_beside_other_files_conflict_where_they_differ_alone():
    bare = Head(revision=1, documents={"README.md": a_file("README.md", "hi")})
    mine = push(a_corpus(experience=[CHIEF]), bare)

    found = retried(mine, second_writer(bare, experience=[CHIEF]), POLICY, now=LATER)
    other = retried(mine, second_writer(bare), POLICY, now=LATER)

    assert "hashes_unchanged" == found.reason
    assert f"ref_conflict:{EXPERIENCE_FILE}" == other.reason


def test_items_without_ids_are_joined_with_nothing():
    bare = a_legacy(a_corpus(experience=[without(an_experience(), "id")]))
    mine = push(a_corpus(experience=[CHIEF]), bare)

    found = retried(mine, replace(bare, revision=2), POLICY, now=LATER)

    assert f"ref_conflict:{MANIFEST}" == found.reason


def test_a_version_that_both_changed_is_a_conflict_of_the_manifest():
    base = a_head()
    mine = push(a_corpus(schema_version="2.0.0", experience=[CHIEF]), base)
    theirs = second_writer(base, schema_version="3.0.0", projects=[])
    same = second_writer(base, schema_version="2.0.0", projects=[])

    assert f"ref_conflict:{MANIFEST}" == retried(mine, theirs, POLICY, now=LATER).reason
    assert "2.0.0" == retried(mine, same, POLICY, now=LATER).corpus["schema_version"]


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


def test_a_push_that_loses_a_race_once_is_saved_with_one_retry():
    base = a_head()
    first = push(a_corpus(experience=[CHIEF]), base)
    assert may_retry(conflicted(first))

    again = retried(first, second_writer(base, projects=[]), POLICY, now=LATER)
    result = proved(again, again.documents)

    assert (True, 1, "push_verified") == (result.ok, result.retry_count, result.reason)
    assert "Saved to memory/corpus." == user_message(result, is_technical=False)


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ({}, {"a": "1"}, Changes(changed=("a",))),
        ({"a": "1"}, {"a": "1"}, Changes()),
        ({"a": "1", "b": "2"}, {"a": "2"}, Changes(changed=("a",), deleted=("b",))),
    ],
)
def test_two_trees_say_what_a_push_that_was_cut_was_to_write(before, after, changed):
    assert changed == tree_changes(before, after)


def test_a_revert_writes_the_files_of_an_earlier_revision_byte_by_byte():
    earlier, head = a_head(2), replace(a_head(5, a_corpus(projects=[])), revision=5)

    plan = reverted(head, earlier, POLICY, now=LATER, new_id=hex_ids())

    assert earlier.documents == plan.documents
    assert (5, 6, "Revert to revision 2") == (plan.expected_revision, plan.revision, plan.message)
    assert PROJECT_FILE in plan.changes.changed


def test_a_revert_to_what_is_there_changes_nothing_and_to_an_invalid_one_is_refused():
    broken = a_head(2, a_corpus(profile={}))

    assert (True, "hashes_unchanged", None) == outcome(
        reverted(a_head(5), a_head(2), POLICY, now=LATER, new_id=hex_ids())
    )
    for earlier in (broken, Head(revision=1)):
        found = reverted(a_head(5), earlier, POLICY, now=LATER, new_id=hex_ids())
        assert PushCode.CORPUS_INVALID is found.error_code


def test_a_revert_to_a_corpus_in_one_file_splits_it():
    bare = a_corpus(experience=[without(an_experience(), "id")])
    earlier = a_legacy(bare)
    readme = a_file("README.md", "hi")
    earlier = replace(earlier, documents={**earlier.documents, "README.md": readme})

    plan = reverted(a_head(5), earlier, POLICY, now=LATER, new_id=hex_ids())

    assert (readme, False) == (plan.documents["README.md"], LEGACY in plan.documents)
    corpus = assembled(plan.documents).corpus
    assert without(corpus["experience"][0], "id") == bare["experience"][0]
    assert documents()["corpus_skills.json"] == plan.documents["corpus_skills.json"]


def test_scaffold_of_one_writer_is_no_change_of_what_the_other_tells():
    profile = a_corpus()["profile"]
    one = push(
        {"profile": profile, "experience": [CHIEF]}, request=PushRequest(scaffold=True), now=NOW
    )
    skills = a_corpus()["skills"]
    two = push({"profile": profile, "skills": skills}, request=PushRequest(scaffold=True))

    found = assembled(retried(two, written(one), POLICY, now=LATER).documents).corpus

    assert ([CHIEF], skills) == (found["experience"], found["skills"])


def test_two_attempts_at_the_same_are_commits_of_their_own():
    plan = push(a_corpus(), now=NOW)

    assert plan.commit_sha != replace(plan, attempt=1).commit_sha


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
