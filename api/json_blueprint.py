"""Parsing: bodies that are not JSON are malformed, however they fail."""

from typing import Any

from flask import Request
from flask_smorest import Blueprint
from webargs.flaskparser import FlaskParser
from werkzeug.exceptions import BadRequest


class JsonParser(FlaskParser):
    """Reads JSON.

    A body nested too deep or with an endless number is answered like any other malformed one.
    """

    def _raw_load_json(self, req: Request) -> Any:  # noqa: ANN401 - any JSON
        try:
            return super()._raw_load_json(req)
        except (RecursionError, ValueError) as error:
            raise BadRequest from error


class JsonBlueprint(Blueprint):  # type: ignore[misc]
    """A blueprint whose arguments are read by our parser."""

    ARGUMENTS_PARSER = JsonParser()
