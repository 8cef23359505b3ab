"""The rules of governed memory (004): what texts are, what may be written, who wins, what ends."""

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import InvalidInput
from graphmem.governance.classify import (
    classified,
    importance_of,
    is_low_signal,
    profile_fact,
)
from graphmem.governance.conflict import resolved
from graphmem.governance.contract import Contract
from graphmem.governance.contract_form import contract_from
from graphmem.governance.events import redacted
from graphmem.governance.owners import owner_text, owners_of
from graphmem.governance.phases import phase_diff
from graphmem.governance.policy import Attempt, is_semantic, write_verdict
from graphmem.governance.promotion import promotion_hint, promotion_verdict
from graphmem.governance.request import tool_text
from graphmem.governance.retention import Mode, RetentionRule, forgotten, with_expiry
from graphmem.governance.scoring import Query, best, importance_score, recency_score, similarity
from graphmem.governance.summing import summary_text
from graphmem.model.governance import (
    EventType,
    FactKey,
    Item,
    ItemKind,
    ItemSource,
    LedgerEntry,
    Phase,
)
from graphmem.model.memory import Authority
from graphmem.model.space import Space, SpaceKind
from graphmem.text.dedup_keys import dedup_key, normalised
from graphmem.text.plain_view import plain_view

SESSION = Space(tenant="t", kind=SpaceKind.SESSION, owner="s1")
PHASE = Phase(index=1, started_at=1, reason="auto")


def an_item(text="I prefer tabs.", **changes):
    values = {
        "uid": "u",
        "space": SESSION,
        "kind": ItemKind.SEMANTIC,
        "number": 1,
        "source": ItemSource.USER,
        "created_at": 2,
        "mark": 2,
        "importance": 4,
        "importance_reason": ("event:preference", "source:user"),
        "event_type": EventType.PREFERENCE,
        "dedup_key": dedup_key(EventType.PREFERENCE, text),
        "authority": Authority.USER_ASSERTED,
        "authority_reason": "source:user",
        "phase": PHASE,
    }
    return Item(text=text, **values | changes)


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("Actually, it is Bob.", "correction"),
        ("A correction: it is Bob.", "correction"),
        ("It is not Ada but Bob.", "correction"),
        ("But it is not Bob.", "context"),
        ("It is not Ada\nbut Bob.", "context"),
        ("Factually fine.", "context"),
        ("I prefer tabs.", "preference"),
        ("I like tea.", "preference"),
        ("I want tea.", "preference"),
        ("Never call me late.", "preference"),
        ("Never mind.", "context"),
        ("We decided to use Go.", "decision"),
        ("The decision is made.", "decision"),
        ("We choose Go.", "decision"),
        ("Let's use Go.", "decision"),
        ("Let\u2019s use Go.", "decision"),
        ("We will use Go.", "decision"),
        ("use 2 spaces", "decision"),
        ("use  it", "context"),
        ("Use metric units.", "decision"),
        ("My name is Ada.", "fact"),
        ("Hello there.", "context"),
    ],
)
def test_a_text_is_what_its_first_phrase_says(text, event):
    assert event == classified(text)


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("My name is Ada.", ("name", "Ada")),
        ("call me  'Ada  L'", ("name", "Ada L")),
        ('Call me "Ada".', ("name", "Ada")),
        ("my timezone is UTC+1!", ("timezone", "UTC+1")),
        ("timezone = CET", ("timezone", "CET")),
        ("timezone is CET", ("timezone", "CET")),
        ("My language is German", ("language", "German")),
        ("language preference is German", ("language", "German")),
        ("My project name is Atlas, I think", ("project", "Atlas")),
        ("I am working on Atlas; now", ("project", "Atlas")),
        ("My editor is vim?", ("editor", "vim")),
        ("Actually, use metric units", ("units", "metric")),
        ("My editor is vim and my name is Ada", ("name", "Ada")),
        ("My name is .", None),
        ("Hello", None),
    ],
)
def test_a_fact_is_that_of_the_first_pattern(text, fact):
    found = profile_fact(text)
    assert fact == (found and (found.key.value, found.value))


@pytest.mark.parametrize(("length", "kept"), [(60, 60), (61, 60)])
def test_a_value_has_at_most_sixty_characters(length, kept):
    assert kept == len(profile_fact(f"My name is {'a' * length}.").value)


@pytest.mark.parametrize(
    ("event", "source", "text", "expected"),
    [
        ("context", "ai", "Fine.", (1, ["event:context"])),
        ("context", "user", "Fine.", (2, ["event:context", "source:user"])),
        ("execution", "tool", "tool_events:[]", (2, ["event:execution"])),
        ("preference", "user", "I like tea", (4, ["event:preference", "source:user"])),
        ("decision", "user", "use Go", (4, ["event:decision", "source:user"])),
        ("fact", "user", "Ada", (5, ["event:fact", "source:user"])),
        (
            "correction",
            "user",
            "Actually, MUST",
            (7, ["event:correction", "source:user", "emphasis", "corrective"]),
        ),
    ],
)
def test_importance_adds_up_its_reasons(event, source, text, expected):
    found = importance_of(text, EventType(event), ItemSource(source))
    assert (expected[0], tuple(expected[1])) == found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Mock-model: Hello!", "mock model hello"),
        ("\u00dcber  Z\u00fcrich", "\u00fcber z\u00fcrich"),
        ("...", ""),
    ],
)
def test_a_normalised_text_has_words_alone(text, words):
    assert words == normalised(text)


@pytest.mark.parametrize("text", ["ok", "Okay!", "thank you.", "HELLO", "Hey", "cool", "great"])
def test_small_talk_is_of_low_signal(text):
    assert is_low_signal(text)
    assert not is_low_signal(f"{text} friend")


NORMAL = Contract(short_term=5, semantic=True, profile=True)


def attempt(**changes):
    values = {"kind": ItemKind.SEMANTIC, "event": EventType.PREFERENCE, "private": "I like tea."}
    return Attempt(**values | changes)


@pytest.mark.parametrize(
    ("contract", "tried", "reason", "tags"),
    [
        (NORMAL, attempt(private="My PassWord is x"), "privacy_deny_sensitive", []),
        (
            replace(NORMAL, deny_sensitive=False),
            attempt(private="my ssn"),
            "privacy_deny_pattern",
            [],
        ),
        (
            replace(NORMAL, allow_profile_keys=()),
            attempt(kind=ItemKind.PROFILE, event=EventType.FACT, key=FactKey.NAME),
            "privacy_deny_profile_key",
            [],
        ),
        (replace(NORMAL, write_policy="none"), attempt(), "write_policy_none", ["privacy"]),
        (
            replace(NORMAL, write_policy="minimal"),
            attempt(event=EventType.EXECUTION),
            "write_policy_minimal",
            ["privacy"],
        ),
        (NORMAL, attempt(event=EventType.CONTEXT), "write_policy_context", ["privacy"]),
        (
            replace(NORMAL, deny_event_types=(EventType.PREFERENCE,)),
            attempt(),
            "policy_deny_event_type",
            ["privacy", "write_policy:normal"],
        ),
        (
            replace(NORMAL, allow_event_types=(EventType.FACT,)),
            attempt(),
            "policy_deny_event_type",
            ["privacy", "write_policy:normal"],
        ),
        (
            replace(NORMAL, promotion=dict.fromkeys(ItemKind, ())),
            attempt(),
            "policy_deny_promotion",
            ["privacy", "write_policy:normal"],
        ),
        (
            NORMAL,
            attempt(is_low_signal=True),
            "policy_low_signal",
            ["privacy", "write_policy:normal", "promotion_rule"],
        ),
        (
            replace(NORMAL, allow_event_types=(EventType.PREFERENCE,)),
            attempt(),
            "allowed",
            ["privacy", "write_policy:normal", "policy_event_types", "promotion_rule"],
        ),
        (
            replace(NORMAL, write_policy="none"),
            attempt(kind=ItemKind.SHORT_TERM, event=EventType.CONTEXT),
            "allowed",
            ["privacy", "promotion_rule"],
        ),
    ],
)
def test_the_first_rule_that_refuses_says_why_and_the_others_before_are_tags(
    contract, tried, reason, tags
):
    found = write_verdict(contract, tried)
    assert (reason, tuple(f"allowed_by:{tag}" for tag in tags)) == (found.reason, found.tags)


@pytest.mark.parametrize(
    ("policy", "event", "is_tried"),
    [
        ("normal", "context", False),
        ("normal", "decision", True),
        ("aggressive", "context", True),
        ("minimal", "context", False),
        ("minimal", "fact", True),
        ("none", "decision", True),
        ("none", "context", False),
    ],
)
def test_a_text_is_tried_as_a_snippet_by_policy_and_event(policy, event, is_tried):
    contract = replace(NORMAL, write_policy=policy)
    assert is_tried == is_semantic(contract, EventType(event), is_low_signal=False)
    assert not is_semantic(contract, EventType(event), is_low_signal=True)


def of(event, authority, created_at=1, **more):
    return an_item(
        event_type=EventType(event), authority=Authority(authority), created_at=created_at, **more
    )


@pytest.mark.parametrize(
    ("existing", "incoming", "wins", "rule"),
    [
        (of("fact", "user_asserted"), of("fact", "ai_inferred", 2), False, "authority"),
        (of("fact", "ai_inferred", 2), of("fact", "user_asserted"), True, "authority"),
        (of("fact", "system_imposed"), of("correction", "user_asserted", 2), True, "correction"),
        (of("fact", "system_imposed"), of("correction", "tool_verified", 2), True, "correction"),
        (of("fact", "system_imposed"), of("correction", "ai_inferred", 2), False, "authority"),
        (of("fact", "ai_inferred"), of("correction", "user_asserted", 2), True, "authority"),
        (
            of("correction", "system_imposed"),
            of("correction", "user_asserted", 2),
            True,
            "recency",
        ),
        (of("correction", "user_asserted"), of("fact", "user_asserted", 9), False, "correction"),
        (of("fact", "user_asserted"), of("fact", "user_asserted", 2), True, "recency"),
        (of("fact", "user_asserted", 2), of("fact", "user_asserted", 1), False, "recency"),
        (
            of("fact", "user_asserted", importance=4),
            of("fact", "user_asserted", importance=5),
            True,
            "importance",
        ),
        (
            of("fact", "user_asserted", number=2),
            of("fact", "user_asserted", number=1),
            False,
            "importance",
        ),
    ],
)
def test_authority_correction_recency_and_importance_decide_in_this_order(
    existing, incoming, wins, rule
):
    found = resolved(existing, incoming, Contract())
    assert (wins, rule) == (found.winner is incoming, found.rule)


@pytest.mark.parametrize(
    ("rule", "now", "reason"),
    [
        (RetentionRule(mode=Mode.DECAY, ticks=12), 14, None),
        (RetentionRule(mode=Mode.DECAY, ticks=12), 15, "decay"),
        (RetentionRule(mode=Mode.TTL, ticks=25), 26, None),
        (RetentionRule(mode=Mode.TTL, ticks=25), 27, "ttl_expired"),
        (RetentionRule(), 10_000, None),
    ],
)
def test_decay_ends_beyond_its_ticks_and_a_ttl_at_them(rule, now, reason):
    item = with_expiry(an_item(created_at=2, mark=2), rule)
    assert reason == forgotten(item, rule, now)
    assert (27 if rule.mode is Mode.TTL else None) == item.expires_at


def test_a_kind_without_a_rule_for_an_event_has_that_of_context():
    rules = {ItemKind.SEMANTIC: {EventType.CONTEXT: RetentionRule(mode=Mode.DECAY, ticks=3)}}
    contract = Contract(retention=rules)

    assert 3 == contract.rule(ItemKind.SEMANTIC, EventType.FACT).ticks
    assert contract.rule(ItemKind.PROFILE, EventType.FACT).is_kept


@pytest.mark.parametrize(
    ("text", "target", "reason"),
    [
        ("Remember this for me: x", "user", "hint:remember_for_me"),
        ("remember this about me", "user", "hint:remember_about_me"),
        ("save this for me", "user", "hint:save_for_me"),
        ("remember this for my project", "project", "hint:remember_for_project"),
        ("remember this for our project", "project", "hint:remember_for_project"),
        ("in project memory", "project", "hint:project_memory"),
        ("remember this for everyone", "system", "hint:remember_for_everyone"),
        ("remember this for the system", "system", "hint:remember_for_system"),
        ("system memory", "system", "hint:system_memory"),
    ],
)
def test_a_hint_names_where_to_remember(text, target, reason):
    found = promotion_hint(text)
    assert (target, reason) == (found.target, found.reason)
    assert promotion_hint("Remember it.") is None


@pytest.mark.parametrize(
    ("item", "target", "verdict"),
    [
        (of("preference", "user_asserted"), "user", "allowed"),
        (of("context", "user_asserted"), "user", "promotion_event_type"),
        (of("preference", "ai_inferred"), "user", "promotion_authority"),
        (of("preference", "user_asserted"), "project", "promotion_authority"),
        (of("decision", "user_asserted"), "project", "allowed"),
        (of("decision", "ai_inferred"), "project", "promotion_authority"),
        (of("fact", "tool_verified"), "project", "allowed"),
        (of("fact", "system_imposed"), "system", "promotion_disallowed"),
    ],
)
def test_a_promotion_needs_a_rule_an_event_type_and_an_authority(item, target, verdict):
    space = SpaceKind(target)
    assert verdict == promotion_verdict(Contract(), item, space, may_write=True)
    assert "promotion_disallowed" == promotion_verdict(Contract(), item, space, may_write=False)


@pytest.mark.parametrize(
    ("query", "text", "score"),
    [
        ("tabs", "I prefer tabs.", 2),
        ("go", "That is good.", 2),
        ("prefer what", "I prefer tabs.", 1),
        ("spaces", "I prefer tabs.", 0),
        ("...", "I prefer tabs.", 0),
    ],
)
def test_similarity_is_two_of_the_whole_query_and_one_of_a_word(query, text, score):
    assert score == similarity(Query.of(query), text)


@pytest.mark.parametrize(("age", "score"), [(0, 2), (2, 2), (3, 1), (5, 1), (6, 0)])
def test_recency_counts_in_two_steps(age, score):
    assert score == recency_score(age)


@pytest.mark.parametrize(("importance", "score"), [(1, 0), (2, 1), (3, 1), (4, 2), (7, 2)])
def test_importance_counts_in_two_steps(importance, score):
    assert score == importance_score(importance)


def test_snippets_come_by_phase_then_score_then_tick_and_one_of_score_0_too():
    old = an_item("x", number=1, mark=1, created_at=1, importance=1)
    new = an_item("y", number=2, mark=9, created_at=9, importance=1)
    match = an_item("tabs", number=3, mark=2, created_at=2, importance=1)
    found = best([[old, new, match], [an_item("tabs too", number=4)]], Query.of("tabs"), most=3)

    assert [new, match, old] == [each.item for each in found]
    assert [("recency",), ("matches_query",), ("active_rule",)] == [each.reasons for each in found]


@pytest.mark.parametrize(("parts", "shown"), [(6, 6), (7, 6)])
def test_a_summary_has_at_most_six_parts(parts, shown):
    text = summary_text(None, [an_item("m", number=n) for n in range(parts)])
    assert " | ".join(["user: m"] * shown) == text


@pytest.mark.parametrize(
    ("length", "part"), [(74, "user: " + "m" * 74), (75, "user: " + "m" * 71 + "...")]
)
def test_a_part_of_a_summary_has_at_most_eighty_characters(length, part):
    assert part == summary_text(None, [an_item("m" * length)])
    assert 80 == len(part)


@pytest.mark.parametrize(("length", "is_cut"), [(231, False), (232, True)])
def test_a_summary_has_at_most_240_characters(length, is_cut):
    text = summary_text("b" * length, [])
    assert (240, is_cut) == (len(text), text.endswith("..."))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("  a \n b ", "a b"),
        ("the monkey", "(redacted)"),
        ("Authorization", "(redacted)"),
        ("a" * 200, "a" * 200),
        ("a" * 201, "a" * 200 + "... (truncated)"),
    ],
)
def test_a_redacted_text_is_one_line_without_secrets(text, shown):
    assert shown == redacted(text)


def entry(number, added, deleted=None, key=None):
    return LedgerEntry(
        id=f"session:s1:semantic:{number}",
        kind=ItemKind.SEMANTIC,
        dedup_key=key or f"k{number}",
        created_at=number,
        added=added,
        deleted=deleted,
    )


def test_a_diff_has_replaced_added_and_deleted_items_and_the_reverse():
    entries = [entry(1, 1, 2, "same"), entry(2, 2, None, "same"), entry(3, 2), entry(4, 1, 2)]
    shown = phase_diff(entries, 1, 2).shown

    assert (1, 1, 1) == (shown["added_count"], shown["deleted_count"], shown["replaced_count"])
    assert ["replaced", "added", "deleted"] == [each["change"] for each in shown["top_changes"]]
    assert ["Added 1 items", "Deleted 1 items", "Replaced 1 items"] == shown["summary_lines"]
    back = phase_diff(entries, 2, 1).shown
    assert (1, 1, 1) == (back["added_count"], back["deleted_count"], back["replaced_count"])


def test_an_item_said_again_in_a_later_phase_is_replaced_also_where_the_first_is_still_there():
    shown = phase_diff([entry(1, 1, None, "same"), entry(2, 2, None, "same")], 1, 2).shown

    assert (0, 0, 1) == (shown["added_count"], shown["deleted_count"], shown["replaced_count"])
    assert ["session:s1:semantic:1", "session:s1:semantic:2"] == [
        shown["top_changes"][0][end] for end in ("from_id", "to_id")
    ]


@pytest.mark.parametrize(("items", "shown"), [(8, 8), (9, 8)])
def test_a_diff_shows_at_most_eight_changes(items, shown):
    found = phase_diff([entry(n, 2) for n in range(1, items + 1)], 1, 2).shown
    assert (items, shown) == (found["added_count"], len(found["top_changes"]))


@given(st.lists(st.tuples(st.integers(1, 4), st.none() | st.integers(1, 5)), max_size=8))
def test_a_ledger_by_intervals_is_the_ledger_by_copies(intervals):
    entries = [entry(n, a, d if d and d >= a else None) for n, (a, d) in enumerate(intervals)]
    copies, ledger = {}, set()
    for phase in range(1, 6):
        ledger |= {each.id for each in entries if each.added == phase}
        ledger -= {each.id for each in entries if each.deleted == phase}
        copies[phase] = set(ledger)

    assert copies == {phase: {each.id for each in entries if each.is_in(phase)} for phase in copies}


@pytest.mark.parametrize(
    ("state", "identity", "session", "user"),
    [
        ({}, {}, "anonymous", "anonymous"),
        ({"user": {"id": "s1"}}, {}, "s1", "s1"),
        ({}, {"id": "ada"}, "ada", "ada"),
        ({}, {"user_id": 7}, "7", "7"),
        ({"user": {"id": " s 1:x "}}, {"id": "ada"}, "s_1_x", "ada"),
    ],
)
def test_a_session_is_that_of_the_state_and_a_person_that_of_the_identity(
    state, identity, session, user
):
    found = owners_of("t", state, identity)
    assert (session, user) == (found.session.owner, found.user.owner)


@pytest.mark.parametrize(
    ("named", "owner"),
    [
        ({}, "unknown"),
        ({"project": "my app"}, "my_app"),
        ({"project_root": "/srv/app"}, hashlib.sha256(b"/srv/app").hexdigest()[:12]),
        ({"project_root": "C:\\app"}, hashlib.sha256(b"C:\\app").hexdigest()[:12]),
    ],
)
def test_a_project_is_named_or_hashed(named, owner):
    assert owner == owners_of("t", {}, {}, **named).project.owner


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        (({"user": []}, {}), "state.user"),
        (({"user": {"id": "a/b"}}, {}), "state.user.id"),
        (({"user": {"id": "a*"}}, {}), "state.user.id"),
        (({}, {"id": "a|b"}), "identity.id"),
        (({}, {"id": ["a"]}), "identity.id"),
        (({}, {"user_id": "x" * 129}), "identity.user_id"),
    ],
)
def test_an_owner_that_cannot_be_called_so_is_named(arguments, path):
    with pytest.raises(InvalidInput) as error:
        owners_of("t", *arguments)
    assert [path] == list(error.value.fields)


@pytest.mark.parametrize(
    ("named", "path"),
    [
        ({"project": "a", "project_root": "/a"}, "project"),
        ({"project_root": "a/b"}, "project_root"),
        ({"project": "a/b"}, "project"),
    ],
)
def test_a_project_that_cannot_be_called_so_is_named(named, path):
    with pytest.raises(InvalidInput) as error:
        owners_of("t", {}, {}, **named)
    assert [path] == list(error.value.fields)


def test_owner_texts_have_no_blanks_and_colons():
    assert "a_b_c" == owner_text(" a b:c ")


def test_tools_are_told_in_canonical_json():
    assert 'tool_events:[{"a":1,"b":"\u00e9"}]' == tool_text([{"b": "\u00e9", "a": 1}])
    assert "" == tool_text([])


@pytest.mark.parametrize(
    ("policy", "mode", "context", "fact"),
    [("decay", "decay", 12, 60), ("ttl", "ttl", 25, 25), ("never", "never", None, None)],
)
def test_a_forget_policy_fills_the_retention_of_snippets(policy, mode, context, fact):
    shown = contract_from({"forget_policy": policy}).shown["retention"]

    assert {"mode": mode, "ttl_ticks": context} == shown["semantic"]["context"]
    assert {"mode": mode, "ttl_ticks": fact} == shown["semantic"]["fact"]
    assert {"mode": "never", "ttl_ticks": None} == shown["profile"]["fact"]


def test_single_entries_override_and_a_whole_contract_says_the_same_again():
    rule = {"mode": "ttl", "ttl_ticks": 5}
    contract = contract_from(
        {
            "forget_policy": "never",
            "retention": {"semantic": {"fact": rule}},
            "promotion": {"profile": {"allowed_event_types": ["fact"]}},
            "privacy": {"deny_patterns": ["zip"]},
            "spaces": {
                "read_order": ["user", "session"],
                "promotions": [{"from_space": "session", "to_space": "system"}],
            },
            "phase": {"mode": "current_plus_history", "max_phases": 3},
            "authority_caps": {"writer": "user_asserted"},
        }
    )

    assert rule == contract.shown["retention"]["semantic"]["fact"]
    assert contract.with_history
    assert contract == contract_from(contract.shown)


@pytest.mark.parametrize(
    ("values", "paths"),
    [
        ({"more": 1, "short_term": -1}, {"more", "short_term"}),
        ({"retention": {"other": {}}}, {"retention.other"}),
        ({"retention": {"semantic": {"x": {"mode": "never"}}}}, {"retention.semantic.x"}),
        (
            {"retention": {"semantic": {"fact": {"mode": "ttl", "ttl_ticks": -1}}}},
            {"retention.semantic.fact.ttl_ticks"},
        ),
        ({"retention": {"semantic": {"fact": {"mode": "ttl"}}}}, None),
        ({"spaces": {"read_order": ["corpus"]}}, {"spaces.read_order.0"}),
        ({"authority_order": ["ai_inferred"]}, {"authority_order"}),
        (
            {"spaces": {"promotions": [{"from_space": "user", "to_space": "user"}]}},
            {"spaces.promotions.0.to_space"},
        ),
        ({"phase": {"max_phases": 0}}, {"phase.max_phases"}),
        ({"phase": {"mode": "current_only", "allow_cross_phase_recall": True}}, {"phase.mode"}),
        ({"semantic": "yes"}, {"semantic"}),
        ({"authority_caps": {"reader": "ai_inferred"}}, None),
        ([], None),
    ],
)
def test_all_problems_of_a_contract_are_told_at_once(values, paths):
    with pytest.raises(InvalidInput) as error:
        contract_from(values)
    assert paths is None or paths == set(error.value.fields)


def test_the_plain_view_has_no_brackets():
    value = {"b": [{"x": None}, True], "a": {"c": "one\ntwo\t", "d": {}}, "e": []}

    assert ("a.c: one\\ntwo\\t\nb.count: 2\nb.1.x: null\nb.2: true\ne.count: 0\n") == plain_view(
        value
    )
