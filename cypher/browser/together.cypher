// Entities that share memories
// Look for: thick bundles, which say who and what belong together; the ten closest pairs with ten memories each.
WITH 'main/project:demo' AS space
MATCH (one:Entity)<-[:MENTIONS]-(m:Memory)-[:MENTIONS]->(other:Entity)
WHERE m.space = space AND one.key < other.key
WITH one, other, m ORDER BY m.key
WITH one, other, collect(m) AS shared
ORDER BY size(shared) DESC, one.key, other.key LIMIT 10
UNWIND shared[0..10] AS m
MATCH between = (one)<-[:MENTIONS]-(m)-[:MENTIONS]->(other)
RETURN between
ORDER BY one.key, other.key, m.key
LIMIT 100;
