// fragment: used
// True of a space that holds memories or conversations; one may also be there for its policy alone.
(EXISTS { MATCH (m:Memory) WHERE m.key > s.key + '|' AND m.key < s.key + '}' } OR EXISTS {
  MATCH (c:Conversation)
  WHERE c.space = s.key AND c.updated_at > datetime({year: 1}) AND c.created_at IS NOT NULL
})

// name: counts
// One page of the spaces that a caller may see, each with its memories by type and status.
// parameters: cursor, limit, space_patterns, space_prefixes
UNWIND $space_prefixes AS prefix
MATCH (s:Space)
WHERE s.key STARTS WITH prefix AND s.key > $cursor AND @used
WITH DISTINCT s.key AS space
WHERE any(pattern IN $space_patterns WHERE space =~ pattern)
WITH space ORDER BY space LIMIT $limit
CALL (space) {
  MATCH (m:Memory)
  WHERE m.space = space AND m.type IS NOT NULL AND m.status IS NOT NULL
  WITH m.type AS type, m.status AS status, count(*) AS memories ORDER BY type, status
  RETURN collect([type, status, memories]) AS counts
}
RETURN space, counts
ORDER BY space;

// name: count
// How many spaces in use a caller may see.
// parameters: space_patterns, space_prefixes
UNWIND $space_prefixes AS prefix
MATCH (s:Space)
WHERE s.key STARTS WITH prefix AND @used
WITH DISTINCT s.key AS space
WHERE any(pattern IN $space_patterns WHERE space =~ pattern)
RETURN count(space) AS total;

// name: policies
// The spaces that have a policy of their own.
// parameters: limit
MATCH (s:HasPolicy)
RETURN s.key AS space, s.policy AS policy
ORDER BY space
LIMIT $limit;

// name: save_policy
// Set what a space has of its own policy; null removes it.
// parameters: policy, space
MERGE (s:Space {key: $space})
  ON CREATE SET s.space = $space
SET s.policy = $policy
REMOVE s:HasPolicy
FOREACH (_ IN CASE WHEN $policy IS NULL THEN [] ELSE [1] END | SET s:HasPolicy);

// name: outdated
// The spaces whose names older versions allowed: personas of orchestrators, names with a star, or not in NFC.
// parameters: limit, space_part
MATCH (s:Space)
WHERE (s.key CONTAINS '*' OR s.key IS NOT NFC NORMALIZED
  OR (s.key CONTAINS $space_part AND size(split(s.key, '/')) > 2)) AND @used
RETURN s.key AS space
ORDER BY space
LIMIT $limit;
