// fragment: thread
// A thread as it is read.
h {.*, first_at: toString(h.first_at), last_at: toString(h.last_at)}

// name: lock_newest
// Take the lock of the newest thread of a session.
// parameters: session, space
MATCH (h:Thread)
USING INDEX SEEK h:Thread(space, session, last_at)
WHERE h.space = $space AND h.session = $session AND h.last_at IS NOT NULL
WITH h ORDER BY h.last_at DESC, h.key LIMIT 1
SET h.locked = true
REMOVE h.locked
RETURN @thread AS thread;

// name: save
// Write threads, and which turns are in them.
// parameters: space_rows, turns
CALL () {
  UNWIND $space_rows AS row
  MERGE (h:Thread {key: row.key})
  SET h += row.properties, h.first_at = datetime(row.first_at), h.last_at = datetime(row.last_at)
}
UNWIND $turns AS each
MATCH (t:Turn {key: each.turn})
MATCH (h:Thread {key: each.thread})
MERGE (t)-[:IN_THREAD]->(h);

// fragment: threads_shown
// The threads of a space.
MATCH (h:Thread)
USING INDEX SEEK h:Thread(space, last_at)
WHERE h.space = $space AND h.last_at IS NOT NULL

// name: list
// One page of the threads of a space, the latest first.
// parameters: cursor_key, cursor_time, limit, space
@threads_shown
  AND (h.last_at < $cursor_time OR (h.last_at = $cursor_time AND h.key > $cursor_key))
WITH h ORDER BY h.last_at DESC, h.key LIMIT $limit
RETURN @thread AS thread
ORDER BY h.last_at DESC, h.key;

// name: count
// How many threads a list shows on all its pages.
// parameters: space
@threads_shown
RETURN count(h) AS total;

// name: of_space
// The threads of a space by key, each with its turns, for an export.
// parameters: after, limit, space
MATCH (h:Thread)
USING INDEX SEEK h:Thread(key)
WHERE h.key STARTS WITH $space + '|' AND h.key > $after
WITH h ORDER BY h.key LIMIT $limit
RETURN h.key AS key, @thread AS thread,
       COLLECT { MATCH (t:Turn)-[:IN_THREAD]->(h) RETURN t.uid ORDER BY t.number, t.key } AS turns
ORDER BY key;

// name: of_turns
// Take the locks of the threads that some turns are in, in order, and read the other turns there: when each was said,
// and its first characters.
// parameters: chars, space_keys
UNWIND $space_keys AS key
MATCH (:Turn {key: key})-[:IN_THREAD]->(h:Thread)
WITH DISTINCT h ORDER BY h.key
SET h.locked = true
REMOVE h.locked
RETURN @thread AS thread, COLLECT {
  MATCH (t:Turn)-[:IN_THREAD]->(h)
  WHERE NOT t.key IN $space_keys AND t.status = 'active'
  WITH t ORDER BY t.number DESC LIMIT 1000
  RETURN [toString(t.at), left(t.content, $chars)] ORDER BY t.number
} AS turns
ORDER BY h.key;

// name: leave
// Let turns be in no thread, and remove threads that are empty.
// parameters: space_keys, turns
UNWIND $turns AS key
MATCH (:Turn {key: key})-[i:IN_THREAD]->(:Thread)
DELETE i
WITH count(i) AS left
UNWIND $space_keys AS key
MATCH (h:Thread {key: key})
DETACH DELETE h;

// name: there
// Which of some threads are here, by key.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (h:Thread {key: key})
RETURN key
ORDER BY key;
