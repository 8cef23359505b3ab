"""What was found out of contents is known until too many others were asked for."""

from graphmem.corpus.recent import Recent


def test_what_was_asked_for_longest_ago_leaves_first():
    recent = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)

    assert 1 == recent.get("a")
    recent.put("c", 3)

    assert (1, None, 3) == (recent.get("a"), recent.get("b"), recent.get("c"))
