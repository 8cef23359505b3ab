// The interval in which a memory was true is filtered inside the vector index.
MATCH (c:Chunk)-[:OF]->(m:Memory) WHERE c.valid_from IS NULL
  CALL (c, m) {
    SET c.valid_from = coalesce(m.valid_from.epochMillis, -62135596800000),
        c.valid_until = coalesce(m.valid_until.epochMillis, 4102444800000)
  } IN TRANSACTIONS OF 2000 ROWS;
DROP INDEX chunk_embedding IF EXISTS;
CYPHER 25 CREATE VECTOR INDEX chunk_embedding IF NOT EXISTS FOR (c:Chunk) ON c.embedding
  WITH [c.space, c.status, c.expires_at, c.type, c.captured_by, c.conversation_id, c.valid_from, c.valid_until]
  OPTIONS {indexConfig: {
    `vector.dimensions`: $dimensions,
    `vector.similarity_function`: 'cosine',
    `vector.quantization.type`: 'NONE',
    `vector.default_search_expansion_factor`: 3.0
  }};
