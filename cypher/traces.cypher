// name: save_many
// Keep the traces of several writes or recalls; one that is there already stays as it is.
// parameters: traces
UNWIND $traces AS trace
MERGE (t:Trace {uid: trace.uid})
  ON CREATE SET t = trace, t.created_at = datetime(trace.created_at);

// name: count_recalls
// Count how often memories were recalled, in the order of their keys; the lock is taken before the count is read.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.key})
SET m.locked = true
REMOVE m.locked
WITH m, row
SET m.recall_count = coalesce(m.recall_count, 0) + row.count, m.last_recalled_at = row.at;

// name: by_uid
// One trace of a tenant.
// parameters: tenant, uid
MATCH (t:Trace {uid: $uid})
WHERE t.tenant = $tenant
RETURN t;

// name: forget
// Remove traces from before a time but those of some kinds, at most $limit.
// parameters: before, limit, other_kinds
MATCH (t:Trace)
WHERE t.created_at < $before AND NOT t.kind IN $other_kinds
WITH t ORDER BY t.created_at, t.uid LIMIT $limit
DELETE t
RETURN count(*) AS removed;

// name: count_before
// How many these are.
// parameters: before, other_kinds
MATCH (t:Trace)
WHERE t.created_at < $before AND NOT t.kind IN $other_kinds
RETURN count(*) AS old;

// name: forget_of_kind
// Remove traces of one kind from before a time, at most $limit.
// parameters: before, kind, limit
MATCH (t:Trace)
WHERE t.kind = $kind AND t.created_at < $before
WITH t ORDER BY t.created_at, t.uid LIMIT $limit
DELETE t
RETURN count(*) AS removed;

// name: count_of_kind_before
// How many these are.
// parameters: before, kind
MATCH (t:Trace)
WHERE t.kind = $kind AND t.created_at < $before
RETURN count(*) AS old;

// name: forget_oldest
// Remove the oldest traces but those of some kinds.
// parameters: limit, other_kinds
MATCH (t:Trace)
WHERE t.created_at > datetime({epochMillis: 0}) AND NOT t.kind IN $other_kinds
WITH t ORDER BY t.created_at, t.uid LIMIT $limit
DELETE t
RETURN count(*) AS removed;

// name: count
// How many traces there are but those of some kinds.
// parameters: other_kinds
MATCH (t:Trace)
WHERE NOT t.kind IN $other_kinds
RETURN count(t) AS total;
