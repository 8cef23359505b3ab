"""Career corpora while the store is away: nothing is claimed, nothing at hand is lost (000)."""

import stat

import pytest
from careers import PATH, approved, bootstrapped, pushed, ready, sent, state, transitions
from corpora import a_project, an_experience

from graphmem.corpus.keeper import CorpusKeeper
from graphmem.corpus.pushing import PushDraft
from graphmem.errors import DiskLow, StoreUnavailable

OWNER = a_project(role="owner")
SECRET = "AKIAIOSFODNN7EXAMPLE"


@pytest.fixture
def away(api, monkeypatch):
    """What lets the store be away for writes, as long as a with lasts."""

    def begin(error=StoreUnavailable):
        def write(*_):
            raise error

        context = monkeypatch.context()
        patch = context.__enter__()
        patch.setattr(type(api.house.graphmem.connection), "write", write)
        return context

    return begin


def files(api):
    folder = api.house.graphmem.of(CorpusKeeper).fallback.folder
    return sorted(folder.glob("*")) if folder.exists() else []


def verify(api, **more):
    body = {"space": "corpus:ada"} | more
    return sent(api, "POST", "/v1/jobs/corpus_verify/runs", body, 200)["run"]


def edit(api, status, item=OWNER, path=f"{PATH}/draft/projects"):
    return sent(api, "PUT", path, item, status)


def test_an_edit_that_the_store_did_not_take_lies_in_a_private_file_until_it_is_restored(api, away):
    ready(api)
    context = away()
    failed = edit(api, 503)
    edit(api, 503, a_project("proj_2", name="Gemini"))
    context.__exit__(None, None, None)

    assert (False, True) == (failed["persisted"], failed["fallback_used"])
    assert "NOT PERSISTED" in failed["error"]["message"]
    assert "NOT PERSISTED" in failed["user_message"]
    (path,) = files(api)
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert not sent(api, "GET", f"{PATH}/draft")["dirty"]

    restored = sent(api, "POST", f"{PATH}/draft/restore", status=200)

    assert ["owner", "lead"] == [each["role"] for each in restored["corpus"]["projects"]]
    assert [] == files(api)
    sent(api, "POST", f"{PATH}/draft/restore", status=404)


def test_a_secret_lies_in_no_file(api, away):
    ready(api)
    context = away()
    edit(api, 403, a_project(outcomes=[f"Our key was {SECRET}"]))
    context.__exit__(None, None, None)

    assert [] == files(api)


def test_a_full_disk_gets_no_file(api, away):
    ready(api)
    context = away(DiskLow)
    failed = edit(api, 503)
    context.__exit__(None, None, None)

    assert ([], False) == (files(api), failed["fallback_used"])


def test_a_push_with_nothing_at_hand_says_so(api, away):
    ready(api)
    edit(api, 200)
    approved(api, "projects")
    context = away()
    failed = pushed(api, status=503)
    context.__exit__(None, None, None)

    assert (False, False) == (failed["persisted"], failed["fallback_used"])
    verify(api)
    assert ("PERSIST_FAILED", []) == (state(api), files(api))
    shown = sent(api, "POST", f"{PATH}/status", {"audience": "ada"}, 200)
    assert "fallback_used" not in shown["fields"]


def test_a_push_that_was_not_taken_has_failed_as_soon_as_that_can_be_recorded(api, monkeypatch):
    ready(api)
    edit(api, 200)
    approved(api, "projects")
    apply = PushDraft.apply_records
    with monkeypatch.context() as patch:
        patch.setattr(PushDraft, "apply_records", _away)
        failed = pushed(api, status=503)
    assert apply is PushDraft.apply_records
    assert (False, True) == (failed["persisted"], failed["fallback_used"])

    assert "succeeded" == verify(api)["status"]
    assert "PERSIST_FAILED" == state(api)
    assert ("CORPUS_READY", "PERSIST_FAILED", "push") == transitions(api)[-1]
    restored = sent(api, "POST", f"{PATH}/draft/restore", status=200)
    assert "owner" == restored["corpus"]["projects"][0]["role"]
    assert pushed(api)["persisted"]
    assert ("CORPUS_READY", []) == (state(api), files(api))


def _away(*_):
    raise StoreUnavailable


def test_a_push_that_a_full_disk_refused_has_failed_too(api, away):
    ready(api)
    edit(api, 200)
    approved(api, "projects")
    context = away(DiskLow)
    pushed(api, status=503)
    context.__exit__(None, None, None)

    verify(api)

    assert "PERSIST_FAILED" == state(api)


def test_a_dry_run_records_no_failure_and_leaves_it_to_be_recorded(api, away):
    ready(api)
    context = away()
    pushed(api, status=503)
    context.__exit__(None, None, None)

    verify(api, dry_run=True)
    assert "CORPUS_READY" == state(api)
    verify(api)

    assert "PERSIST_FAILED" == state(api)


def test_the_job_counts_a_commit_that_it_marked_as_failed(api, monkeypatch):
    ready(api)
    edit(api, 200)
    approved(api, "projects")
    with monkeypatch.context() as patch:
        patch.setattr(CorpusKeeper, "prove", _away)
        pushed(api, status=503)
    api.house.rows(
        "MATCH (:CorpusRepository {key: $tenant + 'corpus:ada'})-[:HEAD]->()"
        "-[:HOLDS {path: 'corpus_project_proj_1.json'}]->(d) SET d.text = 'x'"
    )
    api.house.clock.advance(minutes=1)

    counts = verify(api)["counts"]

    assert (0, 1) == (counts["proved"], counts["failed"])


def test_an_edit_that_cannot_be_made_keeps_no_other_from_its_draft(api, away):
    ready(api)
    context = away()
    assert sent(api, "DELETE", f"{PATH}/draft/projects/nope", status=503)["fallback_used"]
    edit(api, 503)
    sent(api, "PUT", f"{PATH}/draft/sections/skills", {"technical": ["x"] * 501}, 503)
    context.__exit__(None, None, None)

    restored = sent(api, "POST", f"{PATH}/draft/restore", status=200)

    assert "owner" == restored["corpus"]["projects"][0]["role"]
    told = [each["path"] for each in restored["problems"]]
    assert ["projects.nope", "skills.technical"] == told
    assert [] == files(api)


def _lost(api, monkeypatch, session):
    """A push that the store took no more, of a draft that it had read."""
    with monkeypatch.context() as patch:
        patch.setattr(PushDraft, "apply_records", _away)
        assert pushed(api, session=session, status=503)["fallback_used"]


def test_a_restored_push_is_a_conflict_where_somebody_else_wrote_since(api, monkeypatch):
    ready(api)
    path = f"{PATH}/draft/experience?session="
    edit(api, 200, an_experience(bullets=["Mine"]), f"{path}one")
    approved(api, session="one")
    _lost(api, monkeypatch, "one")
    edit(api, 200, an_experience(title="Chief"), f"{path}two")
    approved(api, session="two")
    pushed(api, session="two")
    sent(api, "POST", f"{PATH}/pull?session=one", {}, 200)
    edit(api, 201, a_project("proj_2", name="New"), f"{PATH}/draft/projects?session=one")

    restored = sent(api, "POST", f"{PATH}/draft/restore?session=one", status=200)

    assert ("Engineer", 2) == (restored["corpus"]["experience"][0]["title"], restored["revision"])
    kept = sent(api, "GET", f"{PATH}/draft?session={restored['kept_as']}")["corpus"]
    assert ["proj_1", "proj_2"] == [each["id"] for each in kept["projects"]]
    refused = pushed(api, session="one", status=409)
    assert ("ref_conflict", 1) == (refused["error"]["code"], refused["retry_count"])
    corpus = sent(api, "GET", f"{PATH}/draft?session=three")["corpus"]
    assert "Chief" == corpus["experience"][0]["title"]


def test_a_draft_that_did_not_change_since_is_not_kept_aside(api, monkeypatch):
    ready(api)
    edit(api, 200)
    approved(api)
    _lost(api, monkeypatch, "default")

    assert "kept_as" not in sent(api, "POST", f"{PATH}/draft/restore", status=200)


def test_before_a_bootstrap_nothing_is_restored(api):
    sent(api, "POST", f"{PATH}/draft/restore", status=404)
    bootstrapped(api)
    sent(api, "POST", f"{PATH}/draft/restore", status=404)


def test_an_edit_that_a_lost_push_was_made_without_is_restored_on_it(api, away, monkeypatch):
    ready(api)
    edit(api, 200, an_experience(title="Chief"), f"{PATH}/draft/experience?session=default")
    approved(api)
    context = away()
    edit(api, 503)
    context.__exit__(None, None, None)
    _lost(api, monkeypatch, "default")

    restored = sent(api, "POST", f"{PATH}/draft/restore", status=200)["corpus"]

    told = (restored["experience"][0]["title"], restored["projects"][0]["role"])
    assert ("Chief", "owner") == told


def test_a_draft_that_an_earlier_lost_push_had_is_kept_aside_too(api, monkeypatch):
    ready(api)
    path = f"{PATH}/draft/experience?session=default"
    for title in ("First", "Second", "First"):
        edit(api, 200, an_experience(title=title), path)
        if title != "First" or not files(api):
            approved(api)
            _lost(api, monkeypatch, "default")

    restored = sent(api, "POST", f"{PATH}/draft/restore", status=200)

    assert "Second" == restored["corpus"]["experience"][0]["title"]
    kept = sent(api, "GET", f"{PATH}/draft?session={restored['kept_as']}", status=200)["corpus"]
    assert "First" == kept["experience"][0]["title"]
