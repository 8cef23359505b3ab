"""The guide and the style: what Neo4j Browser's page may read, and what stands in them."""

import html
import re
from dataclasses import replace
from importlib import resources

import pytest

FILES = resources.files("cypher.browser")
PAGES = ("/browser/guide.html", "/browser/graphmem.grass")
ALLOWED = "Access-Control-Allow-Origin"


def asked_from(api, path, origin, *, method="GET"):
    return api.client.open(path, method=method, headers={"Origin": origin})


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("method", ["OPTIONS", "GET"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_page_of_the_browser_may_read_them(api_of_module, path, method, host):
    origin = f"http://{host}:7475"

    answer = asked_from(api_of_module, path, origin, method=method)

    assert (200, origin) == (answer.status_code, answer.headers[ALLOWED])
    assert "Origin" in answer.headers["Vary"]


@pytest.mark.parametrize(
    "origin",
    ["http://127.0.0.1:8474", "http://127.0.0.1", "https://localhost:7475", "http://evil.example"],
)
def test_no_other_page_may(api_of_module, origin):
    assert ALLOWED not in asked_from(api_of_module, PAGES[0], origin).headers


def test_nor_any_where_the_browser_is_not_ours(api):
    for change in ({"browser": False}, {"uri": "neo4j://db.example:7687"}):
        settings = api.house.graphmem.settings
        other = replace(settings, neo4j=replace(settings.neo4j, **change))
        without = api.over(replace(api.house.graphmem, settings=other))

        assert ALLOWED not in asked_from(without, PAGES[0], "http://127.0.0.1:7475").headers


def test_no_page_may_read_the_rest_of_the_api(api_of_module):
    assert ALLOWED not in asked_from(api_of_module, "/version", "http://127.0.0.1:7475").headers


def test_the_guide_has_every_saved_query_as_its_file_does(api_of_module):
    page = api_of_module.client.get(PAGES[0]).get_data(as_text=True)

    runnable = list(
        map(html.unescape, re.findall(r"<pre[^>]*runnable[^>]*>(.*?)</pre>", page, re.DOTALL))
    )
    for file in FILES.iterdir():
        if file.name.endswith(".cypher"):
            title, hint, query = file.read_text("utf-8").split("\n", 2)
            assert query.strip() in runnable
            assert title.removeprefix("// ") in html.unescape(page)
            assert hint.removeprefix("// ") in html.unescape(page)


def test_the_guide_takes_the_style_from_the_port_that_is_set(api):
    settings = api.house.graphmem.settings
    other = replace(settings, server=replace(settings.server, host="0.0.0.0", port=9999))  # noqa: S104 - only named
    moved = api.over(replace(api.house.graphmem, settings=other))

    page = moved.client.get(PAGES[0]).get_data(as_text=True)

    assert ":style http://127.0.0.1:9999/browser/graphmem.grass</pre>" in page


def test_the_guide_asks_no_other_host_runs_nothing_and_names_no_place_of_this_machine(api):
    answer = api.client.get(PAGES[0])
    page = answer.get_data(as_text=True)

    assert "default-src 'none'" == answer.headers["Content-Security-Policy"]
    assert "<script" not in page
    assert not re.findall(r'(?:src|href)="', page)
    assert str(api.house.graphmem.settings.server.data_dir) not in page
    assert "<code>neo4j/password</code>" in page


def test_the_style_is_the_file(api_of_module):
    answer = api_of_module.client.get(PAGES[1])

    assert FILES.joinpath("graphmem.grass").read_bytes() == answer.get_data()
    assert "nosniff" == answer.headers["X-Content-Type-Options"]
