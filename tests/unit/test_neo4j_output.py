"""What the user is told when a Neo4j process has ended."""

import pytest

from graphmem.adapters.embedded.output import why_it_ended

CAUSED = """\x06
2026-11-27 ERROR Failed to start Neo4j on 127.0.0.1:7474.
java.lang.RuntimeException: Error starting Neo4j database server
\tat org.neo4j.Server.start(Server.java:1)
Caused by: org.neo4j.Outer: outer
\t... 9 more
Caused by: org.neo4j.Inner: the reason
\t... 12 more
"""
PORT = """Caused by: org.neo4j.io.PortBindException: Address is already in use:
 127.0.0.1:7999
Caused by: java.net.BindException: Address already in use
"""


@pytest.mark.parametrize(
    ("expected", "output"),
    [
        ("Port 7999 on 127.0.0.1 is in use by another program.", PORT),
        (
            "Port 7475 on 127.0.0.1 is in use by another program.",
            "Starting Neo4j failed: Address 127.0.0.1:7475 is already in use, cannot bind to it.\n",
        ),
        ("The disk is full.", "java.io.IOException: No space left on device\n"),
        (
            "Another Neo4j has the data folder open.",
            "Caused by: org.neo4j.kernel.FileLockException: …\n",
        ),
        (
            "This Java is too old for Neo4j.",
            "java.lang.UnsupportedClassVersionError: org/neo4j/…\n",
        ),
        (
            "Unrecognized setting. No declared setting with name: no.such.key.",
            "Error: x\nUnrecognized setting. No declared setting with name: no.such.key.\n",
        ),
        ("Caused by: org.neo4j.Inner: the reason", CAUSED),
        (
            "Invalid maximum heap size: -Xmxmuch",
            "\x06\nInvalid maximum heap size: -Xmxmuch\nfurther words\n",
        ),
        ("the last words", "some words\nthe last words\n"),
        ("It printed nothing.", "\x06\n"),
    ],
)
def test_most_useful_line_of_the_output_is_chosen(expected: str, output: str) -> None:
    """A known cause becomes a sentence, else the innermost cause is shown."""
    assert expected == why_it_ended(output)
