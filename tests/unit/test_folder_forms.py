"""Records as files and back: whatever they hold, the same comes back."""

import json
import re
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import InvalidInput
from graphmem.lifecycle.files.dates import moment_text
from graphmem.lifecycle.files.entity_form import KnownOfIt, entity_file, entity_value
from graphmem.lifecycle.files.entity_keys import entity_name, key_of
from graphmem.lifecycle.files.foreign import connections, turn_of_artefact, waiting
from graphmem.lifecycle.files.front_matter import Page, page_text, read_page
from graphmem.lifecycle.files.memory_form import InBox, memory_file, memory_value, part_edge
from graphmem.lifecycle.files.names import entity_path, memory_path, safe
from graphmem.lifecycle.files.page_forms import (
    IDENTITY_HEAD,
    identity_values,
    profile_line,
    profile_value,
    reflection,
)
from graphmem.lifecycle.files.record_forms import ARTEFACT, BOX, QUESTION, THREAD
from graphmem.lifecycle.files.state_forms import (
    alias_table,
    buffer_entry,
    buffer_value,
    entry_on,
    json_list,
    list_head,
    trace_entries,
    trace_entry,
    trace_value,
)
from graphmem.model.extraction import Category
from graphmem.model.memory import Authority, MemoryType, Status
from graphmem.model.source import CapturedBy, SourceType
from graphmem.text.times import iso

NASTY = (
    "---",
    "---\nid: other\n---\n\ntext",
    "# heading\n\n## Facts\n- a",
    "a: b: 'c' \"d\" #e",
    "line\r\nline\r",
    "  blanks at both ends  \n\n",
    "\n\n\n",
    "no",
    "null",
    "2026-03-01",
    "0o17",
    "010",
    "1e5",
    "*alias &anchor !tag %x @y `z`",
    "<!-- reflection {} -->",
    "\\<!-- reflection {} -->",
    '- x <!-- {"id": "y"} -->',
    "\x85\u2028\u2029\ufeff\x7f",
    "🦀 ünïcødé 日本",
    "",
)
texts = st.one_of(st.sampled_from(NASTY), st.text(st.characters(exclude_categories=["Cs"])))
uids = st.from_regex(r"[A-Za-z0-9._:-]{1,40}", fullmatch=True)
moments = st.datetimes(timezones=st.just(UTC), min_value=datetime(1, 1, 2)).map(iso)  # noqa: DTZ001
some_moments = st.none() | moments
scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(0, 1e9) | texts
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, json_values, max_size=4)
natives = st.none() | st.fixed_dictionaries(
    {},
    optional={
        "category": st.sampled_from(Category).map(str) | json_values,
        "tier": json_values,
        "importance_level": json_values,
        "importance_reasons": st.lists(texts, max_size=2),
        "keywords": json_values,
        "kind": json_values,
        "parent": uids,
        "thread": json_values,
        "part": st.integers(0, 9),
        "intent": json_values | st.fixed_dictionaries({}, optional={"goal": texts}),
        "source": json_values,
        "more": json_values,
    },
)
sources = st.fixed_dictionaries(
    {
        "type": st.sampled_from(SourceType).map(str),
        "captured_by": st.sampled_from(CapturedBy).map(str),
        **{
            name: st.none() | texts
            for name in ("path", "conversation_id", "workflow_run_id", "step_id", "key")
        },
    }
)
said = st.builds(
    lambda source, at, digest: {**source, "at": at, "digest": digest},
    sources,
    some_moments,
    st.none() | texts,
)
refs = st.fixed_dictionaries(
    {
        "key": st.sampled_from(["person:jane_doe", "org:acme", "tool:c__plus__plus", "x1:día"]),
        "label": st.none() | texts,
    }
)
memories = st.fixed_dictionaries(
    {
        "uid": uids,
        "content": texts,
        "summary": texts,
        "actor": st.none() | texts,
        "context": st.none() | texts,
        "importance": st.integers(0, 100),
        "confidence": st.floats(0, 1),
        "logical_key": st.none() | texts,
        "pinned": st.booleans(),
        "native": natives,
        "kept_by": st.none(),
        "type": st.sampled_from(MemoryType).map(str),
        "authority": st.sampled_from(Authority).map(str),
        "status": st.sampled_from(Status).map(str),
        "occurred_at": some_moments,
        "valid_from": some_moments,
        "valid_until": some_moments,
        "expires_at": some_moments,
        "created_at": moments,
        "updated_at": moments,
        "tags": st.lists(texts, max_size=3),
        "metadata": objects,
        "entities": st.lists(refs, max_size=2),
        "source": sources,
        "sources": st.lists(said, min_size=1, max_size=2),
        "turns": st.just([]),
        "claims_content": st.booleans(),
        "status_reason": st.none() | texts,
        "status_at": some_moments,
    }
)


@given(objects, texts)
def test_any_front_matter_and_any_text_come_back(front, text):
    page = read_page(page_text(front, text))

    assert (front, text) == (page.front, page.text)


@given(memories, st.none() | texts)
def test_any_memory_comes_back_from_its_file(line, box):
    file = memory_file(line, InBox(box=box, trace=box))
    value = memory_value(read_page(file), memory_path(line))

    assert line == value
    assert file == memory_file(value, InBox(box=box, trace=box))


topics = st.lists(texts, max_size=3)
boxes = st.fixed_dictionaries(
    {
        "uid": uids,
        "session": texts,
        "created_at": moments,
        "last_at": moments,
        "kept_at": moments,
        "sealed_at": some_moments,
        "seal_reason": st.none() | st.just("time_gap"),
        "topics": topics,
        "trace": st.none() | texts,
        "members": st.lists(st.fixed_dictionaries({"memory": uids, "topics": topics}), max_size=3),
    }
)
artefacts = st.fixed_dictionaries(
    {
        "uid": uids,
        "memory": uids,
        "turn": uids,
        "type": st.sampled_from(["decision", "constraint"]),
        "text": texts,
        "noted_at": moments,
    }
)
questions = st.fixed_dictionaries(
    {
        "uid": uids,
        "question": texts,
        "context": texts,
        "priority": st.floats(0, 1),
        "memories": st.lists(uids, max_size=2),
        "noted_at": moments,
        "extraction": st.none() | uids,
        "resolved_at": some_moments,
        "resolved_by": st.none() | texts,
        "answer": st.none() | texts,
    }
)
threads = st.fixed_dictionaries(
    {
        "uid": uids,
        "session": texts,
        "title": texts,
        "turn_count": st.integers(0, 99),
        "first_at": moments,
        "last_at": moments,
        "words": st.dictionaries(texts, st.integers(0, 9), max_size=3),
        "turns": st.lists(uids, max_size=3),
    }
)


@pytest.mark.parametrize(
    ("form", "lines"),
    [(BOX, boxes), (ARTEFACT, artefacts), (QUESTION, questions), (THREAD, threads)],
    ids=["box", "artefact", "question", "thread"],
)
@given(data=st.data())
def test_any_other_record_comes_back_from_its_file(form, lines, data):
    line = data.draw(lines)

    assert line == form.value(read_page(form.file(line)))


entities = st.fixed_dictionaries(
    {
        "key": st.sampled_from(["person:jane_doe", "org:acme", "tool:c__plus__plus", "x1:día"]),
        "label": texts,
        "aliases": st.lists(texts, max_size=3),
        "description": st.none() | texts,
        "attributes": objects,
        "created_at": some_moments,
        "updated_at": some_moments,
    }
)


@given(entities, st.lists(texts, max_size=2))
def test_any_entity_comes_back_from_its_file_and_one_that_is_only_mentioned_does_not(line, facts):
    known = KnownOfIt(facts=facts, connections=facts)
    declared, mentioned = (entity_file(line, known, is_declared=each) for each in (True, False))
    path = entity_path(line["key"])

    assert line == entity_value(read_page(declared), path)
    assert entity_value(read_page(mentioned), path) is None


profile_lines = st.fixed_dictionaries(
    {
        "uid": uids,
        "text": st.none() | texts,
        "memories": st.lists(uids, min_size=1, max_size=2),
        "importance": st.integers(0, 100),
        "noted_at": moments,
        "extraction": st.none() | uids,
        "dropped_at": some_moments,
    }
)


@given(profile_lines, texts)
def test_any_line_of_a_profile_comes_back_from_one_line(line, memory):
    shown = profile_line(line, memory if line["text"] is None else line["text"])

    assert "\n" not in shown.removesuffix("\n")
    assert line == profile_value(shown)


reflections = st.fixed_dictionaries(
    {
        "uid": uids,
        "text": texts,
        "noted_at": moments,
        "extraction": st.none() | uids,
        "dropped_at": some_moments,
    }
)


@given(st.lists(reflections, max_size=4))
def test_any_reflections_come_back_from_one_page(lines):
    page = IDENTITY_HEAD + "".join(map(reflection, lines))

    assert lines == list(identity_values(page))


@given(st.dictionaries(texts, json_values, max_size=3), moments)
def test_what_waits_and_topic_traces_come_back(words, at):
    buffer = {"session": "s", "last_extraction_at": at, "extractions": 2, "turns": list(words)}
    trace = {"uid": "t", "topics": list(words), "first_at": at, "last_at": at}

    assert buffer == buffer_value(buffer_entry(buffer))
    assert trace == trace_value(trace_entry(trace))


@given(st.lists(objects, max_size=3))
def test_each_value_of_a_list_stands_on_a_line_of_json(values):
    file = "".join(json_list("values", values))
    head, *lines = file.split("\n")

    assert {"values": values} == json.loads(file)
    assert list_head("values") == f"{head}\n"
    assert values == [json.loads(text) for line in lines if (text := entry_on(line))]


@given(st.lists(uids, min_size=2, max_size=2, unique=True))
def test_names_differ_where_ids_do_and_letter_case_does_not_count(two):
    one, other = two

    assert safe(one).casefold() != safe(other).casefold()
    assert set(safe(one)) <= set("abcdefghijklmnopqrstuvwxyz0123456789-~")


def test_no_two_entities_share_a_file_or_a_name_in_the_table_of_aliases():
    slugs = ("jane", "jane_doe", "c__plus__plus", "josé", "jose", "josè", "日本", "中国", "x" * 300)
    keys = [f"{type_}:{slug}" for type_ in ("person", "org", "company", "a_b") for slug in slugs]
    paths = {entity_path(key).casefold() for key in keys}

    assert len(keys) == len(paths) == len({entity_name(key) for key in keys})
    assert all(re.fullmatch(r"entities/[a-z0-9~-]{1,120}\.md", path) for path in paths)
    assert keys == [key_of(entity_name(key)) for key in keys]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-03-01", "2026-03-01T00:00:00Z"),
        ("2026-03-01T09:30:00.000Z", "2026-03-01T09:30:00Z"),
        ("2026-03-01 09:30", "2026-03-01T09:30:00Z"),
        ("2026-03-01T09:30:00+02:00", "2026-03-01T07:30:00Z"),
        (1_772_357_400_000, "2026-03-01T09:30:00Z"),
        ("1772357400001", "2026-03-01T09:30:00.001000Z"),
        (1_772_357_400, "2026-03-01T09:30:00Z"),
        (None, None),
        ("", None),
    ],
)
def test_times_are_read_as_people_and_systems_write_them(written, read):
    assert read == moment_text("created", written)


@pytest.mark.parametrize("written", ["yesterday", True, [], 10**30, "2026-13-01", "20:00"])
def test_what_is_no_time_is_named(written):
    with pytest.raises(InvalidInput) as error:
        moment_text("created", written)
    assert {"created"} == set(error.value.fields)


@pytest.mark.parametrize(
    "file",
    [
        "---\nid: a",
        "---\n- a\n---\n",
        "---\nid: [\n---\n",
        "---\nid: &a [1]\nb: *a\n---\n",
        "---\nid: !!python/object/apply:os.getcwd []\n---\n",
        '---\nid: "\\ud800"\n---\n',
        "---\nid: !!binary aGk=\n---\n",
        "---\nid: !!float .nan\n---\n",
        "---\nid: !!timestamp 2026-01-01\n---\n",
        "---\n" + "[" * 5_000 + "\n---\n",
        "---\nid: a\x00\n---\n",
    ],
)
def test_front_matter_that_cannot_be_read_is_named(file):
    with pytest.raises(InvalidInput) as error:
        read_page(file)
    assert {"front matter"} == set(error.value.fields)


def test_words_of_yaml_are_words():
    page = read_page("---\r\ntags: [no, on, 010, 1_000, 12:30, 2026-03-01]\r\n---\r\nA.\r\n")

    assert ["no", "on", "010", "1_000", "12:30", "2026-03-01"] == page.front["tags"]
    assert "A.\r" == page.text


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("- [[person-bob]] (works with)", "works with"),
        ("* works with \u2192 person-bob", "works with"),
        ("+ person-bob: works with", "works with"),
        ("- person-bob", "related"),
    ],
)
def test_a_line_below_connections_names_another_entity_and_how_it_stands_to_it(line, label):
    entity = {"key": "person:ada", "label": "Ada", "updated_at": None}
    other = "- person-eve: elsewhere"
    text = f"# Ada\n\n{other}\n\n## Connections\n\n{line}\n\n## Facts\n\n{other}"
    (relation,) = connections(entity, text)

    assert ("person:ada", label, "person:bob") == tuple(
        relation[name] for name in ("from", "label", "to")
    )


@pytest.mark.parametrize("found", [[], {}, {"turns": {}}, {"turns": ["a"]}])
def test_a_buffer_without_turns_that_can_be_read_is_named(found):
    with pytest.raises(InvalidInput) as error:
        waiting(found)
    assert {"buffer"} == set(error.value.fields)


def test_a_buffer_of_nothing_is_nothing():
    assert [] == waiting({"turns": [], "extractionCount": 7})


def test_aliases_are_read_in_both_directions():
    assert {"person-jane": ["JD", "Janey"]} == alias_table(
        {"JD": "person-jane", "person-jane": ["Janey"]}
    )


KEYS = (
    "id category memoryKind created updated source confidence confidenceTier importanceScore"
    " importanceLevel importanceReasons importanceKeywords status tags entityRef parentId traceId"
    " boxId intentGoal intentActionType intentEntityTypes"
)


@given(memories)
def test_a_memory_has_the_keys_of_003_in_their_order(line):
    front = read_page(memory_file(line, InBox())).front
    listed = [name for name in front if name in KEYS.split()]

    assert [name for name in KEYS.split() if name in front] == listed
    assert {"threadId", "part", "graphmem"} >= front.keys() - set(listed)
    assert not any(value in (None, "", [], {}) for value in front.values())


names = st.sampled_from(
    [
        *KEYS.split(),
        *("createdAt", "sealedAt", "sealReason", "sessionKey", "topics", "memoryIds", "turnIds"),
        *("type", "memoryId", "priority", "resolved", "answer", "title", "turnCount", "words"),
        *("name", "aliases", "attributes", "summary", "expiresAt", "graphmem", "threadId", "part"),
    ]
)
fields = st.sampled_from(
    "uid content source sources native key label aliases text turn memory type noted_at topics"
    " members turns created_at status importance kept_by".split()
)
strange = st.builds(
    lambda front, ours: front | ours,
    st.dictionaries(names, json_values | objects, max_size=6),
    st.just({}) | st.builds(dict, graphmem=st.dictionaries(fields, json_values, max_size=4)),
)


@given(strange, texts)
def test_a_page_of_anything_is_read_or_what_is_wrong_with_it_is_named(front, text):
    page = Page(front, text)
    readers = (
        lambda: memory_value(page, "archive/2026-01-02/x-1-y.md"),
        lambda: part_edge(memory_value(page, "facts/x.md")),
        lambda: list(connections(entity_value(page, "entities/x.md") or {}, text)),
        lambda: turn_of_artefact(ARTEFACT.value(page)),
        *(partial(form.value, page) for form in (BOX, QUESTION, THREAD)),
    )
    for read in readers:
        with suppress(InvalidInput):
            json.dumps(read())


@given(json_values | st.dictionaries(st.sampled_from(["turns", "traces"]), json_values))
def test_json_of_anything_is_read_or_what_is_wrong_with_it_is_named(found):
    readers = (
        lambda: alias_table(found),
        lambda: waiting(found),
        lambda: [trace_value(each) for each in trace_entries(found)],
        lambda: buffer_value(found),
    )
    for read in readers:
        with suppress(InvalidInput):
            json.dumps(read())


@given(st.text())
def test_a_file_of_anything_is_read_or_what_is_wrong_with_it_is_named(file):
    for each in (file, f"---\n{file}\n---\n", f"---\na: {file}\n---\n{file}"):
        with suppress(InvalidInput):
            read_page(each)
        list(identity_values(file))
        [profile_value(line) for line in file.split("\n")]
