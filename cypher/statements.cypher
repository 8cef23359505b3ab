// name: known
// The active plain memories of a space that state the same, or a value of the same things, by key.
// parameters: asserts, space, statements
CALL () {
  UNWIND $statements AS statement
  CALL (statement) {
    MATCH (m:Memory)
    USING INDEX SEEK m:Memory(space, statement)
    WHERE m.space = $space AND m.statement = statement AND m.status = 'active' AND m.kept_by IS NULL
    RETURN m ORDER BY m.created_at, m.key LIMIT 20
  }
  RETURN m
UNION
  UNWIND $asserts AS asserts
  CALL (asserts) {
    MATCH (m:Memory)
    USING INDEX SEEK m:Memory(space, asserts)
    WHERE m.space = $space AND m.asserts = asserts AND m.status = 'active' AND m.kept_by IS NULL
    RETURN m ORDER BY m.created_at DESC, m.key LIMIT 50
  }
  RETURN m
}
RETURN DISTINCT m.key AS key, m.statement AS statement, m.asserts AS asserts, toString(m.created_at) AS created_at
ORDER BY created_at, key;

// name: nearest
// The active plain memories of a space that are nearest to some vectors, each vector with its number.
// parameters: chunks, neighbours, now, space, vectors
// also in slot: _b
CYPHER 25
UNWIND $vectors AS row
CALL (row) {
  MATCH (c:Chunk)
    SEARCH c IN (
      VECTOR INDEX chunk_embedding FOR row.vector
      WHERE c.space = $space AND c.status = 'active' AND c.expires_at > $now
      LIMIT $chunks
    ) SCORE AS s
  MATCH (c)-[:OF]->(m:Memory)
  WHERE m.space = $space AND m.kept_by IS NULL
  WITH m, max(s) AS score ORDER BY score DESC, m.key LIMIT $neighbours
  RETURN m, score
}
RETURN row.number AS number, score, @memory AS m, @entities AS entities
ORDER BY number, score DESC, m.key;
