"""Drafts of a career corpus (000, 1.5): merging, sections, items, and blanks."""

import pytest
from corpora import (
    CORPORA,
    JSON,
    a_certification,
    a_corpus,
    a_project,
    an_education,
    an_experience,
    hex_ids,
    without,
)
from hypothesis import given
from hypothesis import strategies as st

from graphmem.corpus.blanks import is_blank, replaced
from graphmem.corpus.draft import list_section, merged, upserted, with_section, without_item
from graphmem.errors import InvalidInput, NotFound
from graphmem.model.corpus import Section

OBJECTS = st.dictionaries(st.sampled_from("abc"), JSON, max_size=3)


def upsert(item, corpus=None, section=Section.EXPERIENCE, **options):
    return upserted(corpus or a_corpus(), section, item, new_id=hex_ids(), **options)


def patched(corpus, patch, *, allows_blank=False):
    return merged(corpus, patch, allows_blank=allows_blank).value


@pytest.mark.parametrize("value", [None, "", " \n", [], {}, [""], [[], None], {"a": {"b": ""}}])
def test_what_says_nothing_is_blank(value):
    assert is_blank(value)


@pytest.mark.parametrize("value", [0, False, "x", [0], {"a": "x"}, ["", "x"]])
def test_what_says_something_is_not_blank(value):
    assert not is_blank(value)


def test_objects_merge_and_lists_and_single_values_take_the_place_of_others():
    corpus = {"a": {"b": 1, "c": [1, 2]}, "d": "x"}

    assert {"a": {"b": 2, "c": [3], "e": 4}, "d": {"f": 1}} == patched(
        corpus, {"a": {"b": 2, "c": [3], "e": 4}, "d": {"f": 1}}
    )


@given(OBJECTS, OBJECTS)
def test_a_patch_is_found_again_wherever_blanks_are_allowed(corpus, patch):
    once = patched(corpus, patch, allows_blank=True)

    assert once == patched(once, patch, allows_blank=True)
    assert corpus.keys() | patch.keys() == once.keys()
    for name, value in patch.items():
        if not isinstance(value, dict):
            assert value == once[name]


@given(OBJECTS)
def test_an_empty_patch_changes_nothing(corpus):
    assert corpus == patched(corpus, {}, allows_blank=True) == patched(corpus, {})


@given(OBJECTS, OBJECTS)
def test_a_patch_leaves_nothing_blank_that_said_something(corpus, patch):
    after = patched(corpus, patch)

    assert all(not is_blank(after[name]) for name, value in corpus.items() if not is_blank(value))


@pytest.mark.parametrize("blank", [None, "", " ", [], {}])
def test_a_blank_never_takes_the_place_of_content_unless_it_is_allowed(blank):
    corpus = a_corpus()
    patch = {"profile": {"location": blank}}
    taken = merged(corpus, patch, allows_blank=False)

    assert corpus == taken.value
    assert ("profile.location",) == taken.not_taken
    assert blank == patched(corpus, patch, allows_blank=True)["profile"]["location"]


def test_a_blank_takes_the_place_of_a_blank():
    assert {"a": []} == patched({"a": ""}, {"a": []})


def test_items_of_a_list_that_takes_the_place_of_another_keep_their_content_by_id():
    taken = replaced([{"id": "1", "a": "x"}], [{"id": "1", "a": ""}, {"id": "2", "a": ""}])

    assert [{"id": "1", "a": "x"}, {"id": "2", "a": ""}] == taken.value
    assert ("0.a",) == taken.not_taken


def test_a_section_takes_the_place_of_another():
    taken = with_section(a_corpus(), Section.PROFILE, {"full_name": "Grace"}, allows_blank=False)

    assert a_corpus(profile={"full_name": "Grace"}) == taken.value


def test_a_blank_section_takes_no_place_unless_it_is_allowed():
    kept = with_section(a_corpus(), Section.PROJECTS, [], allows_blank=False)
    gone = with_section(a_corpus(), Section.PROJECTS, [], allows_blank=True)

    assert (a_corpus(), ("projects",)) == (kept.value, kept.not_taken)
    assert a_corpus(projects=[]) == gone.value


def test_an_item_of_a_known_id_is_merged_field_by_field_and_keeps_what_it_does_not_name():
    found = upsert({"id": "exp_1", "title": "Chief", "tools": ["Go"]})

    assert [an_experience(title="Chief", tools=["Go"])] == found.corpus["experience"]
    assert ("exp_1", False) == (found.id, found.is_new)


def test_the_id_comes_before_the_matcher_and_that_before_the_natural_key():
    first = an_experience("exp_1", location="Rome")
    second = an_experience("exp_2", location="Paris", title="Chief")
    third = an_experience("exp_3", location="Oslo", title="Clerk")
    corpus = a_corpus(experience=[first, second, third])
    item = without(first, "id") | {"location": "Paris"}

    assert "exp_3" == upsert({**item, "id": "exp_3"}, corpus, match=("location",)).id
    assert "exp_2" == upsert(item, corpus, match=("location",)).id
    assert "exp_1" == upsert(item, corpus).id
    assert "exp_1" == upsert({**item, "location": "Bonn"}, corpus, match=("location",)).id


@pytest.mark.parametrize(
    ("section", "item", "names"),
    [
        (Section.EXPERIENCE, an_experience(), ("employer", "title", "start_date")),
        (Section.PROJECTS, a_project(), ("name", "role")),
        (Section.CERTIFICATIONS, a_certification(), ("name", "issuer")),
        (Section.EDUCATION, an_education(), ("degree", "institution")),
    ],
)
def test_an_item_without_an_id_is_known_by_the_natural_key_of_its_kind(section, item, names):
    corpus = a_corpus(**{section.value: [item]})
    bare = without(item, "id")

    assert item["id"] == upsert(bare, corpus, section).id
    for name in names:
        assert upsert(bare | {name: "Another"}, corpus, section).is_new
        assert upsert(without(bare, name), corpus, section).is_new
        assert upsert(bare | {name: " "}, corpus, section).is_new


def test_blanks_around_words_do_not_count_in_a_key_and_letter_case_does():
    bare = without(an_experience(), "id")

    assert not upsert(bare | {"employer": " Acme "}).is_new
    assert upsert(bare | {"employer": "ACME"}).is_new


def test_an_item_that_means_none_comes_last_with_its_id_or_a_new_one():
    bare = without(an_experience(employer="Other"), "id")

    assert f"exp_{1:032x}" == upsert(bare).id
    assert "mine" == upsert({**bare, "id": "mine"}).id
    assert f"exp_{1:032x}" == upsert({**bare, "id": " "}).id
    assert ["exp_1", "mine"] == [
        each["id"] for each in upsert({**bare, "id": "mine"}).corpus["experience"]
    ]


def test_an_unknown_id_with_a_known_key_means_the_known_item():
    assert ("exp_1", False) == (
        (found := upsert(an_experience("exp_9", title="Engineer"))).id,
        found.is_new,
    )


def test_a_matcher_that_fits_several_items_is_refused():
    corpus = a_corpus(experience=[an_experience("exp_1"), an_experience("exp_2")])

    with pytest.raises(InvalidInput) as refusal:
        upsert({"employer": "Acme"}, corpus, match=("employer",))
    assert ["match"] == list(refusal.value.fields)


def test_a_blank_field_of_an_item_takes_no_place_unless_it_is_allowed():
    kept = upsert({"id": "exp_1", "location": "", "tools": []})
    gone = upsert({"id": "exp_1", "location": "", "tools": []}, allows_blank=True)

    assert a_corpus()["experience"] == kept.corpus["experience"]
    assert ("experience.0.location", "experience.0.tools") == kept.not_taken
    assert [an_experience(location="", tools=[])] == gone.corpus["experience"]


def test_an_item_can_be_the_first_of_a_draft_and_none_of_what_is_no_list():
    assert 1 == len(upsert(an_experience(), {}).corpus["experience"])
    with pytest.raises(InvalidInput):
        upsert(an_experience(), {"experience": "none"})


@given(CORPORA, st.sampled_from(list(Section)))
def test_an_upsert_of_what_is_there_changes_nothing(corpus, section):
    for item in corpus[section] if isinstance(corpus[section], list) else ():
        found = upserted(corpus, section, item, new_id=hex_ids())

        assert (corpus, item["id"], False) == (found.corpus, found.id, found.is_new)


@given(CORPORA, OBJECTS)
def test_an_upsert_twice_is_an_upsert_once(corpus, fields):
    first = upserted(corpus, Section.PROJECTS, fields | {"id": "p"}, new_id=hex_ids())
    again = upserted(first.corpus, Section.PROJECTS, fields | {"id": "p"}, new_id=hex_ids())

    assert first.corpus == again.corpus


def test_an_item_is_taken_out_by_its_id_alone():
    corpus = a_corpus(projects=[a_project("a"), a_project("b")])

    assert [a_project("b")] == without_item(corpus, Section.PROJECTS, "a")["projects"]
    with pytest.raises(NotFound):
        without_item(corpus, Section.PROJECTS, "c")


@pytest.mark.parametrize("name", ["experience", "projects", "certifications", "education"])
def test_four_sections_are_lists_of_items(name):
    assert name == list_section(name)


@pytest.mark.parametrize("name", ["profile", "skills", "metadata", "hobbies", ""])
def test_other_sections_have_no_items(name):
    with pytest.raises(InvalidInput):
        list_section(name)
