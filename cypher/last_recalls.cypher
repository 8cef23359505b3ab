// name: save
// Write what the last recall of a session gave, in the place of the one before.
// parameters: at, key, properties
MERGE (l:LastRecall {key: $key})
SET l += $properties, l.at = datetime($at);

// name: of_session
// The last recall of a session.
// parameters: key
MATCH (l:LastRecall {key: $key})
RETURN l {.*, at: toString(l.at)} AS last;

// name: forget
// Remove the last recalls of sessions from before a time, at most $limit.
// parameters: before, limit
MATCH (l:LastRecall)
USING INDEX SEEK l:LastRecall(at)
WHERE l.at < $before
WITH l ORDER BY l.at, l.key LIMIT $limit
DELETE l
RETURN count(*) AS removed;

// name: count_before
// How many last recalls are from before a time.
// parameters: before
MATCH (l:LastRecall)
USING INDEX SEEK l:LastRecall(at)
WHERE l.at < $before
RETURN count(l) AS old;
