"""Summing: the messages that leave a phase, in one text (004, short-term window). Pure."""

from collections.abc import Sequence

from graphmem.model.governance import Item

_PARTS, _PART_CHARS, _TEXT_CHARS = 6, 80, 240
_CUT = "..."


def summary_text(before: str | None, left: Sequence[Item]) -> str:
    """What messages said, with what an earlier summary says of those before them."""
    earlier = [f"Earlier: {before}"] if before else []
    parts = [_shortened(f"{item.source}: {item.text}", _PART_CHARS) for item in left[:_PARTS]]
    return _shortened(" | ".join((*earlier, *parts)), _TEXT_CHARS)


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - len(_CUT)] + _CUT
