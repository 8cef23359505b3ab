"""Screening: what may not be stored, with a stable reason for each refusal.

Letters next to a secret may be of any script, so the patterns never lean on word boundaries.
"""

import re
from collections.abc import Iterable, Sequence

from graphmem.model.policy import Policy
from graphmem.model.writing import WriteRequest
from graphmem.text.instructions import is_instruction_like

_SECRETS = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"  # cloud access key
    r"|(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{36,}"  # code host token
    r"|(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,}"  # chat token
    r"|(?<![A-Za-z0-9])sk-(?:[A-Za-z]+-)?[A-Za-z0-9_-]{20,}"  # model provider key
    r"|(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}"
    r"|(?<![A-Za-z0-9])gm_[A-Za-z0-9_-]{32,}"  # a key of this service
    # signed token
    r"|(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"
    r"|(?i:password|passwd|pwd|api[ _-]?key|secret[ _-]?key|access[ _-]?token)"
    r"(?i:\s+is)?\s*[:=]\s*[^\s'\"]{8,}"
)


def refusal(request: WriteRequest, policy: Policy) -> str | None:
    """The reason code why a request may not be stored, or None."""
    return text_refusal(list(_texts(request)), policy)


def text_refusal(texts: Sequence[str], policy: Policy) -> str | None:
    """The reason code why texts may not be stored, or None.

    Also for texts that a model put into words.
    """
    if policy.write.refuse_secrets and any(_SECRETS.search(text) for text in texts):
        return "screening_secret"
    if policy.screening.instructions == "refuse" and is_instruction_like(*texts):
        return "screening_prompt_injection"
    return None


def _texts(request: WriteRequest) -> Iterable[str]:
    if not request.given or "content" in request.given:  # a correction of something else repeats it
        yield request.content
    yield from (
        text
        for text in (request.summary, request.context, request.actor, request.logical_key)
        if text
    )
    yield from request.tags
    yield from (ref.label for ref in request.entities if ref.label)
    yield from _leaves(request.metadata)


def _leaves(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield str(name)
            yield from ([f"{name}: {inner}"] if isinstance(inner, str) else _leaves(inner))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _leaves(inner)
