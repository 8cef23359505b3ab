"""File checks: what keeps a dropped file out before it is read (002, Ingestion). Pure."""

import hashlib
import os
import re
from pathlib import PurePath

from graphmem.intake.file_parsers import JSON_ENDING, TEXT_ENDINGS
from graphmem.intake.manifests import MANIFEST_ENDINGS, RejectedError, RejectionCode
from graphmem.model.policy import MemoryConfig

_MEBIBYTE = 1024 * 1024
_NAME_MAX_BYTES = 200  # leaves room for the endings of manifests
_UNSAFE = re.compile(r"[^\w.-]+", re.ASCII)


def check_file(name: str, size: int, config: MemoryConfig) -> None:
    """Refuse a plain file by its name and its size in bytes.

    Raises:
        RejectedError: it is too large, of another kind, hidden, or has a name that is none.
    """
    if name.startswith("."):
        raise RejectedError(RejectionCode.INVALID_SOURCE_PATH, "Hidden files are not taken in.")
    limit = config.ingest.max_file_size_mb * _MEBIBYTE
    if size > limit:
        message = (
            f"The file has {size:,} bytes, at most {limit:,} are taken"
            " (memory.ingest.max_file_size_mb)."
        )
        raise RejectedError(RejectionCode.FILE_TOO_LARGE, message)
    if PurePath(name).suffix.lower() not in {*TEXT_ENDINGS, JSON_ENDING}:
        raise RejectedError(
            RejectionCode.UNSUPPORTED_FILE_TYPE, "Only .txt, .md and .json files are taken in."
        )
    if name.endswith(MANIFEST_ENDINGS):
        raise RejectedError(RejectionCode.INVALID_SOURCE_PATH, "This is the name of a manifest.")
    if len(os.fsencode(name)) > _NAME_MAX_BYTES:
        message = f"The name is longer than {_NAME_MAX_BYTES} bytes."
        raise RejectedError(RejectionCode.INVALID_SOURCE_PATH, message)


def check_upload_name(name: str) -> None:
    """Refuse what is not the plain name of a file.

    Raises:
        RejectedError: it has a folder in it, or control characters.
    """
    if name in {"", ".", ".."} or re.search(r"[/\\\x00-\x1f\x7f]", name):
        message = "Must be the plain name of a file, without a folder."
        raise RejectedError(RejectionCode.INVALID_SOURCE_PATH, message)


def rejected_name(name: str) -> str:
    """The name of a rejected file: visible, plain, and not too long."""
    plain = name if not re.search(r"[/\\\x00-\x1f\x7f]", name) else _UNSAFE.sub("_", name)
    shown = plain.lstrip("._") or "file"
    if len(os.fsencode(shown)) <= _NAME_MAX_BYTES:
        return shown
    return f"{shown[:40]}-{hashlib.sha256(os.fsencode(name)).hexdigest()}"
