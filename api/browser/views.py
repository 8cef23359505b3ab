"""The guide and the style for Neo4j Browser: open, without data, and for its own page alone."""

from functools import cache
from importlib import resources

from flask import Blueprint, Response, render_template, request

from api.browser.saved_queries import SavedQuery, read_query
from api.service import service
from graphmem.settings import Settings

blueprint = Blueprint("browser", __name__, template_folder="templates", url_prefix="/browser")

_FILES = resources.files("cypher.browser")


@cache
def saved_queries() -> tuple[SavedQuery, ...]:
    """The saved queries in the order of their names."""
    files = sorted(_FILES.iterdir(), key=lambda file: file.name)
    return tuple(
        read_query(file.read_text("utf-8")) for file in files if file.name.endswith(".cypher")
    )


def origins(settings: Settings) -> frozenset[str]:
    """Where the Browser's page comes from, so that it may read what is here."""
    if not settings.neo4j.has_browser:
        return frozenset()
    hosts = ("127.0.0.1", "localhost")
    return frozenset(f"http://{host}:{settings.neo4j.http_port}" for host in hosts)


@blueprint.after_request
def let_the_browser_read(answer: Response) -> Response:
    """Answer the question that a web browser asks before it lets a page read from elsewhere."""
    answer.vary.add("Origin")
    origin = request.headers.get("Origin", "")
    if origin in origins(service().settings):
        answer.headers["Access-Control-Allow-Origin"] = origin
        answer.headers["Access-Control-Allow-Methods"] = "GET"
        answer.headers["Access-Control-Allow-Headers"] = "Cache-Control, Pragma"
    return answer


@blueprint.get("/guide.html")
def guide() -> Response:
    """The page that opens at login."""
    style_url = f"{service().settings.server.url}/browser/graphmem.grass"
    page = Response(render_template("guide.html", queries=saved_queries(), style=style_url))
    page.content_security_policy.default_src = "'none'"
    return page


@blueprint.get("/graphmem.grass")
def style() -> Response:
    """The colours, sizes and captions of every label and relation."""
    return Response(_FILES.joinpath("graphmem.grass").read_bytes(), mimetype="text/plain")
