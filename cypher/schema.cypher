// name: expiring_of_orchestrators
// The next active memories of orchestrator spaces that expire, by key.
// parameters: after, limit, space_part
MATCH (m:Memory)
USING INDEX m:Memory(key)
WHERE m.key > $after AND m.space CONTAINS $space_part AND m.status = 'active' AND m.expires_at < @NEVER_MS
WITH m ORDER BY m.key LIMIT $limit
RETURN @memory AS m, @entities AS entities
ORDER BY m.key;

// name: keep_memories
// Let memories no longer expire, with all that repeats it.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.key})
SET m.expires_at = @NEVER_MS, m.space_token = row.tokens
WITH m
CALL (m) {
  MATCH (m)-[x:MENTIONS]->(:Entity)
  SET x.expires = m.expires_at
}
CALL (m) {
  MATCH (c:Chunk)-[:OF]->(m)
  SET c.expires_at = m.expires_at
};
