import pytest

from graphmem.model.entity import entity_key, label_from_key, slug


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Jane O'Brien", "dr_jane_o_brien"),
        ("My App (v2)", "my_app_v2"),
        ("v2.0.1", "v2_0_1"),
        ("one - two - three", "one_two_three"),
        ("...", ""),
        ("Łódź", "łódź"),
        ("東京", "東京"),
    ],
)
def test_slug_keeps_letters_and_digits_of_every_script(text, expected):
    assert expected == slug(text)


def test_a_key_is_normalised():
    assert "person:john_doe" == entity_key("person:John Doe")


@pytest.mark.parametrize("text", ["john", "person:", "person:  ", "person:...", "robot:r2", ""])
def test_a_key_without_type_or_name_is_refused(text):
    with pytest.raises(ValueError, match="Must be type:name"):
        entity_key(text)


def test_a_label_is_made_from_the_key():
    assert "John Doe" == label_from_key("person:john_doe")
