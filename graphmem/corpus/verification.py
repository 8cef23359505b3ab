"""Verification: whether a second reading found what was to be written (000, step 12). Pure."""

from collections.abc import Iterator, Mapping

from graphmem.corpus.documents import Changes
from graphmem.corpus.push_result import Verified
from graphmem.model.corpus import Documents


def verified(changed: Changes, tree: Mapping[str, str], read: Documents) -> Verified:
    """What documents that were read back prove of the tree that was to be written.

    What was to leave is looked at first, then what was to change, then all that was to stay, by
    paths: a revision is proved as a whole.
    """
    error = next(_errors(changed, tree, read), None)
    return Verified(ok=error is None, error=error)


def tree_changes(before: Mapping[str, str], tree: Mapping[str, str]) -> Changes:
    """What differs between the trees of two commits: what a cut push was to write."""
    return Changes(
        changed=tuple(path for path in sorted(tree) if before.get(path) != tree[path]),
        deleted=tuple(sorted(before.keys() - tree.keys())),
    )


def _errors(changed: Changes, tree: Mapping[str, str], read: Documents) -> Iterator[str]:
    for path in sorted({*changed.deleted, *(read.keys() - tree.keys())}):
        if path in read:
            yield f"deleted_path_still_present:{path}"
    stay = sorted(tree.keys() - set(changed.paths))
    for path in (*changed.changed, *stay):
        if path not in read:
            yield f"changed_path_missing:{path}"
        elif read[path].sha256 != tree[path]:
            yield f"blob_sha_mismatch:{path}"
