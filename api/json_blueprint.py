"""JSON blueprint: how the arguments of views are read, and which bodies are malformed."""

from typing import Any

from flask import Request
from flask_smorest import Blueprint
from marshmallow import RAISE, Schema
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

    def query(self, schema: type[Schema]) -> Any:  # noqa: ANN401 - a decorator of any view
        """Give a view the arguments behind ``?``; unknown ones are refused."""
        return self.arguments(schema, location="query", unknown=RAISE)
