"""The graph as people look at it: Neo4j Browser of a real service, in Chromium (`make browser`)."""

import json
import os
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest
from chromium import chromium, missing_program
from waiting import eventually

pytestmark = pytest.mark.browser

FILES = resources.files("cypher.browser")
EXAMPLE = Path(__file__).parents[2] / "docs" / "browser" / "example.json"
DRAWN = ("conversation", "entity")
COUNTED = "counts"
RUN, NEXT = "[data-testid=editor-Run]", "[data-testid=nextSlide]"
RUNNABLE = "pre.runnable"
OURS = {"127.0.0.1", "localhost"}
# the frame that answered last is the first one
FRAME = "const frame = document.querySelector('[data-testid=frame]');"
COMMAND = FRAME + "return frame.querySelector('[data-testid=frameCommand]').textContent"
COLOURS = (
    FRAME + "return [...frame.querySelectorAll('g.node circle')].map("
    "circle => circle.getAttribute('fill')).filter(colour => colour)"
)
TEXT = FRAME + "return frame.textContent"


@pytest.fixture(scope="module")
def page(service, tmp_path_factory):
    """A Chromium that has logged in to a service with the demo in it."""
    if program := missing_program():
        pytest.skip(f"{program} is not installed: apt-get install chromium chromium-driver")
    log = service.folder / "up.log"
    assert eventually(lambda: "Ctrl-C stops it all" in log.read_text("utf-8"))
    found = re.search(r"^  Browser    (http\S+)$", log.read_text("utf-8"), re.MULTILINE)
    if found is None:
        pytest.skip("The jar of Neo4j Browser cannot be had here.")
    fill(service)
    password = (service.folder / "data" / "neo4j" / "password").read_text("utf-8").strip()
    with chromium(tmp_path_factory.mktemp("chromium")) as opened:
        opened.open(found[1])
        opened.type("[data-testid=username]", "neo4j")
        opened.type("[data-testid=password]", password)
        opened.click("[data-testid=connect]")
        opened.find(RUNNABLE)
        yield opened


def fill(service):
    """Let the demo write its conversation, and add what the page of the docs adds to it."""
    command = [sys.executable, "-m", "graphmem", "demo"]
    subprocess.run(
        command, env=service.environment, stdout=subprocess.DEVNULL, check=True, timeout=180
    )
    assert 200 == service.call("POST", "/v1/memories/batch", json.loads(EXAMPLE.read_bytes()))[0]


def run_what_the_slide_shows(page):
    """Click the code of the slide of the guide, then run it; its text."""
    code = str(page.run(f"return document.querySelector('{RUNNABLE}').textContent")).strip()
    page.click(RUNNABLE)
    page.click(RUN)
    start = code.split("\n")[0]
    assert eventually(lambda: start in page.run(COMMAND), seconds=30), page.run(COMMAND)
    return code


def leaf_to(page, name):
    """Turn to the slide of a saved query."""
    query = FILES.joinpath(f"{name}.cypher").read_text("utf-8").split("\n", 2)[2].strip()
    shown = f"return document.querySelector('{RUNNABLE}').textContent.trim()"
    for _ in range(len(list(FILES.iterdir()))):
        if page.run(shown) == query:
            return
        before = page.run(shown)
        page.click(NEXT)
        assert eventually(lambda before=before: page.run(shown) != before, seconds=10)
    pytest.fail(f"The guide has no slide for {name}.")


def colour_of(label):
    """What the style has for a label."""
    style = FILES.joinpath("graphmem.grass").read_text("utf-8")
    return re.search(rf"node\.{label} {{\s+color: (#\w+);", style)[1]


def test_a_person_logs_in_takes_the_style_runs_saved_queries_and_reaches_no_other_host(
    page, tmp_path
):
    assert run_what_the_slide_shows(page).startswith(":style http://127.0.0.1:")

    leaf_to(page, DRAWN[0])
    run_what_the_slide_shows(page)
    assert eventually(lambda: colour_of("Fact") in page.run(COLOURS), seconds=30)
    assert eventually(lambda: colour_of("Conversation") in page.run(COLOURS), seconds=30)

    leaf_to(page, COUNTED)
    run_what_the_slide_shows(page)
    assert eventually(lambda: "main/project:demo" in page.run(TEXT), seconds=30)

    leaf_to(page, DRAWN[1])
    run_what_the_slide_shows(page)
    assert eventually(lambda: colour_of("Entity") in page.run(COLOURS), seconds=30)

    picture = Path(os.environ.get("BROWSER_PICTURE", tmp_path / "browser.png"))
    page.screenshot(picture)
    print(f"the picture is {picture}")  # noqa: T201 - for a person who looks at it

    sent = page.requests()
    foreign = [request for request in sent if request.leaves_the_page and request.host not in OURS]
    assert {True, False} == {bool(request.failure) for request in sent}
    assert foreign, "the page is known to try: a log without that is not of this page"
    assert {"csp"} == {request.failure for request in foreign}, foreign
