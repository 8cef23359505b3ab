"""What the paths of companions name: users, and their spaces with personas."""

from flask import g
from marshmallow import ValidationError

from api.service import service
from api.space_fields import visible_space
from graphmem.companion.keeper import CompanionKeeper
from graphmem.companion.personas import SLUG_FORM, is_slug
from graphmem.errors import Forbidden, InvalidInput, NotFound
from graphmem.model.caller import Role
from graphmem.model.space import Space, parse_writable_space


def keeper() -> CompanionKeeper:
    """The keeper of the companion."""
    return service().of(CompanionKeeper)


def user_space(user: str, persona: str | None = None, *, role: Role = Role.READER) -> Space:
    """The space of a user, or of a user with a persona, in which the key has a role.

    Raises:
        InvalidInput: the user or the persona cannot be called so.
        Forbidden: the key may not do that there.
    """
    if persona is not None and not is_slug(persona):
        raise InvalidInput({"persona": [SLUG_FORM]})
    name = f"user:{user}/{persona}" if persona else f"user:{user}"
    try:
        space = visible_space(name)
        parse_writable_space(name, tenant=g.caller.tenant)
    except (ValidationError, ValueError) as error:
        texts = error.messages if isinstance(error, ValidationError) else [error]
        raise InvalidInput({"user": [str(text) for text in texts]}) from error
    if not g.caller.may(role, space):
        raise Forbidden
    return space


def known_persona_space(user: str, persona: str) -> Space:
    """The space of a user with a persona that there is, for reading.

    Raises:
        NotFound: there is no such persona.
    """
    space = user_space(user, persona)
    if keeper().personas.find(space.tenant, persona) is None:
        message = f"There is no persona {persona}."
        raise NotFound(message)
    return space


def readable(space: Space) -> list[Space]:
    """A space and behind a persona that of its user, as far as the key may read them."""
    return [each for each in space.readable_with_it() if g.caller.may(Role.READER, each)]
