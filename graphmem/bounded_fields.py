"""Bounded fields: lists and objects whose size is looked at before their values are."""

from collections.abc import Mapping
from typing import Any

from marshmallow import ValidationError, fields

_KEYS_MAX = 4_000  # of a JSON object


class Several(fields.List[Any]):
    """A list of at most so many values; a longer one is refused before these are looked at."""

    def __init__(self, inner: fields.Field[Any], *, most: int, **options: Any) -> None:  # noqa: ANN401 - marshmallow's
        metadata = {"maxItems": most} | options.pop("metadata", {})
        super().__init__(inner, metadata=metadata, **options)
        self.most = most

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> list[Any]:  # noqa: ANN401
        if isinstance(value, list | tuple) and len(value) > self.most:
            message = f"At most {self.most}."
            raise ValidationError(message)
        found: list[Any] = super()._deserialize(value, attr, data, **options)
        return found


class Table(fields.Dict):
    """A JSON object of a bounded number of keys."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **options: Any) -> Any:  # noqa: ANN401
        if isinstance(value, Mapping) and len(value) > _KEYS_MAX:
            message = f"At most {_KEYS_MAX:,} keys."
            raise ValidationError(message)
        return super()._deserialize(value, attr, data, **options)  # type: ignore[no-untyped-call]
