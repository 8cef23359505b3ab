// fragment: profile_line
// A line of a profile as it is read, in its own words or those that its memory has now.
n {.uid, .key, .space, .importance, .extraction, has_words: n.text IS NOT NULL, noted_at: toString(n.noted_at),
   dropped_at: toString(n.dropped_at),
   text: coalesce(n.text, head(COLLECT { MATCH (n)-[:RESTS_ON]->(m:Memory) RETURN m.content ORDER BY m.key })),
   memories: COLLECT { MATCH (n)-[:RESTS_ON]->(m:Memory) RETURN m.uid ORDER BY m.key }}

// fragment: shown_line
// True of a line of a profile that is shown: none of its memories is gone.
n.space = $space AND n.noted_at IS NOT NULL AND n.dropped_at IS NULL
AND EXISTS { (n)-[:RESTS_ON]->(:Memory) } AND @stands

// name: lines
// The lines of the profile of a space that are shown, oldest first.
// parameters: limit, now, space
MATCH (n:ProfileLine)
USING INDEX SEEK n:ProfileLine(space, noted_at)
WHERE @shown_line
WITH n ORDER BY n.noted_at, n.key LIMIT $limit
RETURN @profile_line AS line
ORDER BY n.noted_at, n.key;

// name: without_line
// Those of the newest active memories of a space that a line could rest on by their category, and none ever did, the
// newest first.
// parameters: categories, newest, space
MATCH (m:Memory)
USING INDEX SEEK m:Memory(space, status, created_at)
WHERE m.space = $space AND m.status = 'active' AND m.created_at > datetime({year: 1}) AND m.kept_by IS NULL
WITH m ORDER BY m.created_at DESC, m.key DESC LIMIT $newest
WHERE m.native_category IN $categories AND NOT EXISTS { (:ProfileLine)-[:RESTS_ON]->(m) }
RETURN m.uid AS uid, m.content AS content, m.importance AS importance
ORDER BY m.created_at DESC, m.key DESC;

// name: save
// Write lines, where they are not here, with the memories that they rest on; each with whether it is new. One none of
// whose memories is here is left out.
// parameters: space_rows
UNWIND $space_rows AS row
OPTIONAL MATCH (known:ProfileLine {key: row.key})
WITH row, known IS NULL AS is_new, EXISTS { MATCH (m:Memory) WHERE m.key IN row.memories } AS is_whole
CALL (row, is_new, is_whole) {
  WITH row, is_new, is_whole WHERE is_new AND is_whole
  MERGE (n:ProfileLine {key: row.key})
  SET n += row.properties, n.noted_at = datetime(row.noted_at), n.dropped_at = datetime(row.dropped_at)
  WITH n, row
  UNWIND row.memories AS key
  MATCH (m:Memory {key: key})
  MERGE (n)-[:RESTS_ON]->(m)
}
RETURN row.key AS key, CASE WHEN is_whole THEN is_new END AS is_new
ORDER BY key;

// name: drop
// Let lines be shown no more.
// parameters: dropped_at, space_keys
UNWIND $space_keys AS key
MATCH (n:ProfileLine {key: key})
SET n.dropped_at = datetime($dropped_at);

// name: rests_on
// The keys of those of some memories that shown lines rest on.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (m:Memory {key: key})
WHERE EXISTS { MATCH (n:ProfileLine)-[:RESTS_ON]->(m) WHERE n.dropped_at IS NULL }
RETURN DISTINCT key
ORDER BY key;

// name: of_space
// The lines of the profile of a space by key, for an export; words are there where they are not those of the memory.
// parameters: after, limit, space
MATCH (n:ProfileLine)
USING INDEX SEEK n:ProfileLine(key)
WHERE n.key STARTS WITH $space + '|' AND n.key > $after
WITH n ORDER BY n.key LIMIT $limit
RETURN n.key AS key, @profile_line AS line
ORDER BY key;

// name: forget_words
// Remove the lines whose words a model gave in some extractions.
// parameters: extractions, space
MATCH (n:ProfileLine)
USING INDEX SEEK n:ProfileLine(space, noted_at)
WHERE n.space = $space AND n.noted_at IS NOT NULL AND n.extraction IN $extractions
DETACH DELETE n;
