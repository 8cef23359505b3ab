"""Rendering: stored text inside a line that a model reads.

What a memory says can begin no line, section or citation of its own there, whoever stored it and
when: it stands on one line, with a backslash before each bracket; an order stands in quotes.
"""

import re

from graphmem.text.instructions import is_instruction_like
from graphmem.text.normalise import one_line

_OPEN, _CLOSE = "“", "”"


def within_line(text: str, *, apart: str = "") -> str:
    """A text as it stands within a line; ``apart`` are more signs that divide such a line."""
    line = one_line(text)
    needs_none = not any(sign in line for sign in f"[]\\{apart}")
    escaped = line if needs_none else _escaped(line, apart)
    is_quoted = line.startswith(_OPEN) and line.endswith(_CLOSE)
    return f"{_OPEN}{escaped}{_CLOSE}" if is_quoted or is_instruction_like(line) else escaped


def _escaped(line: str, apart: str) -> str:
    marks = re.escape(f"[]{apart}")
    # each run of backslashes is looked at once, from its begin
    escaped = re.sub(rf"(?<!\\)(\\*)([{marks}])", r"\1\1\\\2", line)
    # else the sign behind the last ones would be part of it
    return re.sub(r"(?<!\\)(\\+)\Z", r"\1\1", escaped)
