"""Texts that give orders to a model; to quote one is harmless, so it is kept as a quotation."""

import re

_ORDERS = re.compile(
    (
        r"(?i)(?:ignore|disregard|override|forget) (?:all |any )?(?:of )?(?:the |your |my )?"
        r"(?:previous|prior|above|earlier)"
        r" (?:instructions|prompts|rules|directions)"
        r"|do not obey (?:the |your |any )?previous|new system prompt|you are now (?:an?|the) "
        r"|(?m:^[^\S\n]*\[system\]\s)|<\|im_start\|>system"
    ).replace(" ", r"\s+")  # line breaks are kept, so a blank may be one
)


def is_instruction_like(*texts: str) -> bool:
    """Whether one of some texts reads like an order to a model."""
    return any(_ORDERS.search(text) for text in texts)
