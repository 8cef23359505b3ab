// name: lock
// Take the lock of a note, and return what it was.
// parameters: key, space
MERGE (n:Note {key: $key})
  ON CREATE SET n.space = $space
SET n.locked = true
REMOVE n.locked
RETURN n.text AS text;

// name: save
// Keep a note that rests on a memory.
// parameters: created_at, key, memory, space, text, uid
MATCH (n:Note {key: $key})
SET n.space = $space, n.uid = $uid, n.text = $text, n.memory = $memory, n.is_stale = false,
    n.created_at = coalesce(n.created_at, $created_at);

// name: resting
// Take the locks of the notes that rest on some memories, in order.
// parameters: space_keys
MATCH (n:Note)
WHERE n.memory IN $space_keys
WITH n ORDER BY n.key
SET n.locked = true
REMOVE n.locked
RETURN n.key AS key, n.uid AS uid, n.space AS space, n.memory AS memory, n.is_stale AS is_stale
ORDER BY key;

// name: mark
// Say of notes whether what they rest on still holds.
// parameters: notes
UNWIND $notes AS note
MATCH (n:Note {key: note.key})
SET n.is_stale = note.is_stale;

// name: list
// One page of the notes of a space, oldest first.
// parameters: cursor_key, limit, space
MATCH (n:Note)
WHERE n.space = $space AND n.key > $cursor_key
RETURN n.key AS key, n.uid AS uid, n.text AS text, n.memory AS memory, n.is_stale AS is_stale
ORDER BY key
LIMIT $limit;

// name: count
// How many notes a space has.
// parameters: space
MATCH (n:Note)
WHERE n.space = $space
RETURN count(n) AS total;

// name: stale_before
// The stale notes from before a time.
// parameters: before
MATCH (n:Note)
WHERE n.is_stale AND n.created_at < $before
RETURN n.key AS key, n.space AS space, n.uid AS uid
ORDER BY key;

// name: remove
// Remove notes.
// parameters: keys
UNWIND $keys AS key
MATCH (n:Note {key: key})
DETACH DELETE n;
