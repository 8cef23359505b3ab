"""Splitting: a long text as a memory of its beginning and one for each part (002). Pure."""

from collections.abc import Callable
from dataclasses import replace

from semantic_text_splitter import TextSplitter

from graphmem.model.writing import Dedupe, WriteRequest
from graphmem.text.normalise import shows_something, with_layout

CONTENT_MAX_CHARS = 32_000  # a longer text is split
PART_MAX_CHARS = 4_000  # as many sentences as get vectors of their own
_SUMMARY_BELOW_CHARS = 120
_NO_SUMMARY = "(empty)"

Numbered = Callable[[int, str], WriteRequest]  # the request of a part, of its number and content


def leading_words(text: str) -> str:
    """The leading words of a text while they are shorter than 120 characters (002, Ingestion)."""
    kept = ""
    for word in text.split():
        longer = f"{kept} {word}".strip()
        if len(longer) >= _SUMMARY_BELOW_CHARS:
            break
        kept = longer
    return kept or _NO_SUMMARY


def parts_of(text: str, *, max_chars: int = PART_MAX_CHARS) -> list[str]:
    """The parts of a long text, between paragraphs, sentences or words, whatever fits.

    Together they are the text; blank ones are left out.
    """
    parts = TextSplitter(max_chars, trim=False).chunks(text.replace("\r\n", "\n"))
    return [part for part in parts if shows_something(with_layout(part))]


def whole_and_parts(
    name: str, text: str, request: Numbered, *, max_chars: int = PART_MAX_CHARS
) -> list[WriteRequest]:
    """A long text as requests: number 0 is of its beginning, the parts are PART_OF that.

    Another version of it is another one, whatever their beginnings have in common.
    """
    parts = parts_of(text, max_chars=max_chars)
    said = f"{name} of {len(parts)} parts. {leading_words(text)}"
    whole = replace(request(0, said), dedupe=Dedupe.NONE)
    part_of = (whole.uid or whole.proposed_uid or "",)
    numbered = (request(number, part) for number, part in enumerate(parts, start=1))
    return [whole, *(_with(part, part_of=part_of) for part in numbered)]


def _with(request: WriteRequest, **fields: tuple[str, ...]) -> WriteRequest:
    return replace(request, **fields, given=request.given | fields.keys())  # type: ignore[arg-type]
