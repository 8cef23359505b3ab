// Vectors that are nothing in 32 bits cannot be compared: they are made anew.
MATCH (c:Chunk)-[:OF]->(m:Memory)
  WHERE all(number IN coalesce(c.embedding, c.embedding_b) WHERE abs(number) < 1e-20)
  CALL (c, m) {
    SET m:EmbedPending, m.embedded = false
    DETACH DELETE c
  } IN TRANSACTIONS OF 2000 ROWS;
