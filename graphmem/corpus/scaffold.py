"""Scaffold: the empty form of a section, which stands in for what nobody told yet (000). Pure."""

from typing import Any

from graphmem.model.corpus import ID_PREFIXES, Section

SCAFFOLDED = (*ID_PREFIXES, Section.SKILLS)  # sections that have an empty form


def scaffold_of(section: Section) -> Any:  # noqa: ANN401 - any JSON
    """The empty form of a section.

    Raises:
        KeyError: a profile has none, as it has a name; metadata is set by the service.
    """
    if section in ID_PREFIXES:
        return []
    if section is Section.SKILLS:
        return {"technical": [], "platforms": [], "methods": [], "domains": []}
    raise KeyError(section)
