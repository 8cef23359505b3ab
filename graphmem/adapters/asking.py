"""Asking: what a language model says, read as JSON whatever stands around it, within a time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphmem.errors import ModelUnavailable
from graphmem.ports import LanguageModel
from graphmem.text.json_answers import json_in


@dataclass(frozen=True, kw_only=True, slots=True)
class Ask:
    """Gives instructions, a text and a schema to a model, and the JSON value that it answers."""

    model: LanguageModel
    seconds: float

    def __call__(self, instructions: str, text: str, schema: Mapping[str, Any]) -> Any:  # noqa: ANN401 - any JSON
        """The value of an answer.

        Raises:
            ModelUnavailable: it does not answer in time, or nonsense.
        """
        try:
            return json_in(self.text(instructions, text, schema))
        except ValueError as error:
            message = "The language model did not answer in JSON."
            raise ModelUnavailable(message) from error

    def text(self, instructions: str, text: str, schema: Mapping[str, Any]) -> str:
        """An answer as it was said.

        Raises:
            ModelUnavailable: it does not answer in time, or says nothing.
        """
        said = self.model.said(instructions, text, schema=schema, timeout_seconds=self.seconds)
        if not said.strip():
            message = "The language model said nothing."
            raise ModelUnavailable(message)
        return said
