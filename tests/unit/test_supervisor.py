"""What the supervisor says once everything runs."""

import pytest

from graphmem.settings import load_settings
from graphmem.supervisor import ready_lines


def said(tmp_path, *, browser=None, **environment):
    settings = load_settings({"GRAPHMEM_DATA_DIR": str(tmp_path)} | environment)
    return ready_lines(settings, browser=browser)


def test_it_says_where_the_embedded_neo4j_and_its_password_are(tmp_path):
    lines = said(tmp_path, GRAPHMEM_NEO4J_BOLT_PORT="7699")

    assert "  Neo4j      bolt://127.0.0.1:7699" in lines
    assert f"  its login  neo4j, password in {tmp_path}/neo4j/password" in lines
    assert "  the graph  docs/neo4j-browser.md says how to look at it" in lines


@pytest.mark.parametrize(
    "browser", ["http://127.0.0.1:7475/browser/", "Neo4j Browser is not served: no answer."]
)
def test_it_says_where_neo4j_browser_is_or_why_it_is_not_served(tmp_path, browser):
    assert f"  Browser    {browser}" in said(tmp_path, browser=browser)


def test_it_says_nothing_of_the_browser_where_nobody_wants_it(tmp_path):
    assert [] == [line for line in said(tmp_path) if line.startswith("  Browser")]


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:8474"),
        ("0.0.0.0", "http://127.0.0.1:8474"),  # noqa: S104 - only named
        ("::1", "http://[::1]:8474"),
        ("10.0.0.7", "http://10.0.0.7:8474"),
    ],
)
def test_it_says_an_address_of_the_api_that_this_machine_reaches(tmp_path, host, url):
    assert f"graphmem is ready at {url}" in said(tmp_path, GRAPHMEM_HOST=host)


def test_it_says_the_address_and_user_of_another_neo4j_but_no_secret(tmp_path):
    lines = said(
        tmp_path,
        GRAPHMEM_NEO4J_URI="neo4j://db.example:7687",
        GRAPHMEM_NEO4J_USER="grace",
        GRAPHMEM_NEO4J_PASSWORD="hopper-hopper",
        GRAPHMEM_API_KEY="gm_" + "k" * 40,
    )

    assert "  Neo4j      neo4j://db.example:7687" in lines
    assert "  its login  grace, password in the settings" in lines
    assert "hopper-hopper" not in "\n".join(lines)
    assert "k" * 40 not in "\n".join(lines)


@pytest.mark.parametrize(("auth", "warnings"), [("true", 0), ("false", 1)])
def test_it_warns_only_where_authentication_is_off(tmp_path, auth, warnings):
    assert warnings == sum(
        line.startswith("WARNING") for line in said(tmp_path, GRAPHMEM__SERVER__AUTH=auth)
    )
