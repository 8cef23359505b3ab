"""Importing: what files or a corpus from outside are taken as (000, Files). Pure."""

from collections.abc import Iterator, Mapping

from graphmem.corpus.assembly import assembled
from graphmem.corpus.manifest import has_corpus, is_unsafe
from graphmem.errors import FieldProblems, InvalidInput
from graphmem.model.corpus import Corpus, Document, Documents
from graphmem.model.policy.corpus import CorpusPolicy
from graphmem.text.normalise import is_storable

_FILES = "files"


def files_of(texts: Mapping[str, str], policy: CorpusPolicy) -> Documents:
    """Files as a repository takes them, whatever they say.

    Raises:
        InvalidInput: one could lie outside its folder, cannot be stored, or is too large.
    """
    problems = {
        f"{_FILES}.{path}": [found]
        for path, text in texts.items()
        if (found := _problem_of(path, text, policy))
    }
    if sum(_bytes(text) for text in texts.values()) > policy.corpus_bytes:
        problems[_FILES] = [f"Are larger than {policy.corpus_bytes:,} bytes."]
    if problems:
        raise InvalidInput(problems)
    return {path: Document(path=path, text=text) for path, text in texts.items()}


def _problem_of(path: str, text: str, policy: CorpusPolicy) -> str | None:
    if not path or is_unsafe(path) or not path.isprintable():
        return "A file of that name could lie outside its folder."
    if not is_storable(text):
        return "Has a character that cannot be stored."
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


def _by_path(problems: Iterator[tuple[str, str]]) -> FieldProblems:
    found: dict[str, list[str]] = {}
    for path, message in problems:
        found.setdefault(path, []).append(message)
    return found
