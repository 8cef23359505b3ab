"""Manifests: what became of a dropped file, in the forms of 002 (Ingestion)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

PROCESSED_ENDING, REJECTION_ENDING = ".processed.json", ".rejection.json"
MANIFEST_ENDINGS = (PROCESSED_ENDING, REJECTION_ENDING)


class RejectionCode(StrEnum):
    """Why a file was not taken in (002, Ingestion)."""

    FILE_TOO_LARGE = "file_too_large"
    UNSUPPORTED_FILE_TYPE = "unsupported_file_type"
    INVALID_JSON = "invalid_json"
    INVALID_SOURCE_PATH = "invalid_source_path"
    SCOPE_MISMATCH = "scope_mismatch"
    EMPTY_CONTENT = "empty_content"
    EMPTY_SUMMARY = "empty_summary"
    REPOSITORY_ERROR = "repository_error"


class RejectedError(Exception):
    """A file is not taken in: a stable code and a sentence."""

    def __init__(self, code: RejectionCode, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """What became of one file; ``file`` is its name where it now lies."""

    file: str
    values: Mapping[str, object]

    @property
    def status(self) -> str:
        """``processed``, ``duplicate`` or ``rejected``."""
        return str(self.values["status"])


def beside(path: Path, ending: str) -> Path:
    """Where the manifest of a file lies."""
    return path.with_name(f"{path.name}{ending}")


def accepted(
    file: str, key: str, *, is_duplicate: bool, memories: int = 0, edges: int = 0
) -> Manifest:
    """The manifest of a file that was taken in, now or before."""
    return Manifest(
        file=_shown(file),
        values={
            "status": "duplicate" if is_duplicate else "processed",
            "idempotencyKey": key,
            "memoriesWritten": memories,
            "edgesWritten": edges,
        },
    )


def rejected(
    file: str, source_path: str, reason: RejectedError, *, key: str | None = None
) -> Manifest:
    """The manifest of a file that was not taken in, with its key where it could be read."""
    known = {"idempotencyKey": key} if key else {}
    error = {"code": reason.code.value, "message": _shown(str(reason))}
    values = {"status": "rejected", "sourcePath": _shown(source_path), **known, "error": error}
    return Manifest(file=_shown(file), values=values)


def _shown(text: str) -> str:
    """A text as it can be written: what is no UTF-8 of it is spelled out."""
    return text.encode("utf-8", "backslashreplace").decode()
