// fragment: artefact
// An artefact as it is read.
n {.uid, .key, .space, .type, .text, noted_at: toString(n.noted_at),
   memory: head(COLLECT { MATCH (n)-[:RESTS_ON]->(m:Memory) RETURN m.uid ORDER BY m.key }),
   turn: head(COLLECT { MATCH (n)-[:QUOTES]->(t:Turn) RETURN t.uid ORDER BY t.key })}

// name: save
// Write artefacts, where they are not here, with what they rest on and quote; each with whether it is new. One whose
// memory or turn is not here is left out.
// parameters: space_rows
UNWIND $space_rows AS row
OPTIONAL MATCH (known:Artefact {key: row.key})
OPTIONAL MATCH (m:Memory {key: row.memory})
OPTIONAL MATCH (t:Turn {key: row.turn})
WITH row, m, t, known IS NULL AS is_new, m IS NOT NULL AND t IS NOT NULL AS is_whole
CALL (row, m, t, is_new, is_whole) {
  WITH row, m, t, is_new, is_whole WHERE is_new AND is_whole
  MERGE (n:Artefact {key: row.key})
  SET n += row.properties, n.noted_at = datetime(row.noted_at)
  MERGE (n)-[:RESTS_ON]->(m)
  MERGE (n)-[:QUOTES]->(t)
}
RETURN row.key AS key, CASE WHEN is_whole THEN is_new END AS is_new
ORDER BY key;

// fragment: artefacts_shown
// The artefacts of a space whose memories are current.
MATCH (n:Artefact)
USING INDEX SEEK n:Artefact(space, noted_at)
WHERE n.space = $space AND n.noted_at IS NOT NULL AND @stands

// name: list
// One page of the artefacts of a space, the newest first.
// parameters: cursor_key, cursor_time, limit, now, space
@artefacts_shown
  AND (n.noted_at < $cursor_time OR (n.noted_at = $cursor_time AND n.key < $cursor_key))
WITH n ORDER BY n.noted_at DESC, n.key DESC LIMIT $limit
RETURN @artefact AS artefact
ORDER BY n.noted_at DESC, n.key DESC;

// name: count
// How many artefacts a list shows on all its pages.
// parameters: now, space
@artefacts_shown
RETURN count(n) AS total;

// name: of_space
// The artefacts of a space by key, for an export.
// parameters: after, limit, space
MATCH (n:Artefact)
USING INDEX SEEK n:Artefact(key)
WHERE n.key STARTS WITH $space + '|' AND n.key > $after
WITH n ORDER BY n.key LIMIT $limit
RETURN n.key AS key, @artefact AS artefact
ORDER BY key;

// name: forget_quotes
// Remove the artefacts that quote some turns.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (n:Artefact)-[:QUOTES]->(:Turn {key: key})
WITH DISTINCT n ORDER BY n.key
DETACH DELETE n;
