// name: ping
// Whether the database answers.
RETURN 1 AS answer;

// name: schema
// What the database was prepared for, by the core and by each room.
MATCH (s:Schema)
RETURN s.name AS name, s.version AS version, s.embedder AS embedder, s.dimensions AS dimensions
ORDER BY name;

// name: save_schema
// Record the last migration of the core or a room, and of the core also the embedder of the vectors.
// parameters: name, properties
MERGE (s:Schema {name: $name})
SET s += $properties;

// name: secret
// What signs the cursors of lists; $made where there is none yet.
// parameters: made
MERGE (s:Schema {name: 'graphmem'})
SET s.secret = coalesce(s.secret, $made)
RETURN s.secret AS secret;

// name: indexes_not_online
// Indexes that are still being filled, or failed.
SHOW INDEXES YIELD name, state
WHERE state <> 'ONLINE'
RETURN name, state
ORDER BY name;

// name: index_without_constraint
// The index of a name that belongs to no constraint, as a kill may leave it while its constraint is being made.
// parameters: name
SHOW INDEXES YIELD name, owningConstraint
WHERE name = $name AND owningConstraint IS NULL
RETURN name;

// name: drop_index
// Remove an index.
// parameters: name
DROP INDEX $name IF EXISTS;

// name: take_lease
// Take a lease that is free, run out, or already ours; says who has it then.
// parameters: expires_at, holder, name, now
MERGE (l:Lease {name: $name})
SET l.locked = true
WITH l
FOREACH (_ IN CASE WHEN l.holder IS NULL OR l.holder = $holder OR l.expires_at <= $now THEN [1] ELSE [] END |
  SET l.holder = $holder, l.expires_at = $expires_at
)
RETURN l.holder AS holder;

// name: lease_holder
// Who holds a lease that has not run out.
// parameters: name, now
MATCH (l:Lease {name: $name})
WHERE l.holder IS NOT NULL AND l.expires_at > $now
RETURN l.holder AS holder;

// name: release_lease
// Give a lease back, if it is still ours; it is looked at under its lock, as somebody may just take it.
// parameters: holder, name
MATCH (l:Lease {name: $name})
SET l.locked = true
WITH l
WHERE l.holder = $holder
DELETE l;

// name: lock_idempotency_key
// Take the lock of a caller's retry key and return what was answered to it before, if anything.
// parameters: expires_at, key, now, request_digest
MERGE (i:IdempotencyKey {key: $key})
  ON CREATE SET i.request_digest = $request_digest, i.expires_at = $expires_at
SET i.locked = true
RETURN i.request_digest AS request_digest, CASE WHEN i.expires_at > $now THEN i.answer END AS answer;

// name: save_idempotent_answer
// Keep what was answered to a retry key.
// parameters: answer, expires_at, key, request_digest
MATCH (i:IdempotencyKey {key: $key})
SET i.answer = $answer, i.request_digest = $request_digest, i.expires_at = $expires_at;

// name: count_old_idempotency_keys
// How many retry keys have run out.
// parameters: now
MATCH (i:IdempotencyKey)
WHERE i.expires_at <= $now
RETURN count(*) AS old;

// name: forget_oldest_idempotency_keys
// Remove the retry keys that run out first.
// parameters: limit
MATCH (i:IdempotencyKey)
WHERE i.expires_at > datetime({epochMillis: 0})
WITH i ORDER BY i.expires_at, i.key LIMIT $limit
DELETE i
RETURN count(*) AS removed;

// name: count_idempotency_keys
// How many retry keys there are.
MATCH (i:IdempotencyKey)
RETURN count(i) AS total;

// name: forget_idempotency_keys
// Remove retry keys whose time has passed, at most $limit.
// parameters: limit, now
MATCH (i:IdempotencyKey)
WHERE i.expires_at <= $now
WITH i ORDER BY i.expires_at, i.key LIMIT $limit
DELETE i
RETURN count(*) AS removed;

// name: failed_database
// A row where the server has given up opening a database, as it does when its files are damaged.
// parameters: database
SHOW DATABASES YIELD name, requestedStatus, currentStatus, statusMessage
WHERE name = $database AND requestedStatus = 'online' AND currentStatus <> 'online' AND statusMessage <> ''
RETURN name;
