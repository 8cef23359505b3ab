"""Unicode forms, in time that grows with the text.

Putting a run of combining marks in order takes time that grows with its square, so one of more than
thirty, which no language has, is left as it is.
"""

import unicodedata
from typing import Literal

import regex

_LONG_RUN = regex.compile(r"(\p{M}{31,})")

Form = Literal["NFC", "NFD", "NFKC"]


def in_form(form: Form, text: str) -> str:
    """A text in a Unicode form, but for its long runs of marks."""
    if text.isascii():
        return text
    parts = _LONG_RUN.split(text)
    if len(parts) == 1:
        return unicodedata.normalize(form, text)
    # every second part is a long run
    parts[::2] = [unicodedata.normalize(form, part) for part in parts[::2]]
    return "".join(parts)
