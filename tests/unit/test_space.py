import pytest

from graphmem.model.caller import Caller, Role
from graphmem.model.space import parse_space, space_from_key


@pytest.mark.parametrize(
    "name", ["user:ada", "user:ada/coach", "session:s-12", "system:system", "user:" + "x" * 128]
)
def test_a_valid_name_is_read_and_written_back(name):
    space = parse_space(name, tenant="acme")

    assert name == space.name
    assert space == space_from_key(space.key)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "ada",
        "user",
        "user:",
        ":ada",
        "robot:ada",
        "user:a b",
        "user:a|b",
        "user:a:b",
        "user:a/b/c",
        "user:ada/",
        "user:" + "x" * 129,
        "user:a\n",
        "user:a\x00",
        "user:\ud800",
    ],
)
def test_an_unfit_name_is_refused(name):
    with pytest.raises(ValueError, match=r"Must|must"):
        parse_space(name, tenant="acme")


def test_a_persona_is_read_together_with_its_owner_and_nothing_else_widens():
    persona = parse_space("user:ada/coach", tenant="acme")
    owner = parse_space("user:ada", tenant="acme")

    assert (persona, owner) == persona.readable_with_it()
    assert (owner,) == owner.readable_with_it()


@pytest.mark.parametrize(
    ("patterns", "name", "expected"),
    [
        (["*"], "user:ada", True),
        (["user:*"], "user:ada", True),
        (["user:*"], "project:apollo", False),
        (["user:ada"], "user:ada/coach", True),
        (["user:ada/coach"], "user:ada", False),
        (["user:ada"], "user:adam", False),
        (["user:a?a"], "user:ada", False),
        (["user:[ad]a"], "user:[ad]a", True),
        (["user:a*"], "user:ada", True),
        ([], "user:ada", False),
    ],
)
def test_a_key_sees_the_spaces_under_its_patterns(patterns, name, expected):
    caller = Caller(key_id="k", tenant="acme", role=Role.READER, spaces=tuple(patterns))

    assert expected is caller.may_see(parse_space(name, tenant="acme"))
    assert not caller.may_see(parse_space(name, tenant="other"))


def test_each_role_may_do_what_the_ones_before_it_may():
    assert Role.ADMIN.includes(Role.READER)
    assert Role.WRITER.includes(Role.WRITER)
    assert not Role.READER.includes(Role.WRITER)


def test_nobody_grants_more_than_they_have():
    narrow = Caller(key_id="k", tenant="acme", role=Role.ADMIN, spaces=("user:*", "project:x"))
    wide = Caller(key_id="k", tenant="acme", role=Role.ADMIN, spaces=("*",))

    assert narrow.holds(["user:*"])
    assert not narrow.holds(["user:*", "*"])
    assert wide.holds(["system:*"])


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [
        ("user:*", "user:a*", True),
        ("user:a*", "user:*", False),
        ("user:*b", "user:a*b", True),
        ("user:*b", "user:a*", False),
        ("user:ada", "user:ada/coach", True),
        ("user:ada/coach", "user:ada", False),
        ("user:a?", "user:ab", False),
        ("*", "*", True),
    ],
)
def test_a_pattern_lies_inside_another_only_if_all_that_fits_it_does(own, other, expected):
    caller = Caller(key_id="k", tenant="acme", role=Role.ADMIN, spaces=(own,))

    assert expected == caller.holds([other])
