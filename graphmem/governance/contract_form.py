"""Contract form: what a contract may say, and how its parts stand over the defaults (004)."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any

from marshmallow import RAISE, Schema, ValidationError, fields, validate, validates_schema

from graphmem.errors import InvalidInput
from graphmem.gateway.validation import json_problem
from graphmem.governance.contract import (
    CURRENT_ONLY,
    FORGET_POLICIES,
    WITH_HISTORY,
    WRITE_POLICIES,
    Contract,
    SpacePromotion,
    default_retention,
)
from graphmem.governance.retention import Mode, RetentionRule
from graphmem.messages import flat_messages
from graphmem.model.caller import Role
from graphmem.model.governance import EventType, FactKey, ItemKind
from graphmem.model.memory import Authority
from graphmem.model.space import SpaceKind

SHORT_TERM_MOST, TOP_K_MOST = 500, 50
PROFILE_FORM = "Must be 1 to 64 of A-Z, a-z, 0-9, . _ and -."
_PROFILE = re.compile(r"[A-Za-z0-9._-]{1,64}")
_TICKS_MOST = 1_000_000_000
_PHASES_MOST = 10_000
_PATTERNS_MOST, _PATTERN_CHARS = 100, 200
_PROMOTIONS_MOST = 12
_DAYS_MOST = 36_500
_DEPTH, _BYTES_MOST = 8, 200_000
_CACHED = 512  # contracts that were read


def check_profile(name: str, path: str = "profile") -> None:
    """Refuse what cannot name an AI profile.

    Raises:
        InvalidInput: the name is none, at its path.
    """
    if _PROFILE.fullmatch(name) is None or name in {".", ".."}:
        raise InvalidInput({path: [PROFILE_FORM]})


class _Form(Schema):
    class Meta:
        """How marshmallow reads it."""

        unknown = RAISE


def _flag() -> fields.Boolean:
    return fields.Boolean(truthy={True}, falsy={False})


def _whole(least: int, most: int, **options: Any) -> fields.Integer:  # noqa: ANN401
    return fields.Integer(strict=True, validate=validate.Range(least, most), **options)


def _words(kind: Any) -> fields.Enum[Any]:  # noqa: ANN401 - an enum
    return fields.Enum(kind, by_value=True)


def _unique(values: list[Any]) -> None:
    if len(set(values)) != len(values):
        message = "Must not name one twice."
        raise ValidationError(message)


def _some(kind: Any, *checks: Callable[[list[Any]], None]) -> fields.List[Any]:  # noqa: ANN401
    return fields.List(_words(kind), validate=[_unique, *checks])


class _SpaceWord(StrEnum):
    """The four spaces of 004."""

    SESSION = "session"
    USER = "user"
    PROJECT = "project"
    SYSTEM = "system"


class RuleForm(_Form):
    """How long items are kept: never ending, up to a tick, or up to an age in ticks."""

    mode = fields.Enum(Mode, by_value=True, required=True)
    ttl_ticks = _whole(0, _TICKS_MOST, allow_none=True, load_default=None)

    @validates_schema
    def _ends(self, values: Mapping[str, Any], **_: object) -> None:
        ends = values["mode"] is not Mode.NEVER
        if ends and values["ttl_ticks"] is None:
            raise ValidationError("Must be given with this mode.", "ttl_ticks")
        if not ends and values["ttl_ticks"] is not None:
            raise ValidationError("Must be null with mode never.", "ttl_ticks")


class AllowedForm(_Form):
    """The event types that a kind may hold."""

    allowed_event_types = _some(EventType)


class PrivacyForm(_Form):
    """What is never written."""

    deny_patterns = fields.List(
        fields.String(validate=validate.Length(1, _PATTERN_CHARS)),
        validate=[_unique, validate.Length(max=_PATTERNS_MOST)],
    )
    allow_profile_keys = _some(FactKey)
    deny_sensitive = _flag()


class SpacePromotionForm(_Form):
    """What may go from one space to another."""

    from_space = fields.Enum(_SpaceWord, by_value=True, required=True)
    to_space = fields.Enum(_SpaceWord, by_value=True, required=True)
    allowed_event_types = _some(EventType)
    min_authority = _words(Authority)
    decision_override = _flag()

    @validates_schema
    def _leads_elsewhere(self, values: Mapping[str, Any], **_: object) -> None:
        if values.get("from_space") is values.get("to_space"):
            raise ValidationError("Must be another space than from_space.", "to_space")


class SpacesForm(_Form):
    """What is read, in which order, what is written, and what may go where."""

    read_order = _some(_SpaceWord)
    write_spaces = _some(_SpaceWord)
    promotions = fields.List(
        fields.Nested(SpacePromotionForm), validate=validate.Length(max=_PROMOTIONS_MOST)
    )

    @validates_schema
    def _one_rule_each(self, values: Mapping[str, Any], **_: object) -> None:
        ends = [(each["from_space"], each["to_space"]) for each in values.get("promotions", ())]
        if len(set(ends)) != len(ends):
            raise ValidationError("Must have one rule for two spaces.", "promotions")


class PhaseForm(_Form):
    """How phases are started, kept, compared and recalled."""

    enabled = _flag()
    mode = fields.String(validate=validate.OneOf([CURRENT_ONLY, WITH_HISTORY]))
    allow_cross_phase_recall = _flag()
    max_phases = _whole(1, _PHASES_MOST, allow_none=True)
    diff_enabled = _flag()

    @validates_schema
    def _agree(self, values: Mapping[str, Any], **_: object) -> None:
        mode, allowed = values.get("mode"), values.get("allow_cross_phase_recall")
        if mode and allowed is not None and (mode == WITH_HISTORY) is not allowed:
            message = f"Must be {WITH_HISTORY} with allow_cross_phase_recall, else {CURRENT_ONLY}."
            raise ValidationError(message, "mode")


def _permutation(values: list[Authority]) -> None:
    if sorted(values) != sorted(Authority):
        message = f"Must name each of {', '.join(Authority)} once."
        raise ValidationError(message)


class ContractForm(_Form):
    """A contract, or any part of one; what is absent stands at its default."""

    short_term = _whole(0, SHORT_TERM_MOST)
    semantic = _flag()
    profile = _flag()
    semantic_top_k = _whole(0, TOP_K_MOST)
    dedupe_enabled = _flag()
    write_policy = fields.String(validate=validate.OneOf(WRITE_POLICIES))
    forget_policy = fields.String(validate=validate.OneOf(FORGET_POLICIES))
    allow_event_types = _some(EventType)
    deny_event_types = _some(EventType)
    retention = fields.Dict(
        keys=_words(ItemKind),
        values=fields.Dict(keys=_words(EventType), values=fields.Nested(RuleForm)),
    )
    promotion = fields.Dict(keys=_words(ItemKind), values=fields.Nested(AllowedForm))
    privacy = fields.Nested(PrivacyForm)
    authority_order = fields.List(_words(Authority), validate=_permutation)
    spaces = fields.Nested(SpacesForm)
    phase = fields.Nested(PhaseForm)
    keep_events_days = _whole(1, _DAYS_MOST, allow_none=True)
    authority_caps = fields.Dict(
        keys=fields.String(
            validate=validate.OneOf([each.value for each in Role if each.includes(Role.WRITER)])
        ),
        values=_words(Authority),
    )


def contract_from(values: object, *, path: str = "") -> Contract:
    """The contract that parts of it, over the defaults, make.

    Raises:
        InvalidInput: something is wrong with it; all problems, by field behind a path.
    """
    if isinstance(values, dict):
        problem = json_problem(values, depth=_DEPTH, most_bytes=_BYTES_MOST)
        if problem:
            raise InvalidInput({path.rstrip(".") or "contract": [problem]})
    try:
        loaded = ContractForm().load(values)  # type: ignore[arg-type]
    except ValidationError as error:
        found = error.messages
        messages = flat_messages(found) if isinstance(found, dict) else {"contract": found}
        raise InvalidInput(
            {f"{path}{_place(name)}": texts for name, texts in messages.items()}
        ) from error
    return _contract(loaded)


def _place(name: str) -> str:
    """Where a problem is in the document; marshmallow names keys and values of a map apart."""
    first, *others = name.split(".")
    if first not in {"retention", "promotion", "authority_caps"}:
        return name
    return ".".join([first, *(each for each in others if each not in {"key", "value"})])


@lru_cache(maxsize=_CACHED)
def contract_of_document(document: str) -> Contract:
    """The contract of a version as it is kept."""
    return contract_from(json.loads(document))


_PLAIN = (
    *("short_term", "semantic", "profile", "semantic_top_k", "dedupe_enabled", "write_policy"),
    *("forget_policy", "keep_events_days", "authority_caps"),
)
_LISTS = ("allow_event_types", "deny_event_types", "authority_order")


def _contract(loaded: Mapping[str, Any]) -> Contract:
    values: dict[str, Any] = {name: loaded[name] for name in _PLAIN if name in loaded}
    values |= {name: tuple(loaded[name]) for name in _LISTS if name in loaded}
    values["retention"] = _retention(loaded)
    promotion = {
        kind: tuple(each["allowed_event_types"])
        for kind, each in loaded.get("promotion", {}).items()
        if "allowed_event_types" in each
    }
    values["promotion"] = {**Contract().promotion, **promotion}
    values |= _renamed(loaded.get("privacy", {}), tuple, "deny_patterns", "allow_profile_keys")
    values |= _renamed(loaded.get("privacy", {}), bool, "deny_sensitive")
    spaces = loaded.get("spaces", {})
    values |= _renamed(spaces, _spaces, "read_order", "write_spaces")
    if "promotions" in spaces:
        values["promotions"] = tuple(_promotion(each) for each in spaces["promotions"])
    return Contract(**values, **_phases(loaded.get("phase", {})))


def _renamed(part: Mapping[str, Any], form: Callable[[Any], Any], *names: str) -> dict[str, Any]:
    return {name: form(part[name]) for name in names if name in part}


def _retention(loaded: Mapping[str, Any]) -> dict[ItemKind, dict[EventType, RetentionRule]]:
    """What the forget policy says, but for single entries."""
    rules = default_retention(loaded.get("forget_policy", "decay"))
    own = loaded.get("retention", {})
    return {
        kind: {
            **events,
            **{
                event: RetentionRule(mode=rule["mode"], ticks=rule["ttl_ticks"])
                for event, rule in own.get(kind, {}).items()
            },
        }
        for kind, events in rules.items()
    }


def _spaces(words: Iterable[str]) -> tuple[SpaceKind, ...]:
    return tuple(map(SpaceKind, words))


def _promotion(values: Mapping[str, Any]) -> SpacePromotion:
    given: dict[str, Any] = dict(values)
    if "allowed_event_types" in given:
        given["allowed_event_types"] = tuple(given["allowed_event_types"])
    given |= {name: SpaceKind(given[name]) for name in ("from_space", "to_space")}
    return SpacePromotion(**given)


def _phases(part: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if "enabled" in part:
        values["phases_enabled"] = part["enabled"]
    if "allow_cross_phase_recall" in part:
        values["with_history"] = part["allow_cross_phase_recall"]
    if "mode" in part:
        values["with_history"] = part["mode"] == WITH_HISTORY
    return values | {name: part[name] for name in ("max_phases", "diff_enabled") if name in part}
