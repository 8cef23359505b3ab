"""Bodies and answers of career corpora (000)."""

from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from api.fields import ErrorSchema, Flag, Id, RequestSchema, Text, UtcDateTime
from api.paging import page_of
from graphmem.corpus.folder import FILES_MAX
from graphmem.corpus.status import EmissionPolicy, Intent
from graphmem.model.corpus import SESSION_CHARS_MAX, Basis, Section

_SESSION = validate.Regexp(
    rf"[A-Za-z0-9._-]{{1,{SESSION_CHARS_MAX}}}\Z",
    error=f"Must be 1 to {SESSION_CHARS_MAX} letters, digits, dots, - or _.",
)
_NAME = validate.Length(1, 200)
_MESSAGE = validate.Length(1, 500)
_READ_CHARS = 1_000_000
_SHA = validate.Regexp(r"[0-9a-f]{64}\Z", error="Must be a SHA-256 in hex.")


class CorpusValue(Schema):
    """Any JSON value; the room looks at it, so that all problems are told by their paths."""

    def load(self, data: Any, **_: Any) -> Any:  # noqa: ANN401 - any JSON
        """The value as it is."""
        return data


class CorpusBootstrapBody(RequestSchema):
    """In which turn a repository is asked for, and which topics it is to have."""

    turn = Id(required=True, validate=_NAME)
    topics = fields.List(fields.Raw(), load_default=list, validate=validate.Length(max=100))


class CorpusBootstrapAnswer(Schema):
    """What was found and done."""

    owner = fields.String()
    sequence = fields.List(fields.String())
    owner_resolved = fields.Boolean()
    repo_exists = fields.Boolean()
    repo_created_this_turn = fields.Boolean()
    repo_create_attempted_this_turn = fields.Boolean()
    store_initialized = fields.Boolean()
    sync_initialized = fields.Boolean()
    text = fields.String()


class CorpusSectionAnswer(Schema):
    """What a section says, as a hash, and since when that is approved."""

    content_sha256 = fields.String()
    approved = fields.Boolean()
    approved_at_utc = UtcDateTime()


class CorpusAnswer(Schema):
    """What is known of an owner's corpus."""

    owner = fields.String()
    repository = fields.String(allow_none=True)
    state = fields.String()
    memory_repo_exists = fields.Boolean()
    career_corpus_exists = fields.Boolean()
    onboarding_complete = fields.Boolean()
    revision = fields.Integer()
    sections = fields.Dict(keys=fields.String(), values=fields.Nested(CorpusSectionAnswer))
    dirty = fields.Boolean()
    last_written = fields.String()


CorpusList = page_of(CorpusAnswer, "CorpusList", "One page of corpora, by owner.")


class SessionQuery(RequestSchema):
    """Whose draft it is about."""

    session = fields.String(load_default="default", validate=_SESSION)


class ChangeQuery(SessionQuery):
    """Whose draft changes, and whether blanks take the place of content."""

    allow_blank = fields.Boolean(load_default=False)


class ItemQuery(ChangeQuery):
    """By which fields an item is found that has no id."""

    match = Text(validate=validate.Length(1, 500))


class CorpusProblemAnswer(Schema):
    """What is wrong at one place."""

    path = fields.String()
    message = fields.String()


class CorpusDraftAnswer(Schema):
    """A draft, what is wrong with it, and where each section stands."""

    session = fields.String()
    revision = fields.Integer()
    dirty = fields.Boolean()
    corpus = fields.Dict()
    problems = fields.List(fields.Nested(CorpusProblemAnswer))
    sections = fields.Dict(keys=fields.String(), values=fields.Nested(CorpusSectionAnswer))
    id = fields.String(metadata={"description": "Of the item that was put"})
    kept_as = fields.String(metadata={"description": "Where an edited draft lies now"})


class CorpusApprovalBody(RequestSchema):
    """What somebody says of the section that he was shown."""

    section = fields.Enum(Section, by_value=True, required=True)
    approved = Flag(required=True)
    basis = fields.Enum(Basis, by_value=True, required=True)
    content_sha256 = fields.String(required=True, validate=_SHA)


class CorpusApprovalAnswer(Schema):
    """What somebody said of one content of a section."""

    section = fields.String()
    content_sha256 = fields.String()
    basis = fields.String()
    approved = fields.Boolean()
    approved_at_utc = UtcDateTime()


class CorpusListedApproval(CorpusApprovalAnswer):
    """An approval in a list, with the key that gave it."""

    key_id = fields.String()


ApprovalList = page_of(CorpusListedApproval, "CorpusApprovalList", "One page of approvals.")


class CorpusPushBody(RequestSchema):
    """What a push is meant for; without targets all changed sections are."""

    target_sections = fields.List(
        fields.Enum(Section, by_value=True), load_default=None, allow_none=True
    )
    message = Text(load_default=None, allow_none=True, validate=_MESSAGE)
    technical = Flag(load_default=False)
    scaffold = Flag(load_default=False)


class _WriteResult(Schema):
    """What every write says of itself, whether or not it came to something."""

    ok = fields.Boolean()
    pushed = fields.Boolean()
    persisted = fields.Boolean()
    retry_count = fields.Integer()
    remote_blob_sha = fields.String(allow_none=True)
    remote_commit_sha = fields.String(allow_none=True)
    remote_file_sha = fields.String(allow_none=True)
    verification = fields.Dict()
    error_code = fields.String(allow_none=True)
    validated = fields.Boolean()
    validation_ran = fields.Boolean()
    local_saved = fields.Boolean()
    remote_written = fields.Boolean()
    verify_ok = fields.Boolean()
    fallback_used = fields.Boolean()
    status_changed = fields.Boolean()
    user_message = fields.String()


class CorpusPushAnswer(_WriteResult):
    """What became of a write; it claims only what was checked."""

    method = fields.String()
    remote_branch = fields.String()
    reason = fields.String()
    state = fields.String()
    revision = fields.Integer()


class CorpusWriteRefused(_WriteResult, ErrorSchema):
    """Why a write or a pull came to nothing, with the fields of its result beside the error."""

    changed = fields.Boolean()
    method = fields.String(allow_none=True)
    remote_branch = fields.String(allow_none=True)
    reason = fields.String(allow_none=True)


class CorpusTransitionAnswer(Schema):
    """A change of state, and what caused it."""

    before = fields.String()
    after = fields.String()
    at = UtcDateTime()
    cause = fields.String()
    extension = fields.Boolean()


TransitionList = page_of(CorpusTransitionAnswer, "CorpusTransitionList", "One page of transitions.")


class CorpusPullBody(RequestSchema):
    """Whether to pull what is there already."""

    force = Flag(load_default=False)


class CorpusImportAnswer(CorpusDraftAnswer, CorpusPushAnswer):
    """The draft that took something in, or what became of the first revision."""


class CorpusPullAnswer(Schema):
    """What became of a pull."""

    ok = fields.Boolean()
    reason = fields.String()
    changed = fields.Boolean()
    draft = fields.Nested(CorpusDraftAnswer)


class CorpusRevertBody(RequestSchema):
    """The revision that is to be the next one too."""

    revision = fields.Integer(strict=True, required=True, validate=validate.Range(1, 2**53))


class CorpusStatusBody(RequestSchema):
    """Who asks, after what, and when a status is shown that nobody asked for."""

    audience = Id(required=True, validate=_NAME)
    intent = fields.Enum(Intent, by_value=True, load_default=None, allow_none=True)
    policy = Text(load_default=EmissionPolicy.ON_CHANGE.value, validate=_NAME)


class AudienceQuery(RequestSchema):
    """Who would be told."""

    audience = Id(validate=_NAME)


class CorpusStatusAnswer(Schema):
    """How a corpus stands, and whether that is shown."""

    show = fields.Boolean()
    reason = fields.String()
    state = fields.String()
    text = fields.String()
    fenced = fields.String()
    shown_fields = fields.Dict(data_key="fields")


class CorpusIngestionBody(RequestSchema):
    """What was read, as a text or as a document."""

    source = Text(required=True, validate=_NAME)
    text = Text(validate=validate.Length(max=_READ_CHARS))
    document = fields.Dict(keys=fields.String())

    @validates_schema
    def _one(self, values: dict[str, Any], **_: object) -> None:
        if len({"text", "document"} & values.keys()) != 1:
            message = "Give a text or a document."
            raise ValidationError(message, "text")


class CorpusIngestionAnswer(Schema):
    """The receipt of a source; nothing of it is kept or judged."""

    source = fields.String()
    read_confirmed = fields.Boolean()
    sections_detected = fields.List(fields.String())
    gaps_detected = fields.List(fields.String())


class CorpusNormaliseBody(RequestSchema):
    """A document in any form."""

    document = fields.Dict(keys=fields.String(), required=True)


class CorpusNormaliseAnswer(Schema):
    """The document in its one form, and what a person should look at."""

    document = fields.Dict()
    detected_sections = fields.List(fields.String())
    counts = fields.Dict()
    ambiguous_fields = fields.List(fields.String())


class CorpusOnboardingAnswer(Schema):
    """What to ask next, what there is of it, and what the corpus lacks."""

    next_section = fields.String(allow_none=True)
    preview = fields.String()
    content_sha256 = fields.String(allow_none=True)
    gaps = fields.List(fields.String())
    missing = fields.List(fields.String())


class CorpusCommitAnswer(Schema):
    """A revision."""

    revision = fields.Integer()
    commit_sha = fields.String()
    parent_sha = fields.String(allow_none=True)
    message = fields.String()
    at = UtcDateTime()
    key_id = fields.String()
    failed = fields.Boolean()
    error = fields.String(allow_none=True)
    files = fields.Dict(metadata={"description": "The hash of each document by its path"})


CorpusHistory = page_of(CorpusCommitAnswer, "CorpusHistory", "One page of revisions.")


class DiffQuery(RequestSchema):
    """Which two revisions; 0 is the one before all others."""

    from_ = fields.Integer(data_key="from", required=True, validate=validate.Range(0, 2**53))
    to = fields.Integer(required=True, validate=validate.Range(0, 2**53))


class CorpusDocumentDiff(Schema):
    """What became of a document; a text is null where there was none."""

    path = fields.String()
    change = fields.String()
    before = fields.String(allow_none=True)
    after = fields.String(allow_none=True)


class CorpusDiffAnswer(Schema):
    """What two revisions differ in."""

    documents = fields.List(fields.Nested(CorpusDocumentDiff))
    sections = fields.List(fields.String())


class ExportQuery(RequestSchema):
    """In which form a corpus is given."""

    form = fields.String(
        load_default="files", validate=validate.OneOf(["files", "zip", "single", "json-resume"])
    )


class CorpusExportAnswer(Schema):
    """The verified revision as files, as one corpus, or as a JSON Resume; a zip has no JSON."""

    revision = fields.Integer()
    files = fields.Dict()
    corpus = fields.Dict()
    resume = fields.Dict()


class CorpusImportBody(RequestSchema):
    """Files or a corpus from outside, for a draft or as the first revision."""

    files = fields.Dict(
        keys=fields.String(), values=fields.String(), validate=validate.Length(1, FILES_MAX)
    )
    corpus = fields.Dict(keys=fields.String())
    into = fields.String(load_default="draft", validate=validate.OneOf(["draft", "repository"]))

    @validates_schema
    def _one(self, values: dict[str, Any], **_: object) -> None:
        if len({"files", "corpus"} & values.keys()) != 1:
            message = "Give files or a corpus."
            raise ValidationError(message, "files")
