"""The memory.* keys: their checks and origins (002, Configuration Additions)."""

import pytest

from graphmem.errors import SettingsError
from graphmem.model.orchestrator_config import KEYS, config_problems, config_values
from graphmem.model.policy import Policy
from graphmem.model.policy.layers import Configuration, combined
from graphmem.model.policy.overrides import with_overrides
from graphmem.model.space import Space, SpaceKind
from graphmem.settings import load_settings

MAIN = Space(tenant="main", kind=SpaceKind.ORCHESTRATOR, owner="main")
OTHER = Space(tenant="main", kind=SpaceKind.ORCHESTRATOR, owner="other")
ADA = Space(tenant="main", kind=SpaceKind.USER, owner="ada")
FILE = """
[memory.retrieval]
top_n = 10
[orchestrators.main.memory]
enabled = false
[orchestrators.main.memory.retrieval]
rrf_k = 30
[policy.recall.fused]
k = 12
"""


def test_the_defaults_are_those_of_002():
    assert {
        "enabled": True,
        "bulletin_mode": "every_message",
        "worker_interval_seconds": 30,
        "retrieval.top_n": 20,
        "retrieval.rrf_k": 60,
        "ingest.enabled": True,
        "ingest.max_file_size_mb": 25,
        "scope.cross_orchestrator": False,
    } == config_values(Policy())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("enabled", False),
        ("bulletin_mode", "every_message"),
        ("worker_interval_seconds", 1),
        ("retrieval.top_n", 1),
        ("retrieval.top_n", 200),
        ("retrieval.rrf_k", 1),
        ("retrieval.rrf_k", 1_000_000),
        ("worker_interval_seconds", 86_400),
        ("ingest.max_file_size_mb", 1),
        ("ingest.max_file_size_mb", 1_024),
        ("scope.cross_orchestrator", False),
    ],
)
def test_values_within_the_bounds_are_taken(key, value):
    assert {} == config_problems({key: value})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("nothing", 1),
        ("retrieval", 1),
        ("retrieval.top_k", 1),
        ("enabled", 1),
        ("enabled", "true"),
        ("bulletin_mode", "never"),
        ("bulletin_mode", True),
        ("worker_interval_seconds", 0),
        ("retrieval.top_n", 0),
        ("retrieval.top_n", 201),
        ("retrieval.top_n", "20"),
        ("retrieval.top_n", 20.0),
        ("retrieval.top_n", True),
        ("retrieval.rrf_k", 0),
        ("retrieval.rrf_k", 1_000_001),
        ("worker_interval_seconds", 86_401),
        ("ingest.max_file_size_mb", 1_025),
        ("ingest.max_file_size_mb", 0),
        ("scope.cross_orchestrator", True),
    ],
)
def test_a_bad_value_is_named(key, value):
    assert [key] == list(config_problems({key: value}))


def test_all_problems_are_told_at_once_with_their_place(tmp_path):
    file = tmp_path / "graphmem.toml"
    file.write_text(
        "[memory]\nenabled = 1\nfoo = 1\n[orchestrators.main.memory.scope]\ncross_orchestrator"
        " = true\n"
    )
    environment = {"GRAPHMEM_CONFIG": str(file), "GRAPHMEM__MEMORY__RETRIEVAL__TOP_N": "many"}

    with pytest.raises(SettingsError) as caught:
        load_settings(environment)

    for place in (
        f"memory.enabled ({file}): Must be true or false.",
        f"memory.foo ({file}): There is no such key.",
        (
            f"orchestrators.main.memory.scope.cross_orchestrator ({file}): Must be false in this"
            " version."
        ),
        "memory.retrieval.top_n (GRAPHMEM__MEMORY__RETRIEVAL__TOP_N): Must be an integer.",
    ):
        assert place in caught.value.message


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("[memory.foo]", "memory.foo"),
        ("[orchestrators.x.memry]", "orchestrators.x.memry"),
        ("[memory.retrieval]", None),
        ("[orchestrators.x]", None),
        ("[orchestrators.x.memory]", None),
        ("[orchestrators.x.memory.retrieval]", None),
    ],
)
def test_an_empty_table_of_an_unknown_name_is_told_too(tmp_path, text, place):
    file = tmp_path / "graphmem.toml"
    file.write_text(text)

    if place is None:
        assert {} == load_settings({"GRAPHMEM_CONFIG": str(file)}).orchestrators
        return
    with pytest.raises(SettingsError, match=place):
        load_settings({"GRAPHMEM_CONFIG": str(file)})


def test_an_orchestrator_of_another_tenant_is_named_with_it():
    own = {"main": {"retrieval.top_n": 5}, "acme/main": {"retrieval.top_n": 6}}
    configuration = Configuration(orchestrators=own)
    acme = Space(tenant="acme", kind=SpaceKind.ORCHESTRATOR, owner="main")

    assert [5, 6] == [
        combined(configuration.layers_of(space)).values["memory.retrieval.top_n"]
        for space in (MAIN, acme)
    ]


def test_an_interval_belongs_to_the_whole_service():
    name = "GRAPHMEM__ORCHESTRATORS__MAIN__MEMORY__WORKER_INTERVAL_SECONDS"
    with pytest.raises(SettingsError, match="whole service"):
        load_settings({name: "5"})
    assert {"worker_interval_seconds": 5} == load_settings(
        {"GRAPHMEM__MEMORY__WORKER_INTERVAL_SECONDS": "5"}
    ).memory


def test_what_holds_for_one_orchestrator_stands_over_what_holds_for_all(tmp_path):
    file = tmp_path / "graphmem.toml"
    file.write_text(FILE)
    settings = load_settings(
        {"GRAPHMEM_CONFIG": str(file), "GRAPHMEM__MEMORY__RETRIEVAL__RRF_K": "40"}
    )
    configuration = Configuration(
        policy=settings.policy,
        memory=settings.memory,
        orchestrators=settings.orchestrators,
        variables=settings.variables,
    )

    def shown(space):
        layer = combined(configuration.layers_of(space))
        values = config_values(with_overrides(Policy(), layer.values))
        return {
            name: (values[name], layer.origins.get(KEYS[name].path))
            for name in ("enabled", "retrieval.top_n", "retrieval.rrf_k")
        }

    assert {
        "enabled": (False, "file: orchestrators.main.memory.enabled"),
        "retrieval.top_n": (10, "file: memory.retrieval.top_n"),
        "retrieval.rrf_k": (30, "file: orchestrators.main.memory.retrieval.rrf_k"),
    } == shown(MAIN)
    assert {
        "enabled": (True, None),
        "retrieval.top_n": (10, "file: memory.retrieval.top_n"),
        "retrieval.rrf_k": (40, "environment: GRAPHMEM__MEMORY__RETRIEVAL__RRF_K"),
    } == shown(OTHER)
    assert (20, None) == shown(ADA)["retrieval.top_n"]
    assert (
        "file: policy.recall.fused.k"
        == combined(configuration.layers_of(ADA)).origins["recall.fused.k"]
    )


def test_folders_are_shared_with_single_orchestrators(tmp_path):
    file = tmp_path / "graphmem.toml"
    file.write_text(
        f"[orchestrators.main]\nsource_roots = ['{tmp_path}']\n"
        f"[orchestrators.'acme/x']\nsource_roots = ['{tmp_path}/a', '{tmp_path}/b']\n"
    )
    environment = {
        "GRAPHMEM_CONFIG": str(file),
        "GRAPHMEM__ORCHESTRATORS__OTHER__SOURCE_ROOTS": f"{tmp_path}/c:{tmp_path}/d",
    }

    found = load_settings(environment).orchestrators

    assert {
        "main": {"source_roots": (tmp_path,)},
        "acme/x": {"source_roots": (tmp_path / "a", tmp_path / "b")},
        "other": {"source_roots": (tmp_path / "c", tmp_path / "d")},
    } == found


def test_folders_that_are_none_are_named(tmp_path):
    file = tmp_path / "graphmem.toml"
    file.write_text("[orchestrators.main]\nsource_roots = 7\n")

    with pytest.raises(SettingsError, match=r"orchestrators\.main\.source_roots"):
        load_settings({"GRAPHMEM_CONFIG": str(file)})
