"""Artefacts, profile, identity, questions and entity index of a space (003)."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest
from fakes import ScriptedModel
from model_server import ModelServer, an_answer
from sessions import Session

from graphmem.errors import InvalidInput, ModelUnavailable, NotFound, PolicyRefused
from graphmem.intake.export_import import export_lines, import_lines
from graphmem.lifecycle import notebook_upkeep
from graphmem.lifecycle import profile as rules_of_profile
from graphmem.lifecycle.notebook_upkeep import NotebookUpkeep
from graphmem.lifecycle.reflecting import AlreadyResolved, IdentityDisabled, IdentityFull, TooSoon
from graphmem.model.extraction import FactOutcome
from graphmem.model.job import Run
from graphmem.model.memory import Status
from graphmem.model.notebook import ArtefactType, SealReason
from graphmem.model.policy import ConsolidatePolicy
from graphmem.model.upkeep_rows import SpaceState
from graphmem.model.writing import WriteRequest
from graphmem.store.identity import change_reflections, reflections_of
from graphmem.store.questions import resolve_questions
from graphmem.upkeep.consolidation import DueSpace

DECISION = "We decided to use Neo4j for storage."
DOUBT = "FYI maybe I could perhaps move to Rome someday."


@pytest.fixture
def ada(house):
    return Session(house)


def notebooks(session):
    return session.keeper.notebooks


def artefacts(session):
    return notebooks(session).artefact_page(session.space, None, limit=50).items


def profile(session):
    return [line.text for line in notebooks(session).profile(session.space)]


def identity(session):
    return [line.text for line in notebooks(session).identity(session.space)]


def questions(session, *, is_open=None):
    return notebooks(session).question_page(session.space, None, limit=50, is_open=is_open).items


def reflect(session, text):
    return notebooks(session).reflect(session.space, text, caller=session.house.caller).answer


def index(session):
    return notebooks(session).entity_index(session.space)


def consolidate(session):
    return session.house.graphmem.runner.run(
        "consolidate", space_key=session.space.key, by_hand=True
    )


def patch(session, uid, content):
    request = WriteRequest(
        space=session.space.name,
        uid=uid,
        content=content,
        given=frozenset({"space", "content", "uid"}),
    )
    session.house.graphmem.writing.correct(request, caller=session.house.caller)


def a_fact(content, category="fact", turns=(0,)):
    return {
        "category": category,
        "content": content,
        "confidence": 0.9,
        "tags": [],
        "turns": list(turns),
        "entities": [],
    }


def test_words_are_kept_as_they_were_said_only_where_a_space_wants_them(ada):
    ada.fact("We decided to use Oslo for storage.")
    ada.want(verbatim_artifacts_enabled=True)
    fact = ada.fact(DECISION)
    ada.fact("I prefer tea over coffee.")

    (artefact,) = artefacts(ada)
    assert (DECISION, ArtefactType.DECISION, fact.uid) == (
        artefact.text,
        artefact.type,
        artefact.memory,
    )
    assert fact.turns == (artefact.turn,)


@pytest.mark.parametrize("status", [Status.RETRACTED, Status.ARCHIVED])
def test_an_artefact_goes_and_comes_with_its_memory(ada, status):
    ada.want(verbatim_artifacts_enabled=True)
    fact = ada.fact(DECISION)
    ada.put_away(fact.uid, status)
    without = artefacts(ada)
    ada.put_away(fact.uid, Status.ACTIVE)

    assert () == without
    assert [DECISION] == [each.text for each in artefacts(ada)]


def test_an_artefact_of_reworded_or_deleted_words_is_gone(ada):
    ada.want(verbatim_artifacts_enabled=True)
    fact, other = ada.fact(DECISION), ada.fact("We agreed on Fridays off, all of us.")
    ada.house.clock.advance(seconds=1)
    patch(ada, fact.uid, "We use Neo4j.")
    assert [other.uid] == [each.memory for each in artefacts(ada)]

    ada.delete_turn(other.turns[0])
    assert () == artefacts(ada)
    assert [(1,)] == ada.house.rows(
        "MATCH (n:Artefact) WHERE n.space STARTS WITH $tenant RETURN count(n)"
    )


def test_the_profile_says_what_kept_preferences_principles_skills_and_relationships_say(ada):
    ada.fact("I prefer tea over coffee.")
    ada.fact("FYI the deadline was moved again.")
    skill = ada.fact("FYI I can speak Spanish fluently.")

    assert ["I prefer tea over coffee.", "FYI I can speak Spanish fluently."] == profile(ada)
    _, line = notebooks(ada).profile(ada.space)
    assert (skill.uid,) == line.uids


def test_a_line_that_another_one_says_is_not_added(ada):
    ada.fact("I prefer short answers in code reviews.")
    ada.fact("I prefer short answers in code reviews!!")
    ada.fact("I prefer short answers in code reviews, always.")

    assert ["I prefer short answers in code reviews."] == profile(ada)


def test_a_line_goes_with_its_memory_and_follows_its_words(ada):
    fact = ada.fact("I prefer tea over coffee.")
    patch(ada, fact.uid, "I prefer green tea.")
    followed = profile(ada)
    ada.put_away(fact.uid)

    assert ["I prefer green tea."] == followed
    assert [] == profile(ada)


@pytest.mark.parametrize(
    ("left", "degraded", "answer"),
    [
        (["I prefer tea."], 0, {"repeats": [{"line": 1, "of": 0}]}),
        (["I prefer green tea."], 1, ModelUnavailable("away")),
    ],
)
def test_a_model_says_which_lines_of_a_long_profile_repeat_others(
    ada, monkeypatch, left, degraded, answer
):
    for content in ("I prefer tea.", "I prefer green tea.", "FYI I can speak Spanish fluently."):
        ada.fact(content)
        ada.house.clock.advance(minutes=1)
    before = profile(ada)
    for module in (rules_of_profile, notebook_upkeep):
        monkeypatch.setattr(module, "LINES_MAX", 2)
    run = shorten(ada, ScriptedModel(answer))

    assert 3 == len(before)
    assert left == profile(ada)
    assert 2 == run.counts["profile_line_dropped"]
    assert degraded == len(run.degraded)


def shorten(session, model):
    graphmem, run = session.house.graphmem, Run(uid="r", job="consolidate")
    upkeep = NotebookUpkeep(gateway=graphmem.gateway, connection=graphmem.connection, model=model)
    due = DueSpace(
        space=session.space,
        policy=ConsolidatePolicy(),
        state=SpaceState(space=session.space.key),
        now=session.house.clock.now(),
    )
    upkeep.tend_profile(due, run)
    return run


def test_a_fact_that_a_line_said_has_its_own_when_that_is_gone(ada):
    first = ada.fact("I prefer short answers in code reviews.")
    ada.house.clock.advance(minutes=1)
    second = ada.fact("I prefer short answers in code reviews, please.")
    before = profile(ada)
    ada.put_away(first.uid)
    gone = profile(ada)
    counts = [consolidate(ada).counts.get("profile_line_noted", 0) for _ in range(2)]
    (line,) = notebooks(ada).profile(ada.space)

    assert (["I prefer short answers in code reviews."], []) == (before, gone)
    assert [1, 0] == counts
    assert (second.uid,) == line.uids


def test_what_is_corrected_leaves_the_profile_to_the_correction(ada):
    ada.fact("FYI I work at Siemens.")
    before = profile(ada)
    fact = ada.fact("Actually, I work at Bosch, not at Siemens.")
    ada.fact("Actually, my birthday is in May.")

    assert ["FYI I work at Siemens."] == before
    assert FactOutcome.SUPERSEDED is fact.outcome
    assert ["Actually, I work at Bosch, not at Siemens."] == profile(ada)


def test_what_a_model_notes_rests_on_the_fact_that_it_is_about(ada):
    found = an_answer(
        a_fact("Ada works at Siemens."),
        a_fact("Ada wants short answers.", "preference", turns=(1,)),
        profile_updates=["Likes answers to be short"],
        questions=[{"question": "Since when at Siemens?", "context": "job", "priority": 0.8}],
        reflection="Ask less.",
    )
    with ModelServer(found) as server:
        session = ada.with_model(server.url)
        heeded = session.say("Nice weather today", "FYI I have a new job.")
    job, short = heeded.extractions[-1].kept.facts

    *_, line = notebooks(ada).profile(ada.space)
    assert ("Likes answers to be short", (short.uid,)) == (line.text, line.uids)
    (question,) = questions(ada)
    assert ("Since when at Siemens?", 0.8, (job.uid,)) == (
        question.question,
        question.priority,
        question.memories,
    )
    assert ["Ask less."] == identity(ada)
    ada.put_away(job.uid)
    ada.put_away(short.uid)
    assert ([], ()) == (profile(ada), questions(ada))


def test_what_a_model_put_into_words_goes_with_a_turn_that_is_taken_back(ada):
    found = an_answer(
        a_fact("Ada works at Siemens.", turns=(1,)),
        profile_updates=["Is an engineer at Siemens"],
        questions=[{"question": "Since when?", "context": "", "priority": 0.8}],
        reflection="Ask about Rome.",
    )
    with ModelServer(found) as server:
        heeded = ada.with_model(server.url).say("I go to Rome", "FYI I have a new job.")
    first, _ = heeded.arrived.turns
    ada.delete_turn(first.turn.uid)

    assert ([], [], ()) == (profile(ada), identity(ada), questions(ada))


def test_reflections_are_an_hour_apart_and_none_where_the_space_wants_none(ada, house):
    first = reflect(ada, "Ask\nless.")
    house.clock.advance(minutes=59)
    with pytest.raises(TooSoon):
        reflect(ada, "Ask more.")
    house.clock.advance(minutes=1)
    reflect(ada, "Ask more.")

    assert "Ask\nless." == first.text
    assert ["Ask less.", "Ask more."] == identity(ada)
    ada.want(identity_enabled=False)
    house.clock.advance(hours=1)
    with pytest.raises(IdentityDisabled):
        reflect(ada, "And more.")


@pytest.mark.parametrize(
    ("text", "field"), [("", "text"), (" \u200b", "text"), ("x" * 15_001, "text")]
)
def test_a_reflection_that_is_blank_or_too_long_is_named_by_its_field(ada, text, field):
    with pytest.raises(InvalidInput) as refused:
        reflect(ada, text)

    assert [field] == list(refused.value.fields)
    assert "x" * 15_000 == reflect(ada, "x" * 15_000).text


def test_a_secret_is_no_reflection(ada):
    with pytest.raises(PolicyRefused):
        reflect(ada, "The key is AKIAIOSFODNN7EXAMPLE.")


def test_a_full_identity_takes_no_more_until_it_was_consolidated(ada, house):
    ada.fact("I prefer tea over coffee.")
    reflect(ada, "I listen. " + "x" * 14_989)
    house.clock.advance(hours=1)
    reflect(ada, "y")
    house.clock.advance(hours=1)
    with pytest.raises(IdentityFull):
        reflect(ada, "z")
    consolidate(ada)

    assert ["I listen.", "y"] == identity(ada)
    assert "z" == reflect(ada, "z").text


def test_a_doubtful_fact_is_asked_about_until_it_is_said_again(ada):
    fact = ada.fact(DOUBT)
    (question,) = questions(ada, is_open=True)
    again = ada.read(DOUBT)

    assert (f"Is this so: “{fact.content}”?", (fact.uid,)) == (
        question.question,
        question.memories,
    )
    assert pytest.approx(1 - fact.confidence) == question.priority
    assert () == questions(ada, is_open=True)
    (resolved,) = questions(ada, is_open=False)
    assert again.uid == resolved.resolved_by


def test_a_question_is_resolved_once_by_a_caller(ada, house):
    ada.fact(DOUBT)
    (question,) = questions(ada)
    resolve = notebooks(ada).resolve
    done = resolve(ada.space, question.uid, "No.", caller=house.caller).answer

    assert ("No.", house.clock.now(), None) == (done.answer, done.resolved_at, done.resolved_by)
    assert (done,) == questions(ada)
    with pytest.raises(AlreadyResolved):
        resolve(ada.space, question.uid, None, caller=house.caller)
    with pytest.raises(NotFound):
        resolve(Session(house, "user:eve").space, question.uid, None, caller=house.caller)


def test_the_index_names_what_a_space_knows_and_forgets_at_once(ada, house):
    fact = ada.fact("FYI I work at Siemens.")
    other = Session(house)  # another process has a cache of its own
    (line,) = [each for each in index(ada) if "Siemens" in each.text[:7]]
    assert ("Siemens (company, 1 fact): FYI I work at Siemens.", (fact.uid,)) == (
        line.text,
        line.uids,
    )
    house.clock.advance(minutes=1)
    patch(other, fact.uid, "FYI I worked at Siemens.")
    assert "FYI I worked at Siemens." in {each.text.partition(": ")[2] for each in index(ada)}
    ada.put_away(fact.uid)
    assert [] == index(ada)


def test_the_index_is_made_anew_after_ten_minutes(ada, house):
    ada.fact("FYI I work at Siemens.")
    before = index(ada)
    ada.fact("FYI I work with Eve Miller at Bosch.")
    house.clock.advance(minutes=9)
    assert before == index(ada)
    house.clock.advance(minutes=1)

    assert len(before) < len(index(ada))
    ada.want(knowledge_index_enabled=False)
    assert [] == index(ada)


def test_an_answer_given_by_hand_stays_when_the_fact_is_settled_meanwhile(ada, house):
    ada.fact(DOUBT)
    (question,) = questions(ada)
    notebooks(ada).resolve(ada.space, question.uid, "Yes.", caller=house.caller)
    settled = replace(question, resolved_by="extraction", resolved_at=house.clock.now())
    house.graphmem.connection.write(lambda opened: resolve_questions(opened, [settled]))

    assert ["Yes."] == [each.answer for each in questions(ada)]


def test_a_reflection_that_is_taken_back_while_it_is_shortened_stays_away(ada, house):
    reflect(ada, "I listen.")
    (reflection,) = reflections_of(house.graphmem.connection, ada.space)
    house.rows("MATCH (n:Reflection {uid: $uid}) DETACH DELETE n", uid=reflection.uid)
    house.graphmem.connection.write(lambda opened: change_reflections(opened, [reflection]))

    assert [] == identity(ada)


def test_the_index_may_be_asked_for_by_many_at_once(ada):
    ada.fact("FYI I work at Siemens.")
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: len(index(ada)), range(40)))

    assert {len(index(ada))} == set(found)


def test_a_second_consolidation_right_after_changes_nothing(ada, house):
    ada.want(memory_boxes_enabled=True, verbatim_artifacts_enabled=True)
    for said in (DECISION, DOUBT, "I prefer tea over coffee.", "FYI I work at Siemens."):
        ada.fact(said)
        house.clock.advance(minutes=40)
    reflect(ada, "I listen. " + "x" * 9_000)
    consolidate(ada)
    before = lines_of(ada)
    again = consolidate(ada)

    assert before == lines_of(ada)
    assert {} == {name: count for name, count in again.counts.items() if count and name != "topics"}


def lines_of(session):
    return list(export_lines(session.house.graphmem.transfers, session.space))


def test_a_notebook_is_the_same_after_export_and_import(ada, house):
    ada.want(memory_boxes_enabled=True, trace_weaver_enabled=True, verbatim_artifacts_enabled=True)
    for said in (DECISION, DOUBT, "I prefer tea over coffee.", "FYI I work at Siemens."):
        ada.fact(said)
        house.clock.advance(hours=2)
    reflect(ada, "---\n# I listen.\r\n- x")
    (question,) = questions(ada)
    notebooks(ada).resolve(ada.space, question.uid, "Yes.", caller=house.caller)
    lines = lines_of(ada)
    again = Session(house, "user:again")
    transfers = house.graphmem.transfers
    *_, done = import_lines(transfers, lines, again.space, caller=house.caller)

    assert [] == done.problems
    expected = {"artefacts": 1, "profile_lines": 2, "reflections": 1, "questions": 1}
    assert expected.items() <= done.counts.items()
    assert sorted(lines) == sorted(lines_of(again))
    assert [box.uid for box in boxes(ada)] == [box.uid for box in boxes(again)]
    assert profile(ada) == profile(again)
    *_, twice = import_lines(transfers, lines, again.space, caller=house.caller)
    assert sorted(lines) == sorted(lines_of(again))
    assert not expected.keys() & twice.counts.keys()


def boxes(session):
    page = notebooks(session).box_page(
        session.space, None, limit=50, is_open=None, days=None, session=None
    )
    return page.items


def test_an_open_box_that_is_imported_beside_another_is_sealed(ada, house):
    ada.want(memory_boxes_enabled=True)
    again = Session(house, "user:again")
    again.want(memory_boxes_enabled=True)
    ada.fact(DECISION)
    again.fact("FYI I work at Siemens.")
    list(import_lines(house.graphmem.transfers, lines_of(ada), again.space, caller=house.caller))

    assert {None, SealReason.FORCED} == {box.seal_reason for box in boxes(again)}


@pytest.mark.parametrize("days", [0, 1])
def test_old_boxes_are_left_out_where_days_are_named(ada, house, days):
    ada.want(memory_boxes_enabled=True)
    ada.fact(DECISION)
    house.clock.advance(days=1, seconds=1 - days)
    page = notebooks(ada).box_page(ada.space, None, limit=5, is_open=None, days=1, session=None)

    assert days == len(page.items)
    assert timedelta(days=1) <= house.clock.now() - boxes(ada)[0].last_at
