// Memories that expire, the next one first
// Look for: what is worth keeping longer; days below zero mean that the job `expire` has not run.
WITH 'main/project:demo' AS space, 4102444800000 AS never
MATCH (m:Memory)
WHERE m.space = space AND m.status = 'active' AND m.expires_at < never
WITH m, datetime({epochMillis: m.expires_at}) AS expires
RETURN m.content AS content, m.type AS type, expires, duration.inDays(datetime(), expires).days AS days_left, m.uid AS uid
ORDER BY expires, m.key
LIMIT 50;
