"""Logs: one JSON line an event, on standard error.

Memory contents are never logged at info level, secrets that screening knows at no level.
"""

import logging
import sys

import structlog

from graphmem.text.secrets import without_secrets


def _redacting(
    _logger: object, _name: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Hide the texts of a log line that hold a secret."""
    return {name: without_secrets(value) for name, value in event.items()}


def set_up_logs(level: str) -> None:
    """Send every log of this process through structlog, as JSON lines."""
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _redacting,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level.upper())
    # libraries that log every step of theirs, some of it with the texts they were given
    for name in ("neo4j", "httpx2", "openai", "apscheduler", "fastembed", "huggingface_hub"):
        logging.getLogger(name).setLevel(logging.WARNING)
