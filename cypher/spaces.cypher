// name: counts
// One page of the spaces below some beginnings of their keys, each with its memories by type and status.
// parameters: cursor, limit, space_prefixes
UNWIND $space_prefixes AS prefix
MATCH (m:Memory)
WHERE m.space STARTS WITH prefix AND m.space > $cursor
WITH DISTINCT m.space AS space ORDER BY space LIMIT $limit
CALL (space) {
  MATCH (m:Memory)
  WHERE m.space = space AND m.type IS NOT NULL AND m.status IS NOT NULL
  WITH m.type AS type, m.status AS status, count(*) AS memories ORDER BY type, status
  RETURN collect([type, status, memories]) AS counts
}
RETURN space, counts
ORDER BY space;

// name: policies
// The spaces that have a policy of their own.
// parameters: limit
MATCH (s:Space)
WHERE s.policy IS NOT NULL
RETURN s.key AS space, s.policy AS policy
ORDER BY space
LIMIT $limit;

// name: save_policy
// Set what a space has of its own policy; null removes it.
// parameters: policy, space
MERGE (s:Space {key: $space})
  ON CREATE SET s.space = $space
SET s.policy = $policy;
