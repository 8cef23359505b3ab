// name: keep
// Keep the bulletin of a message instead of the one before.
// parameters: citations, fallback, generated_at, key, message_id, mode, rendered, sections, space
MERGE (b:Bulletin {key: $key})
SET b.space = $space, b.message_id = $message_id, b.rendered = $rendered, b.sections = $sections,
  b.citations = $citations, b.mode = $mode, b.fallback = $fallback, b.generated_at = $generated_at;

// name: of_message
// The bulletin that was kept for a message; the key names its space.
// parameters: key
MATCH (b:Bulletin {key: $key})
RETURN b.message_id AS message_id, b.sections AS sections, b.mode AS mode, b.fallback AS fallback,
       b.generated_at AS generated_at;

// name: newest
// The newest bulletin of a space that was made of a recall.
// parameters: space
MATCH (b:Bulletin)
WHERE b.space = $space AND b.generated_at IS NOT NULL AND b.fallback IS NULL
RETURN b.message_id AS message_id, b.sections AS sections, b.mode AS mode, b.fallback AS fallback,
       b.generated_at AS generated_at
ORDER BY b.generated_at DESC, b.key
LIMIT 1;

// name: forget
// Remove bulletins from before a time, at most $limit.
// parameters: before, limit
MATCH (b:Bulletin)
WHERE b.generated_at < $before
WITH b ORDER BY b.generated_at, b.key LIMIT $limit
DELETE b
RETURN count(*) AS removed;

// name: count_before
// How many bulletins are from before a time.
// parameters: before
MATCH (b:Bulletin)
WHERE b.generated_at < $before
RETURN count(*) AS old;
