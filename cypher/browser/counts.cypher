// How many memories of each type and status
// Look for: a type that nobody meant to use, and more archived than active memories; personas of the space have lines of their own.
WITH 'main/project:demo' AS space
MATCH (m:Memory)
WHERE m.space = space OR m.space STARTS WITH space + '/'
RETURN m.space AS lives_in, m.type AS type, m.status AS status, count(*) AS memories, max(m.updated_at) AS last_change
ORDER BY lives_in, type, status
LIMIT 200;
