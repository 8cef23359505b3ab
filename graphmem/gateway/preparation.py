"""Preparation: a write before its transaction: validate, screen, normalise, embed."""

import logging
import math
from array import array
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graphmem.adapters.workspaces import Workspaces
from graphmem.errors import Forbidden, GraphmemError, InvalidInput, ModelUnavailable, PolicyRefused
from graphmem.gateway.claims import content_claim
from graphmem.gateway.indexing import texts_to_embed
from graphmem.gateway.item import Item
from graphmem.gateway.screening import refusal, text_refusal
from graphmem.gateway.turns import saying_of
from graphmem.gateway.validation import TEXT_FORMS, problems
from graphmem.model.caller import Caller, Role
from graphmem.model.conversation import Saying
from graphmem.model.entity import entity_ref
from graphmem.model.policy import Policy
from graphmem.model.source import Source
from graphmem.model.space import Space, parse_space, parse_writable_space
from graphmem.model.writing import Outcome, WriteRequest, WriteResult
from graphmem.ports import Embedder, IdSource, Vector
from graphmem.store.spaces import SpacePolicies
from graphmem.text.normalise import nfc, one_line

log = logging.getLogger(__name__)

_LENGTH_MIN = 1e-18  # of a vector: the squares of shorter ones are 0 in 32 bits
_SOURCE_IDS = ("conversation_id", "workflow_run_id", "step_id", "key")
_TIMES = "occurred_at valid_from valid_until created_at updated_at status_at".split()


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """The requests that may go on, with their vectors, and the answers to those that may not."""

    items: tuple[Item, ...]
    refused: tuple[WriteResult, ...]
    spaces: tuple[str, ...]  # keys of all spaces that the requests name, also the refused ones
    vectors: Mapping[int, Sequence[Vector]] = field(default_factory=dict)

    def without_vectors(self) -> "Prepared":
        """The same, to be embedded later."""
        return replace(self, items=tuple(replace(item, has_vectors=False) for item in self.items))


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """Turns requests into items that can be decided."""

    embedder: Embedder
    ids: IdSource
    policy: Policy
    policies: SpacePolicies
    workspaces: Workspaces

    def check(
        self,
        requests: Sequence[WriteRequest | GraphmemError],
        caller: Caller,
        *,
        are_corrections: bool = False,
    ) -> Prepared:
        """Authorise, validate, screen and normalise each request; an error stands for itself."""
        items: list[Item] = []
        refused: list[WriteResult] = []
        for index, request in enumerate(requests):
            try:
                item = self._item(index, request, caller)
                said = None if are_corrections else item.said
                items.append(replace(item, is_correction=are_corrections, said=said))
            except GraphmemError as error:
                refused.append(WriteResult(index=index, outcome=Outcome.REFUSED, error=error))
        named = [request.space for request in requests if isinstance(request, WriteRequest)]
        return Prepared(items=tuple(items), refused=tuple(refused), spaces=_keys(named, caller))

    def ready(
        self, requests: Sequence[WriteRequest], caller: Caller, *, are_corrections: bool = False
    ) -> Prepared:
        """Requests that are checked and embedded, all of them.

        Raises:
            GraphmemError: the first one that is refused.
        """
        checked = self.check(requests, caller, are_corrections=are_corrections)
        for refused in checked.refused:
            if refused.error:
                raise refused.error
        return self.embed(checked)

    def embed(self, prepared: Prepared) -> Prepared:
        """Vectors for all items that bring none.

        Without a model they are stored to be embedded later.
        """
        given = (
            (item.index, unit_vector(item.request.embedding))
            for item in prepared.items
            if item.request.embedding
        )
        vectors: dict[int, Sequence[Vector]] = {
            index: (vector,) for index, vector in given if vector
        }
        texts = {
            item.index: texts_to_embed(item.request.content, item.request.actor, self.policy.index)
            for item in prepared.items
            if item.index not in vectors
            and (not item.is_correction or "content" in item.request.given)
        }
        flat = [text for part in texts.values() for text in part]
        try:
            embedded = iter(self.embedder.embed(flat) if flat else ())
            vectors |= {index: [next(embedded) for _ in part] for index, part in texts.items()}
        except ModelUnavailable as error:
            log.warning("embedding failed for %d memories: %s", len(texts), error.message)
        items = tuple(replace(item, has_vectors=item.index in vectors) for item in prepared.items)
        return replace(prepared, items=items, vectors=vectors)

    def _item(self, index: int, request: WriteRequest | GraphmemError, caller: Caller) -> Item:
        if isinstance(request, GraphmemError):
            raise request
        fields = {name: getattr(request, name) for name in request.__slots__}
        if wrong := problems(fields, self.policy.write) | self._wrong_vector(request.embedding):
            raise InvalidInput(wrong)
        space = parse_writable_space(request.space, tenant=caller.tenant)
        if not caller.may(Role.WRITER, space):
            raise Forbidden
        self.policies.check_enabled(space)
        names_source = not request.given or "source" in request.given
        if names_source and (problem := self._wrong_path(space, request.source.path)):
            raise InvalidInput({"source.path": [problem]})
        for number, more in enumerate(request.sources):
            if problem := self._wrong_path(space, more.path):
                raise InvalidInput({f"sources.{number}.path": [problem]})
        normal = _normalised(request, self.policy.entities.overrides)
        policy = self.policies.of(space)
        said = self._said(normal, request.content)
        if reason := refusal(normal, policy) or _refused_words(said, normal, policy):
            raise PolicyRefused(reason)
        return Item(
            index=index,
            request=normal,
            space=space,
            new_uid=request.proposed_uid or self.ids.new("memory"),
            spare_uid=self.ids.new("memory") if request.proposed_uid else "",
            content_claim=content_claim(
                space, normal.type, normal.actor, normal.content, normal.kept_by
            ),
            doubt=policy.upkeep.speculative,
            said=said,
        )

    def _said(self, request: WriteRequest, content: str) -> Saying | None:
        """What is kept of a request as a turn, in the words that it came with."""
        uid = self.ids.new("turn")
        said = request.said or saying_of(request, content, uid)
        return replace(said, uid=said.uid or uid) if said else None

    def _wrong_path(self, space: Space, named: str | None) -> str | None:
        """A source path must be absolute, canonical, there, and in an allowed folder (002).

        Of a file outside, also behind a link, the answer does not tell whether it is there.
        """
        if not named:
            return None
        path = Path(named)
        if not path.is_absolute():
            return "Must be absolute (SourcePathMustBeAbsolute)."
        if str(path) != named or ".." in path.parts:
            return "Must be in its canonical form (SourcePathMustBeCanonical)."
        if not self.workspaces.may_cite(space, named):
            return "Must lie inside a folder that the service may cite."
        try:
            canonical = path.resolve(strict=True)
        except (OSError, RuntimeError):
            return "Must exist (SourcePathCanonicalizeFailed)."
        return (
            None
            if canonical == path
            else "Must be in its canonical form (SourcePathMustBeCanonical)."
        )

    def _wrong_vector(self, vector: Sequence[float] | None) -> dict[str, list[str]]:
        if vector is None:
            return {}
        if len(vector) != self.embedder.dimensions:
            expected = self.embedder.dimensions
            found = f"Must have {expected} numbers, has {len(vector)} (InvalidEmbedding)."
            return {"embedding": [found]}
        if unit_vector(vector) is None:
            message = "Must be finite numbers, not all zero, as 32-bit floats (InvalidEmbedding)."
            return {"embedding": [message]}
        return {}


def _refused_words(said: Saying | None, normal: WriteRequest, policy: Policy) -> str | None:
    """Why the words of a turn may not be stored, where they are not those of the memory."""
    if said is None or said.content.strip() == normal.content:
        return None
    return text_refusal([said.content], policy)


def _keys(names: Sequence[str], caller: Caller) -> tuple[str, ...]:
    """The keys of the spaces of some names, as far as these are valid."""
    keys = set()
    for name in names:
        with suppress(ValueError):
            keys.add(parse_space(name, tenant=caller.tenant).key)
    return tuple(sorted(keys))


def _normalised(request: WriteRequest, overrides: Mapping[str, str]) -> WriteRequest:
    texts: dict[str, Any] = {
        name: form(text)
        for name, form in TEXT_FORMS.items()
        if (text := getattr(request, name)) is not None
    }
    times: dict[str, Any] = {
        name: moment.astimezone(UTC) for name in _TIMES if (moment := getattr(request, name))
    }
    refs = [
        entity_ref(ref.key, one_line(ref.label) if ref.label else None, overrides)
        for ref in request.entities
    ]
    return replace(
        request,
        **texts,
        **times,
        expires_at=_to_milliseconds(request.expires_at),
        source=in_nfc(request.source),
        sources=tuple(map(in_nfc, request.sources)),
        tags=tuple(dict.fromkeys(one_line(tag) for tag in request.tags)),
        entities=tuple({(ref.key, ref.name): ref for ref in refs}.values()),
    )


def unit_vector(vector: Sequence[float]) -> Vector | None:
    """A vector of length 1, as the index compares it; None where 32-bit floats have none."""
    numbers = array("f", vector)  # what is too large becomes infinite, what is too small 0
    length = math.hypot(*numbers)
    if not math.isfinite(length) or length < _LENGTH_MIN:
        return None
    return tuple(number / length for number in numbers)


def in_nfc(source: Source) -> Source:
    """A source with its ids in the form that they are kept and asked for in."""
    ids: dict[str, Any] = {
        name: nfc(text) for name in _SOURCE_IDS if (text := getattr(source, name)) is not None
    }
    return replace(source, **ids)


def _to_milliseconds(moment: datetime | None) -> datetime | None:
    """Expiry is kept in milliseconds, which the indexes filter on."""
    if moment is None:
        return None
    return moment.astimezone(UTC).replace(microsecond=moment.microsecond // 1000 * 1000)
