"""Career corpora get no way stuck, lose no text, and claim nothing, whatever came between (000)."""

import json
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest
from careers import (
    PATH,
    approved,
    bootstrapped,
    drafted,
    pushed,
    ready,
    sent,
    state,
    transitions,
)
from corpora import (
    JSON,
    a_corpus,
    a_file,
    a_project,
    an_experience,
    documents,
    without,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem.corpus.importing import GivenRevision
from graphmem.corpus.keeper import CorpusKeeper
from graphmem.corpus.pushing import CompleteOnboarding, PushDraft
from graphmem.errors import InvalidInput, StoreUnavailable
from graphmem.model.corpus import Section
from graphmem.model.space import parse_space

OWNER = a_project(role="owner")
PROFILE = {"full_name": "Ada"}
SKILLS = {"technical": ["Go"], "platforms": [], "methods": [], "domains": []}


def away(*_, **__):
    raise StoreUnavailable


def texts(corpus=None):
    return {path: document.text for path, document in documents(corpus).items()}


def imported(api, files, status=200):
    return sent(api, "POST", f"{PATH}/import", {"files": files, "into": "repository"}, status)


def draft(api, session="default"):
    return sent(api, "GET", f"{PATH}/draft?session={session}", status=200)


def put(api, item, kind="projects", session="default", status=None):
    return sent(api, "PUT", f"{PATH}/draft/{kind}?session={session}", item, status)


def spoiled(api, path, text="x", at="VERIFIED"):
    """A document of the proved or the newest revision says something else in the store."""
    api.house.rows(
        "MATCH (:CorpusRepository {key: $tenant + 'corpus:ada'})-[r:HEAD|VERIFIED]->()"
        "-[:HOLDS {path: $path}]->(d) WHERE type(r) = $at SET d.text = $text",
        path=path,
        text=text,
        at=at,
    )


@contextmanager
def between(monkeypatch, happens):
    """Something happens between the write of a revision and its proof."""
    prove = CorpusKeeper.prove

    def after_it(keeper, *rest, **more):
        happens()
        return prove(keeper, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(CorpusKeeper, "prove", after_it)
        yield


# --- drafts


def test_a_push_with_scaffold_leaves_what_nobody_approved_in_the_draft(api):
    bootstrapped(api)
    drafted(api)
    approved(api, "profile")

    pushed(api, target_sections=["profile"], scaffold=True)

    found = draft(api)
    assert [an_experience()] == found["corpus"]["experience"]
    assert a_corpus()["skills"] == found["corpus"]["skills"]
    assert (1, True) == (found["revision"], found["dirty"])
    approved(api)
    assert "CORPUS_READY" == pushed(api)["state"]


def test_what_scaffold_stood_in_for_is_a_conflict_where_somebody_told_it_meanwhile(api):
    bootstrapped(api)
    drafted(api, {"profile": PROFILE, "skills": SKILLS}, session="one")
    drafted(api, {"profile": PROFILE, "experience": [an_experience()]}, session="two")
    drafted(api, {"skills": SKILLS | {"technical": ["C"]}}, session="two")
    approved(api, "profile", "skills", session="one")
    approved(api, "profile", "experience", session="two")

    pushed(api, session="one", scaffold=True)
    second = pushed(api, session="two", scaffold=True)

    assert (True, 1) == (second["persisted"], second["retry_count"])
    corpus = draft(api, "three")["corpus"]
    assert (["Go"], "exp_1") == (corpus["skills"]["technical"], corpus["experience"][0]["id"])
    assert ["C"] == draft(api, "two")["corpus"]["skills"]["technical"]
    approved(api, session="two")
    refused = pushed(api, session="two", scaffold=True, status=409)
    assert "ref_conflict:corpus_skills.json" == refused["reason"]


def test_a_yes_to_what_is_absent_counts_for_its_scaffold(api):
    bootstrapped(api)
    drafted(api, {"profile": PROFILE})
    approved(api)

    assert "CORPUS_READY" == pushed(api, scaffold=True)["state"]


def test_an_edit_of_a_stale_draft_that_nobody_edited_begins_with_the_newest_revision(api):
    ready(api)
    drafted(api, draft(api)["corpus"], session="two")
    put(api, OWNER)
    approved(api, "projects")
    pushed(api)
    assert "lead" == draft(api, "two")["corpus"]["projects"][0]["role"]

    put(api, an_experience(title="Chief"), "experience", session="two")

    found = draft(api, "two")
    assert ("owner", "Chief", 3) == (
        found["corpus"]["projects"][0]["role"],
        found["corpus"]["experience"][0]["title"],
        found["revision"],
    )
    approved(api, "experience", session="two")
    assert 0 == pushed(api, session="two")["retry_count"]


def test_a_push_of_a_stale_draft_that_nobody_edited_takes_the_newest_revision(api):
    ready(api)
    drafted(api, draft(api)["corpus"], session="two")
    put(api, OWNER)
    approved(api, "projects")
    pushed(api)

    assert "not_dirty" == pushed(api, session="two")["reason"]

    found = draft(api, "two")
    assert (3, "owner") == (found["revision"], found["corpus"]["projects"][0]["role"])


def test_an_edit_after_a_push_that_waits_for_its_proof_goes_on_from_that(api, monkeypatch):
    ready(api)
    put(api, OWNER)
    approved(api, "projects")
    with monkeypatch.context() as patch:
        patch.setattr(CorpusKeeper, "prove", away)
        pushed(api, status=503)

    put(api, a_project(role="chief"), status=200)

    assert 3 == draft(api)["revision"]
    approved(api, "projects")
    done = pushed(api)
    assert (True, 0, "CORPUS_READY") == (done["persisted"], done["retry_count"], done["state"])


def test_an_edited_draft_is_never_pulled_by_a_write(api):
    ready(api)
    put(api, an_experience(title="Chief"), "experience", session="two")
    put(api, OWNER)
    approved(api, "projects")
    pushed(api)

    put(api, an_experience(location="Rome"), "experience", session="two")

    found = draft(api, "two")
    assert (2, "lead") == (found["revision"], found["corpus"]["projects"][0]["role"])
    assert "Rome" == found["corpus"]["experience"][0]["location"]


def test_a_corpus_in_one_file_without_ids_has_the_same_ids_until_it_is_pushed(api):
    bootstrapped(api)
    bare = a_corpus(experience=[without(an_experience(), "id")])
    imported(api, {"career_corpus.json": json.dumps(bare)})
    one, two = draft(api), draft(api, "two")
    assert one["corpus"] == two["corpus"]
    assert (True, True) == (one["dirty"], sent(api, "GET", PATH)["dirty"])
    approved(api)

    assert pushed(api)["persisted"]

    assert one["corpus"]["experience"] == draft(api)["corpus"]["experience"]
    assert "CORPUS_READY" == state(api)


def test_a_kept_draft_of_a_long_session_can_be_asked_for(api):
    ready(api)
    session = "s" * 126
    put(api, OWNER, session=session)

    kept = sent(api, "POST", f"{PATH}/pull?session={session}", {"force": True}, 200)["draft"]

    assert "owner" == draft(api, kept["kept_as"])["corpus"]["projects"][0]["role"]


# --- proofs


def test_a_revision_is_not_proved_while_a_document_that_it_shares_is_damaged(api, monkeypatch):
    ready(api)
    put(api, OWNER)
    approved(api, "projects")

    with between(monkeypatch, lambda: spoiled(api, "corpus_skills.json", at="HEAD")):
        failed = pushed(api, status=503)

    assert ("transport_corruption", "blob_sha_mismatch:corpus_skills.json") == (
        failed["error"]["code"],
        failed["reason"],
    )
    assert (True, False) == (failed["pushed"], failed["persisted"])
    assert "CORPUS_INVALID" == state(api)
    assert 2 == sent(api, "GET", PATH)["revision"]
    assert "REPO_NO_CORPUS" == sent(api, "POST", f"{PATH}/repair", {}, 200)["state"]


def test_a_push_that_replaces_what_was_damaged_meanwhile_is_proved(api, monkeypatch):
    ready(api)
    put(api, OWNER)
    approved(api, "projects")

    with between(monkeypatch, lambda: spoiled(api, "corpus_project_proj_1.json")):
        done = pushed(api)

    assert (True, "CORPUS_READY") == (done["persisted"], done["state"])
    assert [
        ("CORPUS_READY", "CORPUS_INVALID", "damage"),
        ("CORPUS_INVALID", "REPO_NO_CORPUS", "repair"),
        ("REPO_NO_CORPUS", "CORPUS_READY", "push"),
    ] == transitions(api)[-3:]
    assert "CORPUS_READY" == state(api)
    assert "not_dirty" == pushed(api)["reason"]


@pytest.mark.parametrize("call", ["pull", "job"])
def test_what_proves_a_cut_import_claims_no_validation(api, monkeypatch, call):
    bootstrapped(api)
    with monkeypatch.context() as patch:
        patch.setattr(CorpusKeeper, "prove", away)
        imported(api, {"corpus_index.json": "[]"}, 503)
    api.house.clock.advance(minutes=1)

    if call == "pull":
        sent(api, "POST", f"{PATH}/pull", {})
    else:
        sent(api, "POST", "/v1/jobs/corpus_verify/runs", {"space": "corpus:ada"}, 200)

    shown = sent(api, "POST", f"{PATH}/status", {"audience": "a", "intent": "intent_memory_status"})
    assert "CORPUS_INVALID" == state(api)
    assert shown["fields"].get("validated") is not True
    assert ("REPO_NO_CORPUS", "CORPUS_INVALID", "import") in transitions(api)


def test_a_repair_claims_no_validation(api):
    bootstrapped(api)
    imported(api, {"corpus_index.json": "[]"})

    done = sent(api, "POST", f"{PATH}/repair", {}, 200)

    assert (True, False, False) == (done["persisted"], done["validated"], done["validation_ran"])


def test_an_import_that_failed_its_proof_can_be_made_again(api, monkeypatch):
    bootstrapped(api)
    keeper, caller = api.house.graphmem.of(CorpusKeeper), api.house.caller
    space = parse_space("corpus:ada", tenant=caller.tenant)
    given = GivenRevision(files=documents(), message="m", at=datetime(2020, 1, 1, tzinfo=UTC))
    with between(monkeypatch, lambda: spoiled(api, "corpus_skills.json", at="HEAD")):
        assert not keeper.import_history(space, [given], caller=caller).persisted

    assert keeper.import_history(space, [given], caller=caller).persisted


def test_a_history_whose_first_revision_is_invalid_is_imported_to_its_end(api):
    bootstrapped(api)
    keeper, caller = api.house.graphmem.of(CorpusKeeper), api.house.caller
    space = parse_space("corpus:ada", tenant=caller.tenant)
    readme = {"README.md": a_file("README.md", "hi")}
    broken = {"corpus_index.json": a_file("corpus_index.json", "{")}
    history = [GivenRevision(files=files) for files in (readme, broken, documents())]

    assert keeper.import_history(space, history, caller=caller).persisted

    assert ("CORPUS_PARTIAL", 3) == (state(api), sent(api, "GET", PATH)["revision"])
    assert [
        ("REPO_NO_CORPUS", "CORPUS_INVALID", "import"),
        ("CORPUS_INVALID", "REPO_NO_CORPUS", "repair"),
        ("REPO_NO_CORPUS", "CORPUS_PARTIAL", "import"),
    ] == transitions(api)[1:]


def test_a_history_that_leaves_out_its_corpus_is_refused_before_anything_is_written(api):
    bootstrapped(api)
    keeper, caller = api.house.graphmem.of(CorpusKeeper), api.house.caller
    space = parse_space("corpus:ada", tenant=caller.tenant)
    history = [GivenRevision(files=files) for files in (documents(), {})]

    with pytest.raises(InvalidInput):
        keeper.import_history(space, history, caller=caller)

    assert [] == sent(api, "GET", f"{PATH}/history")["items"]


def test_a_push_is_saved_where_the_store_goes_away_before_onboarding_ends(api, monkeypatch):
    bootstrapped(api)
    drafted(api)
    approved(api)
    with monkeypatch.context() as patch:
        patch.setattr(CompleteOnboarding, "read_more", away)
        done = pushed(api)
    assert (True, "CORPUS_PARTIAL") == (done["persisted"], done["state"])

    again = pushed(api)

    assert ("not_dirty", "CORPUS_READY") == (again["reason"], again["state"])


def test_an_unchanged_push_ends_onboarding_also_after_a_failed_write(api, monkeypatch):
    bootstrapped(api)
    drafted(api)
    approved(api)
    with monkeypatch.context() as patch:
        patch.setattr(CompleteOnboarding, "read_more", away)
        pushed(api)
    with monkeypatch.context() as patch:
        patch.setattr(PushDraft, "read_records", away)
        pushed(api, status=503)

    assert "CORPUS_READY" == pushed(api)["state"]
    assert [
        ("CORPUS_PARTIAL", "PERSIST_FAILED", "push"),
        ("PERSIST_FAILED", "CORPUS_READY", "onboarding"),
    ] == transitions(api)[-2:]


# --- what a status tells


def told(api):
    return sent(api, "POST", f"{PATH}/status", {"audience": "a"}, 200)


def test_a_pull_that_fails_is_told(api):
    ready(api)
    told(api)
    api.house.rows(
        "MATCH (:CorpusRepository {key: $tenant + 'corpus:ada'})-[:VERIFIED]->()"
        "-[h:HOLDS {path: 'corpus_skills.json'}]->() DELETE h"
    )
    told(api)

    failed = sent(api, "POST", f"{PATH}/pull", {"force": True}, 503)

    assert "transport_corruption" == failed["error"]["code"]
    found = told(api)
    assert (True, "operation_failed") == (found["show"], found["reason"])
    assert {"validated", "persisted", "method"}.isdisjoint(found["fields"])


def test_a_revert_on_an_invalid_corpus_is_told_as_a_push_is(api):
    ready(api)
    spoiled(api, "corpus_skills.json")
    told(api)

    refused = sent(api, "POST", f"{PATH}/revert", {"revision": 1}, 409)

    assert ("corpus_invalid", False) == (refused["error"]["code"], refused["persisted"])
    assert "operation_failed" == told(api)["reason"]


# --- files


def test_an_import_over_a_corpus_is_given_back_byte_by_byte(api):
    ready(api)
    other = a_corpus(projects=[OWNER], skills=SKILLS)
    files = {path: json.dumps(json.loads(text), indent=2) for path, text in texts(other).items()}
    sent(api, "POST", f"{PATH}/import", {"files": files}, 200)
    approved(api)

    pushed(api)

    stored = sent(api, "GET", f"{PATH}/export")["files"]
    for path in ("corpus_project_proj_1.json", "corpus_skills.json"):
        assert files[path] == stored[path]
    assert texts()["corpus_profile.json"] == stored["corpus_profile.json"]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"experience": [an_experience(), an_experience()]}, "experience.1.id"),
        ({"experience": ["text"]}, "experience.0"),
        ({"hobbies": []}, "hobbies"),
    ],
)
def test_a_corpus_that_files_cannot_hold_is_refused_for_the_repository(api, changes, path):
    bootstrapped(api)
    body = {"corpus": a_corpus(**changes), "into": "repository"}

    assert [path] == list(sent(api, "POST", f"{PATH}/import", body, 422)["error"]["fields"])
    assert "REPO_NO_CORPUS" == state(api)


@pytest.mark.parametrize(
    "changes",
    [
        {"experience": [an_experience(bullets=5)]},
        {"profile": {"full_name": "Ada", "links": 5}},
        {"skills": {"technical": 3}},
        {"profile": 1, "metadata": [], "education": {"a": 1}},
    ],
)
def test_a_corpus_that_is_not_valid_is_no_resume(api, changes):
    bootstrapped(api)
    imported(api, texts(a_corpus(**changes)))

    refused = sent(api, "GET", f"{PATH}/export?form=json-resume", status=409)

    assert "corpus_invalid" == refused["error"]["code"]
    sent(api, "GET", f"{PATH}/export?form=single", status=200)


def test_a_damaged_corpus_is_no_resume_and_without_one_there_is_none(api):
    bootstrapped(api)
    sent(api, "GET", f"{PATH}/export?form=json-resume", status=404)
    drafted(api)
    approved(api)
    pushed(api)
    spoiled(api, "corpus_skills.json", json.dumps({"skills": SKILLS}))

    sent(api, "GET", f"{PATH}/export?form=json-resume", status=409)


def test_a_revert_to_a_corpus_in_one_file_never_writes_that_file(api):
    bootstrapped(api)
    imported(api, {"career_corpus.json": json.dumps(a_corpus()), "README.md": "hi"})
    put(api, OWNER)
    approved(api)
    pushed(api)

    assert sent(api, "POST", f"{PATH}/revert", {"revision": 1}, 200)["persisted"]

    stored = sent(api, "GET", f"{PATH}/export")["files"]
    assert "career_corpus.json" not in stored
    assert "lead" == draft(api, "new")["corpus"]["projects"][0]["role"]


def test_a_file_of_an_import_runs_nothing_and_lies_nowhere_else(api):
    bootstrapped(api)
    for path in (".git/config", ".GIT/hooks/pre-commit", "a/.hidden", "../x"):
        body = texts() | {path: "x"}
        assert [f"files.{path}"] == list(imported(api, body, 422)["error"]["fields"])
    assert ["files.a"] == list(imported(api, {"a": "x", "a/b": "y"}, 422)["error"]["fields"])


# --- what belongs together


def test_the_trace_of_a_failed_proof_has_the_figures_of_what_was_read(api, monkeypatch):
    ready(api)
    put(api, OWNER)
    approved(api, "projects")
    path = "corpus_project_proj_1.json"

    with between(monkeypatch, lambda: spoiled(api, path, "é\n", at="HEAD")):
        pushed(api, status=503)

    told = api.house.rows(
        "MATCH (t:Trace) WHERE $space IN t.spaces AND t.events CONTAINS 'corpus_failed'"
        " RETURN t.events",
        space=f"{api.house.caller.tenant}/corpus:ada",
    )
    ((events,),) = told
    (event,) = [each for each in json.loads(events) if each["outcome"] == "corpus_failed"]
    figures = event["payloads"][path]
    assert (2, 3, True, 1) == tuple(
        figures["read"][name]
        for name in ("char_len", "byte_len", "contains_non_ascii", "newline_count")
    )
    assert not figures["written"]["contains_non_ascii"]


def test_a_push_of_a_clean_draft_writes_nothing_but_that_it_was_made(api):
    ready(api)
    told = (
        "MATCH (n) WHERE n.space STARTS WITH $tenant AND NOT n:CorpusRepository AND NOT n:Trace"
        " AND NOT n:TraceEvent"
        " RETURN labels(n)[0] AS label, properties(n) AS held ORDER BY label, n.key"
    )
    before = api.house.rows(told)

    done = pushed(api)

    assert ("not_dirty", False, True) == (done["reason"], done["pushed"], done["persisted"])
    assert before == api.house.rows(told)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from(list(Section)), JSON, min_size=1), st.booleans())
def test_whatever_files_say_no_answer_is_a_500(api_of_module, changes, is_legacy):
    api = api_of_module
    api.client.application.extensions["graphmem"] = api.house.graphmem
    corpus = a_corpus() | {section.value: value for section, value in changes.items()}
    name = f"o{abs(hash(json.dumps(corpus)))}{is_legacy}"
    path = f"/v1/corpora/{name}"
    files = {
        f"corpus_{section}.json": json.dumps({section: corpus[section]})
        for section in Section
        if section not in {"experience", "projects"}
    }
    manifest = {
        "experience_files": [{"id": "e", "path": "corpus_experience_e.json"}],
        "project_files": corpus["projects"],
    }
    files |= {
        "corpus_index.json": json.dumps(manifest),
        "corpus_experience_e.json": json.dumps({"experience": corpus["experience"]}),
    }
    if is_legacy:
        files = {"career_corpus.json": json.dumps(corpus)}
    sent(api, "POST", f"{path}/bootstrap", {"turn": name})
    calls = [
        ("POST", "import", {"files": files, "into": "repository"}),
        ("GET", "", None),
        ("GET", "draft", None),
        ("GET", "onboarding", None),
        *(("GET", f"export?form={form}", None) for form in ("single", "json-resume", "zip")),
        ("PATCH", "draft", changes),
        ("GET", "draft", None),
        ("GET", "onboarding", None),
        ("PUT", "draft/experience", an_experience()),
        ("POST", "push", {"scaffold": True}),
        ("POST", "pull", {"force": True}),
        ("POST", "repair", {}),
        ("GET", "status", None),
    ]
    for method, call, body in calls:
        given_ = {} if body is None else {"json": body}
        answer = api.client.open(
            f"{path}/{call}".rstrip("/"),
            method=method,
            headers={"X-API-Key": api.key},
            **given_,
        )
        assert 500 > answer.status_code, (method, call)
