"""Turns that rooms read for what they say: what all of them ask of one."""

from typing import Any

from marshmallow import ValidationError, validates_schema

from api.fields import WithoutNulls
from graphmem.conversations.sayings import reading_problems


class ReadTurn(WithoutNulls):
    """A turn that a room reads."""

    @validates_schema(skip_on_field_errors=False)
    def _rules(self, values: dict[str, Any], **_: object) -> None:
        """The room's own rules, so that all problems are reported at once."""
        if found := reading_problems(values):
            raise ValidationError({name: list(texts) for name, texts in found.items()})
