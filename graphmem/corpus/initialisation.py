"""Initialisation: how a repository comes to be, once a turn at most (000, Bootstrap). Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from graphmem.corpus.status import block
from graphmem.errors import Conflict

_TITLE = "INITIALIZATION STATUS"


class BootstrapStep(StrEnum):
    """What was done about a repository."""

    GET = "get"
    CREATE = "create"
    GET_CONFIRM = "get_confirm"


@dataclass(frozen=True, kw_only=True, slots=True)
class Initialisation:
    """What a bootstrap found and did; ``was_tried`` tells of a create earlier in the turn."""

    sequence: tuple[BootstrapStep, ...]
    was_tried: bool = False

    @property
    def created(self) -> bool:
        """Whether the repository is new."""
        return BootstrapStep.CREATE in self.sequence

    @property
    def values(self) -> Mapping[str, bool]:
        """The six values of an initialisation."""
        return {
            "owner_resolved": True,
            "repo_exists": True,
            "repo_created_this_turn": self.created,
            "repo_create_attempted_this_turn": self.created or self.was_tried,
            "store_initialized": True,
            "sync_initialized": True,
        }

    @property
    def text(self) -> str:
        """The same as a block of plain text."""
        return "\n".join((_TITLE, *block(self.values).splitlines()[1:]))


def initialised(*, has_repository: bool, was_tried: bool) -> Initialisation:
    """What a bootstrap does; ``was_tried`` says that a create was tried in this turn already.

    Raises:
        Conflict: the repository is not there, and was to be created in this turn before.
    """
    if has_repository:
        return Initialisation(sequence=(BootstrapStep.GET,), was_tried=was_tried)
    if was_tried:
        message = "A repository was to be created in this turn already; a turn does so once."
        raise Conflict(message)
    return Initialisation(sequence=tuple(BootstrapStep))
