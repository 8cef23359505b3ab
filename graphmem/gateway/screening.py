"""Screening: what may not be stored, with a stable reason for each refusal."""

from collections.abc import Iterable, Sequence

from graphmem.errors import PolicyRefused
from graphmem.model.policy import Policy
from graphmem.model.writing import WriteRequest
from graphmem.text.instructions import is_instruction_like
from graphmem.text.secrets import has_secret


def refusal(request: WriteRequest, policy: Policy) -> str | None:
    """The reason code why a request may not be stored, or None."""
    return text_refusal(list(_texts(request)), policy)


def text_refusal(texts: Sequence[str], policy: Policy) -> str | None:
    """The reason code why texts may not be stored, or None.

    Also for texts that a model put into words.
    """
    if policy.write.refuse_secrets and any(map(has_secret, texts)):
        return "screening_secret"
    if policy.screening.instructions == "refuse" and is_instruction_like(*texts):
        return "screening_prompt_injection"
    return None


def screen(texts: Sequence[str], policy: Policy) -> None:
    """Refuse texts that may not be stored.

    Raises:
        PolicyRefused: one may not.
    """
    if reason := text_refusal(texts, policy):
        raise PolicyRefused(reason)


def _texts(request: WriteRequest) -> Iterable[str]:
    if not request.given or "content" in request.given:  # a correction of something else repeats it
        yield request.content
    yield from (
        text
        for text in (request.summary, request.context, request.actor, request.logical_key)
        if text
    )
    for source in (request.source, *request.sources):
        ids = (source.path, source.conversation_id, source.workflow_run_id, source.step_id)
        yield from (text for text in (*ids, source.key) if text)
    yield from request.tags
    yield from (ref.label for ref in request.entities if ref.label)
    yield from leaves(request.metadata)


def leaves(value: object) -> Iterable[str]:
    """The texts inside a JSON value, with the names that they have there."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield str(name)
            yield from ([f"{name}: {inner}"] if isinstance(inner, str) else leaves(inner))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from leaves(inner)
