// fragment: reflection
// A reflection as it is read.
n {.uid, .key, .space, .text, .extraction, noted_at: toString(n.noted_at), dropped_at: toString(n.dropped_at)}

// name: reflections
// The reflections of a space that are shown, oldest first.
// parameters: limit, space
MATCH (n:Reflection)
USING INDEX SEEK n:Reflection(space, noted_at)
WHERE n.space = $space AND n.noted_at IS NOT NULL AND n.dropped_at IS NULL
WITH n ORDER BY n.noted_at DESC, n.key DESC LIMIT $limit
RETURN @reflection AS reflection
ORDER BY n.noted_at, n.key;

// name: state
// When the last reflection of a space was noted, and how long those together are that are shown.
// parameters: space
OPTIONAL MATCH (n:Reflection)
USING INDEX SEEK n:Reflection(space, noted_at)
WHERE n.space = $space AND n.noted_at IS NOT NULL
RETURN toString(max(n.noted_at)) AS last_at,
       coalesce(sum(CASE WHEN n.dropped_at IS NULL THEN size(n.text) + 1 END) - 1, 0) AS characters;

// name: save
// Write reflections as they now are; each with whether it is new.
// parameters: space_rows
UNWIND $space_rows AS row
OPTIONAL MATCH (known:Reflection {key: row.key})
WITH row, known IS NULL AS is_new
MERGE (n:Reflection {key: row.key})
SET n += row.properties, n.noted_at = datetime(row.noted_at), n.dropped_at = datetime(row.dropped_at)
RETURN row.key AS key, is_new
ORDER BY key;

// name: there
// Which of some reflections are here, by key.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (n:Reflection {key: key})
RETURN key
ORDER BY key;

// name: of_space
// The reflections of a space by key, for an export.
// parameters: after, limit, space
MATCH (n:Reflection)
USING INDEX SEEK n:Reflection(key)
WHERE n.key STARTS WITH $space + '|' AND n.key > $after
WITH n ORDER BY n.key LIMIT $limit
RETURN n.key AS key, @reflection AS reflection
ORDER BY key;

// name: forget_words
// Remove the reflections whose words a model gave in some extractions.
// parameters: extractions, space
MATCH (n:Reflection)
USING INDEX SEEK n:Reflection(space, noted_at)
WHERE n.space = $space AND n.noted_at IS NOT NULL AND n.extraction IN $extractions
DETACH DELETE n;
