// name: known
// The entities of an owner's space that current memories of a space mention, the most mentioned first, each with its
// weightiest memory.
// parameters: limit, now, owner, space
MATCH (e:Entity)
USING INDEX SEEK e:Entity(space, entity_key)
WHERE e.space = $owner AND e.entity_key > ''
CALL (e) {
  MATCH (m:Memory)-[x:MENTIONS]->(e)
  WHERE x.space = $space AND x.status = 'active' AND x.expires > $now AND coalesce(x.ends > $now, true)
    AND m.kept_by IS NULL
  WITH m, x ORDER BY x.weight DESC, x.created DESC, m.key
  RETURN count(m) AS facts, max(x.created) AS last_ms, head(collect(m)) AS told
}
WITH e, facts, last_ms, told
WHERE facts > 0
WITH e, facts, last_ms, told ORDER BY facts DESC, e.entity_key LIMIT $limit
RETURN e.entity_key AS key, e.label AS label, facts, last_ms, told.uid AS memory, told.content AS content,
       told.version AS version,
       COUNT { (e)<-[:NAMED]-(x:Extraction) WHERE x.space = $space } AS activities,
       COUNT { (e)-[r:RELATION]-(:Entity) WHERE r.space = $space } AS relations
ORDER BY facts DESC, key;

// name: still
// Which of some memories are current and have the version that they had, by key.
// parameters: now, space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.key})
WHERE m.version = row.version AND @holds_now
RETURN row.key AS key
ORDER BY key;
