// fragment: feedback
// What was said of a memory, as it is read.
f {.*, at: toString(f.at)}

// name: lock
// Take the locks of memories, in order, and return them with the counts of their feedback.
// parameters: space_keys
UNWIND $space_keys AS key
@locked_memory
RETURN @memory AS memory, {
  feedback_up: coalesce(m.feedback_up, 0), feedback_down: coalesce(m.feedback_down, 0),
  negative_hits: coalesce(m.negative_hits, 0)
} AS counts
ORDER BY m.key;

// name: by_key
// What was said before, by key.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (f:Feedback {key: key})
RETURN @feedback AS feedback
ORDER BY key;

// name: save
// Write what was said of memories, which are locked, and what these count of it now. What was said before under the
// same key gives way.
// parameters: counts, space_rows
CALL () {
  UNWIND $counts AS each
  MATCH (m:Memory {key: each.key})
  SET m += each.counts
}
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.memory_key})
MERGE (f:Feedback {key: row.properties.key})
MERGE (f)-[:FEEDBACK_ON]->(m)
SET f += row.properties, f.at = datetime(row.at),
    f.noted_at = CASE WHEN row.properties.note IS NULL THEN null ELSE datetime(row.at) END;

// name: drop_notes
// Take the notes of some memories, which are locked, away but the newest of each.
// parameters: notes_max, space_keys
UNWIND $space_keys AS key
MATCH (m:Memory {key: key})
CALL (m) {
  MATCH (f:Feedback)
  USING INDEX SEEK f:Feedback(space, memory, noted_at)
  WHERE f.space = m.space AND f.memory = m.uid AND f.noted_at IS NOT NULL
  WITH f ORDER BY f.noted_at DESC, f.key DESC SKIP $notes_max
  REMOVE f.note, f.noted_at
};

// name: of_space
// What was said of the memories of a space, by key, for an export.
// parameters: after, limit, space
MATCH (f:Feedback)
USING INDEX SEEK f:Feedback(key)
WHERE f.key STARTS WITH $space + '|' AND f.key > $after
RETURN f.key AS key, @feedback AS feedback
ORDER BY key
LIMIT $limit;
