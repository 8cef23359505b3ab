"""Service metadata: what the service sets in the metadata of a corpus with each push. Pure."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from graphmem.corpus.schema import is_moment
from graphmem.model.corpus import Corpus, CorpusSource
from graphmem.text.times import iso

COMPLETE, COMPLETED_AT = "onboarding_complete", "onboarding_completed_utc"
_UPDATED_AT, _SOURCE = "last_updated_utc", "source"


def metadata_of(corpus: Corpus | None) -> Mapping[str, Any]:
    """The metadata of a corpus; empty where it has none."""
    found = corpus.get("metadata") if corpus else None
    return found if isinstance(found, dict) else {}


def is_complete(corpus: Corpus | None) -> bool:
    """Whether a corpus says that its onboarding is complete."""
    return metadata_of(corpus).get(COMPLETE) is True


def with_metadata(corpus: Corpus, before: Corpus | None, now: datetime) -> Corpus:
    """A corpus with what the service sets in its metadata.

    A first revision keeps the time and source that were imported. Onboarding is complete only
    where it was before, whatever a draft says (trap 32).
    """
    given = metadata_of(corpus)
    own = {name: value for name, value in given.items() if name not in {COMPLETE, COMPLETED_AT}}
    if before is None:
        first = {**_set_now(now, CorpusSource.ONBOARDING), **_kept(own), **_not_complete(given)}
        return {**corpus, "metadata": first}
    known = metadata_of(before)
    completed = {name: known[name] for name in (COMPLETE, COMPLETED_AT) if name in known}
    source = CorpusSource.USER_UPDATE if is_complete(before) else CorpusSource.ONBOARDING
    return {**corpus, "metadata": {**own, **completed, **_set_now(now, source)}}


def completed(corpus: Corpus, now: datetime) -> Corpus:
    """A corpus whose onboarding is complete."""
    return {**corpus, "metadata": {**metadata_of(corpus), COMPLETE: True, COMPLETED_AT: iso(now)}}


def _set_now(now: datetime, source: CorpusSource) -> Mapping[str, Any]:
    return {_UPDATED_AT: iso(now), _SOURCE: source.value}


def _kept(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields without a time or source that is none."""
    moment, source = fields.get(_UPDATED_AT), fields.get(_SOURCE)
    wrong = set()
    if not isinstance(moment, str) or not is_moment(moment):
        wrong.add(_UPDATED_AT)
    if not isinstance(source, str) or source not in set(CorpusSource):
        wrong.add(_SOURCE)
    return {name: value for name, value in fields.items() if name not in wrong}


def _not_complete(given: Mapping[str, Any]) -> Mapping[str, Any]:
    return {COMPLETE: False} if given.get(COMPLETE) is False else {}
