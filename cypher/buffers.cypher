// fragment: buffer
// A buffer as it is read.
b {.*, first_at: toString(b.first_at), last_at: toString(b.last_at),
   last_extraction_at: toString(b.last_extraction_at)}

// name: lock
// Take the lock of the buffer of a session, which begins with it.
// parameters: session, space, space_key
MERGE (b:Buffer {key: $space_key})
  ON CREATE SET b.space = $space, b.session = $session
SET b.locked = true
REMOVE b.locked
RETURN @buffer AS buffer;

// name: save
// Write what a buffer now is. Each row is an extraction that takes the turns that wait, and new ones. Those that are
// left wait on.
// parameters: properties, space_key, space_rows, times, turns
MATCH (b:Buffer {key: $space_key})
SET b += $properties, b.first_at = datetime($times.first_at), b.last_at = datetime($times.last_at),
    b.last_extraction_at = datetime($times.last_extraction_at)
WITH b
CALL (b) {
  UNWIND $space_rows AS row
  CREATE (x:Extraction:WaitingExtraction)-[:EMPTIES]->(b)
  SET x = row.properties, x.first_at = datetime(row.first_at), x.decided_at = datetime(row.decided_at),
      x.claimed_until = datetime(row.claimed_until)
  WITH b, x, row
  CALL (b, x) {
    MATCH (b)<-[w:WAITS_IN]-(t:Turn)
    CREATE (x)-[:READS]->(t)
    DELETE w
  }
  CALL (x, row) {
    UNWIND row.turns AS key
    MATCH (t:Turn {key: key})
    CREATE (x)-[:READS]->(t)
  }
}
CALL (b) {
  UNWIND $turns AS key
  MATCH (t:Turn {key: key})
  CREATE (t)-[:WAITS_IN]->(b)
};

// name: of_turns
// Take the locks of the buffers that some turns wait in, in order, and read the other turns there, in their order.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (:Turn {key: key})-[:WAITS_IN]->(b:Buffer)
WITH DISTINCT b ORDER BY b.key
SET b.locked = true
REMOVE b.locked
RETURN @buffer AS buffer, COLLECT {
  MATCH (t:Turn)-[:WAITS_IN]->(b)
  WHERE NOT t.key IN $space_keys
  RETURN [t.role, t.digest, size(trim(left(t.content, 4000))), toString(t.recorded_at)] ORDER BY t.number
} AS turns
ORDER BY b.key;

// name: recount
// Write what buffers are without turns that were taken back.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (b:Buffer {key: row.key})
SET b += row.properties, b.first_at = datetime(row.times.first_at), b.last_at = datetime(row.times.last_at)
WITH b, row
UNWIND row.gone AS key
MATCH (:Turn {key: key})-[w:WAITS_IN]->(b)
DELETE w;

// fragment: buffers_shown
// The buffers of a space that were ever used.
MATCH (b:Buffer)
USING INDEX SEEK b:Buffer(space, key)
WHERE b.space = $space AND b.key > '' AND (b.turns > 0 OR b.extractions > 0)

// name: list
// One page of the buffers of a space by session, each with the turns that it holds and those of extractions to come.
// parameters: cursor_key, limit, space
@buffers_shown
  AND b.key > $cursor_key
WITH b ORDER BY b.key LIMIT $limit
OPTIONAL MATCH (b)<-[:EMPTIES]-(x:WaitingExtraction)
RETURN b.key AS key, @buffer AS buffer, sum(coalesce(x.turn_count, 0)) AS waiting,
       sum(coalesce(x.characters, 0)) AS waiting_characters, toString(min(x.first_at)) AS waiting_since,
       toString(max(x.decided_at)) AS waiting_until
ORDER BY key;

// name: count
// How many buffers a list shows on all its pages.
// parameters: space
@buffers_shown
RETURN count(b) AS total;

// name: idle
// The next buffers whose last turn arrived before a time, the longest quiet first; of one space if one is named.
// parameters: before, cursor_key, cursor_time, limit, space
MATCH (b:Buffer)
WHERE b.last_at >= $cursor_time AND b.last_at < $before AND ($space = '' OR b.space = $space)
  AND (b.last_at > $cursor_time OR b.key > $cursor_key)
RETURN @buffer AS buffer
ORDER BY b.last_at, b.key
LIMIT $limit;

// name: holding
// The buffers of a space that hold turns, by session; of one session if one is named.
// parameters: after, limit, session, space
MATCH (b:Buffer)
USING INDEX SEEK b:Buffer(space, key)
WHERE b.space = $space AND b.key > $after AND b.turns > 0 AND ($session = '' OR b.session = $session)
RETURN b.key AS key, @buffer AS buffer
ORDER BY key
LIMIT $limit;

// name: of_space
// The buffers of a space, each with the keys of the turns that wait in it, for an export.
// parameters: after, limit, space
MATCH (b:Buffer)
USING INDEX SEEK b:Buffer(space, key)
WHERE b.space = $space AND b.key > $after
WITH b ORDER BY b.key LIMIT $limit
RETURN b.key AS key, @buffer AS buffer,
       COLLECT { MATCH (t:Turn)-[:WAITS_IN]->(b) RETURN t.uid ORDER BY t.number } AS turns
ORDER BY key;

// name: take_in
// Write buffers that another store kept, each with the turns that are here and that nothing read yet; one in which
// something was said since counts these turns too. Each with whether it changed.
// parameters: space_rows
UNWIND $space_rows AS row
MERGE (b:Buffer {key: row.key})
  ON CREATE SET b.space = row.space, b.session = row.session
WITH b, row, coalesce(b.turns, 0) = 0 AND coalesce(b.extractions, 0) = 0 AS is_new
CALL (b, row, is_new) {
  WITH b, row, is_new WHERE is_new
  SET b += row.properties, b.last_extraction_at = datetime(row.times.last_extraction_at)
}
CALL (b, row) {
  UNWIND row.turns AS key
  MATCH (t:Turn {key: key})
  WHERE t.status = 'active' AND NOT EXISTS { (t)<-[:READS]-(:Extraction) } AND NOT EXISTS { (t)-[:WAITS_IN]->(b) }
  CREATE (t)-[:WAITS_IN]->(b)
  RETURN count(t) AS added
}
CALL (b, row, added) {
  WITH b, row, added WHERE added > 0
  SET b.turns = COUNT { (:Turn)-[:WAITS_IN]->(b) },
      b.user_turns = COUNT { (t:Turn)-[:WAITS_IN]->(b) WHERE t.role = 'user' },
      b.characters = reduce(sum = 0, each IN COLLECT {
        MATCH (t:Turn)-[:WAITS_IN]->(b) RETURN size(trim(left(t.content, 4000)))
      } | sum + each),
      b.first_at = coalesce(b.first_at, datetime(row.times.first_at)),
      b.last_at = coalesce(b.last_at, datetime(row.times.last_at))
}
RETURN row.key AS key, is_new OR added > 0 AS is_new
ORDER BY key;
