// fragment: relation
// A relation r between two entities a and b as it is read: times as text, without the changes that moved it.
r {
  .uid, .space, .label, .weight, .memories, .by_hand, since: toString(r.since), until: toString(r.until),
  created_at: toString(r.created_at), start: [a.entity_key, a.label], end: [b.entity_key, b.label]
}

// fragment: holds
// True of a relation r that holds at a time, as far as it or one of its memories is seen in $spaces.
coalesce(r.since <= $begins_by, true) AND coalesce(r.until > $ends_after, true)
AND (any(space IN r.by_hand WHERE space IN $spaces) OR EXISTS {
  MATCH (m:Memory)
  WHERE m.key IN r.memories AND m.space IN $spaces AND m.status IN $statuses AND m.expires_at > $now AND @valid
})

// fragment: stand_for_themselves
// True of two entities a and b that were not merged into others.
NOT EXISTS { (a)-[:MERGED_INTO]->(:Entity) } AND NOT EXISTS { (b)-[:MERGED_INTO]->(:Entity) }

// name: between
// The relations from one entity to another of a label, the oldest first.
// parameters: from_key, label, to_key
MATCH (a:Entity {key: $from_key})-[r:RELATION]->(b:Entity {key: $to_key})
WHERE r.label = $label
RETURN @relation AS relation
ORDER BY r.created_at, r.uid;

// name: lock
// Take the locks of the ends of a relation of an owner, in order, and return it.
// parameters: space, uid
MATCH (:Entity)-[known:RELATION]->(:Entity)
WHERE known.space = $space AND known.uid = $uid
CALL (known) {
  UNWIND [startNode(known), endNode(known)] AS e
  WITH e ORDER BY e.key
  SET e.locked = true
  REMOVE e.locked
}
MATCH (a:Entity)-[r:RELATION]->(b:Entity)
WHERE r.space = $space AND r.uid = $uid
RETURN @relation AS relation
ORDER BY r.uid
LIMIT 1;

// name: create
// Let two entities stand in a relation.
// parameters: created_at, from_key, properties, since, to_key, until
MATCH (a:Entity {key: $from_key})
MATCH (b:Entity {key: $to_key})
CREATE (a)-[r:RELATION]->(b)
SET r = $properties, r.since = datetime($since), r.until = datetime($until), r.created_at = datetime($created_at);

// name: change
// Change when a relation holds, and what it rests on.
// parameters: properties, since, space, uid, until
MATCH (:Entity)-[r:RELATION]->(:Entity)
WHERE r.space = $space AND r.uid = $uid
SET r += $properties, r.since = datetime($since), r.until = datetime($until)
RETURN count(r) AS changed;

// name: delete
// Remove a relation of an owner.
// parameters: space, uid
MATCH (:Entity)-[r:RELATION]->(:Entity)
WHERE r.space = $space AND r.uid = $uid
DELETE r;

// name: list
// One page of the relations of some owners that are seen in some spaces, by uid.
// parameters: begins_by, cursor_space, cursor_uid, ends_after, label, limit, now, owners, spaces, statuses
UNWIND $owners AS owner
MATCH (a:Entity)-[r:RELATION]->(b:Entity)
WHERE r.space = owner AND r.uid >= $cursor_uid AND (r.uid > $cursor_uid OR r.space > $cursor_space)
  AND ($label = '' OR r.label = $label) AND @holds AND @stand_for_themselves
WITH a, r, b ORDER BY r.uid, r.space LIMIT $limit
RETURN @relation AS relation
ORDER BY r.uid, r.space;

// name: count
// How many relations a list shows on all its pages.
// parameters: begins_by, ends_after, label, now, owners, spaces, statuses
UNWIND $owners AS owner
MATCH (a:Entity)-[r:RELATION]->(b:Entity)
WHERE r.space = owner AND r.uid > '' AND ($label = '' OR r.label = $label) AND @holds AND @stand_for_themselves
RETURN count(r) AS total;

// name: around
// The relations of some entities that are seen in some spaces, by uid.
// parameters: begins_by, direction, ends_after, label, limit, now, space_keys, spaces, statuses
UNWIND $space_keys AS key
MATCH (e:Entity {key: key})-[r:RELATION]-(:Entity)
WITH DISTINCT r, e, startNode(r) AS a, endNode(r) AS b
WHERE ($direction = 'both' OR ($direction = 'out' AND e = a) OR ($direction = 'in' AND e = b))
  AND ($label = '' OR r.label = $label) AND @holds AND @stand_for_themselves
WITH DISTINCT a, r, b ORDER BY r.uid, r.space LIMIT $limit
RETURN @relation AS relation
ORDER BY r.uid, r.space;

// name: of_space
// All relations that rest on the memories of a space or were posted in it by hand, by uid, behind one.
// parameters: after, limit, owner, space
MATCH (a:Entity)-[r:RELATION]->(b:Entity)
WHERE r.space = $owner AND r.uid > $after
  AND ($space IN r.by_hand OR any(key IN r.memories WHERE key STARTS WITH $space + '|'))
WITH a, r, b ORDER BY r.uid LIMIT $limit
RETURN r.uid AS key, @relation AS relation
ORDER BY key;

// name: move
// Let relations start and end at one entity instead of another: all of them, those of some uids, or those that rest
// on some memories alone. One between the two stays, and hides where they are one. Each remembers the change.
// parameters: change, every, from_key, into_key, memories, uids
MATCH (x:Entity {key: $from_key})
MATCH (y:Entity {key: $into_key})
MATCH (x)-[r:RELATION]-(o:Entity)
WHERE o <> y AND o <> x AND ($every OR r.uid IN $uids
  OR (size(r.memories) > 0 AND size(r.by_hand) = 0 AND all(key IN r.memories WHERE key IN $memories)))
WITH y, r, o, startNode(r) = x AS starts ORDER BY r.uid
FOREACH (_ IN CASE WHEN starts THEN [1] ELSE [] END |
  CREATE (y)-[moved:RELATION]->(o)
  SET moved = properties(r), moved.start_moved = coalesce(r.start_moved, []) + $change
)
FOREACH (_ IN CASE WHEN starts THEN [] ELSE [1] END |
  CREATE (o)-[moved:RELATION]->(y)
  SET moved = properties(r), moved.end_moved = coalesce(r.end_moved, []) + $change
)
DELETE r
RETURN count(*) AS moved;

// name: move_back
// Let the relations that a change moved start and end where they did.
// parameters: change, from_key, into_key
MATCH (x:Entity {key: $from_key})
MATCH (y:Entity {key: $into_key})
MATCH (y)-[r:RELATION]-(o:Entity)
WITH x, y, r, o, startNode(r) = y AND $change IN coalesce(r.start_moved, []) AS starts,
     endNode(r) = y AND $change IN coalesce(r.end_moved, []) AS ends
WHERE starts OR ends
WITH x, r, o, starts ORDER BY r.uid
FOREACH (_ IN CASE WHEN starts THEN [1] ELSE [] END |
  CREATE (x)-[back:RELATION]->(o)
  SET back = properties(r), back.start_moved = nullIf([c IN r.start_moved WHERE c <> $change], [])
)
FOREACH (_ IN CASE WHEN starts THEN [] ELSE [1] END |
  CREATE (o)-[back:RELATION]->(x)
  SET back = properties(r), back.end_moved = nullIf([c IN r.end_moved WHERE c <> $change], [])
)
DELETE r
RETURN count(*) AS moved;

// name: unknown
// Those of some uids that no relation of an entity has.
// parameters: from_key, uids
UNWIND $uids AS uid
OPTIONAL MATCH (:Entity {key: $from_key})-[r:RELATION {uid: uid}]-(:Entity)
WITH uid, count(r) AS found
WHERE found = 0
RETURN uid
ORDER BY uid;
