"""Contracts: what governs the calls of AI profiles."""

from http import HTTPStatus
from typing import Any

from flask import Response, g, jsonify
from marshmallow import ValidationError

from api.auth import requires
from api.governance.paths import keeper
from api.governance.schemas import (
    ContractAnswer,
    ContractList,
    ContractPreviewAnswer,
    ContractPreviewBody,
    ContractVersionList,
)
from api.json_blueprint import JsonBlueprint
from api.paging import PageQuery, cursor_of, page_answer
from graphmem.governance.contract_form import ContractForm, check_profile
from graphmem.model.caller import Role
from graphmem.store.contracts import StoredContract

blueprint = JsonBlueprint(
    "contracts",
    __name__,
    url_prefix="/v1/contracts",
    description="What may be kept, where and how long, for AI profiles (004)",
)


NO_OBJECT = "Must be an object."


class ContractBody(ContractForm):
    """Any part of a contract; what is absent stands at its default.

    The keeper reads it, so that all problems are told in one form.
    """

    def load(self, data: Any, **_: Any) -> Any:  # noqa: ANN401 - any JSON
        """The body as it is, if it is an object."""
        if not isinstance(data, dict):
            raise ValidationError(NO_OBJECT)
        return data


@blueprint.get("")
@requires(Role.READER)
@blueprint.query(PageQuery)
@blueprint.response(200, ContractList)
def contracts(query: dict[str, Any]) -> Response:
    """List the contracts of the key's tenant, by profile."""
    page = keeper().contracts.page(g.caller.tenant, cursor_of(query, size=1), limit=query["limit"])
    return page_answer(page, contract_view)


@blueprint.get("/<profile>")
@requires(Role.READER)
@blueprint.response(200, ContractAnswer)
def contract(profile: str) -> Response:
    """Get the contract of a profile that holds now."""
    return jsonify(contract_view(keeper().contract(g.caller.tenant, profile)))


@blueprint.get("/<profile>/versions")
@requires(Role.READER)
@blueprint.query(PageQuery)
@blueprint.response(200, ContractVersionList)
def versions(query: dict[str, Any], profile: str) -> Response:
    """List the versions of a contract, the newest first."""
    keeper().contract(g.caller.tenant, profile)
    page = keeper().contracts.versions(
        g.caller.tenant, profile, cursor_of(query, size=1), limit=query["limit"]
    )
    return page_answer(page, _version_view)


@blueprint.put("/<profile>")
@requires(Role.CURATOR)
@blueprint.arguments(ContractBody)
@blueprint.response(201, ContractAnswer)
@blueprint.alt_response(200, schema=ContractAnswer, description="It says so already")
def save_contract(values: dict[str, Any], profile: str) -> Response:
    """Let a contract hold from now on; what it does not say stands at its default."""
    saved = keeper().save_contract(profile, values, caller=g.caller)
    response = jsonify(contract_view(saved.stored))
    response.status_code = HTTPStatus.CREATED if saved.is_new else HTTPStatus.OK
    return response


@blueprint.post("/<profile>/preview")
@requires(Role.READER)
@blueprint.arguments(ContractPreviewBody)
@blueprint.response(200, ContractPreviewAnswer)
def preview(values: dict[str, Any], profile: str) -> Response:
    """What a contract would deny, let expire or allow to promote; nothing changes."""
    check_profile(profile)
    return jsonify(keeper().preview(values["contract"], values["spaces"]))


def contract_view(stored: StoredContract) -> dict[str, Any]:
    """A contract as answers show it."""
    return {
        "profile": stored.profile,
        "version": stored.version,
        "contract": stored.values,
    }


def _version_view(stored: StoredContract) -> dict[str, Any]:
    return contract_view(stored) | {"created_at": stored.created_at, "key_id": stored.key_id}
