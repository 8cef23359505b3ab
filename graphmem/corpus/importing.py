"""Importing: what files or a corpus from outside are taken as (000, Files). Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from graphmem.corpus.assembly import assembled
from graphmem.corpus.file_names import path_problems
from graphmem.corpus.manifest import ITEM_KEYS, has_corpus, split, with_ids
from graphmem.corpus.schema import (
    UNSTORABLE,
    Problem,
    dotted,
    double_ids,
    items_of,
    value_problems,
)
from graphmem.errors import FieldProblems, InvalidInput
from graphmem.model.corpus import ID_PREFIXES, Corpus, Document, Documents, Section
from graphmem.model.policy.corpus import CorpusPolicy
from graphmem.text.normalise import is_storable

_FILES = "files"


def files_of(texts: Mapping[str, str], policy: CorpusPolicy) -> Documents:
    """Files as a repository takes them, whatever they say.

    Raises:
        InvalidInput: one could lie outside its folder, cannot be stored, or is too large.
    """
    misnamed = path_problems(texts)
    problems = {
        f"{_FILES}.{path}": [found]
        for path, text in texts.items()
        if (found := misnamed.get(path) or _problem_of(text, policy))
    }
    if sum(_bytes(text) for text in texts.values()) > policy.corpus_bytes:
        problems[_FILES] = [f"Are larger than {policy.corpus_bytes:,} bytes."]
    if problems:
        raise InvalidInput(problems)
    return {path: Document(path=path, text=text) for path, text in texts.items()}


def _problem_of(text: str, policy: CorpusPolicy) -> str | None:
    if not is_storable(text):
        return UNSTORABLE
    if _bytes(text) > policy.document_bytes:
        return f"Is larger than {policy.document_bytes:,} bytes."
    return None


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def corpus_of(files: Documents) -> Corpus:
    """The corpus that files are, as a draft takes it; its form is looked at later.

    Raises:
        InvalidInput: they are none; all that is wrong with them is named by its file.
    """
    if not has_corpus(files):
        raise InvalidInput({_FILES: ["Hold no manifest, and no corpus in one file."]})
    found = assembled(files)
    if found.corpus is None:
        problems = ((f"{_FILES}.{fault.path}", fault.message) for fault in found.faults)
        raise InvalidInput(_by_path(problems))
    return found.corpus


def _by_path(problems: Iterable[tuple[str, str]]) -> FieldProblems:
    found: dict[str, list[str]] = {}
    for path, message in problems:
        found.setdefault(path, []).append(message)
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class GivenRevision:
    """A revision from outside, with its message and the time at which it was made, if known."""

    files: Documents
    message: str = "Import"
    at: datetime | None = None


def check_history(revisions: Sequence[GivenRevision]) -> None:
    """Refuse revisions of which one leaves out the corpus: no corpus goes but by a repair.

    Raises:
        InvalidInput: there is one, or there are none at all.
    """
    if not revisions:
        raise InvalidInput({"commits": ["There are none."]})
    held = [has_corpus(each.files) for each in revisions]
    for number, (before, after) in enumerate(pairwise(held), 2):
        if before and not after:
            raise InvalidInput({f"commits.{number}": ["Leaves out the corpus."]})


def documents_of(
    corpus: Corpus, policy: CorpusPolicy, *, new_id: Callable[[], str], now: datetime
) -> Documents:
    """A corpus from outside as documents that say all that it says, valid or not.

    Raises:
        InvalidInput: documents cannot hold it as it is; each place is named.
    """
    problems = value_problems(corpus) or tuple(sorted(set(_not_carried(corpus))))
    if problems:
        raise InvalidInput(_by_path((each.path, each.message) for each in problems))
    made = split(with_ids(corpus, new_id), before={}, generated_at=now)
    return files_of({path: document.text for path, document in made.items()}, policy)


def _not_carried(corpus: Corpus) -> Iterator[Problem]:
    """What no document would hold: other fields, and items that no file can be named after."""
    for name in corpus.keys() - {"schema_version", *Section}:
        yield Problem(path=dotted((name,)), message="Is no field of a corpus.")
    for section in ITEM_KEYS:
        yield from _items_not_carried(corpus.get(section, []), section.value)
    for section in ID_PREFIXES:
        for number, item in items_of(corpus, section):
            if not isinstance(item.get("id"), str | None):
                yield Problem(path=dotted((section.value, number, "id")), message="Must be a text.")
    yield from double_ids(corpus)


def _items_not_carried(items: Any, section: str) -> Iterator[Problem]:  # noqa: ANN401 - any JSON
    if not isinstance(items, list):
        yield Problem(path=section, message="Must be a list.")
        return
    for number, item in enumerate(items):
        if not isinstance(item, dict):
            yield Problem(path=dotted((section, number)), message="Must be an object.")
