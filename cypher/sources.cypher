// name: save
// Give memories further sources; one that is known by its key gets the values that its row brings.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.memory})
MERGE (s:Source {key: row.key})
  ON CREATE SET s.space = m.space, s.at = datetime(row.at)
SET s += row.properties
MERGE (m)-[:FROM]->(s);

// name: remove
// Take further sources away from memories; each key names its space.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (s:Source {key: key})
DETACH DELETE s;

// name: absorb
// Give all further sources and turns of some memories, and the claims of all, to others of their spaces.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (from:Memory {key: row.from_key})
MATCH (into:Memory {key: row.into_key})
CALL (from, into) {
  MATCH (from)<-[c:CLAIMS]-(k:ClaimKey)
  WHERE k.key STARTS WITH k.space + coalesce('|' + from.kept_by, '') + '|source|'
  DELETE c
  CREATE (k)-[:CLAIMS]->(into)
}
CALL (from, into) {
  MATCH (from)-[f:FROM_TURN]->(t:Turn)
  MERGE (into)-[g:FROM_TURN {said_by: f.said_by}]->(t)
  SET g.words = f.words
  DELETE f
}
CALL (from, into) {
  MATCH (from)-[f:FROM]->(s:Source)
  WITH into, f, s, into.key + '|from|' + split(s.key, '|from|')[-1] AS key
  WHERE NOT EXISTS { (:Source {key: key}) }
  DELETE f
  SET s.key = key
  CREATE (into)-[:FROM]->(s)
};

// name: index
// Note on memories which sources words find them by, where that changes.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.key})
WHERE m.space_token <> row.tokens
SET m.space_token = row.tokens;

// name: page
// The further sources of a memory, first to last, behind the cursor.
// parameters: cursor_key, cursor_time, limit, space_key
MATCH (m:Memory {key: $space_key})-[:FROM]->(s:Source)
WHERE s.at > $cursor_time OR (s.at = $cursor_time AND s.key > $cursor_key)
RETURN [@source] AS source, s.key AS key, toString(s.at) AS at
ORDER BY s.at, key
LIMIT $limit;

// name: count
// How many sources a memory has.
// parameters: space_key
RETURN 1 + COUNT { (:Memory {key: $space_key})-[:FROM]->(:Source) } AS total;

// name: claimed
// The claims of the keys of sources that some memories hold, with the digests of what these said.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (m:Memory {key: key})<-[:CLAIMS]-(k:ClaimKey)
WHERE k.key STARTS WITH k.space + coalesce('|' + m.kept_by, '') + '|source|'
RETURN m.key AS key, k.key AS claim, k.digest AS digest
ORDER BY key, claim;

// name: note_retracted
// Note that memories that said something were taken back, by the claims of their words.
// parameters: claims
UNWIND $claims AS claim
MATCH (m:Memory {key: claim.memory})
MERGE (k:ClaimKey {key: claim.key})
  ON CREATE SET k.space = claim.space
MERGE (k)-[:RETRACTED]->(m);

// name: forget_retracted
// Forget that memories were taken back.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (m:Memory {key: key})<-[r:RETRACTED]-(k:ClaimKey)
DELETE r
WITH k
WHERE NOT EXISTS { (k)-[:CLAIMS|RETRACTED]->(:Memory) }
DELETE k;
