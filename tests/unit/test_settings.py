import pytest

from graphmem.errors import SettingsError
from graphmem.settings import Settings, load_settings


def test_without_anything_the_defaults_hold():
    settings = load_settings({})

    assert ("127.0.0.1", 8474, None, 7688, "local") == (
        settings.server.host,
        settings.server.port,
        settings.neo4j.uri,
        settings.neo4j.bolt_port,
        settings.embedder.name,
    )
    assert settings == Settings()


def test_the_environment_stands_over_the_file(tmp_path):
    file = tmp_path / "graphmem.toml"
    file.write_text('[server]\nport = 1111\nhost = "::1"\n[neo4j]\nuri = "neo4j://db:7687"\n')

    settings = load_settings(
        {"GRAPHMEM_CONFIG": str(file), "GRAPHMEM_PORT": "2222", "GRAPHMEM__NEO4J__HEAP": "2g"}
    )

    assert (2222, "::1", "neo4j://db:7687", "2g") == (
        settings.server.port,
        settings.server.host,
        settings.neo4j.uri,
        settings.neo4j.heap,
    )


def test_every_unknown_or_unfit_key_is_named_at_once(tmp_path):
    file = tmp_path / "graphmem.toml"
    file.write_text("[server]\nprt = 1\n[nonsense]\na = 1\n")
    environment = {
        "GRAPHMEM_CONFIG": str(file),
        "GRAPHMEM_FOO": "1",
        "GRAPHMEM_PORT": "99999",
        "GRAPHMEM_NEO4J_URI": "http://x",
        "GRAPHMEM__EMBEDDER__NAME": "magic",
        "GRAPHMEM_LLM": "magic",
        "GRAPHMEM__LLM__API": "magic",
    }

    with pytest.raises(SettingsError) as caught:
        load_settings(environment)

    for place in (
        "server.prt",
        "nonsense",
        "GRAPHMEM_FOO",
        "server.port",
        "neo4j.uri",
        "embedder.name",
        "llm.name",
        "llm.api",
    ):
        assert place in caught.value.message


@pytest.mark.parametrize("text", [None, "not toml ["])
def test_a_file_that_cannot_be_read_is_named(tmp_path, text):
    file = tmp_path / "graphmem.toml"
    if text:
        file.write_text(text)

    with pytest.raises(SettingsError, match="GRAPHMEM_CONFIG"):
        load_settings({"GRAPHMEM_CONFIG": str(file)})


def test_secrets_do_not_show_in_the_settings():
    settings = load_settings(
        {"GRAPHMEM_NEO4J_PASSWORD": "hunter2", "GRAPHMEM_API_KEY": "gm_" + "s" * 40}
    )

    assert "hunter2" not in repr(settings)
    assert "sss" not in repr(settings)
