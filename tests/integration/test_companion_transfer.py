"""Personas, users, sessions and summaries in exports, and what they rest on."""

import json
from dataclasses import replace

import pytest

from graphmem.companion.keeper import CompanionKeeper
from graphmem.conversations.keeper import ConversationKeeper
from graphmem.intake.export_import import export_lines, import_lines
from graphmem.model.caller import Role
from graphmem.model.companion import CONVERSATION
from graphmem.model.conversation import Saying, TurnRole
from graphmem.model.space import parse_space
from graphmem.store.companions import find_state, find_user

ADA, COACH = "user:ada", "user:ada/coach"
AT = "2026-03-01T09:30:00Z"
SECRET = "the password is hunter2-Xk29!pq"
ORDER = ("persona", "companion_user", "session_state", "session", "rolling_summary", "spine")


class Companion:
    """A persona and a user of a house, with short ways to speak, export and import."""

    def __init__(self, house, messages="m"):
        self.house = house
        self.messages = messages  # how their ids begin
        self.keeper = house.graphmem.of(CompanionKeeper)
        self.count = 0

    def space(self, name=COACH):
        return parse_space(name, tenant=self.house.caller.tenant)

    def say(self, content, *, judges_now=True, role=TurnRole.USER, name=COACH):
        self.count += 1
        self.house.clock.advance(seconds=1)
        saying = Saying(
            uid="", role=role, content=content, message_id=f"{self.messages}-{self.count}"
        )
        caller = self.house.caller
        return self.keeper.messages.say(
            self.space(name), saying, caller=caller, judges_now=judges_now
        )

    def run_job(self, name, space=COACH):
        runner = self.house.graphmem.runner
        return runner.run(name, space_key=self.space(space).key, by_hand=True).counts

    def lines(self, name=COACH):
        return list(export_lines(self.house.graphmem.transfers, self.space(name)))

    def bring(self, lines, name=COACH, caller=None):
        transfers, caller = self.house.graphmem.transfers, caller or self.house.caller
        *_, done = import_lines(transfers, lines, self.space(name), caller=caller)
        return dict(done.counts), done.problems

    def bring_values(self, *values, **options):
        return self.bring(list(map(json.dumps, values)), **options)


def a_history(ada):
    """Two sessions: the first with a summary, the second with a message that nobody judged."""
    house = ada.house
    ada.keeper.save_persona("coach", {"name": "Coach", "prompt": "Be kind."}, caller=house.caller)
    values = {"email": "ada@example.org", "seed": "Runs at dawn."}
    ada.keeper.save_user(ada.space(ADA), values, caller=house.caller)
    for name in (ADA, COACH):
        house.graphmem.policies.save(ada.space(name), {"companion.summaries.spine_messages": 4})
    ada.say("My sister Nora lives in Porto.")
    ada.say("How nice.", role=TurnRole.ASSISTANT)
    ada.say("I will call my sister tonight.")
    ada.say("I live in Austin.")
    ada.say("Fine weather.")
    house.clock.advance(hours=1)
    ada.run_job("companion_sessions")
    ada.say("My sister Nora lives in Lisbon.")
    ada.say("My boss Tom is strict.", judges_now=False)


@pytest.fixture
def ada(house):
    ada = Companion(house)
    a_history(ada)
    return ada


@pytest.fixture
def away(house_at, connection):
    """The same user of another tenant, of whom nothing is known."""
    with house_at(connection) as house:
        yield Companion(house, "away")


def moved(ada, away):
    """What was brought from one tenant to the other, space by space."""
    return [away.bring(ada.lines(name), name) for name in (ADA, COACH)]


def of_kind(lines, kind):
    return [value[kind] for value in map(json.loads, lines) if kind in value]


def test_both_spaces_of_a_user_are_the_same_elsewhere(ada, away):
    (user, no_problems), (coach, none_either) = moved(ada, away)

    assert [] == no_problems + none_either
    assert {"created": 2, "companion_users": 1, "spines": 1} == user
    records = {"personas": 1, "session_states": 1, "sessions": 2, "rolling_summaries": 1}
    assert {"created": 1, "conversations": 1, "turns": 7, "spines": 1, **records} == coach
    for name in (COACH, ADA):
        assert sorted(ada.lines(name)) == sorted(away.lines(name))
    assert [kind for kind in ORDER for _ in of_kind(ada.lines(), kind)] == [
        kind for line in ada.lines() for kind in json.loads(line) if kind in ORDER
    ]


def test_the_history_has_something_of_everything(ada):
    lines = ada.lines()
    summed, open_session = of_kind(lines, "session")

    assert "Coach" == of_kind(lines, "persona")[0]["name"]
    assert [5, 2] == [len(each["turns"]) for each in (summed, open_session)]
    assert (False, AT[:11]) == (summed["unsummed"], summed["summary"]["created_at"][:11])
    assert (None, None) == (open_session["ended_at"], open_session["summary"])
    assert [open_session["turns"][-1]] == open_session["unjudged"]
    assert [2, 1] == [len(each["left"]) for each in (summed, open_session)]
    assert 5 == len(of_kind(lines, "rolling_summary")[0]["turns"])
    assert ["OPEN_LOOPS"] == [name for each in of_kind(lines, "spine") for name in each["sections"]]


def test_answers_and_memories_with_their_turns_are_the_same_elsewhere(ada, away):
    moved(ada, away)

    def seen(companion):
        keeper, space, user = companion.keeper, companion.space(), companion.space(ADA)
        facts = keeper.facts([user], kind=None, status=None, after=None, limit=9).items
        todos = keeper.todos.page(space, kind=None, status=None, after=None, limit=9).items
        memories = companion.house.graphmem.memories.by_key(
            [f"{user.key}|{fact.uid}" for fact in facts]
        )
        spine = keeper.summaries.spine([user, space])
        sessions = keeper.messages.session_page(space, None, limit=9).items
        return (
            facts,
            todos,
            [memory.turns for memory in memories.values()],
            replace(spine, space=None),
            [replace(each, space=None) for each in sessions],
            [keeper.summaries.of_session(each) for each in sessions],
            replace(keeper.messages.state(space), space=None),
            replace(keeper.user(user), space=None),
            keeper.messages.page(space, before=None, after=None, limit=9)[1:2],
        )

    assert seen(ada) == seen(away)


def test_importing_again_changes_nothing(ada, away):
    moved(ada, away)
    lines = away.lines(ADA), away.lines()
    again = moved(ada, away)

    assert [["unchanged"], ["unchanged"]] == [list(counts) for counts, _ in again]
    assert lines == (away.lines(ADA), away.lines())


def test_what_waited_for_its_judge_is_judged_once_there_and_waits_no_more(ada, away):
    moved(ada, away)

    assert [1, 0] == [away.run_job("companion_judge")["judged"] for _ in range(2)]
    assert ["unchanged"] == list(away.bring(ada.lines())[0])
    assert 0 == away.run_job("companion_judge")["judged"]
    tom = [each for each in of_kind(away.lines(ADA), "memory") if "Tom" in each["content"]]
    assert 1 == len(tom)


def test_an_open_session_is_ended_and_summed_up_there(ada, away):
    moved(ada, away)
    away.house.clock.advance(hours=3)
    away.run_job("companion_judge")

    assert {"ended": 1, "summaries": 1}.items() <= away.run_job("companion_sessions").items()


def test_memories_that_come_after_the_messages_are_led_back_when_these_come_again(ada, away):
    away.bring(ada.lines())
    away.bring(ada.lines(ADA), ADA)
    assert [[], []] == [each["left"] for each in of_kind(away.lines(), "session")]

    counts, problems = away.bring(ada.lines())

    assert (2, []) == (counts["sessions"], problems)
    assert sorted(ada.lines()) == sorted(away.lines())
    assert sorted(ada.lines(ADA)) == sorted(away.lines(ADA))
    assert ["unchanged"] == list(away.bring(ada.lines())[0])


def test_a_message_that_is_deleted_there_takes_what_it_alone_left_with_it(ada, away):
    moved(ada, away)
    (turn,) = (
        each for each in of_kind(away.lines(), "turn") if each["content"] == "I live in Austin."
    )
    keeper = away.house.graphmem.of(ConversationKeeper)
    keeper.delete_turn(away.space(), CONVERSATION, turn["uid"], caller=away.house.caller)

    memories = of_kind(away.lines(ADA), "memory")
    assert ["I live in Austin."] == [
        each["content"] for each in memories if each["status"] == "retracted"
    ]
    after = away.lines()
    away.bring(ada.lines())
    assert after == away.lines()


def test_what_is_here_stays_as_it_is(ada, away):
    caller = away.house.caller
    away.keeper.save_persona("coach", {"name": "Trainer"}, caller=caller)
    away.keeper.save_user(away.space(ADA), {"email": "other@example.org"}, caller=caller)
    away.say("Hello there.")
    (user, _), (coach, problems) = moved(ada, away)

    assert (1, 3, []) == (user["unchanged"], coach["unchanged"], problems)
    assert "Trainer" == away.keeper.persona(caller.tenant, "coach").name
    assert "other@example.org" == away.keeper.user(away.space(ADA)).email
    assert 1 == away.keeper.messages.state(away.space()).message_count
    assert 3 == away.keeper.messages.session_page(away.space(), None, limit=9).total


def test_the_next_version_of_the_long_summary_comes_behind_those_that_were_brought(ada, away):
    spines = of_kind(ada.lines(), "spine")
    away.bring_values({"spine": spines[0] | {"version": 7}})
    away.bring(ada.lines(ADA), ADA)
    away.bring(ada.lines())
    away.house.graphmem.policies.save(away.space(), {"companion.summaries.spine_messages": 1})
    for number in range(3):
        followed = away.say(f"My brother Max lives in Oslo {number}.").followed
        if followed.spine_version:
            break

    assert (8, ()) == (followed.spine_version, followed.degraded)


def test_a_summary_that_is_to_be_made_anew_is_so_there(ada, away):
    turn = of_kind(ada.lines(), "turn")[0]
    keeper = ada.house.graphmem.of(ConversationKeeper)
    keeper.delete_turn(ada.space(), CONVERSATION, turn["uid"], caller=ada.house.caller)
    moved(ada, away)

    assert of_kind(ada.lines(), "session_state") == of_kind(away.lines(), "session_state")
    assert of_kind(ada.lines(), "session_state")[0]["unrolled"]
    assert [None, True] == [
        of_kind(away.lines(), "session")[0][name] for name in ("summary", "unsummed")
    ]


def test_a_persona_needs_a_curator_and_all_else_a_writer(ada, away):
    writer = replace(away.house.caller, role=Role.WRITER)
    away.bring(ada.lines(ADA), ADA, caller=writer)
    counts, problems = away.bring(ada.lines(), caller=writer)

    assert (1, 2) == (counts["failed"], counts["sessions"])
    assert ["This key may not do that."] == [each.partition(": ")[2] for each in problems]


def test_what_left_something_with_the_user_needs_a_key_for_his_space(ada, away):
    own = replace(away.house.caller, spaces=(COACH,))
    counts, problems = away.bring(ada.lines(), caller=own)

    assert (3, 3) == (counts["failed"], len(problems))
    assert "sessions" not in counts
    assert (1, 1) == (counts["session_states"], counts["rolling_summaries"])


def test_only_messages_of_the_companion_join_a_session_and_only_what_users_say_waits(away):
    keeper = away.house.graphmem.of(ConversationKeeper)
    saying = Saying(uid="other", role=TurnRole.USER, content="Elsewhere.")
    keeper.append(away.space(), "elsewhere", [saying], caller=away.house.caller)
    turns = [
        {"turn": {"uid": uid, "conversation_id": CONVERSATION, "role": role, "content": "Hi."}}
        for uid, role in (("u", "user"), ("a", "assistant"))
    ]
    times = {"at": AT, "recorded_at": AT}
    session = {"uid": "s", "started_at": AT, "last_activity_at": AT, "turn_count": 1}
    uids = ["u", "a", "other", "gone"]
    values = session | {"turns": uids, "unjudged": uids}
    conversation = {"id": CONVERSATION, "kept_by": "companion"}
    conversation |= {"created_at": AT, "updated_at": AT}

    counts, problems = away.bring_values(
        {"conversation": conversation},
        *({"turn": each["turn"] | times} for each in turns),
        {"session": values},
    )

    assert ({"conversations": 1, "turns": 2, "sessions": 1}, []) == (counts, problems)
    (found,) = of_kind(away.lines(), "session")
    assert (["u", "a"], ["u"]) == (found["turns"], found["unjudged"])


def test_a_user_and_a_state_that_are_not_here_are_not_exported(away):
    assert [[], []] == [away.lines(), away.lines(ADA)]
    assert find_user(away.house.graphmem.connection, away.space(ADA)) is None
    state = find_state(away.house.graphmem.connection, away.space())
    assert ({"unchanged": 1}, []) == away.bring_values({"session_state": {}})
    assert state == find_state(away.house.graphmem.connection, away.space())


def test_pages_lose_nothing(away):
    values = {"started_at": AT, "last_activity_at": AT, "ended_at": AT, "turn_count": 0}
    sessions = [{"session": {"uid": f"s-{number}", **values}} for number in range(401)]

    assert ({"sessions": 401}, []) == away.bring_values(*sessions)
    found = of_kind(away.lines(), "session")
    assert 401 == len(found)
    assert {True} == {each["unsummed"] for each in found}


SESSION = {"uid": "s", "started_at": AT, "last_activity_at": AT, "turn_count": 1}
USER = {"created_at": AT, "updated_at": AT}
PERSONA = {"slug": "coach", "name": "Coach", **USER}
SPINE = {"version": 1, "sections": {}, "created_at": AT}


@pytest.mark.parametrize(
    ("kind", "value", "field"),
    [
        ("persona", [], "persona"),
        ("persona", PERSONA | {"slug": "state"}, "persona.slug"),
        ("persona", PERSONA | {"slug": "trainer"}, "persona.slug"),
        ("persona", PERSONA | {"name": " \n"}, "persona.name"),
        ("persona", PERSONA | {"prompt": "x" * 32_001}, "persona.prompt"),
        ("session_state", {"message_count": -1}, "session_state.message_count"),
        ("session_state", {"last_user_at": "2026-03-01T09:30:00"}, "session_state.last_user_at"),
        ("session_state", {"curator": {}}, "session_state.curator.last_run_at"),
        ("session_state", {"rolling_summary": "\ud800"}, "session_state"),
        ("session", SESSION | {"uid": "a b"}, "session.uid"),
        ("session", SESSION | {"turns": 5}, "session.turns"),
        ("session", SESSION | {"turns": [""]}, "session.turns.0"),
        ("session", SESSION | {"summary": {}}, "session.summary.one_liner"),
        ("session", SESSION | {"left": [{"turn": "t"}]}, "session.left.0.uid"),
        ("session", SESSION | {"mood": "fine"}, "session.mood"),
        ("rolling_summary", {"uid": "r", "text": "", "created_at": AT}, "rolling_summary.text"),
        ("rolling_summary", {"uid": "r", "text": "x"}, "rolling_summary.created_at"),
        ("spine", SPINE | {"version": 0}, "spine.version"),
        ("spine", SPINE | {"sections": {"SECRETS": []}}, "spine.sections.SECRETS"),
        ("companion_user", USER, "companion_user"),
    ],
)
def test_a_bad_line_is_named_by_its_field_and_takes_no_other_with_it(away, kind, value, field):
    counts, problems = away.bring_values({kind: value}, {"session": SESSION | {"uid": "good"}})

    assert {"failed": 1, "sessions": 1} == counts
    assert 1 == len(problems)
    assert problems[0].startswith(f"line 1: {field}")


@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"email": "nobody"}, "companion_user.email"),
        ({"overrides": {"john": "person:john_doe"}}, "companion_user.overrides.john"),
        ({"seed": "x" * 32_001}, "companion_user.seed"),
    ],
)
def test_a_bad_user_is_named_by_its_field(away, value, field):
    _, (problem,) = away.bring_values({"companion_user": USER | value}, name=ADA)

    assert problem.startswith(f"line 1: {field}")


@pytest.mark.parametrize("name", ["project:house", "user:ada", "user:ada/Coach_1"])
@pytest.mark.parametrize("kind", ["persona", "session"])
def test_what_belongs_to_a_persona_lies_in_no_other_space(away, name, kind):
    value = {"persona": PERSONA, "session": SESSION}[kind]
    _, (problem,) = away.bring_values({kind: value}, name=name)

    assert f"line 1: {kind}: Lies in a space such as user:ada/coach." == problem


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("persona", PERSONA | {"prompt": SECRET}),
        ("session_state", {"message_count": 1, "last_user_message": SECRET}),
        ("session", SESSION | {"summary": {"one_liner": SECRET, "created_at": AT}}),
        ("rolling_summary", {"uid": "r", "text": SECRET, "created_at": AT}),
        ("spine", SPINE | {"sections": {"OPEN_LOOPS": [{"text": SECRET, "uid": "m"}]}}),
    ],
)
def test_secrets_are_refused_and_nothing_else_with_them(away, kind, value):
    away.house.graphmem.policies.save(away.space(), {"write.refuse_secrets": True})
    counts, problems = away.bring_values({kind: value}, {"session": SESSION | {"uid": "good"}})

    assert {"failed": 1, "sessions": 1} == counts
    assert "The policy of this space refuses that memory." in problems[0]
