// fragment: locked_claim
// The lock of a claim key, which begins with it, and the memory behind it.
MERGE (k:ClaimKey {key: claim.key})
  ON CREATE SET k.space = claim.space
SET k.locked = true
WITH k
OPTIONAL MATCH (k)-[:CLAIMS]->(m:Memory)

// name: lock_claims
// Take the locks of claim keys, in order, and return the memory behind each, the digest of a source, and the newest
// memory that said this and was taken back.
// parameters: claims
UNWIND $claims AS claim
@locked_claim
RETURN k.key AS claim, m.key AS memory, k.digest AS digest,
       COLLECT {
         MATCH (k)-[:RETRACTED]->(r:Memory)
         RETURN r.uid ORDER BY r.created_at DESC, r.uid LIMIT 1
       }[0] AS retracted
ORDER BY claim;

// name: turns_around
// The turns within three steps of some turns, each with the one before it.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (anchor:Memory {key: key})
MATCH (anchor)-[:NEXT]-{0,3}(m:Memory)
WITH DISTINCT m
OPTIONAL MATCH (p:Memory)-[:NEXT]->(m)
RETURN m.key AS key, p.key AS previous
ORDER BY key;

// fragment: locked_memory
// A memory of a key under its lock. The mark that takes the lock must not be read from the memory: it would be read
// before the lock is ours.
MATCH (m:Memory {key: key})
SET m.locked = true
REMOVE m.locked
WITH m

// name: lock_memories
// Take the locks of memories, in order, and return them as they then are.
// parameters: space_keys
UNWIND $space_keys AS key
@locked_memory
RETURN @memory AS m, @entities AS entities
ORDER BY m.key;

// name: updated
// The memories that some memories update, of the same space.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (m:Memory {key: key})-[:UPDATES]->(older:Memory)
WHERE older.space = m.space
WITH m, older ORDER BY older.key
RETURN m.key AS key, collect(older.key) AS updated
ORDER BY key;

// name: updaters
// The memories that update some memories, of the same space.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (m:Memory {key: key})<-[:UPDATES]-(newer:Memory)
WHERE newer.space = m.space
WITH m, newer ORDER BY newer.key
RETURN m.key AS key, collect(newer.key) AS updaters
ORDER BY key;

// name: said_at_any_time
// The memories that say something in some period: of content claims, each of which names its space, the last hundred
// with a period. Another occasion is another memory, so claims with one are left out.
// parameters: claims
UNWIND $claims AS claim
CALL (claim) {
  MATCH (k:ClaimKey)
  WHERE k.key STARTS WITH claim.with_time
  WITH k ORDER BY k.key DESC LIMIT 100
  MATCH (k)-[:CLAIMS]->(m:Memory)
  RETURN collect(DISTINCT m.key) AS memories
}
WITH claim.key AS claim, memories
WHERE size(memories) > 0
RETURN claim, memories
ORDER BY claim;

// fragment: value_of_key
// A value of a logical key that holds at some time, and since when.
MATCH (m:Memory)
WHERE m.space = row.space AND m.logical_key = row.logical_key AND coalesce(m.kept_by, '') = row.kept_by
  AND m.key <> row.other_than
  AND m.status IN ['active', 'superseded']
WITH m, coalesce(m.valid_from, m.occurred_at, m.created_at) AS began

// name: values_around
// Of logical keys, each at a time: the last value that began by then, and the next one.
// parameters: space_rows
UNWIND $space_rows AS row
CALL (row) {
  @value_of_key
  WHERE began <= row.at AND coalesce(m.valid_until > began, true)
  RETURN m.key AS key ORDER BY began DESC, m.created_at DESC, key DESC LIMIT 1
UNION
  @value_of_key
  WHERE began > row.at AND coalesce(m.valid_until > began, true)
  RETURN m.key AS key ORDER BY began, m.created_at, key LIMIT 1
}
RETURN DISTINCT key
ORDER BY key;

// name: rollups_of
// The active memories that were made of some memories, each with all that it was made of.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (:Memory {key: key})<-[:FOLDED_FROM|SUMMARY_OF]-(made:Memory)
WHERE made.status = 'active'
WITH DISTINCT made
MATCH (made)-[:FOLDED_FROM|SUMMARY_OF]->(m:Memory)
WHERE m.space = made.space
WITH made, m ORDER BY m.key
RETURN made.key AS made, collect(m.key) AS members
ORDER BY made;

// name: copies_of
// The plain memories of the shared space that were copied from some memories, each with all that it was copied from,
// and whether another one says the same since, or took its place.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (m:Memory {key: key})<-[:PROMOTED_FROM]-(copy:Memory)
WHERE copy.kept_by IS NULL AND copy.space = split(m.space, '/')[0] + '/@SHARED_NAME'
WITH DISTINCT copy
MATCH (copy)-[:PROMOTED_FROM]->(origin:Memory)
WHERE split(origin.space, '/')[0] = split(copy.space, '/')[0]
WITH copy, origin ORDER BY origin.key
RETURN copy.key AS copy, collect(DISTINCT origin.key) AS origins,
       EXISTS {
         MATCH (copy)<-[:RETRACTED]-(:ClaimKey)-[:CLAIMS]->(other:Memory)
         WHERE other.key <> copy.key AND other.status = 'active'
       } OR EXISTS {
         MATCH (copy)<-[:UPDATES]-(newer:Memory)
         WHERE newer.space = copy.space AND newer.status = 'active'
       } AS is_replaced
ORDER BY copy;

// name: corrections
// Those of some memories that correct another one of their space; that a job merged two is no correction.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (m:Memory {key: key})
WHERE EXISTS {
  MATCH (m)-[e:UPDATES]->(o:Memory)
  WHERE o.space = m.space AND NOT coalesce(e.reason, '') IN ['merge', 'conflict']
}
RETURN m.key AS key
ORDER BY key;

// name: edges_at
// The edges between some memories, each a start, a type and an end; oldest first.
// parameters: space_rows
UNWIND range(0, size($space_rows) - 1) AS number
WITH number, $space_rows[number] AS row
MATCH (from:Memory {key: row.from_key})-[e:@EDGE_TYPES]->(to:Memory {key: row.to_key})
WHERE type(e) = row.type
RETURN number, [@edge_row] AS edge
ORDER BY number, coalesce(e.created_at, datetime({epochMillis: 0})), e.uid;

// name: edges_by_uid
// The edges of some uids in some spaces, each with its space.
// parameters: spaces, uids
@edges_of_uids
WITH from, e, to
WHERE from.space IN $spaces AND to.space = from.space
RETURN from.space AS space,
       [@edge_row] AS edge
ORDER BY space, from.uid, to.uid, type(e);

// name: save_memories
// Write what a decision says of memories, in this order: the content and logical claims of released memories end, but
// that of a source lasts; memories are created with their type label, their chunks and the claims that they take, and a
// space begins with its first one; earlier versions are kept; properties and labels change, with what chunks and
// mentions repeat of them; edges go, those that were drawn by hand may have no uid; edges are drawn. A row of an edge
// without a uid of its own revises the oldest edge between its ends, also one that was drawn by hand.
// parameters: changed, created, drawn, released, removed, revisions, spaces
CYPHER 25
CALL () {
  UNWIND $released AS key
  MATCH (m:Memory {key: key})<-[c:CLAIMS]-(k:ClaimKey)
  USING INDEX SEEK m:Memory(key)
  WHERE NOT k.key STARTS WITH k.space + coalesce('|' + m.kept_by, '') + '|source|'
  DELETE c
  WITH DISTINCT k
  WHERE NOT EXISTS { (k)-[:CLAIMS|RETRACTED]->(:Memory) }
  DELETE k
}
CALL () {
  UNWIND $spaces AS space
  MERGE (s:Space {key: space})
    ON CREATE SET s.space = space
}
CALL () {
  UNWIND $created AS row
  CREATE (m:Memory:$(row.labels))
  SET m = row.properties, m.created_at = datetime(row.created_at), m.updated_at = datetime(row.updated_at)
  FOREACH (chunk IN row.chunks | CREATE (c:Chunk)-[:OF]->(m) SET c = chunk)
  FOREACH (claim IN row.claims |
    MERGE (k:ClaimKey {key: claim.key})
      ON CREATE SET k.space = m.space
    SET k.digest = claim.digest
    CREATE (k)-[:CLAIMS]->(m)
  )
}
CALL () {
  UNWIND $revisions AS row
  MATCH (m:Memory {key: row.memory_key})
  MERGE (m)-[:HAS_REVISION]->(r:Revision {key: row.properties.key})
  SET r += row.properties, r.created_at = datetime(row.created_at), r.replaced_at = datetime(row.replaced_at)
}
CALL () {
  UNWIND $changed AS row
  MATCH (m:Memory {key: row.key})
  REMOVE m:Fact:Preference:Decision:Identity:Event:Observation:Goal:Todo:EmbedPending
  SET m:$(row.labels)
  SET m += row.properties, m.updated_at = datetime(row.updated_at), m.status_at = datetime(row.status_at)
  WITH m, row
  CALL (m) {
    MATCH (m)-[x:MENTIONS]->(:Entity)
    SET @mention_copies
  }
  CALL (m, row) {
    MATCH (c:Chunk)-[:OF]->(m)
    SET c += row.chunk_properties
  }
}
CALL () {
  UNWIND $removed AS row
  MATCH (:Memory {key: row.from_key})-[e:@EDGE_TYPES]->(:Memory {key: row.to_key})
  WHERE type(e) = row.type AND coalesce(e.uid, '') = row.uid
  DELETE e
}
UNWIND $drawn AS row
MATCH (from:Memory {key: row.from_key})
MATCH (to:Memory {key: row.to_key})
CALL (from, to, row) {
  OPTIONAL MATCH (from)-[e:$(row.type)]->(to)
  WHERE row.oldest OR e.uid = row.uid
  RETURN e AS known
  ORDER BY coalesce(e.created_at, datetime({epochMillis: 0})), e.uid
  LIMIT 1
}
SET known.uid = coalesce(known.uid, row.uid), known.weight = row.weight, known.reason = row.reason,
    known.link_type = row.link_type
FOREACH (_ IN CASE WHEN known IS NULL THEN [1] ELSE [] END |
  CREATE (from)-[e:$(row.type)]->(to)
  SET e.uid = row.uid, e.created_at = row.created_at, e.weight = row.weight, e.reason = row.reason,
      e.link_type = row.link_type
);

// name: count_memories
// Note how often memories were said; no index and no copy repeats that.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.key})
SET m.mention_count = row.mention_count, m.version = row.version, m.updated_at = datetime(row.updated_at);

// name: replace_chunks
// Give memories new chunks; the old ones stay with the revision that they were made for, outside the index. Topics are
// what the former words were about.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.key})
CALL (m, row) {
  MATCH (old:Chunk)-[of:OF]->(m)
  WHERE row.revision <> ''
  MATCH (r:Revision {key: row.revision})
  DELETE of
  REMOVE old:Chunk
  SET old:FormerChunk, old.replaced_at = r.replaced_at
  CREATE (old)-[:OF]->(r)
}
CALL (m) {
  MATCH (old:Chunk)-[:OF]->(m)
  DETACH DELETE old
}
CALL (m) {
  MATCH (m)-[about:ABOUT]->(:Topic)
  DELETE about
}
FOREACH (chunk IN row.chunks | CREATE (c:Chunk)-[:OF]->(m) SET c = chunk);

// name: set_mentions
// Let memories mention exactly the given entities; rows are sorted by entity, so writers wait in turn. Each mention
// repeats what cards choose by, because reading it from ten thousand memories of a hub would take too long.
// parameters: space_rows, wanted
CALL () {
  UNWIND $wanted AS memory
  MATCH (m:Memory {key: memory.key})-[old:MENTIONS]->(e:Entity)
  WHERE NOT e.key IN memory.entities
  DELETE old
}
UNWIND $space_rows AS row
MERGE (e:Entity {key: row.key})
  ON CREATE SET e += row.properties
WITH e, row, coalesce(e.aliases, []) AS aliases
FOREACH (_ IN CASE
    WHEN row.said IS NULL OR row.said = e.label OR row.said IN aliases OR size(aliases) >= 16 THEN [] ELSE [1]
  END |
  SET e.aliases = aliases + row.said, e.search_names = e.search_names + row.said_words,
      e.space_token = e.space_token + row.said_token
)
WITH e, row
MATCH (e)-[:MERGED_INTO*0..20]->(stands:Entity)
WHERE NOT EXISTS { (stands)-[:MERGED_INTO]->(:Entity) }
WITH stands AS e, row
MATCH (m:Memory {key: row.memory})
MERGE (m)-[x:MENTIONS]->(e)
SET @mention_copies;

// name: take_claims
// Point claim keys at memories, each at one; some only where no other memory holds them.
// parameters: claims
UNWIND $claims AS claim
MERGE (k:ClaimKey {key: claim.key})
  ON CREATE SET k.space = claim.space
WITH k, claim
WHERE NOT (claim.if_free AND EXISTS { MATCH (k)-[:CLAIMS]->(holder:Memory) WHERE holder.key <> claim.memory })
SET k.digest = claim.digest
WITH k, claim
OPTIONAL MATCH (k)-[old:CLAIMS]->(:Memory)
DELETE old
WITH DISTINCT k, claim
MATCH (m:Memory {key: claim.memory})
CREATE (k)-[:CLAIMS]->(m);

// name: forget_claims
// Remove claim keys of sources that were taken back and may say something new, as far as memories hold them.
// parameters: claims
UNWIND $claims AS claim
MATCH (k:ClaimKey {key: claim.key})-[:CLAIMS]->(:Memory {key: claim.memory})
DETACH DELETE k;

// name: drop_empty_claims
// Remove claim keys that were locked and then claimed nothing.
// parameters: claims
UNWIND $claims AS claim
MATCH (k:ClaimKey {key: claim})
WHERE NOT EXISTS { (k)-[:CLAIMS|RETRACTED]->() }
DELETE k;

// name: unlink_turns
// Remove NEXT edges between turns.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (:Memory {key: row.earlier})-[n:NEXT]->(:Memory {key: row.later})
DELETE n;

// name: leave_conversations
// Let conversations whose last turn left end with the one before it.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (c:Conversation)-[last:LAST]->(:Memory {key: row.left})
DELETE last
WITH c, row
MATCH (m:Memory {key: row.previous})
CREATE (c)-[:LAST]->(m);

// name: chain_turns
// Draw NEXT edges between turns, and move the ends of conversations.
// parameters: ends, space_rows
CALL () {
  UNWIND $space_rows AS row
  MATCH (earlier:Memory {key: row.earlier})
  MATCH (later:Memory {key: row.later})
  MERGE (earlier)-[:NEXT]->(later)
}
UNWIND $ends AS row
MATCH (c:Conversation {key: row.conversation})
OPTIONAL MATCH (c)-[old:LAST]->(:Memory)
DELETE old
WITH DISTINCT c, row
MATCH (m:Memory {key: row.last})
CREATE (c)-[:LAST]->(m);
