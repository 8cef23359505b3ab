"""Replay: calls of a file, in an empty tenant, beside the events that they are to give (004).

Users lock their own contract so: a change of it, or of the service, shows as a difference.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from marshmallow import RAISE, Schema, ValidationError, fields, validate

from graphmem.errors import InvalidInput
from graphmem.gateway.operation import Decided, Operation
from graphmem.gateway.workbench import Workbench
from graphmem.governance.call_form import call_request
from graphmem.governance.events import Event
from graphmem.governance.keeper import GovernanceKeeper
from graphmem.governance.stored_events import SNAPSHOTS, without_snapshots
from graphmem.messages import flat_messages
from graphmem.model.caller import Caller, Role
from graphmem.model.space import Space
from graphmem.model.trace import TraceKind

TENANT_PREFIX = "replay-"
_CALLS_MOST = 1_000
_TEXT = validate.Length(1, 32_000)


class _Form(Schema):
    class Meta:
        """How marshmallow reads it."""

        unknown = RAISE


class _CallForm(_Form):
    input = fields.String(required=True, validate=_TEXT)
    output = fields.String(validate=_TEXT)
    state = fields.Dict(keys=fields.String(), load_default=dict)
    identity = fields.Dict(keys=fields.String(), load_default=dict)
    project_root = fields.String()
    project = fields.String()
    tool_events = fields.List(fields.Dict(keys=fields.String()), load_default=list)
    contract = fields.Dict(keys=fields.String())  # that holds from this call on
    events = fields.List(fields.Dict(keys=fields.String()))


class _FileForm(_Form):
    profile = fields.String(required=True)
    contract = fields.Dict(keys=fields.String(), required=True)
    calls = fields.List(
        fields.Nested(_CallForm), required=True, validate=validate.Length(1, _CALLS_MOST)
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Replayed:
    """What a call gave, and where that first differs from what it was to give, if it does."""

    number: int  # from 1
    events: Sequence[Event]
    difference: str | None = None
    is_compared: bool = False


@dataclass(frozen=True, kw_only=True)
class ForgetReplay(Operation[None, None]):
    """Remove all of a tenant that only a replay had."""

    kind = TraceKind.GOVERNANCE
    role = Role.ADMIN

    tenant: str

    @property
    def spaces(self) -> Sequence[Space]:
        """None: the tenant goes as a whole."""
        return ()

    def check(self) -> None:
        """Refuse a tenant that is no replay's.

        Raises:
            InvalidInput: it is none.
        """
        if not self.tenant.startswith(TENANT_PREFIX):
            raise InvalidInput({"tenant": ["Must be that of a replay."]})

    def read(self, transaction: Workbench) -> None:
        """Nothing: all goes, whatever it is."""

    def decide(self, state: None, now: datetime) -> Decided[None]:  # noqa: ARG002
        """Forget the whole tenant."""
        return Decided(answer=None)

    def apply(self, transaction: Workbench, decided: Decided[None]) -> None:  # noqa: ARG002
        """Remove all that the tenant has."""
        transaction.run("governance.forget_tenant", tenant=self.tenant, space=f"{self.tenant}/")


def read_replay(text: str) -> Mapping[str, Any]:
    """What a file holds.

    Raises:
        InvalidInput: something is wrong with it, by field.
    """
    try:
        values: Mapping[str, Any] = _FileForm().load(json.loads(text))
    except ValidationError as error:
        raise InvalidInput(flat_messages(error.normalized_messages())) from error  # type: ignore[no-untyped-call]
    except (ValueError, RecursionError) as error:
        raise InvalidInput({"file": ["Must be an object of JSON."]}) from error
    return values


def replayed(
    keeper: GovernanceKeeper, file: Mapping[str, Any], *, caller: Caller
) -> Iterator[Replayed]:
    """What each call of a file gives, in the tenant of a caller, which must be empty.

    What contracts say is compared where an expected event has it (``policy``, ``policy_snapshot``).
    A call with an output recalls and records, one without only recalls.

    Raises:
        InvalidInput: a contract or a call is not valid, by field.
        GraphmemError: a call is refused.
    """
    profile = file["profile"]
    keeper.save_contract(profile, file["contract"], caller=caller)
    for number, values in enumerate(file["calls"], start=1):
        if "contract" in values:
            keeper.save_contract(profile, values["contract"], caller=caller)
        request = call_request(
            caller.tenant, profile, values, recalls=True, records="output" in values
        )
        events = json.loads(json.dumps(list(keeper.call(request, caller=caller).events)))
        expected = values.get("events")
        yield Replayed(
            number=number,
            events=events,
            difference=None
            if expected is None
            else first_difference(expected, _asked(events, expected)),
            is_compared=expected is not None,
        )


def _asked(events: Sequence[Event], expected: Sequence[Event]) -> list[Event]:
    """Events, without what contracts say of them where that is not expected."""
    bare = without_snapshots(events)
    asked = [any(name in event for name in SNAPSHOTS) for event in expected]
    asked += [True] * (len(events) - len(asked))
    return [
        whole if is_asked else short
        for whole, short, is_asked in zip(events, bare, asked, strict=False)
    ]


def first_difference(expected: Any, found: Any, path: str = "events") -> str | None:  # noqa: ANN401 - any JSON
    """Where two values of JSON first differ, and how; None where they are equal."""
    return next(_differences(expected, found, path), None)


def _differences(expected: Any, found: Any, path: str) -> Iterator[str]:  # noqa: ANN401
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in sorted({*expected, *found}):
            if name not in found:
                yield f"{path}.{name}: is missing"
            elif name not in expected:
                yield f"{path}.{name}: is not expected"
            else:
                yield from _differences(expected[name], found[name], f"{path}.{name}")
    elif isinstance(expected, list) and isinstance(found, list):
        for number, (one, other) in enumerate(zip(expected, found, strict=False), start=1):
            yield from _differences(one, other, f"{path}.{number}")
        if len(expected) != len(found):
            yield f"{path}: {len(expected)} expected, {len(found)} found"
    elif expected != found or type(expected) is not type(found):
        yield f"{path}: expected {json.dumps(expected)}, found {json.dumps(found)}"
