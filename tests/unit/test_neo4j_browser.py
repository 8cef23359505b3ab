"""Neo4j Browser beside the embedded server: what its page may ask, and when it has no jar."""

import os
import re
from dataclasses import replace

import pytest

from graphmem.adapters.embedded.aot_cache import AotCache
from graphmem.adapters.embedded.browser import browser_settings, find_browser, packaged_browser
from graphmem.adapters.embedded.command import Neo4jCommand
from graphmem.adapters.embedded.home import configuration
from graphmem.adapters.embedded.java import Java
from graphmem.adapters.embedded.server import EmbeddedOptions, browser_for, browser_lines
from graphmem.database import embedded_server
from graphmem.settings import load_settings


def values(**ports):
    lines = browser_settings(**{"bolt_port": 7688, "api_url": "http://127.0.0.1:8474"} | ports)
    return dict(line.split("=", 1) for line in lines)


def connect_to(**ports):
    policy = values(**ports)["dbms.security.http_static_content_security_policy_header"]
    return set(re.search(r"connect-src ([^;]+);", policy)[1].split())


def test_the_page_reaches_the_bolt_port_and_the_api_and_nothing_else():
    assert {
        "'self'",
        "ws://127.0.0.1:7000",
        "ws://localhost:7000",
        "http://127.0.0.1:7000",
        "http://localhost:7000",
        "http://127.0.0.1:8000",
        "http://localhost:8000",
    } == connect_to(bolt_port=7000, api_url="http://127.0.0.1:8000")


def test_every_other_kind_of_source_is_the_server_itself():
    policy = values()["dbms.security.http_static_content_security_policy_header"]

    named = {word for part in policy.split("; ") for word in part.split()[1:]} - connect_to()
    assert {"data:", "'unsafe-inline'", "'none'"} == named - {"'self'"}


@pytest.mark.parametrize(
    ("api_url", "hosts"),
    [
        ("http://10.0.0.7:8474", "127.0.0.1,localhost,10.0.0.7"),
        ("http://[::1]:8474", "127.0.0.1,localhost,::1"),
        ("http://localhost:8474", "127.0.0.1,localhost"),
    ],
)
def test_the_guide_opens_from_the_address_that_is_set(api_url, hosts):
    found = values(api_url=api_url)

    assert f"play {api_url}/browser/guide.html" == found["browser.post_connect_cmd"]
    assert hosts == found["browser.remote_content_hostname_whitelist"]
    assert api_url in connect_to(api_url=api_url)


def test_no_key_of_the_configuration_is_there_twice():
    lines = browser_settings(bolt_port=7688, api_url="http://127.0.0.1:8474")
    text = configuration(bolt_port=7688, http_port=7475, pagecache="64m", extra=lines)

    keys = [line.partition("=")[0] for line in text.splitlines()]
    assert sorted(set(keys)) == sorted(keys)


def test_the_lock_has_one_jar():
    assert "org.neo4j.client:neo4j-browser:5.24.0" == packaged_browser().coordinates


def test_the_jar_stands_last_and_the_cache_of_java_fits_with_and_without_it(tmp_path):
    java = Java(executable=tmp_path / "java", version=25, build="25")
    (tmp_path / "a.jar").write_bytes(b"")
    command = Neo4jCommand(java=java, jars=(tmp_path / "a.jar",), heap="384m")
    more = replace(command, extra_jars=(tmp_path / "browser.jar",))

    assert f"{command.class_path}{os.pathsep}{tmp_path / 'browser.jar'}" == more.class_path
    assert AotCache(tmp_path, command).path == AotCache(tmp_path, more).path
    assert command == AotCache(tmp_path, more).command


@pytest.mark.parametrize("change", [{"browser_api": None}, {"http_port": None}])
def test_without_a_port_or_a_wish_there_is_no_browser(tmp_path, change):
    options = EmbeddedOptions(**{"folder": tmp_path, "browser_api": "http://127.0.0.1:1"} | change)

    assert () == browser_lines(options)
    assert (None, None) == (
        browser_for(options, tmp_path).jar,
        browser_for(options, tmp_path).problem,
    )


@pytest.mark.parametrize(
    ("value", "for_people", "expected"),
    [
        ("true", True, "http://127.0.0.1:9999"),
        ("false", True, None),
        ("true", False, None),
    ],
)
def test_only_the_server_of_the_service_has_it_and_only_where_it_is_on(
    tmp_path, value, for_people, expected
):
    settings = load_settings(
        {
            "GRAPHMEM_DATA_DIR": str(tmp_path),
            "GRAPHMEM_PORT": "9999",
            "GRAPHMEM__NEO4J__BROWSER": value,
        }
    )

    assert expected == embedded_server(settings, for_people=for_people).options.browser_api


def test_a_ready_made_folder_without_it_is_told_and_asks_no_network(tmp_path):
    found = find_browser(tmp_path / "cache", jars_folder=tmp_path)

    assert found.jar is None
    assert (
        f"Neo4j Browser is not served: The folder {tmp_path} lacks neo4j-browser-5.24.0.jar."
        == found.problem
    )
    assert not (tmp_path / "cache").exists()


def test_a_ready_made_jar_that_is_another_one_is_not_taken(tmp_path):
    (tmp_path / "neo4j-browser-5.24.0.jar").write_bytes(b"another")

    assert "checksum of the lock" in find_browser(tmp_path, jars_folder=tmp_path).problem
