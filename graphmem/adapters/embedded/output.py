"""Reads from what a Neo4j process printed why it ended."""

import re

SENTENCES = (
    (
        r"PortBindException.*?127\.0\.0\.1:(\d+)",
        "Port {0} on 127.0.0.1 is in use by another program.",
    ),
    (
        r"Address 127\.0\.0\.1:(\d+) is already in use",
        "Port {0} on 127.0.0.1 is in use by another program.",
    ),
    (r"Address already in use", "A port of the embedded Neo4j is in use by another program."),
    (r"No space left on device", "The disk is full."),
    (r"FileLockException", "Another Neo4j has the data folder open."),
    (r"UnsupportedClassVersionError", "This Java is too old for Neo4j."),
    (r"OutOfMemoryError|Could not reserve enough space", "There is not enough memory for Neo4j."),
    (r"(Unrecognized setting\. .*)", "{0}"),
    (r"(.* declared multiple times\.)", "{0}"),
)
TELLING = re.compile(r"\b(?:Error|Exception|error)\b|Error:|Exception:|Unrecognized|Invalid")


def why_it_ended(output: str) -> str:
    """Return the one sentence or line that helps most."""
    for pattern, sentence in SENTENCES:
        found = re.search(pattern, output, flags=re.DOTALL if "PortBind" in pattern else 0)
        if found:
            return sentence.format(*found.groups())
    return useful_line(output)


def useful_line(output: str) -> str:
    """Return the innermost cause, else the first line of an error, else the last line."""
    plain = re.sub(r"[\x00-\x09\x0b-\x1f]+", " ", output)
    lines = [line.strip() for line in plain.split("\n") if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by:")]
    errors = [line for line in lines if TELLING.search(line) and not line.startswith("at ")]
    return (causes[-1:] or errors[:1] or lines[-1:] or ["It printed nothing."])[0]
