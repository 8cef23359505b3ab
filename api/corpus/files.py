"""Files of corpora: what a revision held, and corpora from outside."""

from typing import Any

from flask import Response, g, jsonify

from api.auth import requires
from api.corpus.drafts import draft_view
from api.corpus.paths import corpus_space, keeper
from api.corpus.results import may_refuse, push_answer
from api.corpus.schemas import (
    CorpusDiffAnswer,
    CorpusExportAnswer,
    CorpusHistory,
    CorpusImportAnswer,
    CorpusImportBody,
    DiffQuery,
    ExportQuery,
    SessionQuery,
)
from api.json_blueprint import JsonBlueprint
from api.paging import PageQuery, cursor_of, page_answer
from graphmem.corpus.importing import corpus_of, documents_of, files_of
from graphmem.corpus.packing import corpus_in, differences, sections_in, zipped
from graphmem.corpus.revisions import CorpusInvalid
from graphmem.errors import NotFound
from graphmem.model.caller import Role
from graphmem.model.corpus import Corpus, Documents, Head, StoredCommit
from graphmem.model.policy.corpus import CorpusPolicy
from graphmem.model.space import Space
from graphmem.text.times import iso

blueprint = JsonBlueprint(
    "corpus files",
    __name__,
    url_prefix="/v1/corpora",
    description="Revisions of corpora as files, and files from outside (000)",
)


@blueprint.get("/<owner>/history")
@requires(Role.READER)
@blueprint.query(PageQuery)
@blueprint.response(200, CorpusHistory)
def history(query: dict[str, Any], owner: str) -> Response:
    """List the revisions of a corpus, the newest first, with those that could not be proved."""
    page = keeper().corpora.history(
        corpus_space(owner), cursor_of(query, size=2), limit=query["limit"]
    )
    return page_answer(page, _commit_view)


def _commit_view(stored: StoredCommit) -> dict[str, Any]:
    commit = stored.commit
    return {
        "revision": commit.revision,
        "commit_sha": stored.sha,
        "parent_sha": stored.parent,
        "message": commit.message,
        "at": iso(commit.at),
        "key_id": commit.key_id,
        "failed": commit.has_failed,
        "error": stored.error,
        "files": dict(commit.tree),
    }


@blueprint.get("/<owner>/diff")
@requires(Role.READER)
@blueprint.query(DiffQuery)
@blueprint.response(200, CorpusDiffAnswer)
def diff(query: dict[str, Any], owner: str) -> Response:
    """Compare two revisions, document by document."""
    space = corpus_space(owner)
    one, other = (_head(space, query[name]) for name in ("from_", "to"))
    found = list(differences(one, other))
    documents = [
        {"path": each.path, "change": each.change, "before": each.before, "after": each.after}
        for each in found
    ]
    return jsonify(
        {
            "from": one.revision,
            "to": other.revision,
            "sections": [section.value for section in sections_in(found)],
            "documents": documents,
        }
    )


def _head(space: Space, revision: int) -> Head:
    return keeper().commit(space, revision).head if revision else Head()


@blueprint.get("/<owner>/export")
@requires(Role.READER)
@blueprint.query(ExportQuery)
@blueprint.response(200, CorpusExportAnswer)
def export(query: dict[str, Any], owner: str) -> Response:
    """Give the verified revision as files, as a zip, as one corpus, or as a JSON Resume."""
    space, form = corpus_space(owner), query["form"]
    if form == "json-resume":
        revision, resume = keeper().resume(space)
        return jsonify(revision=revision, resume=resume)
    head = keeper().files(space)
    if form == "files":
        files = {path: document.text for path, document in head.documents.items()}
        return jsonify(revision=head.revision, files=files)
    if form == "zip":
        name = "career-corpus.zip"
        response = Response(zipped(head.documents), mimetype="application/zip")
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
        return response
    return jsonify(revision=head.revision, corpus=_corpus(head))


def _corpus(head: Head) -> Corpus:
    if not head.documents:
        raise NotFound
    corpus = corpus_in(head.documents)
    if corpus is None:
        raise CorpusInvalid
    return corpus


@blueprint.post("/<owner>/import")
@requires(Role.WRITER)
@blueprint.arguments(CorpusImportBody)
@blueprint.query(SessionQuery)
@may_refuse(blueprint)
@blueprint.response(200, CorpusImportAnswer)
def import_(values: dict[str, Any], query: dict[str, Any], owner: str) -> Response:
    """Take files or a corpus into a draft; or as the first revision, exactly as they are."""
    space = corpus_space(owner, Role.WRITER)
    policy = keeper().policy(space)
    files: Documents | None = None
    if "files" in values:
        files = files_of(values["files"], policy)
    if values["into"] == "repository":
        documents = files if files is not None else _documents(values["corpus"], policy)
        result = keeper().import_revision(space, documents, caller=g.caller)
        return push_answer(space, result, is_technical=True)
    corpus = values["corpus"] if files is None else corpus_of(files)
    session = query["session"]
    made = keeper().import_draft(space, session, corpus, files, caller=g.caller)
    return jsonify(draft_view(keeper().draft(space, session, made)))


def _documents(corpus: Corpus, policy: CorpusPolicy) -> Documents:
    return documents_of(corpus, policy, new_id=keeper().new_id, now=keeper().clock.now())
