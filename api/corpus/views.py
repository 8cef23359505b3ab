"""Corpora: repositories and what is known of them."""

from http import HTTPStatus
from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.corpus.paths import corpus_space, keeper
from api.corpus.schemas import (
    CorpusAnswer,
    CorpusBootstrapAnswer,
    CorpusBootstrapBody,
    CorpusList,
    SessionQuery,
)
from api.json_blueprint import JsonBlueprint
from api.paging import PageQuery, cursor_of, page_answer
from graphmem.corpus.approvals import SectionStanding
from graphmem.corpus.keeper import CorpusView
from graphmem.corpus.status import friendly
from graphmem.model.caller import Role
from graphmem.model.corpus import REPOSITORY
from graphmem.text.times import iso

blueprint = JsonBlueprint(
    "corpora",
    __name__,
    url_prefix="/v1/corpora",
    description="Career corpora: what they are, and what became of each write (000)",
)


@blueprint.get("")
@requires(Role.READER)
@blueprint.query(PageQuery)
@blueprint.response(200, CorpusList)
def corpora(query: dict[str, Any]) -> Response:
    """List the corpora that the key may read, by owner."""
    page = keeper().page(g.caller, cursor_of(query, size=1), limit=query["limit"])
    return page_answer(page, corpus_view)


@blueprint.get("/<owner>")
@requires(Role.READER)
@blueprint.query(SessionQuery)
@blueprint.response(200, CorpusAnswer)
def corpus(query: dict[str, Any], owner: str) -> Response:
    """Get what is known of an owner's corpus; NO_REPO before there is one."""
    return jsonify(corpus_view(keeper().view(corpus_space(owner), query["session"])))


@blueprint.post("/<owner>/bootstrap")
@requires(Role.WRITER)
@blueprint.arguments(CorpusBootstrapBody)
@blueprint.response(201, CorpusBootstrapAnswer)
@blueprint.alt_response(200, schema=CorpusBootstrapAnswer, description="It was there")
def bootstrap(values: dict[str, Any], owner: str) -> Response:
    """Let an owner have a repository: at most one create a turn, a second attempt is 409."""
    space = corpus_space(owner, Role.WRITER)
    done = keeper().bootstrap(space, values["turn"], values["topics"], caller=g.caller)
    response = jsonify(
        {"owner": space.owner, "sequence": list(done.sequence), **done.values, "text": done.text}
    )
    response.status_code = HTTPStatus.CREATED if done.created else HTTPStatus.OK
    return response


def corpus_view(view: CorpusView) -> dict[str, Any]:
    """A corpus as answers show it."""
    repository, facts = view.repository, view.facts
    return {
        "owner": repository.space.owner,
        "repository": REPOSITORY if facts.has_repository else None,
        "state": view.state.value,
        "memory_repo_exists": facts.has_repository,
        "career_corpus_exists": facts.corpus_exists,
        "onboarding_complete": facts.onboarding_complete,
        "revision": repository.verified_head.revision,
        "sections": {name.value: section_view(each) for name, each in view.sections.items()},
        "dirty": view.is_dirty,
        "last_written": friendly(repository.last_written),
    }


def section_view(standing: SectionStanding) -> dict[str, Any]:
    """Where a section stands."""
    since = {"approved_at_utc": iso(standing.approved_at)} if standing.approved else {}
    return {
        "content_sha256": standing.content_sha256,
        "approved": standing.approved,
        **since,
    }
