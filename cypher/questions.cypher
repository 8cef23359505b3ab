// fragment: question
// A question as it is read, with the memories that it is about.
n {.uid, .key, .space, .context, .priority, .extraction, .resolved_by, .answer, question: n.text,
   noted_at: toString(n.noted_at), resolved_at: toString(n.resolved_at),
   memories: COLLECT { MATCH (n)-[:RESTS_ON]->(m:Memory) RETURN m.uid ORDER BY m.key }}

// name: save
// Write questions, where they are not here, with the memories that they are about; each with whether it is new. One
// about memories that are not here is left out.
// parameters: space_rows
UNWIND $space_rows AS row
OPTIONAL MATCH (known:Question {key: row.key})
WITH row, known IS NULL AS is_new, EXISTS { MATCH (m:Memory) WHERE m.key IN row.memories } AS is_whole
CALL (row, is_new, is_whole) {
  WITH row, is_new, is_whole WHERE is_new AND is_whole
  MERGE (n:Question {key: row.key})
  SET n += row.properties, n.noted_at = datetime(row.noted_at), n.resolved_at = datetime(row.resolved_at)
  FOREACH (_ IN CASE WHEN row.resolved_at IS NULL THEN [1] ELSE [] END | SET n:OpenQuestion)
  WITH n, row
  UNWIND row.memories AS key
  MATCH (m:Memory {key: key})
  MERGE (n)-[:RESTS_ON]->(m)
}
RETURN row.key AS key, CASE WHEN is_whole THEN is_new END AS is_new
ORDER BY key;

// name: resolve
// Note that questions are resolved.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (n:Question {key: row.key})
SET n.resolved_at = datetime(row.resolved_at), n.resolved_by = row.resolved_by, n.answer = row.answer
REMOVE n:OpenQuestion;

// name: lock
// Take the lock of a question, if it may be shown: what it is about is not taken back.
// parameters: space_key
MATCH (n:Question {key: $space_key})
WHERE NOT EXISTS { MATCH (n)-[:RESTS_ON]->(m:Memory) WHERE m.status = 'retracted' }
SET n.locked = true
REMOVE n.locked
RETURN @question AS question;

// name: open_about
// The open questions about some memories, by key.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (n:OpenQuestion)-[:RESTS_ON]->(:Memory {key: key})
WITH DISTINCT n
RETURN @question AS question
ORDER BY n.key;

// fragment: questions_shown
// The questions of a space: open ones about what is current, resolved ones about what was not taken back.
MATCH (n:Question)
USING INDEX SEEK n:Question(space, priority)
WHERE n.space = $space AND n.priority >= 0 AND ($open IS NULL OR $open = (n.resolved_at IS NULL))
  AND CASE WHEN n.resolved_at IS NULL THEN @stands
      ELSE NOT EXISTS { MATCH (n)-[:RESTS_ON]->(m:Memory) WHERE m.status = 'retracted' } END

// name: list
// One page of the questions of a space, those that matter most first.
// parameters: cursor_key, cursor_priority, limit, now, open, space
@questions_shown
  AND (n.priority < $cursor_priority OR (n.priority = $cursor_priority AND n.key > $cursor_key))
WITH n ORDER BY n.priority DESC, n.key LIMIT $limit
RETURN @question AS question
ORDER BY n.priority DESC, n.key;

// name: count
// How many questions a list shows on all its pages.
// parameters: now, open, space
@questions_shown
RETURN count(n) AS total;

// name: of_space
// The questions of a space by key, for an export.
// parameters: after, limit, space
MATCH (n:Question)
USING INDEX SEEK n:Question(key)
WHERE n.key STARTS WITH $space + '|' AND n.key > $after
WITH n ORDER BY n.key LIMIT $limit
RETURN n.key AS key, @question AS question
ORDER BY key;

// name: forget_words
// Remove the questions whose words a model gave in some extractions.
// parameters: extractions, space
MATCH (n:Question)
USING INDEX SEEK n:Question(space, priority)
WHERE n.space = $space AND n.priority >= 0 AND n.extraction IN $extractions
DETACH DELETE n;
