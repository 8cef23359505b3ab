// What waits for its vectors
// Look for: nothing, a minute after the last write; what stays here is found by its words only.
WITH 'main/project:demo' AS space
MATCH (m:EmbedPending)
WHERE m.space = space
RETURN m
ORDER BY m.created_at, m.key
LIMIT 50;
