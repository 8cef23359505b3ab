// Contradictions that are still open
// Look for: pairs of active memories that cannot both be true; one of them should be superseded or retracted.
WITH 'main/project:demo' AS space
MATCH pair = (one:Memory)-[:CONTRADICTS]->(other:Memory)
WHERE one.space = space AND other.space = space AND one.status = 'active' AND other.status = 'active'
RETURN pair
ORDER BY one.created_at DESC, one.key, other.key
LIMIT 50;
