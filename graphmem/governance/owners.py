"""Owners: whose session, user space, project and system a call is about (004, spaces). Pure."""

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from graphmem.errors import InvalidInput
from graphmem.model.space import Space, SpaceKind, parse_writable_space

ANONYMOUS, UNKNOWN, SYSTEM = "anonymous", "unknown", "system"
_HASH_DIGITS = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class Owners:
    """The four spaces of a call; the user space is that of the person, who owns the session."""

    session: Space
    user: Space
    project: Space
    system: Space

    @property
    def by_kind(self) -> Mapping[SpaceKind, Space]:
        """The spaces by their kinds, in the order in which they are read."""
        return {each.kind: each for each in (self.session, self.user, self.project, self.system)}


def owners_of(
    tenant: str,
    state: Mapping[str, Any],
    identity: Mapping[str, Any],
    *,
    project: str | None = None,
    project_root: str | None = None,
) -> Owners:
    """Whose a call is.

    Raises:
        InvalidInput: an owner cannot be called so, or both project and project_root are given.
    """
    user = state.get("user")
    if user is not None and not isinstance(user, Mapping):
        raise InvalidInput({"state.user": ["Must be an object."]})
    session_id = _id(user or {}, "id", "state.user.id")
    person_id = _id(identity, "id", "identity.id") or _id(identity, "user_id", "identity.user_id")
    session = session_id or person_id or (ANONYMOUS, "state.user.id")
    person = person_id or session
    named = _project(project, project_root)
    return Owners(
        session=_space(tenant, SpaceKind.SESSION, *session),
        user=_space(tenant, SpaceKind.USER, *person),
        project=_space(tenant, SpaceKind.PROJECT, *named),
        system=_space(tenant, SpaceKind.SYSTEM, SYSTEM, "system"),
    )


def owner_text(text: str) -> str:
    """A name as an owner: without blanks at its ends, blanks and colons as underscores."""
    return re.sub(r"[\s:]", "_", unicodedata.normalize("NFC", text).strip())


def _id(values: Mapping[str, Any], name: str, path: str) -> tuple[str, str] | None:
    """The owner that a value names, with the path of the field."""
    value = values.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InvalidInput({path: ["Must be a text or a number."]})
    owner = owner_text(str(value))
    return (owner, path) if owner else None


def _project(project: str | None, root: str | None) -> tuple[str, str]:
    if project is not None and root is not None:
        raise InvalidInput({"project": ["Not together with project_root."]})
    if root is not None:
        if not (PurePosixPath(root).is_absolute() or PureWindowsPath(root).is_absolute()):
            raise InvalidInput({"project_root": ["Must be an absolute path."]})
        digest = hashlib.sha256(root.encode("utf-8", "surrogatepass")).hexdigest()
        return digest[:_HASH_DIGITS], "project_root"
    owner = owner_text(project or "")
    return owner or UNKNOWN, "project"


def _space(tenant: str, kind: SpaceKind, owner: str, path: str) -> Space:
    if "/" in owner:  # what stands behind it would be a persona
        raise InvalidInput({path: ["Must not have a /."]})
    try:
        return parse_writable_space(f"{kind}:{owner}", tenant=tenant)
    except ValueError as error:
        raise InvalidInput({path: [str(error)]}) from error
