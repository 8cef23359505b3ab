"""docker-compose.yml, parsed against the settings: an engine is not needed to find a wrong name."""

import re
from pathlib import Path

import yaml
from click.testing import CliRunner

from graphmem.cli import cli
from graphmem.settings import load_settings

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
SECRETS = {"GRAPHMEM_NEO4J_PASSWORD": "long-enough", "GRAPHMEM_API_KEY": "gm_" + "k" * 40}


def environment_of(service: str) -> dict[str, str]:
    """The environment of a service as Compose would fill it in."""

    def filled(match: re.Match[str]) -> str:
        name, _, default = match[1].partition(":")
        return SECRETS.get(name, default.removeprefix("-"))

    values = COMPOSE["services"][service]["environment"]
    return {name: re.sub(r"\$\{([^}]+)\}", filled, str(value)) for name, value in values.items()}


def test_every_variable_is_a_setting():
    for service in ("schema", "api", "jobs"):
        settings = load_settings(environment_of(service))

        assert ("neo4j://neo4j:7687", "long-enough", "0.0.0.0") == (  # noqa: S104 - inside a container
            settings.neo4j.uri,
            settings.neo4j.password,
            settings.server.host,
        )


def test_there_is_no_default_password():
    text = (ROOT / "docker-compose.yml").read_text("utf-8")

    assert 0 == len(re.findall(r"\$\{GRAPHMEM_(?:NEO4J_PASSWORD|API_KEY)(?!:\?)", text))


def test_every_command_is_one_of_the_command_line():
    for service in ("schema", "api", "jobs"):
        command = COMPOSE["services"][service]["command"]

        assert "graphmem" == command[0]
        assert 0 == CliRunner().invoke(cli, [*command[1:], "--help"]).exit_code


def test_every_port_is_published_on_loopback_only():
    ports = [port for service in COMPOSE["services"].values() for port in service.get("ports", ())]

    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_what_waits_for_health_waits_for_a_service_that_reports_it():
    services = COMPOSE["services"]
    for service in services.values():
        for name, wait in service.get("depends_on", {}).items():
            assert "service_healthy" != wait["condition"] or "healthcheck" in services[name]


def test_the_image_copies_every_package_that_is_installed():
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")

    for folder in ("graphmem", "cypher", "api", "jobs"):
        assert f"COPY {folder} {folder}" in dockerfile
