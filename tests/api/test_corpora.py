"""Career corpora over HTTP: repositories, drafts, approvals, pushes, states (000)."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

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
from corpora import a_corpus, a_project, an_experience, without

from graphmem.corpus.keeper import CorpusKeeper
from graphmem.errors import StoreUnavailable
from graphmem.model.caller import Role
from graphmem.model.space import Space, SpaceKind
from graphmem.store import corpus_deltas

SECRET = "AKIAIOSFODNN7EXAMPLE"


def memories(api, owner="ada"):
    """What the corpus tells now, as (content, status), by content."""
    rows = api.house.rows(
        "MATCH (m:Memory {space: $tenant + $name}) RETURN m.content, m.status",
        name=f"corpus:{owner}",
    )
    return sorted(rows)


def active(api):
    return [content for content, status in memories(api) if status == "active"]


def changed(api, kind, item, **query):
    asked = "&".join(f"{name}={value}" for name, value in query.items())
    return sent(api, "PUT", f"{PATH}/draft/{kind}?{asked}", item)


# --- repository


def test_a_repository_is_created_once_and_confirmed(api):
    assert "NO_REPO" == state(api)
    body = {"turn": "t1", "topics": ["career-corpus-memory", "No Topic", 7]}

    made = sent(api, "POST", f"{PATH}/bootstrap", body, 201)
    again = sent(api, "POST", f"{PATH}/bootstrap", {"turn": "t2"}, 200)

    assert ["get", "create", "get_confirm"] == made["sequence"]
    assert "INITIALIZATION STATUS" == made["text"].splitlines()[0]
    assert (True, True) == (made["repo_exists"], made["repo_created_this_turn"])
    assert (["get"], False) == (again["sequence"], again["repo_created_this_turn"])
    assert "REPO_NO_CORPUS" == state(api)
    assert [("NO_REPO", "REPO_NO_CORPUS", "bootstrap")] == transitions(api)
    listed = sent(api, "GET", "/v1/corpora", status=200)
    assert [("ada", "career-corpus-memory")] == [
        (each["owner"], each["repository"]) for each in listed["items"]
    ]


def test_a_create_that_failed_is_not_tried_again_in_the_same_turn(api, monkeypatch):
    keeper = api.house.graphmem.of(CorpusKeeper)
    monkeypatch.setattr(keeper.gateway, "execute", _away)
    assert 503 == api.post(f"{PATH}/bootstrap", {"turn": "t1"}).status_code
    monkeypatch.undo()

    sent(api, "POST", f"{PATH}/bootstrap", {"turn": "t1"}, 409)

    assert "NO_REPO" == state(api)
    assert 201 == api.post(f"{PATH}/bootstrap", {"turn": "t2"}).status_code


def _away(*_, **__):
    raise StoreUnavailable


def test_reading_needs_a_reader_all_else_a_writer(api):
    bootstrapped(api)
    reader = api.with_key(Role.READER, "corpus:ada")

    assert 200 == reader.get(PATH).status_code
    assert 200 == reader.get(f"{PATH}/draft").status_code
    assert 403 == reader.post(f"{PATH}/push", {}).status_code
    assert 403 == reader.post(f"{PATH}/bootstrap", {"turn": "t"}).status_code


# --- the walk to READY


def test_a_push_of_what_is_approved_leads_to_ready_by_partial(api):
    bootstrapped(api)
    shown = drafted(api)
    assert ([], True, 0) == (shown["problems"], shown["dirty"], shown["revision"])
    approved(api)

    result = pushed(api, technical=True)

    assert (True, True, True) == (result["validated"], result["persisted"], result["verify_ok"])
    assert ("push_verified", "graph_utf8_split") == (result["reason"], result["method"])
    assert result["status_changed"]
    known = sent(api, "GET", PATH, status=200)
    assert ("CORPUS_READY", 2, False) == (known["state"], known["revision"], known["dirty"])
    assert known["onboarding_complete"]
    assert "Mar 1, 2026 9:30 AM UTC" == known["last_written"]
    assert [
        ("NO_REPO", "REPO_NO_CORPUS", "bootstrap"),
        ("REPO_NO_CORPUS", "CORPUS_PARTIAL", "push"),
        ("CORPUS_PARTIAL", "CORPUS_READY", "onboarding"),
    ] == transitions(api)
    assert not pushed(api)["pushed"]
    assert "not_dirty" == pushed(api)["reason"]


def test_approvals_add_up_over_several_pushes(api):
    bootstrapped(api)
    drafted(api, without(a_corpus(), "projects"))
    approved(api, "profile")
    assert pushed(api, target_sections=["profile"], scaffold=True)["persisted"]
    assert "CORPUS_PARTIAL" == state(api)
    drafted(api)

    approved(api)
    assert pushed(api)["persisted"]

    assert "CORPUS_READY" == state(api)


def test_nothing_unapproved_reaches_the_repository(api):
    ready(api)
    changed(api, "experience", an_experience(title="Chief"))

    refused = pushed(api, status=409)

    assert ("approval_missing", False) == (refused["error"]["code"], refused["persisted"])
    assert 2 == sent(api, "GET", PATH)["revision"]
    approved(api, "experience")
    changed(api, "experience", an_experience(title="Chief of all"))
    assert "approval_missing" == pushed(api, status=409)["error"]["code"]
    changed(api, "projects", a_project(role="owner"))
    approved(api, "projects")
    refused = pushed(api, status=409, target_sections=["projects"])
    assert "unapproved_section_changes" == refused["error"]["code"]


def test_an_approval_is_for_exactly_the_content_that_was_shown(api):
    bootstrapped(api)
    shown = drafted(api)["sections"]["profile"]["content_sha256"]
    sent(api, "PUT", f"{PATH}/draft/sections/profile", {"full_name": "Eve"}, 200)
    body = {"section": "profile", "approved": True, "basis": "current_chat"}

    sent(api, "POST", f"{PATH}/approvals", body | {"content_sha256": shown}, 409)
    sent(api, "POST", f"{PATH}/approvals", body, 422)
    approved(api, "profile")

    sections = sent(api, "GET", f"{PATH}/draft")["sections"]
    assert sections["profile"]["approved"]
    taken_back = {"content_sha256": sections["profile"]["content_sha256"], "approved": False}
    sent(api, "POST", f"{PATH}/approvals", body | taken_back, 201)
    assert not sent(api, "GET", f"{PATH}/draft")["sections"]["profile"]["approved"]
    assert [False, True] == [
        each["approved"] for each in sent(api, "GET", f"{PATH}/approvals")["items"]
    ]


# --- drafts


def test_an_item_joins_the_one_that_it_means_and_a_blank_takes_no_place(api):
    ready(api)

    made = changed(api, "projects", {"name": "Apollo", "role": "lead", "description": "Moon"})
    assert "proj_1" == made["id"]
    assert "Moon" == made["corpus"]["projects"][0]["description"]
    blank = changed(api, "projects", {"id": "proj_1", "role": ""})
    assert "lead" == blank["corpus"]["projects"][0]["role"]
    assert ["projects.0.role"] == [each["path"] for each in blank["problems"]]
    allowed = changed(api, "projects", {"id": "proj_1", "role": ""}, allow_blank="true")
    assert "" == allowed["corpus"]["projects"][0]["role"]
    by_match = changed(api, "projects", {"name": "Apollo", "role": "x"}, match="name")
    assert ("proj_1", True) == (by_match["id"], by_match["dirty"])

    left = sent(api, "DELETE", f"{PATH}/draft/projects/proj_1", status=200)

    assert [] == left["corpus"]["projects"]
    sent(api, "DELETE", f"{PATH}/draft/projects/proj_1", status=404)


def test_a_new_item_has_an_id_of_its_own(api):
    bootstrapped(api)
    item = without(a_project(), "id")

    answer = api.client.put(f"{PATH}/draft/projects", json=item, headers={"X-API-Key": api.key})

    assert 201 == answer.status_code
    assert "proj_" == answer.get_json()["id"][:5]


def test_a_secret_is_refused_at_the_draft_and_nothing_of_it_is_kept(api):
    bootstrapped(api)
    item = an_experience(bullets=[f"Our key was {SECRET}"])

    answer = changed(api, "experience", item)

    assert ("policy_refused", "screening_secret") == (
        answer["error"]["code"],
        answer["error"]["reason"],
    )
    rows = api.house.rows("MATCH (n) WHERE n.space STARTS WITH $tenant RETURN properties(n)")
    assert SECRET not in str(rows)


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"experience": [an_experience(f"e{n}") for n in range(1_000)]}, "experience"),
        ({"profile": {"full_name": "x" * 2_000_000}}, "profile"),
        ([], "body"),
    ],
)
def test_what_no_draft_can_hold_is_422_with_its_path(api, body, path):
    bootstrapped(api)

    answer = sent(api, "PATCH", f"{PATH}/draft", body, 422)

    assert [path] == list(answer["error"]["fields"])
    assert {} == sent(api, "GET", f"{PATH}/draft")["corpus"]


@pytest.mark.parametrize(
    ("corpus", "code", "path"),
    [
        (a_corpus(profile={"full_name": "A", "notes": "See the commit"}), "notes", "profile.notes"),
        (
            a_corpus(profile={"full_name": "A", "links": [{"name": "x"}]}),
            "validation",
            "profile.links.0.url",
        ),
        (a_corpus(experience=[an_experience()] * 2), "validation", "experience.1.id"),
    ],
)
def test_a_draft_lists_what_is_wrong_and_a_push_refuses_it(api, corpus, code, path):
    bootstrapped(api)
    assert path in [each["path"] for each in drafted(api, corpus)["problems"]]
    approved(api)

    refused = pushed(api, status=422)

    assert refused["error"]["code"].startswith(code)
    assert path in refused["error"]["fields"]
    assert (False, True, False) == (
        refused["validated"],
        refused["validation_ran"],
        refused["persisted"],
    )
    assert "REPO_NO_CORPUS" == state(api)


@pytest.mark.parametrize("owner", ["a%2Fb", "a*", "a%20b", "%20"])
def test_an_owner_that_nobody_can_be_is_refused(api, owner):
    assert api.get(f"/v1/corpora/{owner}").status_code in {404, 422}
    assert api.post(f"/v1/corpora/{owner}/bootstrap", {"turn": "t"}).status_code in {404, 422}


def test_before_a_bootstrap_there_is_no_draft_and_no_push(api):
    for method, path, body in (
        ("GET", "draft", None),
        ("PATCH", "draft", {}),
        ("POST", "push", {}),
        ("POST", "pull", {}),
        ("POST", "repair", {}),
    ):
        answer = sent(api, method, f"{PATH}/{path}", body, 404)
        assert "memory_repo_not_found" == answer["error"]["code"]
    assert "NO_REPO" == state(api)


def test_an_empty_list_of_targets_and_an_unknown_section_are_422(api):
    bootstrapped(api)
    drafted(api)

    sent(api, "POST", f"{PATH}/push", {"target_sections": []}, 422)
    sent(api, "POST", f"{PATH}/push", {"target_sections": ["hobbies"]}, 422)
    sent(api, "PUT", f"{PATH}/draft/sections/hobbies", {}, 422)
    sent(api, "PUT", f"{PATH}/draft/skills", {}, 422)


# --- two writers


def test_two_writers_of_other_documents_are_both_in_after_one_retry(api):
    ready(api)
    for session in ("one", "two"):
        drafted(api, sent(api, "GET", f"{PATH}/draft?session={session}")["corpus"], session=session)
    item = a_project(role="owner")
    sent(api, "PUT", f"{PATH}/draft/projects?session=one", item, 200)
    sent(api, "PUT", f"{PATH}/draft/experience?session=two", an_experience(title="Chief"), 200)
    approved(api, "projects", session="one")
    approved(api, "experience", session="two")

    first, second = pushed(api, session="one"), pushed(api, session="two")

    assert (0, 1) == (first["retry_count"], second["retry_count"])
    corpus = sent(api, "GET", f"{PATH}/draft?session=three")["corpus"]
    assert ("owner", "Chief") == (corpus["projects"][0]["role"], corpus["experience"][0]["title"])


def test_of_two_writers_of_one_document_one_is_in_and_the_other_corrects(api):
    ready(api)
    for session, title in (("one", "Chief"), ("two", "Boss")):
        item = an_experience(title=title)
        sent(api, "PUT", f"{PATH}/draft/experience?session={session}", item, 200)
        approved(api, "experience", session=session)
    assert pushed(api, session="one")["persisted"]

    refused = pushed(api, session="two", status=409)

    assert ("ref_conflict", 1) == (refused["error"]["code"], refused["retry_count"])
    assert "PERSIST_FAILED" == state(api)
    pulled = sent(api, "POST", f"{PATH}/pull?session=two", {}, 200)
    assert ("two.kept-1", "Chief") == (
        pulled["draft"]["kept_as"],
        pulled["draft"]["corpus"]["experience"][0]["title"],
    )
    kept = sent(api, "GET", f"{PATH}/draft?session=two.kept-1")["corpus"]
    assert "Boss" == kept["experience"][0]["title"]
    sent(api, "PUT", f"{PATH}/draft/experience?session=two", an_experience(title="Boss"), 200)
    approved(api, "experience", session="two")
    assert pushed(api, session="two")["persisted"]
    assert "CORPUS_READY" == state(api)
    assert ("PERSIST_FAILED", "CORPUS_READY", "push") == transitions(api)[-1]


def test_eight_writers_of_eight_experiences_are_all_in(api):
    items = [an_experience(f"exp_{number}") for number in range(8)]
    ready(api, a_corpus(experience=items))
    for number, item in enumerate(items):
        path = f"{PATH}/draft/experience?session=s{number}"
        sent(api, "PUT", path, item | {"title": f"T{number}"}, 200)
        approved(api, "experience", session=f"s{number}")

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda number: pushed(_own(api), session=f"s{number}"), range(8)))

    assert {True} == {each["persisted"] for each in done}
    assert [0] + [1] * 7 == sorted(each["retry_count"] for each in done)
    known = sent(api, "GET", PATH)
    assert (10, "CORPUS_READY") == (known["revision"], known["state"])
    corpus = sent(api, "GET", f"{PATH}/draft?session=new")["corpus"]
    assert [f"T{number}" for number in range(8)] == [each["title"] for each in corpus["experience"]]


def _own(api):
    return replace(api, client=api.client.application.test_client())


# --- truth


def damage(api, path, text='{"broken'):
    api.house.rows(
        "MATCH (:CorpusRepository {key: $tenant + 'corpus:ada'})-[:VERIFIED]->()"
        "-[:HOLDS {path: $path}]->(d) SET d.text = $text",
        path=path,
        text=text,
    )


def test_a_damaged_document_makes_the_corpus_invalid_until_it_is_repaired(api):
    ready(api)
    damage(api, "corpus_skills.json")
    assert "CORPUS_INVALID" == state(api)
    sent(api, "PUT", f"{PATH}/draft/projects", a_project(role="owner"), 200)
    approved(api, "projects")
    assert "corpus_invalid" == pushed(api, status=409)["error"]["code"]
    sent(api, "POST", f"{PATH}/revert", {"revision": 1}, 409)

    repaired = sent(api, "POST", f"{PATH}/repair", {}, 200)

    assert "REPO_NO_CORPUS" == repaired["state"]
    assert [] == active(api)
    assert [
        ("CORPUS_READY", "CORPUS_INVALID", "damage"),
        ("CORPUS_INVALID", "REPO_NO_CORPUS", "repair"),
    ] == transitions(api)[-2:]
    approved(api)
    assert pushed(api)["persisted"]
    assert "CORPUS_READY" == state(api)
    sent(api, "POST", f"{PATH}/repair", {}, 409)


def test_a_commit_that_is_not_read_back_as_written_is_marked_and_head_goes_back(api, monkeypatch):
    ready(api)
    changed(api, "projects", a_project(role="owner"))
    approved(api, "projects")
    keeper = api.house.graphmem.of(CorpusKeeper)
    prove = keeper.prove

    def damaged_first(space, attempt, *rest, **more):
        api.house.rows(
            "MATCH (c:CorpusCommit {sha: $sha})-[:HOLDS {path: $path}]->(d) SET d.text = 'x'",
            sha=attempt.sha,
            path="corpus_project_proj_1.json",
        )
        return prove(space, attempt, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(type(keeper), "prove", lambda _, *all_, **more: damaged_first(*all_, **more))
        failed = pushed(api, status=503)

    assert "transport_corruption" == failed["error"]["code"]
    assert (True, False) == (failed["pushed"], failed["persisted"])
    assert "blob_sha_mismatch:corpus_project_proj_1.json" == failed["reason"]
    known = sent(api, "GET", PATH)
    assert ("PERSIST_FAILED", 2) == (known["state"], known["revision"])
    api.house.clock.advance(seconds=1)
    assert pushed(api)["persisted"]
    assert "CORPUS_READY" == state(api)
    assert "Project Apollo (owner). Stack: Python." in active(api)


def test_a_push_that_was_cut_before_its_proof_claims_nothing_until_the_job_proves_it(
    api, monkeypatch
):
    ready(api)
    changed(api, "projects", a_project(role="owner"))
    approved(api, "projects")
    keeper = api.house.graphmem.of(CorpusKeeper)
    with monkeypatch.context() as patch:
        patch.setattr(type(keeper), "prove", _away)
        assert 503 == api.post(f"{PATH}/push", {}).status_code
    assert 2 == sent(api, "GET", PATH)["revision"]
    assert "Project Apollo (lead). Stack: Python." in active(api)
    api.house.clock.advance(minutes=1)

    run = sent(api, "POST", "/v1/jobs/corpus_verify/runs", {"space": "corpus:ada"}, 200)["run"]

    assert ("succeeded", 1) == (run["status"], run["counts"]["proved"])
    assert (3, "CORPUS_READY") == (sent(api, "GET", PATH)["revision"], state(api))
    assert "Project Apollo (owner). Stack: Python." in active(api)


def test_a_revert_is_a_revision_of_its_own(api):
    ready(api)
    changed(api, "projects", a_project(role="owner"))
    approved(api, "projects")
    pushed(api)
    before = active(api)

    done = sent(api, "POST", f"{PATH}/revert", {"revision": 1}, 200)

    assert (4, "CORPUS_PARTIAL") == (done["revision"], done["state"])
    assert before != active(api)
    assert "Project Apollo (lead). Stack: Python." in active(api)
    sent(api, "POST", f"{PATH}/revert", {"revision": 9}, 422)


# --- memories


def test_earlier_revisions_are_read_as_they_were_where_some_stay_whole(api, monkeypatch):
    monkeypatch.setattr(corpus_deltas, "WHOLE_EVERY", 2)
    _check_earlier_revisions(api, whole=(2, 4, 6))


def test_earlier_revisions_are_kept_as_what_differs_and_read_as_they_were(api):
    _check_earlier_revisions(api, whole=())


def _check_earlier_revisions(api, whole):
    items = [an_experience(f"exp_{number}") for number in range(5)]
    ready(api, a_corpus(experience=items))
    exported = {2: _exported(api)}
    for number in range(5):
        changed(api, "experience", items[number] | {"title": f"T{number}"})
        approved(api, "experience")
        pushed(api)
        exported[number + 3] = _exported(api)
    keeper = api.house.graphmem.of(CorpusKeeper)
    space = Space(tenant=api.house.caller.tenant, kind=SpaceKind.CORPUS, owner="ada")

    for revision, files in exported.items():
        stored = keeper.commit(space, revision)
        assert stored.is_intact
        assert files == {path: each.text for path, each in stored.documents.items()}
    held = api.house.rows(
        "MATCH (c:CorpusCommit {space: $tenant + 'corpus:ada'})-[h:HOLDS]->() "
        "WITH c, count(h) AS held RETURN c.revision, held ORDER BY c.revision"
    )
    differing = {1: 2, 2: 3, 3: 2, 4: 2, 5: 2, 6: 2}
    assert differing | dict.fromkeys((*whole, 7), len(exported[7])) == dict(held)
    damage(api, "corpus_index.json")
    sent(api, "POST", f"{PATH}/repair", {}, 200)
    sent(api, "POST", f"{PATH}/revert", {"revision": 4}, 200)
    assert exported[4] == _exported(api)


def _exported(api):
    return sent(api, "GET", f"{PATH}/export?form=files", status=200)["files"]


def test_the_memories_are_those_of_the_verified_revision(api):
    ready(api)
    before = memories(api)
    assert [("Built the engine", "active")] == [each for each in before if "Built" in each[0]]
    changed(api, "experience", an_experience(bullets=["Rebuilt the engine"]))
    approved(api, "experience")

    pushed(api)

    assert "Rebuilt the engine" in active(api)
    assert ("Built the engine", "superseded") in memories(api)
    assert len(before) == len(active(api))


def test_as_of_answers_where_somebody_worked(api):
    later = an_experience(
        "exp_2", employer="Globex", title="Director", start_date="2022", end_date=None
    )
    ready(api, a_corpus(experience=[an_experience(), later]))
    body = {"spaces": ["corpus:ada"], "query": "Where does Ada work? Engineer Director"}

    def told(**more):
        items = sent(api, "POST", "/v1/recall", body | more, 200)["items"]
        return " ".join(each["memory"]["content"] for each in items)

    assert "Director at Globex" in told()
    then = told(as_of="2020-06-01T00:00:00Z")
    assert "Engineer at Acme" in then
    assert "Director at Globex" not in then


def test_what_somebody_retracted_stays_away_until_its_item_changes(api):
    ready(api)
    listed = sent(api, "GET", "/v1/memories?space=corpus:ada&limit=100")["items"]
    (uid,) = [each["uid"] for each in listed if each["content"] == "Technical skill: Python"]
    assert "corpus" == listed[0]["kept_by"]
    sent(api, "PATCH", f"/v1/memories/{uid}?space=corpus:ada", {"importance": 1}, 409)
    sent(api, "POST", f"/v1/memories/{uid}/retract?space=corpus:ada", {}, 200)
    changed(api, "projects", a_project(role="owner"))
    approved(api, "projects")
    pushed(api)

    assert "Technical skill: Python" not in active(api)


def test_the_same_content_writes_nothing(api):
    ready(api)
    told = (
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant RETURN m.key, m.version ORDER BY m.key"
    )
    before = api.house.rows(told)
    assert {1} == {version for _, version in before}
    drafted(api)

    pushed(api)

    assert before == api.house.rows(told)


# --- all other transitions


def corrupting(api, monkeypatch, path):
    """Let the next push be read back with another text in a document."""
    keeper = api.house.graphmem.of(CorpusKeeper)
    prove = keeper.prove

    def damaged_first(_, space, attempt, *rest, **more):
        api.house.rows(
            "MATCH (c:CorpusCommit {sha: $sha})-[:HOLDS {path: $path}]->(d) SET d.text = 'x'",
            sha=attempt.sha,
            path=path,
        )
        return prove(space, attempt, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(type(keeper), "prove", damaged_first)
        failed = pushed(api, status=503, scaffold=True)
    api.house.clock.advance(seconds=1)
    return failed


def test_a_first_push_that_fails_leads_to_partial_by_persist_failed(api, monkeypatch):
    bootstrapped(api)
    drafted(api, {"profile": {"full_name": "Ada"}})
    approved(api, "profile")

    corrupting(api, monkeypatch, "corpus_profile.json")

    known = sent(api, "GET", PATH, status=200)
    assert ("PERSIST_FAILED", 0, "Never") == (
        known["state"],
        known["revision"],
        known["last_written"],
    )
    assert [] == memories(api)
    assert pushed(api, scaffold=True)["state"] == "CORPUS_PARTIAL"
    drafted(api, {"profile": {"full_name": "Ada Lovelace"}})
    approved(api, "profile")
    corrupting(api, monkeypatch, "corpus_profile.json")
    assert pushed(api)["persisted"]
    damage(api, "corpus_profile.json")
    sent(api, "POST", f"{PATH}/status", {"audience": "ada"}, 200)

    assert [
        ("REPO_NO_CORPUS", "PERSIST_FAILED", "push"),
        ("PERSIST_FAILED", "CORPUS_PARTIAL", "push"),
        ("CORPUS_PARTIAL", "PERSIST_FAILED", "push"),
        ("PERSIST_FAILED", "CORPUS_PARTIAL", "push"),
        ("CORPUS_PARTIAL", "CORPUS_INVALID", "damage"),
    ] == transitions(api)[1:]
    listed = sent(api, "GET", f"{PATH}/transitions")["items"]
    assert {True} == {each["extension"] for each in listed[:-1]}
    failed = [each["failed"] for each in sent(api, "GET", f"{PATH}/history")["items"]]
    assert [False, False, True, True] == sorted(failed)


def test_a_text_that_is_damaged_and_still_json_is_damage_too(api):
    ready(api)

    damage(api, "corpus_skills.json", '{"skills": {}}')

    assert "CORPUS_INVALID" == state(api)


# --- beside the others


def test_employers_and_tools_have_cards(api):
    ready(api, a_corpus(experience=[an_experience(end_date="present")]))

    for key in ("org:acme", "tool:neo4j", "org:cambridge", "project:apollo"):
        card = sent(api, "GET", f"/v1/entities/{key}/card?space=corpus:ada", status=200)
        assert card["facts"], key


def test_more_than_64_new_memories_wait_for_their_vectors(api):
    many = [
        an_experience(f"e{n}", title=f"T{n}", bullets=[f"Did {n}"], outcomes=[]) for n in range(40)
    ]

    ready(api, a_corpus(experience=many))

    embedded = api.house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant RETURN m.embedded, count(*)"
    )
    assert [False] == list(dict(embedded))
    changed(api, "experience", many[0] | {"title": "T"})
    approved(api, "experience")
    pushed(api)
    rows = api.house.rows(
        "MATCH (m:Memory) WHERE m.space STARTS WITH $tenant AND m.embedded RETURN m.content"
    )
    assert ["T at Acme in London, from 2019 to 2021-03. Tools: Neo4j. Domains: energy."] == [
        content for (content,) in rows
    ]


def test_a_reader_without_a_lock_never_sees_a_revision_of_which_a_push_cuts_some(api):
    ready(api)
    whole = frozenset(sent(api, "GET", f"{PATH}/export", status=200)["files"])
    done = threading.Event()

    def read():
        own, seen = _own(api), []
        while not done.is_set():
            known = sent(own, "GET", PATH, status=200)
            files = sent(own, "GET", f"{PATH}/export", status=200)["files"]
            seen.append((known["state"], frozenset(files)))
        return seen

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        for number in range(12):
            sent(api, "PUT", f"{PATH}/draft/projects", a_project(role=f"s{number}"), 200)
            approved(api, "projects")
            pushed(api)
        done.set()
        seen = {each for reader in readers for each in reader.result()}

    assert {("CORPUS_READY", whole)} == seen
