// What superseded what
// Look for: the arrow goes from the newer memory to the older one; only the newest of a chain should be active.
WITH 'main/project:demo' AS space
MATCH step = (newer:Memory)-[:UPDATES]->(older:Memory)
WHERE newer.space = space AND older.space = space
RETURN step
ORDER BY newer.created_at DESC, newer.key, older.key
LIMIT 50;
