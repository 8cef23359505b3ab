// name: indexed_words
// The next memories by key, up to one, with the words that they are indexed under.
// parameters: after, limit, until
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE m.key > $after AND m.key < $until
RETURN m {.key, .space, .search_text, .search_context, .search_actor} AS m
ORDER BY m.key
LIMIT $limit;

// name: index_words
// Index memories under other words.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.key})
SET m += row.words;

// name: named_entities
// The next entities by key, with their names.
// parameters: after, limit
MATCH (e:Entity)
USING INDEX SEEK e:Entity(key)
WHERE e.key > $after
RETURN e {.key, .label, .aliases, is_merged: EXISTS { (e)-[:MERGED_INTO]->(:Entity) }} AS m
ORDER BY e.key
LIMIT $limit;

// name: date_former_vectors
// Note of the vectors of the next earlier versions, by key, when they were replaced; gives the last key.
// parameters: after, limit
MATCH (r:Revision)
USING INDEX SEEK r:Revision(key)
WHERE r.key > $after
WITH r ORDER BY r.key LIMIT $limit
OPTIONAL MATCH (c:FormerChunk)-[:OF]->(r)
SET c.replaced_at = r.replaced_at
RETURN max(r.key) AS last;

// name: add_spaces
// Let there be a node for the space of each of the next memories by key; gives the last key.
// parameters: after, limit
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE m.key > $after
WITH m ORDER BY m.key LIMIT $limit
WITH m.space AS space, max(m.key) AS last
MERGE (s:Space {key: space})
  ON CREATE SET s.space = space
RETURN max(last) AS last;

// name: expiring_of_orchestrators
// The next active memories of orchestrator spaces that expire, by key.
// parameters: after, limit, space_part
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
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

// name: content_claims
// The next memories by key, each with the content claims that it holds.
// parameters: after, limit
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE m.key > $after
WITH m ORDER BY m.key LIMIT $limit
RETURN @memory AS m, @entities AS entities,
       COLLECT {
         MATCH (m)<-[:CLAIMS]-(k:ClaimKey)
         WHERE k.key STARTS WITH k.space + coalesce('|' + m.kept_by, '') + '|content|'
         RETURN k.key ORDER BY k.key
       } AS claims
ORDER BY m.key;

// name: claim_content
// Give memories other content claims instead of those that they hold, each unless another one holds it.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.key})
CALL (row) {
  UNWIND row.old AS old
  MATCH (k:ClaimKey {key: old})
  DETACH DELETE k
}
UNWIND row.new AS new
MERGE (k:ClaimKey {key: new})
  ON CREATE SET k.space = m.space
FOREACH (_ IN CASE WHEN EXISTS { (k)-[:CLAIMS]->() } THEN [] ELSE [1] END | CREATE (k)-[:CLAIMS]->(m));

// name: not_in_nfc
// The next memories by key with a tag or an id of their source in another Unicode form than NFC.
// parameters: after, limit
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE m.key > $after
  AND (any(tag IN m.tags WHERE tag IS NOT NFC NORMALIZED) OR m.conversation_id IS NOT NFC NORMALIZED
    OR m.source_key IS NOT NFC NORMALIZED OR m.workflow_run_id IS NOT NFC NORMALIZED
    OR m.step_id IS NOT NFC NORMALIZED)
WITH m ORDER BY m.key LIMIT $limit
RETURN @memory AS m, @entities AS entities
ORDER BY m.key;

// name: write_in_nfc
// Write the tags and source ids of memories anew, with their tokens, chunks and the claim of the source.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.key})
SET m += row.properties
WITH m, row
CALL (m, row) {
  MATCH (c:Chunk)-[:OF]->(m)
  SET c.conversation_id = row.conversation_id
}
CALL (m, row) {
  MATCH (old:ClaimKey {key: row.old})-[:CLAIMS]->(m)
  DETACH DELETE old
  MERGE (k:ClaimKey {key: row.new})
    ON CREATE SET k.space = m.space
  FOREACH (_ IN CASE WHEN EXISTS { (k)-[:CLAIMS]->() } THEN [] ELSE [1] END | CREATE (k)-[:CLAIMS]->(m))
};

// name: conversations_not_in_nfc
// The keys of conversations in another Unicode form than NFC.
MATCH (c:Conversation)
WHERE c.key IS NOT NFC NORMALIZED
RETURN c.key AS key
ORDER BY key;

// name: join_conversation
// Give a conversation another key; where there is one of that key, its turns come before those.
// parameters: new_key, space_key
MATCH (c:Conversation {key: $space_key})
OPTIONAL MATCH (n:Conversation {key: $new_key})
OPTIONAL MATCH (c)-[:LAST]->(last:Memory)
OPTIONAL MATCH (n)-[:LAST]->(:Memory)<-[:NEXT*0..]-(first:Memory)
WHERE NOT EXISTS { (:Memory)-[:NEXT]->(first) }
FOREACH (_ IN CASE WHEN n IS NULL THEN [1] ELSE [] END | SET c.key = $new_key)
FOREACH (_ IN CASE WHEN last IS NOT NULL AND first IS NOT NULL THEN [1] ELSE [] END | CREATE (last)-[:NEXT]->(first))
FOREACH (_ IN CASE WHEN n IS NULL THEN [] ELSE [1] END | DETACH DELETE c);

// name: superseded_without_end
// The next superseded memories by key that have no end; what a room keeps is its own affair.
// parameters: after, limit
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE m.key > $after AND m.status = 'superseded' AND m.valid_until IS NULL AND m.kept_by IS NULL
WITH m ORDER BY m.key LIMIT $limit
RETURN @memory AS m, @entities AS entities
ORDER BY m.key;

// name: end_memories
// Give memories an end, with all that repeats it.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.key})
SET m.valid_until = row.valid_until, m.space_token = row.tokens
WITH m, row
CALL (m) {
  MATCH (m)-[x:MENTIONS]->(:Entity)
  SET @mention_copies
}
CALL (m, row) {
  MATCH (c:Chunk)-[:OF]->(m)
  SET c.valid_until = row.chunk_until
};

// name: sources_of_claims
// The next memories by key that sources with a key said, or that were taken back, each with its source claims, and
// with the earlier versions of one that has several.
// parameters: after, limit
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE m.key > $after
  AND (m.status = 'retracted' OR EXISTS {
    (m)<-[:CLAIMS]-(k:ClaimKey)
    WHERE k.key STARTS WITH k.space + coalesce('|' + m.kept_by, '') + '|source|'
  })
WITH m ORDER BY m.key LIMIT $limit
WITH m, COLLECT {
  MATCH (m)<-[:CLAIMS]-(k:ClaimKey)
  WHERE k.key STARTS WITH k.space + coalesce('|' + m.kept_by, '') + '|source|'
  RETURN k.key ORDER BY k.key
} AS claims
RETURN @memory AS m, @entities AS entities, claims,
       COLLECT { MATCH (m)-[:HAS_REVISION]->(r:Revision) RETURN r.memory ORDER BY r.version LIMIT 1 } AS oldest,
       COLLECT {
         MATCH (m)-[:HAS_REVISION]->(r:Revision)
         WHERE size(claims) > 1
         RETURN r.memory ORDER BY r.version LIMIT 30
       } AS versions
ORDER BY m.key;

// name: note_digests
// Note what claimed sources said, where nobody has since.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (k:ClaimKey {key: row.claim})
SET k.digest = coalesce(k.digest, row.digest);

// name: conversations
// The next conversations by key that have a last memory, each with the key of that.
// parameters: after, limit
MATCH (c:Conversation)
USING INDEX SEEK c:Conversation(key)
WHERE c.key > $after
WITH c ORDER BY c.key LIMIT $limit
OPTIONAL MATCH (c)-[:LAST]->(m:Memory)
RETURN c.key AS key, m.key AS last
ORDER BY key;

// name: chains
// The memories of conversations from some on back, newest first, each with whether it has its turn.
// parameters: anchors, limit
UNWIND $anchors AS anchor
CALL (anchor) {
  MATCH path = (:Memory {key: anchor.memory})<-[:NEXT*0..399]-(m:Memory)
  RETURN m, length(path) AS step LIMIT $limit
}
RETURN anchor.conversation AS conversation, @memory AS m, @entities AS entities,
       EXISTS { (m)-[:FROM_TURN]->(:Turn) } AS has_turn, step
ORDER BY conversation, step;

// name: without_statement
// The next plain memories by key, of spaces where facts are extracted, that are not known by what they state.
// parameters: after, limit
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE m.key > $after AND m.statement IS NULL AND m.kept_by IS NULL
  AND NOT (m.space CONTAINS '/orchestrator:' OR m.space CONTAINS '/corpus:') AND size(m.content) <= 4000
WITH m ORDER BY m.key LIMIT $limit
RETURN @memory AS m, @entities AS entities
ORDER BY m.key;

// name: note_statements
// Note what memories state.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.key})
SET m.statement = row.statement, m.asserts = row.asserts;

// name: said_without_turn
// The next memories by key that stand in a conversation and have no turn.
// parameters: after, limit
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE m.key > $after AND m.conversation_id IS NOT NULL AND NOT EXISTS { (m)-[:FROM_TURN]->(:Turn) }
  AND m.status <> 'retracted' AND m.captured_by <> 'extractor' AND m.kept_by IS NULL
WITH m ORDER BY m.key LIMIT $limit
RETURN @memory AS m, @entities AS entities
ORDER BY m.key;

// name: with_native_values
// The next plain memories by key that have values of their room.
// parameters: after, limit
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE m.key > $after AND m.native IS NOT NULL AND m.kept_by IS NULL
WITH m ORDER BY m.key LIMIT $limit
RETURN @memory AS m, @entities AS entities
ORDER BY m.key;

// name: note_kinds
// Note what kind of statement memories are.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.key})
SET m.memory_kind = row.memory_kind, m.native_category = row.native_category;
