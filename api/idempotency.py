"""Idempotency: a request that is sent again with its key gets its first answer."""

import hashlib
import json
from datetime import timedelta

from flask import g, request

from api.service import service
from graphmem.errors import InvalidInput
from graphmem.model.writing import IdempotencyKey

_KEEP_ANSWERS = timedelta(hours=24)
_LONGEST_KEY = 255
IDEMPOTENCY_HEADER = {
    "in": "header",
    "name": "Idempotency-Key",
    "schema": {"type": "string", "maxLength": _LONGEST_KEY},
    "description": (
        "Repeating a request with the same key within 24 hours gives the first"
        " answer and writes nothing."
    ),
}


def idempotency_key() -> IdempotencyKey | None:
    """The retry key of the current request, with the digest of its body.

    Raises:
        InvalidInput: it is none.
    """
    sent = request.headers.get("Idempotency-Key")
    if sent is None:
        return None
    if not (1 <= len(sent) <= _LONGEST_KEY and sent.isprintable()):
        raise InvalidInput(
            {"Idempotency-Key": [f"Must be 1 to {_LONGEST_KEY} printable characters."]}
        )
    body = json.dumps(request.get_json(), sort_keys=True)
    return IdempotencyKey(
        key=f"{g.caller.tenant}|{g.caller.key_id}|{request.path}|{sent}",
        request_digest=hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest(),
        created_at=service().clock.now(),
        expires_at=service().clock.now() + _KEEP_ANSWERS,
    )
