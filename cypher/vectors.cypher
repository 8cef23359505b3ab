// name: state
// Whose vectors are searched, in which slot, and whose are being built in the other.
MATCH (s:Schema {name: 'graphmem'})
RETURN s.embedder AS embedder, coalesce(s.slot, '') AS slot, s.next_embedder AS next_embedder;

// name: begin
// Note whose vectors are being built.
// parameters: dimensions, embedder
MATCH (s:Schema {name: 'graphmem'})
SET s.next_embedder = $embedder, s.next_dimensions = $dimensions;

// name: switch
// Let the vectors that were built be those that are searched; no row when they are of another embedder.
// parameters: embedder
MATCH (s:Schema {name: 'graphmem'})
SET s.locked = true
WITH s
WHERE s.next_embedder = $embedder
SET s.embedder = s.next_embedder, s.dimensions = s.next_dimensions,
  s.slot = CASE WHEN coalesce(s.slot, '') = '' THEN '_b' ELSE '' END
REMOVE s.next_embedder, s.next_dimensions
RETURN s.embedder AS embedder;

// name: create_index
// The index of a slot of vectors.
// parameters: dimensions
// also in slot: _b
CYPHER 25 CREATE VECTOR INDEX chunk_embedding IF NOT EXISTS FOR (c:Chunk) ON c.embedding
  WITH [c.space, c.status, c.expires_at, c.type, c.captured_by, c.conversation_id, c.valid_from, c.valid_until]
  OPTIONS {indexConfig: {
    `vector.dimensions`: $dimensions,
    `vector.similarity_function`: 'cosine',
    `vector.quantization.type`: 'NONE',
    `vector.default_search_expansion_factor`: 3.0
  }};

// name: drop_index
// Remove the index of a slot.
// also in slot: _b
DROP INDEX chunk_embedding IF EXISTS;

// fragment: lacking
// True of a memory of one space, or of any, that has no vectors of an embedder and does not wait for any.
($space = '' OR m.space = $space) AND NOT m:EmbedPending
AND NOT EXISTS { MATCH (c:Chunk)-[:OF]->(m) WHERE c.embedder = $embedder }

// name: lacking
// The next memories by key that have no vectors of an embedder and do not wait for any, in one space or in all.
// parameters: after, embedder, limit, space
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE m.key > $after AND @lacking
RETURN @memory AS m
ORDER BY m.key
LIMIT $limit;

// name: lacking_count
// How many there are.
// parameters: embedder, space
MATCH (m:Memory)
WHERE @lacking
RETURN count(*) AS lacking;

// name: add
// Give memories the vectors of an embedder beside those that they have, unless they changed since they were read.
// parameters: embedder, space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.key})
SET m.locked = true
REMOVE m.locked
WITH m, row
WHERE m.version = row.version AND NOT EXISTS { MATCH (c:Chunk)-[:OF]->(m) WHERE c.embedder = $embedder }
FOREACH (chunk IN row.chunks | CREATE (c:Chunk)-[:OF]->(m) SET c = chunk)
RETURN count(*) AS added;

// name: mark_waiting
// Let memories wait for the vectors of an embedder that they have none of.
// parameters: embedder, space
MATCH (m:Memory)
WHERE @lacking
SET m:EmbedPending, m.embedded = false
RETURN count(*) AS waiting;

// name: remove_others
// Remove vectors that are not of an embedder, at most $limit.
// parameters: embedder, limit, space
MATCH (c:Chunk)
WHERE c.embedder <> $embedder AND ($space = '' OR c.space = $space)
WITH c ORDER BY c.key LIMIT $limit
DETACH DELETE c
RETURN count(*) AS removed;
