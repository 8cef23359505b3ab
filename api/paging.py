"""Paging: one form of all lists, and cursors that are signed, so that nobody makes them up."""

from collections.abc import Callable
from typing import Any, TypeVar

from flask import Response, g, jsonify, request
from itsdangerous import BadData, URLSafeSerializer
from marshmallow import Schema, fields, validate

from api.fields import RequestSchema
from api.service import service
from graphmem.errors import InvalidInput
from graphmem.model.page import Cursor, Page

T = TypeVar("T")
_OF_THIS_LIST = "Must be the next_cursor of a list of the same spaces."


class PageQuery(RequestSchema):
    """Which part of a list to show."""

    limit = fields.Integer(load_default=50, validate=validate.Range(1, 200))
    cursor = fields.String(load_default=None)


def page_of(item: type[Schema], name: str, description: str) -> type[Schema]:
    """The schema of one page of a list."""
    schema = Schema.from_dict(
        {
            "items": fields.List(fields.Nested(item)),
            "total": fields.Integer(metadata={"description": "How many there are on all pages"}),
            "next_cursor": fields.String(allow_none=True),
        },
        name=name,
    )
    schema.__doc__ = description
    return schema


def page_answer(page: Page[T], view: Callable[[T], dict[str, Any]], **more: object) -> Response:
    """A page as the answer of a list; ``more`` stands beside it."""
    after = _signer().dumps(list(page.next)) if page.next else None
    return jsonify(
        items=[view(item) for item in page.items], total=page.total, next_cursor=after, **more
    )


def cursor_of(query: dict[str, Any], *, size: int | None = None) -> Cursor | None:
    """Where a page is to begin, if the query says so; ``size`` is how many values say it.

    Raises:
        InvalidInput: it is not a cursor that this list gave to this tenant.
    """
    if query["cursor"] is None:
        return None
    try:
        cursor = tuple(_signer().loads(query["cursor"]))
    except BadData as error:
        raise InvalidInput({"cursor": [_OF_THIS_LIST]}) from error
    if size is not None and len(cursor) != size:
        raise InvalidInput({"cursor": [_OF_THIS_LIST]})
    return cursor


def _signer() -> URLSafeSerializer:
    """A cursor counts for one list: its path, the spaces that it names, and the tenant."""
    spaces = ",".join(sorted(request.args.getlist("space")))
    salt = f"{g.caller.tenant} {request.path} {spaces}"
    return URLSafeSerializer(service().secret.text, salt=salt)
