"""Errors: the table of statuses and the one body that every error has."""

import json
import logging
from collections.abc import Mapping
from http import HTTPStatus
from traceback import format_tb
from types import MappingProxyType
from typing import Any

from flask import Flask, Response, g
from flask_smorest import Api
from marshmallow import ValidationError
from werkzeug.exceptions import HTTPException

from api.fields import ErrorSchema
from graphmem import errors
from graphmem.gateway.writing import RolledBack
from graphmem.messages import flat_messages

log = logging.getLogger(__name__)

STATUSES: Mapping[type[Exception], HTTPStatus] = {
    errors.NotFound: HTTPStatus.NOT_FOUND,
    errors.Conflict: HTTPStatus.CONFLICT,
    RolledBack: HTTPStatus.CONFLICT,
    errors.InvalidInput: HTTPStatus.UNPROCESSABLE_ENTITY,
    errors.Unauthenticated: HTTPStatus.UNAUTHORIZED,
    errors.Forbidden: HTTPStatus.FORBIDDEN,
    errors.PolicyRefused: HTTPStatus.FORBIDDEN,
    errors.TooManyCalls: HTTPStatus.TOO_MANY_REQUESTS,
    errors.StoreUnavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.ValueDamaged: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.ModelUnavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.SchemaMismatch: HTTPStatus.SERVICE_UNAVAILABLE,
    errors.SettingsError: HTTPStatus.INTERNAL_SERVER_ERROR,
    errors.GraphmemError: HTTPStatus.INTERNAL_SERVER_ERROR,
}
WHOLE = "body"  # the path of a problem of the whole body
HTTP_CODES = {
    400: ("malformed", "The body is not valid JSON, or the request is not well formed."),
    404: ("not_found", "There is nothing at this address."),
    405: ("method_not_allowed", "This address does not take that method."),
    408: ("timeout", "The request took too long to arrive."),
    413: ("too_large", "The body is larger than the service takes."),
    414: ("too_large", "The address is longer than the service takes."),
    415: ("not_json", "The body must be JSON: Content-Type: application/json."),
    422: ("invalid_input", "The request is not valid."),
    429: ("too_many_requests", "This key has more calls on than it may; try again in a second."),
    431: ("too_large", "The headers are larger than the service takes."),
    501: ("malformed", "The body is coded in a way that the service does not read."),
}


class GraphmemApi(Api):  # type: ignore[misc]
    """flask-smorest with our one error body."""

    ERROR_SCHEMA = ErrorSchema

    def handle_http_exception(self, error: HTTPException) -> Response:
        """The body of an error that Flask or flask-smorest raised."""
        return http_error_response(error)


def register_error_handlers(app: Flask) -> None:
    """Answer every other error with the same body."""
    app.register_error_handler(errors.GraphmemError, _handle_own)
    app.register_error_handler(ValidationError, _handle_validation)
    app.register_error_handler(Exception, _handle_any)


def http_error_response(error: HTTPException) -> Response:
    """The one body for an error that Flask, werkzeug or flask-smorest raised."""
    status = error.code or 500
    code, message = HTTP_CODES.get(status, ("internal", "Something went wrong inside the service."))
    messages = (getattr(error, "data", None) or {}).get("messages")
    fields = (
        _without_location(messages)
        if status == HTTPStatus.UNPROCESSABLE_ENTITY and messages
        else None
    )
    if fields:
        message = "Not valid: " + ", ".join(sorted(fields)) + "."
    response = error_response(status, code, message, fields=fields)
    for name in ("Allow", "Retry-After"):
        if value := dict(error.get_headers()).get(name):
            response.headers[name] = value
    return response


def _without_location(messages: Mapping[str, Any]) -> dict[str, list[str]]:
    """Webargs nests its messages under where a value came from: json, query, headers."""
    return {
        path: texts
        for inner in messages.values()
        for path, texts in flat_messages(inner, WHOLE).items()
    }


def status_of(error: Exception) -> HTTPStatus:
    """The status of one of our errors, found by its nearest base class in the table."""
    for kind in type(error).__mro__:
        if kind in STATUSES:
            return STATUSES[kind]
    return HTTPStatus.INTERNAL_SERVER_ERROR


def error_detail(error: errors.GraphmemError) -> dict[str, Any]:
    """Code, message and what else one of our errors says; nothing of the inside at a 500."""
    if status_of(error) is HTTPStatus.INTERNAL_SERVER_ERROR:
        return {"code": "internal", "message": _internal_message()}
    detail: dict[str, Any] = {"code": error.code, "message": error.message}
    if isinstance(error, errors.InvalidInput):
        detail["fields"] = error.fields
    if isinstance(error, errors.PolicyRefused):
        detail["reason"] = error.reason
    return detail


def error_response(
    status: int,
    code: str,
    message: str,
    *,
    beside: Mapping[str, Any] = MappingProxyType({}),
    **more: Any,  # noqa: ANN401 - JSON values
) -> Response:
    """The one error body; ``beside`` stands beside the error in it."""
    detail = {
        "code": code,
        "message": message,
        **{name: value for name, value in more.items() if value},
    }
    body = json.dumps(
        {"error": detail | {"request_id": g.get("request_id", "")}, **beside}, ensure_ascii=False
    )
    # the name of an unknown field may hold a lone surrogate, which no body can
    response = Response(body.encode("utf-8", "backslashreplace"), mimetype="application/json")
    response.status_code = status
    if status == HTTPStatus.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _handle_own(error: errors.GraphmemError) -> Response:
    status = status_of(error)
    if status is HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("internal error", exc_info=error)
    detail = error_detail(error)
    response = error_response(status, detail.pop("code"), detail.pop("message"), **detail)
    if status is HTTPStatus.SERVICE_UNAVAILABLE:
        response.headers["Retry-After"] = "2"
    if isinstance(error, errors.TooManyCalls):
        response.headers["Retry-After"] = str(error.retry_seconds)
    return response


def _handle_validation(error: ValidationError) -> Response:
    fields = flat_messages(error.messages_dict, WHOLE)
    return _handle_own(errors.InvalidInput(fields))


def _handle_any(error: Exception) -> Response:
    if isinstance(error, HTTPException):
        return http_error_response(error)
    # the text of a driver error may hold a query with its parameters: only the kind is logged
    log.error(
        "internal error: %s at\n%s", type(error).__name__, "".join(format_tb(error.__traceback__))
    )
    return error_response(500, "internal", _internal_message())


def _internal_message() -> str:
    return "Something went wrong inside the service; the log has it under this request id."
