// name: note
// Note that an extraction named entities, and forget what is older than the newest of each.
// parameters: at, most, space_key, space_keys
MATCH (x:Extraction {key: $space_key})
UNWIND $space_keys AS key
MATCH (e:Entity {key: key})
MERGE (x)-[n:NAMED]->(e)
  ON CREATE SET n.at = datetime($at)
WITH e
CALL (e) {
  MATCH (e)<-[n:NAMED]-(x:Extraction)
  WITH n ORDER BY n.at DESC, x.key SKIP $most
  DELETE n
};

// name: of
// The newest activity of an entity in some spaces: which extraction named it, and the first of its facts that still
// stands and mentions it.
// parameters: most, space_keys, spaces
UNWIND $space_keys AS key
MATCH (:Entity {key: key})<-[:MERGED_INTO*0..20]-(e:Entity)<-[n:NAMED]-(x:Extraction)
WHERE x.space IN $spaces
CALL (x, key) {
  OPTIONAL MATCH (x)<-[f:EXTRACTED_BY]-(m:Memory)-[:MENTIONS]->(:Entity {key: key})
  WHERE m.space = x.space AND m.status <> 'retracted'
  RETURN m ORDER BY f.number LIMIT 1
}
RETURN toString(n.at) AS at, x.uid AS extraction, x.session AS session, m.summary AS note, m.uid AS memory,
       x.key AS extraction_key
ORDER BY n.at DESC, extraction_key
LIMIT $most;
