"""Documents of a career corpus (000, 1.2): hashes, splitting, assembling, what is wrong."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from corpora import (
    CORPORA,
    NOW,
    a_corpus,
    a_file,
    a_project,
    an_experience,
    documents,
    hex_ids,
    without,
)
from hypothesis import given

from graphmem.corpus.assembly import FaultKind, assembled, foreign_files
from graphmem.corpus.documents import (
    DEPTH_MAX,
    LEGACY,
    MANIFEST,
    Changes,
    canonical_json,
    changes,
    content_hash,
    digest,
    is_too_deep,
    parsed,
    payload,
    tree_of,
)
from graphmem.corpus.file_names import is_unsafe
from graphmem.corpus.manifest import ids_of, lacks_ids, section_of, split, with_ids
from graphmem.model.corpus import Section, text_digest

EXPERIENCE_FILE = "corpus_experience_exp_1.json"


def faults(files):
    return [(fault.path, fault.kind) for fault in assembled(files).faults]


def with_file(path, text):
    return {**documents(), path: a_file(path, text)}


def with_manifest(**changes):
    manifest = json.loads(documents()[MANIFEST].text) | changes
    return with_file(MANIFEST, json.dumps(manifest))


def test_canonical_json_sorts_keys_and_keeps_other_letters():
    assert '{"a":"é","b":1}' == canonical_json({"b": 1, "a": "é"})
    assert digest({"b": 1, "a": "é"}).startswith("aa58fba84836")


def test_a_text_with_a_lone_surrogate_has_a_hash_too():
    assert 64 == len(digest("\ud800"))


@pytest.mark.parametrize("text", ["", "{", "NaN", '{"a": Infinity}', "[" * 100_000, "1e999x"])
def test_what_is_no_json_or_nested_too_deeply_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        parsed(text)


def nested(levels):
    value = []
    for _ in range(levels - 1):
        value = [value]
    return value


def test_json_may_be_nested_so_deep_and_no_deeper():
    assert not is_too_deep(nested(DEPTH_MAX))
    assert is_too_deep(nested(DEPTH_MAX + 1))
    assert parsed(json.dumps(nested(DEPTH_MAX)))


def test_the_time_of_a_manifest_stays_out_of_its_hash():
    before = documents()
    later = documents(at=NOW + timedelta(days=1))

    assert before[MANIFEST].text != later[MANIFEST].text
    assert content_hash(before[MANIFEST]) == content_hash(later[MANIFEST])


def test_the_same_time_in_another_document_is_part_of_its_hash():
    one, other = (a_file("corpus_skills.json", json.dumps({"generated_at_utc": n})) for n in "12")

    assert content_hash(one) != content_hash(other)


def test_layout_is_no_part_of_what_a_document_says_and_broken_ones_count_by_their_bytes():
    assert content_hash(a_file("x", '{"a": 1}')) == content_hash(a_file("x", '{"a":1}'))
    assert content_hash(a_file("x", "{a")) != content_hash(a_file("x", "{b"))


def test_the_payload_of_a_document_tells_what_a_transport_could_break():
    found = payload(a_file("x", "é\n€\n"))

    assert (4, 7, True, 2) == (
        found.char_len,
        found.byte_len,
        found.contains_non_ascii,
        found.newline_count,
    )
    assert a_file("x", "é\n€\n").sha256 == found.sha256
    assert not payload(a_file("x", "plain")).contains_non_ascii


def test_a_corpus_is_split_into_a_manifest_sections_and_a_document_for_each_item():
    files = documents()

    assert {
        MANIFEST,
        "corpus_profile.json",
        "corpus_skills.json",
        "corpus_certifications.json",
        "corpus_education.json",
        "corpus_metadata.json",
        EXPERIENCE_FILE,
        "corpus_project_proj_1.json",
    } == set(files)
    assert {"experience": an_experience()} == json.loads(files[EXPERIENCE_FILE].text)
    assert {"project": a_project()} == json.loads(files["corpus_project_proj_1.json"].text)


def test_a_manifest_names_all_other_documents_with_their_hashes():
    files = documents(a_corpus(schema_version="2.0.1"))
    manifest = json.loads(files[MANIFEST].text)

    assert "1.0.0" == manifest["format_version"]
    assert "2.0.1" == manifest["schema_version"]
    assert "2026-03-01T09:05:00Z" == manifest["generated_at_utc"]
    assert {"profile", "skills", "certifications", "education", "metadata"} == set(
        manifest["core_files"]
    )
    assert [{"id": "exp_1", "path": EXPERIENCE_FILE}] == manifest["experience_files"]
    assert [{"id": "proj_1", "path": "corpus_project_proj_1.json"}] == manifest["project_files"]
    assert {path: files[path].sha256 for path in files if path != MANIFEST} == manifest[
        "file_hashes"
    ]


@given(CORPORA)
def test_any_corpus_is_the_same_once_it_was_split_and_assembled(corpus):
    assert corpus == assembled(documents(corpus)).corpus


@given(CORPORA)
def test_a_second_split_of_the_same_keeps_every_byte(corpus):
    indented = {
        path: a_file(path, json.dumps(json.loads(each.text), indent=2, ensure_ascii=True))
        for path, each in documents(corpus).items()
    }

    again = documents(corpus, before=indented, at=NOW + timedelta(days=1))

    assert indented == again
    assert Changes() == changes(indented, again)


def test_a_change_of_one_item_changes_its_document_and_the_manifest():
    before = documents()
    after = documents(a_corpus(experience=[an_experience(title="Chief")]), before=before)

    assert Changes(changed=(EXPERIENCE_FILE, MANIFEST)) == changes(before, after)


def test_an_item_that_leaves_deletes_its_document():
    before = documents()
    after = documents(a_corpus(experience=[]), before=before)

    assert Changes(changed=(MANIFEST,), deleted=(EXPERIENCE_FILE,)) == changes(before, after)


def test_another_order_of_items_changes_the_manifest_alone():
    two = [an_experience("exp_1"), an_experience("exp_2")]
    before = documents(a_corpus(experience=two))
    after = documents(a_corpus(experience=two[::-1]), before=before)

    assert (MANIFEST,) == changes(before, after).paths
    assert two[::-1] == assembled(after).corpus["experience"]


def test_an_item_stays_in_the_file_that_the_manifest_names():
    before = with_manifest(experience_files=[{"id": "exp_1", "path": "corpus_experience_old.json"}])
    before["corpus_experience_old.json"] = replace(
        before.pop(EXPERIENCE_FILE), path="corpus_experience_old.json"
    )
    after = documents(a_corpus(experience=[an_experience(title="Chief")]), before=before)

    assert "corpus_experience_old.json" in after
    assert EXPERIENCE_FILE not in after


@pytest.mark.parametrize("uid", ["a/b", "../x", "ä", "a b", "x" * 129, ".", "a..b", "C\\d"])
def test_an_id_that_can_be_no_file_name_has_a_file_by_its_hash(uid):
    files = documents(a_corpus(experience=[an_experience(uid)]))
    (path,) = (each for each in files if each.startswith("corpus_experience_"))

    assert len("corpus_experience_") + 32 + len(".json") == len(path)
    assert uid == assembled(files).corpus["experience"][0]["id"]


def test_ids_that_differ_by_case_alone_have_files_that_differ_by_more():
    files = documents(a_corpus(experience=[an_experience("exp_a"), an_experience("exp_A")]))

    assert len(files) == len({path.casefold() for path in files})
    assert ["exp_a", "exp_A"] == [each["id"] for each in assembled(files).corpus["experience"]]


def test_documents_that_cannot_be_read_are_written_anew():
    before = {path: a_file(path, "{") for path in documents()}

    assert documents() == documents(before=before)


def test_json_of_many_levels_is_refused_and_of_many_brackets_is_not():
    with pytest.raises(ValueError, match="deeply"):
        parsed(json.dumps(nested(DEPTH_MAX + 1)))
    assert parsed(json.dumps([[]] * (DEPTH_MAX + 1)))


def test_two_items_never_share_a_file_whatever_a_manifest_says():
    entries = [{"id": uid, "path": EXPERIENCE_FILE} for uid in ("exp_1", "exp_2")]
    before = with_manifest(experience_files=entries)
    two = [an_experience("exp_1"), an_experience("exp_2", title="Chief")]
    named_as_hash = text_digest("0:a/b")[:32]
    three = [an_experience(named_as_hash), an_experience("a/b", title="Chief")]

    assert two == assembled(documents(a_corpus(experience=two), before)).corpus["experience"]
    assert three == assembled(documents(a_corpus(experience=three))).corpus["experience"]


def test_items_keep_their_ids_and_get_one_where_they_have_none():
    found = with_ids(
        a_corpus(
            experience=[an_experience(), without(an_experience(), "id")],
            projects=[a_project("  ")],
            certifications=[{"id": 7}],
            education=[{}],
        ),
        hex_ids(),
    )

    assert ["exp_1", f"exp_{1:032x}"] == [each["id"] for each in found["experience"]]
    assert [f"proj_{2:032x}"] == [each["id"] for each in found["projects"]]
    assert [f"cert_{3:032x}"] == [each["id"] for each in found["certifications"]]
    assert [f"edu_{4:032x}"] == [each["id"] for each in found["education"]]


def test_ids_are_given_to_objects_of_lists_alone():
    odd = {"experience": "none", "projects": [3, None], "profile": {}}

    assert odd == with_ids(odd, hex_ids())


@pytest.mark.parametrize(
    ("path", "section"),
    [
        ("corpus_profile.json", Section.PROFILE),
        ("corpus_skills.json", Section.SKILLS),
        ("corpus_certifications.json", Section.CERTIFICATIONS),
        ("corpus_education.json", Section.EDUCATION),
        ("corpus_metadata.json", Section.METADATA),
        ("corpus_experience_x.json", Section.EXPERIENCE),
        ("corpus_project_x.json", Section.PROJECTS),
        (MANIFEST, None),
        (LEGACY, None),
        ("corpus_experience_.json", None),
        ("corpus_experience_../x.json", None),
        ("corpus_experience_..json", None),
        ("corpus_experience.json", None),
        ("README.md", None),
    ],
)
def test_the_section_of_a_document_is_known_by_its_name(path, section):
    assert section == section_of(path)


def test_the_tree_of_a_commit_has_the_hash_of_each_document():
    files = documents()

    assert {path: each.sha256 for path, each in files.items()} == tree_of(files)


def test_a_file_that_the_manifest_names_and_is_not_there_is_a_fault_of_its_own():
    files = documents()
    left = without(without(files, EXPERIENCE_FILE), "corpus_skills.json")

    assert [
        (EXPERIENCE_FILE, FaultKind.MISSING_FILE),
        ("corpus_skills.json", FaultKind.MISSING_FILE),
    ] == faults(left)
    assert f"split_file_missing:{EXPERIENCE_FILE}" == assembled(left).faults[0].reason


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{", FaultKind.NOT_JSON),
        ("[]", FaultKind.NOT_AN_OBJECT),
        ("3", FaultKind.NOT_AN_OBJECT),
        ("{}", FaultKind.LACKS_KEY),
        ('{"projects": []}', FaultKind.LACKS_KEY),
    ],
)
@pytest.mark.parametrize("path", ["corpus_profile.json", EXPERIENCE_FILE])
def test_a_document_must_be_an_object_with_the_key_of_its_content(path, text, kind):
    assert [(path, kind)] == faults(with_file(path, text))


@pytest.mark.parametrize(("text", "kind"), [("{", "not_json"), ("[1]", "not_an_object")])
@pytest.mark.parametrize("path", [MANIFEST, LEGACY])
def test_the_manifest_and_the_one_file_of_earlier_times_must_be_objects(path, text, kind):
    assert [(path, kind)] == faults({path: a_file(path, text)})


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("../secret.json", FaultKind.UNSAFE_NAME),
        ("corpus_experience_../../x.json", FaultKind.UNSAFE_NAME),
        ("/etc/passwd", FaultKind.UNSAFE_NAME),
        ("README.md", FaultKind.FOREIGN_FILE),
        ("corpus_project_proj_1.json", FaultKind.FOREIGN_FILE),
        (MANIFEST, FaultKind.FOREIGN_FILE),
    ],
)
def test_a_manifest_may_not_name_a_foreign_file_or_one_outside(path, kind):
    files = with_manifest(experience_files=[{"id": "exp_1", "path": path}])
    files["README.md"] = a_file("README.md", '{"experience": {}}')

    assert [(path, kind)] == faults(files)


@pytest.mark.parametrize(
    "changed",
    [
        {"experience_files": {}},
        {"experience_files": ["x"]},
        {"project_files": [{"id": "x"}]},
        {"core_files": []},
        {"core_files": {"profile": 3}},
    ],
)
def test_a_manifest_of_another_form_is_a_fault_of_itself(changed):
    assert [(MANIFEST, FaultKind.BAD_ENTRY)] == faults(with_manifest(**changed))


def test_all_faults_are_said_at_once_with_a_sentence_each():
    files = with_file("corpus_profile.json", "{") | {
        EXPERIENCE_FILE: a_file(EXPERIENCE_FILE, "[]"),
    }

    assert 2 == len(faults(files))
    assert all(fault.message.endswith(".") for fault in assembled(files).faults)


def test_an_assembled_corpus_has_a_version_where_its_manifest_says_none():
    files = with_manifest()
    manifest = json.loads(files[MANIFEST].text)
    files[MANIFEST] = a_file(MANIFEST, json.dumps(without(manifest, "schema_version")))

    assert "1.0.0" == assembled(files).corpus["schema_version"]


def test_an_item_without_an_id_has_the_one_that_the_manifest_says():
    bare = json.dumps({"experience": without(an_experience(), "id")})

    assert "exp_1" == assembled(with_file(EXPERIENCE_FILE, bare)).corpus["experience"][0]["id"]


def test_a_corpus_in_one_file_is_read_and_a_manifest_comes_before_it():
    legacy = a_file(LEGACY, json.dumps(a_corpus(profile={"full_name": "Old"})))

    assert "Old" == assembled({LEGACY: legacy}).corpus["profile"]["full_name"]
    assert a_corpus() == assembled({**documents(), LEGACY: legacy}).corpus


def test_no_files_are_no_corpus_and_no_fault():
    assert (None, ()) == (assembled({}).corpus, assembled({}).faults)


def test_files_that_no_corpus_has_are_named_and_do_no_harm():
    files = {**documents(), "README.md": a_file("README.md", "hi")}

    assert ("README.md",) == foreign_files(files)
    assert a_corpus() == assembled(files).corpus
    assert not is_unsafe("docs/README.md")


def test_documents_with_more_than_their_content_keep_their_bytes():
    text = json.dumps({"profile": a_corpus()["profile"], "comment": "by hand"})
    before = with_file("corpus_profile.json", text)

    assert text == split(a_corpus(), before=before, generated_at=NOW)["corpus_profile.json"].text


@pytest.mark.parametrize(
    "text",
    [
        {"comment": "by hand"},
        {"profile": {"full_name": "Ada Lovelace", "location": "London", "surplus": 1}},
    ],
)
def test_offered_documents_with_more_than_their_content_are_not_taken(text):
    given_ = json.dumps({"profile": a_corpus()["profile"]} | text)
    offered = {"corpus_profile.json": a_file("corpus_profile.json", given_)}

    assert documents() == split(a_corpus(), before={}, offered=offered, generated_at=NOW)


@pytest.mark.parametrize("place", ["", "inside"])
def test_an_offered_document_that_says_something_twice_is_not_taken(place):
    text = documents()["corpus_profile.json"].text
    twice = text.replace("{", '{"profile":{"full_name":"Hidden"},', 1)
    if place:
        twice = text.replace('"full_name"', '"full_name":"Hidden","full_name"')
    offered = {"corpus_profile.json": a_file("corpus_profile.json", twice)}

    assert documents() == split(a_corpus(), before={}, offered=offered, generated_at=NOW)


@pytest.mark.parametrize("moment", ["a hidden text", {"a": 1}, None])
def test_an_offered_manifest_has_no_room_for_other_text(moment):
    manifest = json.loads(documents()[MANIFEST].text) | {"generated_at_utc": moment}
    offered = {MANIFEST: a_file(MANIFEST, json.dumps(manifest))}

    assert documents() == split(a_corpus(), before={}, offered=offered, generated_at=NOW)


def test_documents_keep_the_bytes_of_whoever_says_what_they_say():
    indented = {
        path: a_file(path, json.dumps(json.loads(each.text), indent=1))
        for path, each in documents(a_corpus(skills={"technical": ["Go"]})).items()
    }

    found = split(
        a_corpus(skills={"technical": ["Go"]}),
        before=documents(),
        offered=indented,
        generated_at=NOW,
    )

    assert indented["corpus_skills.json"] == found["corpus_skills.json"]
    assert documents()["corpus_profile.json"] == found["corpus_profile.json"]


@pytest.mark.parametrize("text", ["1e999", "-1e999", "NaN", '{"\\ud800": 1}', '["\\udfff"]'])
def test_what_no_answer_can_hold_is_no_json(text):
    with pytest.raises(ValueError, match=r"is no JSON|surrogates"):
        parsed(text)


def test_a_number_that_is_not_finite_has_no_canonical_json():
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical_json(float("inf"))


def test_a_load_of_a_corpus_without_ids_makes_the_same_ids_each_time():
    bare = a_corpus(experience=[without(an_experience(), "id")] * 2)

    one, two = (with_ids(bare, ids_of(bare)) for _ in range(2))

    assert one == two
    assert 2 == len({each["id"] for each in one["experience"]})
    assert (True, False) == (lacks_ids(bare), lacks_ids(one))
