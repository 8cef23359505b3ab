"""What goes into a career corpus comes out of it: files, drafts and memories (000, Must hold)."""

import json
from itertools import count

import pytest
from careers import PATH, approved, bootstrapped, drafted, pushed, ready, sent
from corpora import CORPORA, a_corpus, an_experience, documents, without
from hypothesis import HealthCheck, Phase, given, settings

from graphmem.corpus.normalise import normalised

OWNERS = count(1)
# in their one form, which a push gives a corpus; whether onboarding is complete is for the service
# to say, with a second commit
PLAIN = CORPORA.map(
    lambda corpus: normalised(
        corpus | {"metadata": without(corpus["metadata"], "onboarding_complete")}
    )
)
SOME, MANY = 8, 200
INDENTED = {"indent": 2, "ensure_ascii": False}


def indented(corpus):
    """The files of a corpus as another tool may have written them."""
    return {
        path: f"{json.dumps(json.loads(document.text), **INDENTED)}\n"
        for path, document in documents(corpus).items()
    }


def exported(api, path=PATH):
    return sent(api, "GET", f"{path}/export", status=200)["files"]


def check_files(api, corpus):
    """Import into a draft, approval, push and export give the same bytes."""
    api.client.application.extensions["graphmem"] = api.house.graphmem
    path = f"/v1/corpora/owner-{next(OWNERS)}"
    bootstrapped(api, path)
    files = indented(corpus)
    shown = sent(api, "POST", f"{path}/import", {"files": files, "into": "draft"}, 200)
    assert [] == shown["problems"]
    approved(api, path=path)

    pushed(api, path)

    found = sent(api, "GET", f"{path}/diff?from=0&to=1", status=200)["documents"]
    assert files == {each["path"]: each["after"] for each in found}
    now = exported(api, path)
    assert files == now | {name: files[name] for name in SET_BY_THE_SERVICE}


SET_BY_THE_SERVICE = ("corpus_index.json", "corpus_metadata.json")


@settings(
    max_examples=SOME,
    phases=(Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(corpus=PLAIN)
def test_what_is_imported_and_pushed_is_exported_byte_by_byte(api_of_module, corpus):
    check_files(api_of_module, corpus)


@pytest.mark.fuzz
@settings(
    max_examples=MANY,
    phases=(Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(corpus=PLAIN)
def test_two_hundred_corpora_are_exported_byte_by_byte(api_of_module, corpus):
    check_files(api_of_module, corpus)


def test_a_draft_that_was_pushed_and_pulled_is_the_same(api):
    ready(api)
    sent(api, "PUT", f"{PATH}/draft/experience", an_experience(title="Chief \u2192 \u65e5"), 200)
    approved(api, "experience")
    pushed(api)
    before = sent(api, "GET", f"{PATH}/draft", status=200)

    sent(api, "POST", f"{PATH}/pull?session=elsewhere", {"force": True}, 200)
    after = sent(api, "GET", f"{PATH}/draft?session=elsewhere", status=200)

    assert before["corpus"] == after["corpus"]
    assert before["sections"] == after["sections"]
    assert (False, before["revision"]) == (after["dirty"], after["revision"])


def memories_of(api, owner):
    """What is remembered of a corpus, without what tells that it is another one."""
    rows = api.house.rows(
        "MATCH (m:Memory {space: $tenant + 'corpus:' + $owner, status: 'active'})"
        " RETURN m.content, m.type, m.native, m.importance, m.confidence,"
        " toString(m.valid_from), toString(m.valid_until),"
        " COLLECT { MATCH (m)-[:MENTIONS]->(e:Entity) RETURN e.entity_key ORDER BY e.entity_key },"
        " COLLECT { MATCH (m)-[:PART_OF]->(o:Memory) RETURN o.content ORDER BY o.content }",
        owner=owner,
    )
    return sorted(rows, key=repr)


def test_the_memories_are_those_of_a_new_import_of_the_same_files(api):
    bootstrapped(api)
    drafted(api, a_corpus(experience=[an_experience(), an_experience("exp_2", employer="Bell")]))
    approved(api)
    pushed(api)
    sent(api, "PUT", f"{PATH}/draft/experience", an_experience(title="Chief"), 200)
    sent(api, "DELETE", f"{PATH}/draft/experience/exp_2", status=200)
    approved(api, "experience")
    pushed(api)

    bootstrapped(api, "/v1/corpora/bob")
    body = {"files": exported(api), "into": "repository"}
    sent(api, "POST", "/v1/corpora/bob/import", body, 200)

    assert memories_of(api, "bob")
    assert memories_of(api, "bob") == memories_of(api, "ada")
