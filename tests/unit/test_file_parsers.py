"""Long texts in parts."""

from hypothesis import given
from hypothesis import strategies as st

from graphmem.intake.splitting import parts_of

TEXTS = st.text(alphabet="ab .!?\n\té日本語\u0301", max_size=300)


@given(text=TEXTS, max_chars=st.integers(1, 40))
def test_parts_keep_every_word_and_none_is_too_long(text, max_chars):
    parts = parts_of(text, max_chars=max_chars)

    assert "".join(text.split()) == "".join("".join(parts).split())
    assert [] == [part for part in parts if len(part) > max_chars or not part.strip()]


def test_parts_end_where_paragraphs_do_else_where_sentences_or_words_do():
    text = "One two. Three.\n\nFour five six. Seven eight nine."

    assert ["One two. Three.\n\n", "Four five six. Seven eight nine."] == parts_of(
        text, max_chars=34
    )
    assert ["Four five six. ", "Seven eight nine."] == parts_of(text, max_chars=20)[-2:]
    assert ["Four ", "five ", "six."] == parts_of("Four five six.", max_chars=6)
