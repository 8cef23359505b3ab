"""What is told of a career corpus, the interview, its history and its files, over HTTP (000)."""

import io
import json
import zipfile

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
from corpora import CORPORA, a_corpus, a_project, an_experience, documents, without
from hypothesis import HealthCheck, given, settings

from graphmem.corpus.git_folder import checked_in, commits_of
from graphmem.corpus.keeper import CorpusKeeper
from graphmem.model.space import parse_space

BASELINE = ["repo_exists", "corpus_exists", "onboarding_complete", "last_written"]


def told(api, status=200, **body):
    return sent(api, "POST", f"{PATH}/status", {"audience": "ada"} | body, status)


def names(answer):
    return [line.split(":")[0].removeprefix("- ") for line in answer["text"].splitlines()[1:]]


# --- status


def test_before_anything_was_tried_there_is_nothing_to_tell(api):
    assert "not_initialized" == told(api, 409)["error"]["code"]
    assert 409 == api.get(f"{PATH}/status").status_code
    pushed(api, status=404)

    found = told(api)

    assert (True, "operation_failed", "NO_REPO") == (found["show"], found["reason"], found["state"])


def test_a_status_is_shown_when_it_changed_or_something_failed_or_it_is_asked_for(api):
    bootstrapped(api)
    first, second = told(api), told(api)
    assert ((True, "not_shown_before"), (False, "state_unchanged")) == (
        (first["show"], first["reason"]),
        (second["show"], second["reason"]),
    )
    asked = told(api, intent="intent_memory_status")
    assert (True, "requested") == (asked["show"], asked["reason"])
    assert "MEMORY STATUS\n- repo_exists: true\n- corpus_exists: false" in asked["text"]
    assert asked["text"].endswith("- last_written: Never")
    drafted(api)
    pushed(api, status=409)
    failed = told(api)
    assert (True, "operation_failed") == (failed["show"], failed["reason"])
    assert not told(api)["show"]
    approved(api)
    pushed(api)
    ready_ = told(api)
    assert (True, "state_changed") == (ready_["show"], ready_["reason"])
    assert [*BASELINE, "validated", "persisted", "method", "verification"] == names(ready_)
    assert BASELINE == names(told(api, intent="intent_memory_status"))
    assert not told(api, policy="on_request")["show"]
    told(api, 422, policy="always")
    assert ready_["fenced"] == f"```text\n{ready_['text']}\n```"


def test_reading_a_status_remembers_nothing(api):
    bootstrapped(api)
    read = sent(api, "GET", f"{PATH}/status?audience=ada", status=200)

    assert {"state", "text", "fenced", "fields"} == set(read)
    assert "not_shown_before" == told(api)["reason"]


# --- onboarding


def test_a_receipt_and_a_normal_form_store_nothing(api):
    bootstrapped(api)
    found = sent(
        api, "POST", f"{PATH}/ingestions", {"source": "cv.txt", "text": "# Skills\nPython"}, 200
    )
    assert (True, ["skills"]) == (found["read_confirmed"], found["sections_detected"])
    sent(api, "POST", f"{PATH}/ingestions", {"source": "cv.txt"}, 422)
    document = {"profile": {"full_name": "Ada", "links": ["https://github.com/ada"]}}

    made = sent(api, "POST", f"{PATH}/normalise", {"document": document}, 200)

    assert "GitHub" == made["document"]["profile"]["links"][0]["name"]
    assert ["profile"] == made["detected_sections"]
    assert {} == sent(api, "GET", f"{PATH}/draft")["corpus"]


def test_the_interview_asks_in_its_order(api):
    bootstrapped(api)
    asked = sent(api, "GET", f"{PATH}/onboarding", status=200)
    assert ("profile", "Profile\nNothing yet.") == (asked["next_section"], asked["preview"])
    drafted(api, {"profile": {"full_name": "Ada"}})
    approved(api, "profile")

    asked = sent(api, "GET", f"{PATH}/onboarding", status=200)

    assert "experience" == asked["next_section"]
    assert "profile" not in asked["missing"]


# --- history and files


def test_the_history_and_what_two_revisions_differ_in(api):
    ready(api)
    sent(api, "PUT", f"{PATH}/draft/projects", a_project(role="owner"), 200)
    approved(api, "projects")
    pushed(api, message="A promotion")

    found = sent(api, "GET", f"{PATH}/history", status=200)

    assert [3, 2, 1] == [each["revision"] for each in found["items"]]
    assert "A promotion" == found["items"][0]["message"]
    assert found["items"][1]["commit_sha"] == found["items"][0]["parent_sha"]
    diff = sent(api, "GET", f"{PATH}/diff?from=2&to=3", status=200)
    assert ["projects", "metadata"] == diff["sections"]
    (project,) = [each for each in diff["documents"] if "project" in each["path"]]
    assert ("changed", "lead", "owner") == (
        project["change"],
        json.loads(project["before"])["project"]["role"],
        json.loads(project["after"])["project"]["role"],
    )
    sent(api, "GET", f"{PATH}/diff?from=2&to=9", status=422)


def texts(corpus):
    return {path: document.text for path, document in documents(corpus).items()}


def test_a_corpus_can_be_had_in_four_forms(api):
    ready(api)
    files = sent(api, "GET", f"{PATH}/export", status=200)["files"]
    answer = api.get(f"{PATH}/export?form=zip")
    with zipfile.ZipFile(io.BytesIO(answer.data)) as archive:
        assert files == {name: archive.read(name).decode() for name in archive.namelist()}
    single = sent(api, "GET", f"{PATH}/export?form=single", status=200)["corpus"]
    assert "Ada Lovelace" == single["profile"]["full_name"]
    resume = sent(api, "GET", f"{PATH}/export?form=json-resume", status=200)["resume"]
    assert "Acme" == resume["work"][0]["name"]
    sent(api, "GET", f"{PATH}/export?form=pdf", status=422)


def test_files_that_are_imported_and_pushed_are_exported_byte_by_byte(api):
    bootstrapped(api)
    given_files = {
        path: json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"
        for path, text in texts(a_corpus()).items()
    }
    shown = sent(api, "POST", f"{PATH}/import", {"files": given_files}, 200)
    assert ([], True) == (shown["problems"], shown["dirty"])
    approved(api, *without(shown["sections"], ""))

    pushed(api)

    first = sent(api, "GET", f"{PATH}/diff?from=0&to=1", status=200)["documents"]
    assert given_files == {each["path"]: each["after"] for each in first}
    assert "CORPUS_READY" == state(api)


def imported(api, files, status=200):
    return sent(api, "POST", f"{PATH}/import", {"files": files, "into": "repository"}, status)


def test_an_import_is_the_first_revision_exactly_as_it_is(api):
    bootstrapped(api)
    corpus = a_corpus()
    corpus["metadata"] |= {"onboarding_complete": True}
    done = imported(api, texts(corpus))
    assert ("CORPUS_READY", 1) == (done["state"], done["revision"])
    assert texts(corpus) == sent(api, "GET", f"{PATH}/export")["files"]
    assert ("REPO_NO_CORPUS", "CORPUS_READY", "import") == transitions(api)[-1]
    imported(api, texts(corpus), 409)


@pytest.mark.parametrize(
    "files",
    [
        {"corpus_index.json": "[]"},
        {"career_corpus.json": "{broken"},
        {path: text for path, text in texts(a_corpus()).items() if "skills" not in path},
    ],
)
def test_an_import_that_is_no_valid_corpus_is_invalid_and_can_be_repaired(api, files):
    bootstrapped(api)
    done = imported(api, files)
    assert ("CORPUS_INVALID", True, False) == (done["state"], done["persisted"], done["validated"])
    assert "corpus_invalid" == sent(api, "POST", f"{PATH}/push", {}, 409)["error"]["code"]
    assert "REPO_NO_CORPUS" == sent(api, "POST", f"{PATH}/repair", {}, 200)["state"]


def test_a_corpus_in_one_file_counts_and_the_first_push_splits_it(api):
    bootstrapped(api)
    imported(api, {"career_corpus.json": json.dumps(a_corpus())})
    assert "CORPUS_PARTIAL" == state(api)
    sent(api, "PUT", f"{PATH}/draft/experience", an_experience(title="Chief"), 200)
    approved(api)

    pushed(api)

    files = sent(api, "GET", f"{PATH}/export")["files"]
    assert "corpus_index.json" in files
    assert "career_corpus.json" not in files
    assert "CORPUS_READY" == state(api)


@pytest.mark.parametrize("path", ["../x.json", "/etc/x.json", "a\\..\\b.json"])
def test_a_file_that_could_lie_elsewhere_is_refused(api, path):
    bootstrapped(api)
    for into in ("draft", "repository"):
        body = {"files": texts(a_corpus()) | {path: "{}"}, "into": into}
        answer = sent(api, "POST", f"{PATH}/import", body, 422)
        assert [f"files.{path}"] == list(answer["error"]["fields"])
    assert "REPO_NO_CORPUS" == state(api)


def test_a_manifest_that_names_a_foreign_or_missing_file_is_named(api):
    bootstrapped(api)
    files = texts(a_corpus())
    manifest = json.loads(files["corpus_index.json"])
    manifest["core_files"]["skills"] = "notes.json"
    files["corpus_index.json"] = json.dumps(manifest)

    answer = sent(api, "POST", f"{PATH}/import", {"files": files}, 422)

    assert ["files.notes.json"] == list(answer["error"]["fields"])
    sent(api, "POST", f"{PATH}/import", {}, 422)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(corpus=CORPORA)
def test_any_corpus_is_exported_as_it_was_imported(api_of_module, corpus):
    api_of_module.client.application.extensions["graphmem"] = api_of_module.house.graphmem
    files = texts(corpus)
    name = f"o{abs(hash(json.dumps(files)))}"
    path = f"/v1/corpora/{name}"
    sent(api_of_module, "POST", f"{path}/bootstrap", {"turn": name})
    body = {"files": files, "into": "repository"}

    sent(api_of_module, "POST", f"{path}/import", body)

    assert files == sent(api_of_module, "GET", f"{path}/export", status=200)["files"]


def test_revisions_as_git_commits_are_the_same_files_messages_and_times(api, tmp_path):
    ready(api)
    api.house.clock.advance(minutes=5)
    sent(api, "PUT", f"{PATH}/draft/projects", a_project(role="owner"), 200)
    approved(api, "projects")
    pushed(api, message="A promotion")
    keeper = api.house.graphmem.of(CorpusKeeper)
    space = parse_space("corpus:ada", tenant=api.house.caller.tenant)
    revisions = [keeper.commit(space, number) for number in (1, 2, 3)]

    checked_in(tmp_path, revisions)

    found = commits_of(tmp_path, most_bytes=100_000)
    assert [each.commit.message for each in revisions] == [each.message for each in found]
    assert [each.commit.at for each in revisions] == [each.at for each in found]
    assert [{path: each.text for path, each in one.documents.items()} for one in revisions] == [
        each.files for each in found
    ]
