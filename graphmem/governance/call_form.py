"""Call form: the call that an app asks for, read from what it sends (004)."""

from collections.abc import Mapping
from typing import Any

from graphmem.errors import InvalidInput
from graphmem.gateway.validation import json_problem
from graphmem.governance.contract import SPACES
from graphmem.governance.contract_form import check_profile
from graphmem.governance.owners import owners_of
from graphmem.governance.request import MANUAL, CallRequest, DiffRequest, PhaseToken
from graphmem.model.space import SpaceKind

_TOKEN, _NAME, _REASON = "_memory_phase_token", "_memory_phase_name", "_memory_phase_reason"
_FROM, _TO = "_memory_phase_diff_from", "_memory_phase_diff_to"
_SPACE = "_memory_phase_diff_space"
_WORDS_MOST_CHARS = 200  # of what a state says of phases
_STATE_DEPTH, _STATE_BYTES = 20, 1_000_000


def call_request(
    tenant: str, profile: str, values: Mapping[str, Any], *, recalls: bool, records: bool
) -> CallRequest:
    """The call that some values ask for.

    Raises:
        InvalidInput: something is wrong with it, by field.
    """
    check_profile(profile)
    state, identity = values.get("state", {}), values.get("identity", {})
    tools = {"tool_events": list(values.get("tool_events", ()))}
    for name, value in (("state", state), ("identity", identity), ("tool_events", tools)):
        if problem := json_problem(value, depth=_STATE_DEPTH, most_bytes=_STATE_BYTES):
            raise InvalidInput({name: [problem]})
    return CallRequest(
        profile=profile,
        owners=owners_of(
            tenant,
            state,
            identity,
            project=values.get("project"),
            project_root=values.get("project_root"),
        ),
        input=values["input"],
        output=values.get("output", ""),
        tool_events=values.get("tool_events", ()),
        token=_token(state),
        diff=_diff(state),
        recalls=recalls,
        records=records,
    )


def _token(state: Mapping[str, Any]) -> PhaseToken | None:
    token = _said(state, _TOKEN)
    if token is None:
        return None
    return PhaseToken(token=token, name=_said(state, _NAME), reason=_said(state, _REASON) or MANUAL)


def _diff(state: Mapping[str, Any]) -> DiffRequest | None:
    before, after = _said(state, _FROM), _said(state, _TO)
    if before is None or after is None:
        return None
    space = _said(state, _SPACE) or SpaceKind.SESSION.value
    if space not in {each.value for each in SPACES}:
        message = f"Must be one of: {', '.join(SPACES)}."
        raise InvalidInput({f"state.{_SPACE}": [message]})
    return DiffRequest(before=before, after=after, space=SpaceKind(space))


def _said(state: Mapping[str, Any], name: str) -> str | None:
    """What a state says of phases; nothing where it is empty."""
    value = state.get(name)
    if value is None or value == "":
        return None
    is_word = isinstance(value, str | int) and not isinstance(value, bool)
    if not is_word or len(str(value)) > _WORDS_MOST_CHARS:
        message = f"Must be a text of at most {_WORDS_MOST_CHARS} characters."
        raise InvalidInput({f"state.{name}": [message]})
    return str(value)
