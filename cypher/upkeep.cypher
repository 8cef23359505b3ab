// name: expired
// Active memories whose time has passed, in one space or in all other than some.
// parameters: after, limit, now, other_than, space
MATCH (m:Memory)
USING INDEX m:Memory(status, expires_at)
WHERE m.status = 'active' AND m.expires_at <= $now AND m.key > $after AND NOT coalesce(m.pinned, false)
  AND ($space = '' OR m.space = $space) AND NOT m.space IN $other_than
RETURN m.key AS key
ORDER BY key
LIMIT $limit;

// name: decayed
// Active commitments that were last changed before a time.
// parameters: after, before, limit, other_than, space
MATCH (m:Todo)
WHERE m.status = 'active' AND m.updated_at < $before AND m.key > $after AND NOT coalesce(m.pinned, false)
  AND ($space = '' OR m.space = $space) AND NOT m.space IN $other_than
RETURN m.key AS key
ORDER BY key
LIMIT $limit;

// name: archivable
// Active memories from before a time that are unimportant, hardly recalled and of no protected type.
// parameters: after, before, importance, limit, other_than, protected, recalls, space
MATCH (m:Memory)
USING INDEX m:Memory(key)
WHERE m.key > $after AND m.status = 'active' AND m.created_at < $before AND m.importance < $importance
  AND m.recall_count <= $recalls AND NOT m.type IN $protected AND NOT coalesce(m.pinned, false)
  AND ($space = '' OR m.space = $space) AND NOT m.space IN $other_than
RETURN m.key AS key
ORDER BY key
LIMIT $limit;
