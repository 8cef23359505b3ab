"""Importance: how much a statement matters (003, values of the original)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.lifecycle.importance import importance_of, keywords
from graphmem.model.extraction import Category


@pytest.mark.parametrize(
    ("content", "category", "tags", "score", "level"),
    [
        ("ok", "fact", (), 0.10, "trivial"),
        ("The app uses PostgreSQL for storage.", "fact", (), 0.50, "normal"),
        ("User prefers dark mode in all editors.", "preference", (), 0.60, "normal"),
        ("I prefer tabs over spaces.", "preference", (), 0.77, "high"),
        ("Actually, the deadline is Friday.", "correction", (), 0.97, "critical"),
        ("Always run the tests before committing.", "principle", (), 0.94, "critical"),
        ("Maybe we should try Redis someday.", "fact", (), 0.35, "low"),
        ("Promise to deliver the report by Monday.", "commitment", (), 0.72, "high"),
        ("My name is Ada Lovelace and I live in London.", "fact", (), 0.75, "high"),
        ("The API version is v12 with 250 endpoints.", "fact", (), 0.53, "normal"),
        ("We picked Neo4j for storage.", "decision", (), 0.70, "high"),
        ("We picked Neo4j for storage.", "decision", ("decision", "rule"), 0.80, "high"),
        ("0123456789", "correction", (), 0.10, "trivial"),
        ("01234567891", "fact", (), 0.53, "normal"),
        ("Thank you!!!", "fact", (), 0.10, "trivial"),
        ("hahahaha haha", "fact", (), 0.50, "normal"),
        ("hahahahahahaha", "fact", (), 0.10, "trivial"),
        ("x" * 200, "fact", (), 0.50, "normal"),
        ("x" * 250, "fact", (), 0.55, "normal"),
        ("x" * 900, "fact", (), 0.60, "normal"),
    ],
)
def test_importance_is_what_003_gives(content, category, tags, score, level):
    found = importance_of(content, Category(category), tags)

    assert (score, level) == (found.score, found.level)


def test_at_most_five_reasons_are_told():
    text = "Actually I must decide by Monday, maybe: version 12 " + "x" * 300
    found = importance_of(text, Category.CORRECTION, ("important", "rule"))

    assert 5 == len(found.reasons)


@given(st.text(max_size=400), st.sampled_from(Category))
def test_importance_lies_between_0_and_1(text, category):
    assert 0 <= importance_of(text, category).score <= 1


def test_keywords_are_the_most_frequent_words_the_first_said_first():
    text = "Redis and the redis cache: a cache-line of the Redis server, at 8080."

    assert ("redis", "cache", "cache-line", "server", "8080") == keywords(text)
