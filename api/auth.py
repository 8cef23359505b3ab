"""Authentication: who is calling, by Authorization: Bearer or X-API-Key."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from ipaddress import ip_address
from typing import ParamSpec, TypeVar

from flask import g, request

from api.dispatching import sent_key
from api.service import call_rate, readiness, service
from graphmem.errors import Forbidden, StoreUnavailable, Unauthenticated
from graphmem.model.caller import Caller, Role
from graphmem.model.space import FIRST_TENANT

P = ParamSpec("P")
R = TypeVar("R")

_ANYONE = Caller(key_id="auth-off", tenant=FIRST_TENANT, role=Role.ADMIN, spaces=("*",))


def requires(role: Role, *, while_away: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a view run only for keys that have a role; the caller is then in ``g.caller``.

    Raises:
        Unauthenticated: there is no key, or it is unknown or revoked.
        Forbidden: the key's role does not suffice.
    """

    def decorate(view: Callable[P, R]) -> Callable[P, R]:
        @wraps(view)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
            g.caller = authenticate(while_away=while_away)
            if not g.caller.role.includes(role):
                message = (
                    f"This needs a key with the role {role} or above; yours is {g.caller.role}."
                )
                raise Forbidden(message)
            return view(*args, **kwargs)

        return guarded

    return decorate


def authenticate(*, while_away: bool = False) -> Caller:
    """The caller of this request, by its key.

    ``while_away`` lets a call in while the database is away; its answer holds nothing of it.

    Raises:
        Unauthenticated: there is no key, or it is unknown or revoked.
        TooManyCalls: it has called too often (server.calls_per_minute).
        StoreUnavailable: the database does not answer.
        SchemaMismatch: the schema of the database does not fit.
    """
    is_closed = readiness().reason is not None
    if is_closed and not (while_away and isinstance(readiness().reason, StoreUnavailable)):
        readiness().check()
    if not service().settings.server.auth:
        return _ANYONE
    headers = request.headers
    secret = sent_key(headers.get("Authorization", ""), headers.get("X-API-Key", ""))
    caller = service().keys.find(secret, while_away=while_away) if secret else None
    if caller is None:
        raise Unauthenticated
    call_rate().check(caller.key_id)
    return replace(caller, is_remembered=True) if is_closed else caller


def is_loopback() -> bool:
    """Whether the request comes from this machine."""
    try:
        return ip_address(request.remote_addr or "").is_loopback
    except ValueError:
        return False
