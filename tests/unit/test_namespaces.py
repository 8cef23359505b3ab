"""In which namespace the turns of a session lie that name no space."""

import pytest

from graphmem.errors import SettingsError
from graphmem.lifecycle.namespaces import namespace_of, space_of_session
from graphmem.model.policy import LifecycleConfig, Policy
from graphmem.model.policy.overrides import override_problems, policy_values, with_overrides
from graphmem.settings import load_settings

ALL = {
    "namespaces_map": {"agent:mapped:1": "by-map"},
    "namespaces_prefix": "agent:",
    "namespaces_pattern": r"team-(\w+)",
}


@pytest.mark.parametrize(
    ("session", "name"),
    [
        ("agent:mapped:1", "by-map"),
        ("agent:mapped:2", "mapped"),
        ("agent:support:team-red", "support"),
        ("agent:support", "support"),
        ("chat of team-red", "red"),
        ("chat", "default"),
    ],
)
def test_map_then_prefix_then_pattern_then_the_default_name_a_namespace(session, name):
    assert name == namespace_of(session, LifecycleConfig(**ALL))


@pytest.mark.parametrize(
    ("session", "name"),
    [
        ("agent::team-red", "red"),  # nothing behind the prefix
        ("agent:a b:team-red", "red"),
        ("agent:*:team-red", "red"),
        ("agent:a/b:team-red", "red"),
        (f"agent:{'x' * 129}:team-red", "red"),
        ("agent:a b:chat", "default"),
        ("my agent:support:1", "default"),  # the prefix does not begin it
    ],
)
def test_what_cannot_be_a_name_falls_to_the_next_rule(session, name):
    assert name == namespace_of(session, LifecycleConfig(**ALL))


def test_a_mapped_name_that_cannot_be_one_falls_to_the_prefix():
    config = LifecycleConfig(**ALL | {"namespaces_map": {"agent:support:1": "no name"}})

    assert "support" == namespace_of("agent:support:1", config)


def test_a_group_that_did_not_match_names_nothing():
    config = LifecycleConfig(namespaces_pattern="red|blue-(x)", namespaces_default="others")

    assert "others" == namespace_of("red", config)


def test_a_name_is_kept_in_its_composed_form():
    config = LifecycleConfig(namespaces_prefix="agent:")

    assert "caf\u00e9" == namespace_of("agent:cafe\u0301", config)


def test_the_space_of_a_session_lies_in_the_tenant_that_asks():
    space = space_of_session("agent:support:1", LifecycleConfig(**ALL), tenant="acme")

    assert "acme/namespace:support" == space.key


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("enabled", "yes"),
        ("map", ["chat-1"]),
        ("map", {"chat-1": 5}),
        ("prefix", 5),
        ("prefix", "x" * 257),
        ("pattern", "("),
        ("pattern", r"(a)\1"),
        ("pattern", "(?=a)(b)"),
        ("pattern", "no group"),
        ("pattern", 5),
        ("default", ""),
        ("default", "a b"),
        ("default", "a*"),
        ("default", 5),
    ],
)
def test_a_bad_value_is_named(name, value):
    path = f"lifecycle.namespaces_{name}"

    assert [path] == list(override_problems({path: value}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("enabled", True),
        ("map", {"chat-1": "red"}),
        ("prefix", "agent:"),
        ("pattern", r"^(\w+)"),
        ("default", "others"),
    ],
)
def test_the_settings_set_what_no_space_may_set_or_sees(name, value):
    path = f"lifecycle.namespaces_{name}"

    assert {} == override_problems({path: value})
    assert value == policy_values(with_overrides(Policy(), {path: value}))[path]
    assert [path] == list(override_problems({path: value}, of_space=True))
    assert path not in policy_values(Policy(), of_space=True)


def test_a_table_of_sessions_is_read_from_the_file_and_from_the_environment(tmp_path):
    file = tmp_path / "graphmem.toml"
    file.write_text('[policy.lifecycle.namespaces_map]\n"chat.1" = "red"\nb = "blue"\n')
    variable = "GRAPHMEM__POLICY__LIFECYCLE__NAMESPACES_MAP"
    of_file = load_settings({"GRAPHMEM_CONFIG": str(file)})
    of_environment = load_settings({variable: '{"chat.1": "green"}'})

    path = "lifecycle.namespaces_map"
    assert {path: {"chat.1": "red", "b": "blue"}} == of_file.policy
    assert {path: {"chat.1": "green"}} == of_environment.policy


def test_names_that_look_like_numbers_are_names(tmp_path):
    file = tmp_path / "graphmem.toml"
    file.write_text('[policy.lifecycle.namespaces_map]\n"chat.7" = "12345"\n')
    prefix = "GRAPHMEM__POLICY__LIFECYCLE__NAMESPACES_"
    given = {"GRAPHMEM_CONFIG": str(file), f"{prefix}DEFAULT": "42", f"{prefix}PREFIX": "1"}

    assert {
        "lifecycle.namespaces_map": {"chat.7": "12345"},
        "lifecycle.namespaces_default": "42",
        "lifecycle.namespaces_prefix": "1",
    } == load_settings(given).policy


def test_a_broken_pattern_in_the_settings_is_named():
    variable = "GRAPHMEM__POLICY__LIFECYCLE__NAMESPACES_PATTERN"

    with pytest.raises(SettingsError, match=r"policy\.lifecycle\.namespaces_pattern"):
        load_settings({variable: "("})
