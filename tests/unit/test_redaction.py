"""What screening refuses to store is also in no trace, query or log."""

import json
import logging

import pytest
from screening_corpus import HARMLESS, SECRETS

from graphmem.logs import set_up_logs
from graphmem.text.secrets import HIDDEN, redacted, without_secrets


@pytest.mark.parametrize("secret", SECRETS)
def test_a_query_with_a_secret_is_hidden(secret):
    assert HIDDEN == redacted(secret)


def test_texts_inside_of_values_are_hidden_one_by_one():
    secret = SECRETS[0]

    assert {"a": [HIDDEN, "tea", 3], HIDDEN: {"b": HIDDEN}} == without_secrets(
        {"a": (secret, "tea", 3), secret: {"b": secret}}
    )


@pytest.mark.parametrize("text", HARMLESS[:50])
def test_what_is_harmless_stays(text):
    assert text == without_secrets(text)


@pytest.fixture
def root():
    """The logger of the process, as it was before afterwards."""
    logger = logging.getLogger()
    handlers, level = logger.handlers, logger.level
    yield logger
    logger.handlers = handlers
    logger.setLevel(level)


@pytest.mark.parametrize("secret", SECRETS)
def test_a_log_line_has_no_secret(root, capsys, secret):
    set_up_logs("info")

    logging.getLogger("graphmem.test").warning("a file could not be moved: %s", secret)
    try:
        raise ValueError(secret)  # noqa: TRY301 - caught to be logged
    except ValueError:
        logging.getLogger("graphmem.test").exception("failed", extra={"path": secret})

    said = capsys.readouterr().err
    assert 2 == len(said.splitlines())
    assert all(secret not in str(json.loads(line)) for line in said.splitlines())
