"""Segments: the id of a conversation is one segment of its path, whatever it holds.

Servers hand a path over decoded, which would divide an id that has a slash in it. The segment of
the id stays percent-encoded until its route takes it. ``?id=`` names it where no segment can,
because clients leave out ``.`` and ``..``.
"""

from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, unquote_to_bytes, urlencode

from flask import Flask
from werkzeug.routing import BaseConverter, ValidationError

from graphmem.text.normalise import nfc

_PREFIX = "/v1/conversations"
_BEFORE_ID = len(_PREFIX.split("/"))
Environ = dict[str, Any]
Application = Callable[[Environ, Any], Iterable[bytes]]


class IdConverter(BaseConverter):
    """An id in a segment that is still percent-encoded; what is not UTF-8 names nothing."""

    def to_python(self, value: str) -> str:
        """The id, in the form that it is kept in."""
        try:
            return nfc(unquote(value, errors="strict"))
        except UnicodeDecodeError as error:
            raise ValidationError from error

    def to_url(self, value: str) -> str:
        """The id as a segment."""
        return _segment(value)


def keep_segments(app: Flask) -> None:
    """Let the ids of conversations reach their routes as they were sent."""
    app.url_map.converters["conversation"] = IdConverter
    app.url_map.merge_slashes = False  # an empty segment is none
    app.wsgi_app = _with_segments(app.wsgi_app)  # type: ignore[assignment, method-assign]


def _with_segments(inner: Application) -> Application:
    def application(environ: Environ, start_response: Any) -> Iterable[bytes]:  # noqa: ANN401 - WSGI
        return inner(_kept(environ), start_response)

    return application


def _kept(environ: Environ) -> Environ:
    """The environment with a path whose id is percent-encoded."""
    prefix = environ.get("SCRIPT_NAME", "")
    path = environ.get("REQUEST_URI", "").partition("?")[0].removeprefix(prefix)
    segments = path.split("/")
    if "/".join(segments[:_BEFORE_ID]) != _PREFIX:
        return environ
    try:
        query = parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True, errors="strict")
    except UnicodeDecodeError:
        return environ  # the view says what is wrong with it
    ids = [value for name, value in query if name == "id"]
    if ids:
        segments.insert(_BEFORE_ID, _segment(ids[0]))
        left = urlencode([(name, value) for name, value in query if name != "id"])
        environ = environ | {"QUERY_STRING": left}
    elif len(segments) > _BEFORE_ID:
        segments[_BEFORE_ID] = _quoted(unquote_to_bytes(segments[_BEFORE_ID]))
    behind = [_decoded(each) for each in segments[_BEFORE_ID + 1 :]]
    return environ | {"PATH_INFO": "/".join((*segments[: _BEFORE_ID + 1], *behind))}


def _segment(conversation_id: str) -> str:
    return _quoted(conversation_id.encode("utf-8", "surrogatepass"))


def _quoted(text: bytes) -> str:
    """A segment that nothing takes for a folder of a path."""
    return quote(text, safe="").replace(".", "%2E")


def _decoded(segment: str) -> str:
    """A segment as WSGI wants it."""
    return unquote_to_bytes(segment).decode("latin-1")
