"""Corpus deltas: an earlier revision as what differs from the one after it, and whole again.

The newest proved revision is always whole, so what readers see is read at once. Of an earlier one
only what it alone holds is kept, packed. It is unpacked by its own tree, so that damage to a
document of one revision never loses another.
"""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphmem.model.corpus import Document, StoredCommit

WHOLE_EVERY = 128  # revisions one stays whole, so that reading an earlier one is bounded
_WINDOW_BYTES = 32_768  # that a compressor looks back
_WORTH = 0.8  # of its text, what a packed document may take
# What most documents say. It never changes: what was packed with it is unpacked with it.
_WORDS = (
    '{"certification":"","certifications":[{"id":"cert_","issue_date":"","issuer":"","name":"",'
    '"notes":null,"status":"active"}],"education":[{"degree":"","field_of_study":"",'
    '"graduation_year":20,"id":"edu_","institution":""}],"profile":{"email":"","full_name":"",'
    '"links":[{"name":"LinkedIn","url":"https://github.com/"}],"location":"","phone":""},'
    '"project":{"description":"","id":"proj_","name":"","outcomes":[""],"role":"","stack":[""]},'
    '"skills":{"domains":[],"methods":[],"platforms":[],"technical":[]},'
    '"experience":{"bullets":["","domain_tags":["","employer":"","end_date":null,"id":"exp_",'
    '"location":"","notes":null,"outcomes":[""],"start_date":"20","title":"","tools":[""]}}'
    '{"metadata":{"last_updated_utc":"20-01T00:00:00Z","onboarding_complete":true,'
    '"onboarding_completed_utc":"20","source":"user_update"}}'
    '{"core_files":{"certifications":"corpus_certifications.json","education":'
    '"corpus_education.json","metadata":"corpus_metadata.json","profile":"corpus_profile.json",'
    '"skills":"corpus_skills.json"},"experience_files":[],"file_hashes":{,"format_version":"1.0.0",'
    '"generated_at_utc":"20","project_files":[],"schema_version":"1.0.0"}'
    '{"corpus_experience_exp_.json":"","corpus_index.json":"","corpus_metadata.json":"'
)
_ITEM = "corpus_experience_"

Tree = Mapping[str, str]
Row = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class CommitDelta:
    """What a commit has that the one after it has not.

    ``paths`` are those in which the two differ, ``delta`` its own hashes of these, ``packed``
    documents at them, by their hashes.
    """

    sha: str
    paths: Sequence[str]
    delta: bytes
    packed: Mapping[str, bytes]


def delta_of(before: StoredCommit | None, after: StoredCommit) -> CommitDelta | None:
    """A commit as what differs from the one after it; None where it stays whole."""
    if before is None or before.sha != after.parent or before.revision % WHOLE_EVERY == 0:
        return None
    one, other = before.commit.tree, after.commit.tree
    paths = sorted(path for path in one.keys() | other.keys() if one.get(path) != other.get(path))
    found = (before.documents.get(path) for path in paths)
    packed = {
        document.sha256: pack(document.text, one)
        for document in found
        if document and document.sha256 == one.get(document.path)
    }
    return CommitDelta(
        sha=before.sha,
        paths=paths,
        delta=_packed(json.dumps({path: one.get(path) for path in paths}), ""),
        packed={sha: short for sha, short in packed.items() if short},
    )


def pack(text: str, tree: Tree) -> bytes | None:
    """A document of a tree, packed; None where that is hardly shorter."""
    packed = _packed(text, _said_of(tree))
    is_shorter = len(packed) <= len(text.encode("utf-8", "surrogatepass")) * _WORTH
    return packed if is_shorter else None


def unpack(packed: bytes, tree: Tree) -> str | None:
    """A document of a tree; None where it cannot be unpacked."""
    return _unpacked(packed, _said_of(tree))


def _said_of(tree: Tree) -> str:
    """What a manifest is likely to say of a tree; this too never changes."""
    ids = {path: path.removeprefix(_ITEM).removesuffix(".json") for path in sorted(tree)}
    files = (f'{{"id":"{uid}","path":"{path}"}}' for path, uid in ids.items())
    hashes = (f'"{path}":"{tree[path]}"' for path in sorted(tree))
    return f"{','.join(files)},{','.join(hashes)}"


def _packed(text: str, said: str) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=_dictionary(said))
    return packer.compress(text.encode("utf-8", "surrogatepass")) + packer.flush()


def _unpacked(packed: bytes, said: str) -> str | None:
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS, zdict=_dictionary(said))
    try:
        text = unpacker.decompress(bytes(packed)) + unpacker.flush()
        return text.decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError):
        return None


def _dictionary(said: str) -> bytes:
    return f"{said}{_WORDS}".encode("utf-8", "surrogatepass")[-_WINDOW_BYTES:]


def tree_of_chain(chain: Iterable[Row]) -> dict[str, str]:
    """The tree of the last commit of a chain, in which each stands before its parent."""
    found: dict[str, str | None] = {}
    for row in chain:
        found = _tree(row) if _is_whole(row) else found | _tree(row)
    return {path: sha for path, sha in found.items() if sha is not None}


def _is_whole(row: Row) -> bool:
    return row["delta"] is None


def _tree(row: Row) -> dict[str, str | None]:
    """The hashes of a commit, or those in which it differs from the one after it."""
    text = row["tree"] if _is_whole(row) else _unpacked(row["delta"], "")
    tree: dict[str, str | None] = json.loads(text or "{}")
    return tree


def documents_of_chain(chain: Sequence[Row]) -> dict[str, Document]:
    """The documents of the last commit of a chain; what cannot be read any more is missing."""
    texts: dict[str, str | None] = {}
    tree: dict[str, str | None] = {}
    for row in chain:
        differs = _tree(row)
        if _is_whole(row):
            texts, tree = {}, {}
        tree |= differs
        own = {path: sha for path, sha in tree.items() if sha is not None}
        texts |= dict.fromkeys(differs) | {
            path: text if packed is None or text is not None else unpack(packed, own)
            for path, text, packed in row["documents"]
        }
    return {
        path: Document(path=path, text=text)
        for path, text in sorted(texts.items())
        if text is not None
    }
