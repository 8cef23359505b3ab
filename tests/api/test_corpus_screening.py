"""What of a career corpus is never stored: secrets anywhere, and what was not approved (000)."""

import json

import pytest
from careers import PATH, approved, bootstrapped, pushed, ready, sent, state
from corpora import a_corpus, documents

from graphmem.intake.export_import import export_lines, import_lines
from graphmem.model.space import parse_space

KEY = "AKIAIOSFODNN7EXAMPLE"
ESCAPED = KEY.replace("A", "\\u0041")


def texts(corpus=None):
    return {path: document.text for path, document in documents(corpus).items()}


@pytest.mark.parametrize(
    "body",
    [
        {"profile": {KEY: 1}},
        {"profile": {"password": "hunter2hunter2"}},
        {"experience": [{"id": KEY, "bullets": []}]},
    ],
)
def test_a_secret_in_a_name_or_behind_one_is_refused_at_the_draft(api, body):
    bootstrapped(api)

    assert "policy_refused" == sent(api, "PATCH", f"{PATH}/draft", body, 403)["error"]["code"]
    assert {} == sent(api, "GET", f"{PATH}/draft")["corpus"]


@pytest.mark.parametrize("into", ["draft", "repository"])
@pytest.mark.parametrize(
    "files",
    [
        {"README.md": f"Our key is {KEY}"},
        {"notes.json": f'{{"a": "{ESCAPED}"}}'},
        {f"{KEY}.md": "x"},
        {
            "corpus_profile.json": json.dumps(
                {"profile": a_corpus()["profile"], "password": "hunter2hunter2"}
            )
        },
        {"corpus_skills.json": texts()["corpus_skills.json"].replace("Python", ESCAPED)},
    ],
    ids=["another file", "an escape", "a name", "an extra key", "an escape in a skill"],
)
def test_a_secret_in_a_file_is_refused_at_the_import(api, into, files):
    bootstrapped(api)
    body = {"files": texts() | files, "into": into}

    refused = sent(api, "POST", f"{PATH}/import", body, 403)

    assert "policy_refused" == refused["error"]["code"]
    assert "REPO_NO_CORPUS" == state(api)
    assert {} == sent(api, "GET", f"{PATH}/draft")["corpus"]


def test_a_secret_in_what_a_turn_an_audience_or_a_session_is_called_is_refused(api):
    sent(api, "POST", f"{PATH}/bootstrap", {"turn": KEY}, 403)
    topics = ["a-topic", "sk-abcdefghij0123456789abcdefghij"]
    sent(api, "POST", f"{PATH}/bootstrap", {"turn": "t", "topics": topics}, 201)
    sent(api, "POST", f"{PATH}/status", {"audience": KEY}, 403)
    for method, path, body in (
        ("PATCH", "draft", {"profile": {"full_name": "Ada"}}),
        ("POST", "import", {"corpus": a_corpus()}),
        ("POST", "push", {}),
        ("POST", "pull", {}),
    ):
        sent(api, method, f"{PATH}/{path}?session={KEY}", body, 403)

    kept = api.house.rows(
        "MATCH (r:CorpusRepository {key: $tenant + 'corpus:ada'}) RETURN r.topics"
    )
    stored = api.house.rows("MATCH (n) WHERE n.space STARTS WITH $tenant RETURN properties(n)")
    assert [["a-topic"]] == [topics for (topics,) in kept]
    assert KEY not in str(stored)


def test_what_no_approval_covers_stays_out_of_the_repository_also_inside_a_document(api):
    bootstrapped(api)
    files = texts()
    profile = json.loads(files["corpus_profile.json"])
    files["corpus_profile.json"] = json.dumps(profile | {"comment": "never shown"})
    files["corpus_skills.json"] = files["corpus_skills.json"].replace(
        "{", '{"skills":{"technical":["never shown"]},', 1
    )
    manifest = json.loads(files["corpus_index.json"])
    files["corpus_index.json"] = json.dumps(manifest | {"generated_at_utc": "never shown"})
    sent(api, "POST", f"{PATH}/import", {"files": files | {"README.md": "never shown"}}, 200)
    approved(api)

    assert pushed(api)["persisted"]

    stored = sent(api, "GET", f"{PATH}/export")["files"]
    assert "never shown" not in json.dumps(stored)
    assert texts()["corpus_profile.json"] == stored["corpus_profile.json"]


def test_no_line_of_an_import_brings_a_name_or_a_secret_that_a_call_could_not(api):
    ready(api)
    transfers, caller = api.house.graphmem.transfers, api.house.caller
    home, abroad = (parse_space(f"corpus:{name}", tenant=caller.tenant) for name in ("ada", "bob"))
    lines = [json.loads(line) for line in export_lines(transfers, home)]
    bad = []
    for line in lines:
        if commit := line.get("corpus_commit"):
            (sha, *_) = commit["tree"].values()
            bad.append({"corpus_commit": commit | {"tree": {"../../evil.json": sha}}})
            bad.append({"corpus_commit": commit | {"message": KEY}})
            bad.append({"corpus_commit": commit | {"tree": commit["tree"] | {KEY: sha}}})
        if draft := line.get("corpus_draft"):
            bad.append({"corpus_draft": draft | {"files": {".git/config": "[core]"}}})
            bad.append({"corpus_draft": draft | {"corpus": f'{{"a": {{"{ESCAPED}": 1}}}}'}})
            bad.append({"corpus_draft": draft | {"files": {"a.json": f'["{ESCAPED}"]'}}})

    *_, done = import_lines(transfers, map(json.dumps, bad), abroad, caller=caller)

    assert len(bad) == len(done.problems)
    assert {"failed": len(bad)} == done.counts
    assert any("corpus_commit.tree.../../evil.json" in problem for problem in done.problems)


# --- numbers and characters that no answer can hold


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ('{"profile": {"\\ud800": 1}}', "profile.\ud800"),
        ('{"profile": {"full_name": "\\udfff"}}', "profile.full_name"),
        ('{"profile": {"full_name": "\\u0000"}}', "profile.full_name"),
        ('{"education": [{"graduation_year": 1e999}]}', "education.0.graduation_year"),
        ('{"education": [{"graduation_year": NaN}]}', "education.0.graduation_year"),
    ],
)
def test_what_no_answer_can_hold_is_refused_by_its_place(api, value, path):
    bootstrapped(api)
    bodies = {
        f"{PATH}/draft": value,
        f"{PATH}/normalise": f'{{"document": {value}}}',
        f"{PATH}/import": f'{{"corpus": {value}}}',
        f"{PATH}/import#": f'{{"corpus": {value}, "into": "repository"}}',
        f"{PATH}/ingestions": f'{{"source": "cv", "document": {value}}}',
    }
    for url, body in bodies.items():
        answer = api.client.open(
            url.rstrip("#"),
            method="PATCH" if url.endswith("draft") else "POST",
            data=body,
            headers={"X-API-Key": api.key},
            content_type="application/json",
        )
        assert 422 == answer.status_code, (url, answer.get_json())
        assert [path] == list(answer.get_json()["error"]["fields"]), url
    assert "REPO_NO_CORPUS" == state(api)


@pytest.mark.parametrize("into", ["draft", "repository"])
@pytest.mark.parametrize("text", ['{"\\ud800": 1}', '{"a": 1e999}', '{"a": NaN}', "[" * 100])
def test_a_file_that_no_reader_can_take_is_no_json_and_breaks_nothing(api, into, text):
    bootstrapped(api)
    body = {"files": {"career_corpus.json": text}, "into": into}

    sent(api, "POST", f"{PATH}/import", body, 422 if into == "draft" else 200)

    assert ("REPO_NO_CORPUS" if into == "draft" else "CORPUS_INVALID") == state(api)
    for path in ("draft", "onboarding", "status", "history", "transitions", "export"):
        assert 200 == api.get(f"{PATH}/{path}").status_code, path
    for form in ("single", "json-resume"):
        assert {404, 409} & {api.get(f"{PATH}/export?form={form}").status_code}, form
