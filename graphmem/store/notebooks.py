"""Notebooks: what is locked where the records that the lifecycle keeps of a space change."""

from graphmem.model.space import Space
from graphmem.store.connection import Transaction


def lock_notebook(transaction: Transaction, space: Space) -> None:
    """Take the lock of the notebook of a space."""
    transaction.run("notebooks.lock", space=space.key)
