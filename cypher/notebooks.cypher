// name: lock
// Take the lock of the notebook of a space, which begins with it.
// parameters: space
MERGE (n:Notebook {space: $space})
SET n.locked = true
REMOVE n.locked;
