"""What the paths and bodies of governed memory name: profiles, owners, phases and items."""

import re
from collections.abc import Mapping
from typing import Any

from flask import g

from api.service import service
from graphmem.errors import Forbidden, InvalidInput
from graphmem.gateway.validation import json_problem
from graphmem.governance.contract import SPACES
from graphmem.governance.contract_form import PROFILE_FORM, is_profile
from graphmem.governance.keeper import GovernanceKeeper
from graphmem.governance.owners import owners_of
from graphmem.governance.request import MANUAL, CallRequest, DiffRequest, PhaseToken
from graphmem.model.caller import Role
from graphmem.model.governance import ItemKind
from graphmem.model.space import Space, SpaceKind, parse_space

_TOKEN, _NAME, _REASON = "_memory_phase_token", "_memory_phase_name", "_memory_phase_reason"
_FROM, _TO, _SPACE = "_memory_phase_diff_from", "_memory_phase_diff_to", "_memory_phase_diff_space"
_WORDS_MOST_CHARS = 200  # of what a state says of phases
_STATE_DEPTH, _STATE_BYTES = 20, 1_000_000
_ITEM = re.compile(
    rf"(?P<space>{'|'.join(SPACES)}):(?P<owner>[^:]+):(?P<kind>{'|'.join(ItemKind)}):(?P<number>[0-9]{{1,15}})"
)


def keeper() -> GovernanceKeeper:
    """The keeper of governed memory."""
    return service().of(GovernanceKeeper)


def known_profile(name: str) -> str:
    """The name of a profile, as a path has it.

    Raises:
        InvalidInput: no profile can be called so.
    """
    if not is_profile(name):
        raise InvalidInput({"profile": [PROFILE_FORM]})
    return name


def call_request(profile: str, values: Mapping[str, Any], **how: bool) -> CallRequest:
    """The call that a body asks for.

    Raises:
        InvalidInput: something is wrong with it, by field.
    """
    state, identity = values["state"], values["identity"]
    for name, value in (("state", state), ("identity", identity)):
        if problem := json_problem(value, depth=_STATE_DEPTH, most_bytes=_STATE_BYTES):
            raise InvalidInput({name: [problem]})
    return CallRequest(
        profile=known_profile(profile),
        owners=owners_of(
            g.caller.tenant,
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
        **how,
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


def item_of_path(item_id: str) -> tuple[Space, ItemKind, int]:
    """The space, kind and number of an item by its id, in a space that the key may read.

    Raises:
        InvalidInput: it is no id of an item.
        Forbidden: the key may not read the space.
    """
    found = _ITEM.fullmatch(item_id)
    if found is None:
        raise InvalidInput({"item_id": ["Must be the id of an item: session:s1:semantic:1."]})
    try:
        space = parse_space(f"{found['space']}:{found['owner']}", tenant=g.caller.tenant)
    except ValueError as error:
        raise InvalidInput({"item_id": [str(error)]}) from error
    if not g.caller.may(Role.READER, space):
        raise Forbidden
    return space, ItemKind(found["kind"]), int(found["number"])
