// fragment: relation
// A relation r between two entities a and b as it is written: times as text, without the changes that moved it.
r {
  .uid, .space, .label, .weight, .memories, .by_hand, since: toString(r.since), until: toString(r.until),
  created_at: toString(r.created_at), start: [a.entity_key, a.label], end: [b.entity_key, b.label]
}

// fragment: relation_seen
// The same as it is shown: of its memories the newest 32 that hold.
r {
  .uid, .space, .label, .weight, .by_hand, since: toString(r.since), until: toString(r.until),
  created_at: toString(r.created_at), start: [a.entity_key, a.label], end: [b.entity_key, b.label],
  memories: reverse(COLLECT {
    UNWIND r.memories AS uid
    MATCH (m:Memory {key: r.space + '|' + uid})
    WHERE m.status IN $statuses AND m.expires_at > $now AND @valid
    RETURN m.uid ORDER BY m.created_at DESC, m.uid DESC LIMIT 32
  })
}

// fragment: holds
// True of a relation r of some spaces that holds at a time.
r.space IN $spaces AND coalesce(r.since <= $begins_by, true) AND coalesce(r.until > $ends_after, true)
AND (r.by_hand OR EXISTS {
  UNWIND r.memories AS uid
  MATCH (m:Memory {key: r.space + '|' + uid})
  WHERE m.status IN $statuses AND m.expires_at > $now AND @valid
})

// fragment: listed
// True of a relation r of some spaces that was recorded by a time, and holds; or whether it does or not.
r.space IN $spaces AND r.created_at <= $recorded_by AND ($every OR (@holds))

// fragment: stand_for_themselves
// True of two entities a and b that were not merged into others.
NOT EXISTS { (a)-[:MERGED_INTO]->(:Entity) } AND NOT EXISTS { (b)-[:MERGED_INTO]->(:Entity) }

// name: between
// The relations of a space from one entity to another of a label, the oldest first. Those that a merge or split moved
// are left out: they may go back.
// parameters: from_key, label, space, to_key
MATCH (a:Entity {key: $from_key})
MATCH (b:Entity {key: $to_key})
MATCH (a)-[r:RELATION]->(b)
WHERE r.label = $label AND r.space = $space AND r.start_moved IS NULL AND r.end_moved IS NULL
RETURN @relation AS relation
ORDER BY r.created_at, r.uid;

// name: lock
// Take the locks of the ends of a relation, in order, and return it.
// parameters: space_key
MATCH (x:Entity)-[known:RELATION {key: $space_key}]->(y:Entity)
CALL (x, y) {
  UNWIND [x, y] AS e
  WITH e ORDER BY e.key
  SET e.locked = true
  REMOVE e.locked
}
MATCH (a:Entity)-[r:RELATION {key: $space_key}]->(b:Entity)
RETURN @relation AS relation
ORDER BY r.uid;

// name: create
// Let two entities stand in a relation; how many did.
// parameters: created_at, from_key, properties, since, to_key, until
MATCH (a:Entity {key: $from_key})
MATCH (b:Entity {key: $to_key})
CREATE (a)-[r:RELATION]->(b)
SET r = $properties, r.since = datetime($since), r.until = datetime($until), r.created_at = datetime($created_at);

// name: change
// Change when a relation holds, and what it rests on.
// parameters: properties, since, space_key, until
MATCH (:Entity)-[r:RELATION {key: $space_key}]->(:Entity)
SET r += $properties, r.since = datetime($since), r.until = datetime($until);

// name: delete
// Remove a relation.
// parameters: space_key
MATCH (:Entity)-[r:RELATION {key: $space_key}]->(:Entity)
DELETE r;

// name: list
// One page of the relations of some spaces, by their keys.
// parameters: begins_by, cursor_key, ends_after, every, label, limit, now, recorded_by, spaces, statuses
UNWIND $spaces AS space
CALL (space) {
  MATCH (a:Entity)-[r:RELATION]->(b:Entity)
  USING INDEX SEEK r:RELATION(key)
  WHERE r.key > space + '|' AND r.key < space + '}' AND r.key > $cursor_key
    AND ($label = '' OR r.label = $label) AND @listed AND @stand_for_themselves
  RETURN a, r, b ORDER BY r.key LIMIT $limit
}
WITH a, r, b ORDER BY r.key LIMIT $limit
RETURN r.key AS key, @relation_seen AS relation
ORDER BY key;

// name: count
// How many relations a list shows on all its pages.
// parameters: begins_by, ends_after, every, label, now, recorded_by, spaces, statuses
UNWIND $spaces AS space
MATCH (a:Entity)-[r:RELATION]->(b:Entity)
USING INDEX SEEK r:RELATION(key)
WHERE r.key > space + '|' AND r.key < space + '}' AND ($label = '' OR r.label = $label) AND @listed
  AND @stand_for_themselves
RETURN count(r) AS total;

// fragment: around
// The relations r of some entities, seen from them, between a and b.
UNWIND $space_keys AS key
MATCH (e:Entity {key: key})-[r:RELATION]-(:Entity)
WITH DISTINCT r, e, startNode(r) AS a, endNode(r) AS b
WHERE ($direction = 'both' OR ($direction = 'out' AND e = a) OR ($direction = 'in' AND e = b))
  AND ($label = '' OR r.label = $label) AND @listed AND @stand_for_themselves
WITH DISTINCT a, r, b

// name: around
// One page of the relations of some entities that are seen in some spaces, by their keys.
// parameters: begins_by, cursor_key, direction, ends_after, every, label, limit, now, recorded_by, space_keys
// parameters: spaces, statuses
@around
WHERE r.key > $cursor_key
WITH a, r, b ORDER BY r.key LIMIT $limit
RETURN r.key AS key, @relation_seen AS relation
ORDER BY key;

// name: count_around
// How many relations some entities have in all.
// parameters: begins_by, direction, ends_after, every, label, now, recorded_by, space_keys, spaces, statuses
@around
RETURN count(r) AS total;

// name: of_space
// All relations of a space whose ends stand for themselves, by key, behind one; whether they hold or not.
// parameters: after, limit, space
MATCH (a:Entity)-[r:RELATION]->(b:Entity)
USING INDEX SEEK r:RELATION(key)
WHERE r.key > $space + '|' AND r.key < $space + '}' AND r.key > $after AND @stand_for_themselves
WITH a, r, b ORDER BY r.key LIMIT $limit
RETURN r.key AS key, @relation AS relation
ORDER BY key;

// name: there
// Which of some relations, by key, are here.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (:Entity)-[r:RELATION {key: key}]->(:Entity)
RETURN key
ORDER BY key;

// name: move
// Let relations start and end at one entity instead of another: all of them, those of some keys, or those that rest
// on some memories alone. One between the two stays, and hides where they are one. Each remembers the change.
// parameters: change, every, from_key, into_key, memories, relations
MATCH (x:Entity {key: $from_key})
MATCH (y:Entity {key: $into_key})
MATCH (x)-[r:RELATION]-(o:Entity)
WHERE o <> y AND o <> x AND ($every OR r.key IN $relations
  OR (size(r.memories) > 0 AND NOT r.by_hand AND all(uid IN r.memories WHERE r.space + '|' + uid IN $memories)))
WITH y, r, o, startNode(r) = x AS starts, properties(r) AS values ORDER BY r.key
DELETE r
WITH y, o, starts, values
FOREACH (_ IN CASE WHEN starts THEN [1] ELSE [] END |
  CREATE (y)-[moved:RELATION]->(o)
  SET moved = values, moved.start_moved = coalesce(values.start_moved, []) + $change
)
FOREACH (_ IN CASE WHEN starts THEN [] ELSE [1] END |
  CREATE (o)-[moved:RELATION]->(y)
  SET moved = values, moved.end_moved = coalesce(values.end_moved, []) + $change
)
RETURN count(*) AS moved;

// name: move_back
// Let the relations that a change moved start and end where they did.
// parameters: change, from_key, into_key
MATCH (x:Entity {key: $from_key})
MATCH (y:Entity {key: $into_key})
MATCH (y)-[r:RELATION]-(o:Entity)
WITH x, r, o, startNode(r) = y AND $change IN coalesce(r.start_moved, []) AS starts,
     endNode(r) = y AND $change IN coalesce(r.end_moved, []) AS ends
WHERE starts OR ends
WITH x, r, o, starts, properties(r) AS values ORDER BY r.key
DELETE r
WITH x, o, starts, values
FOREACH (_ IN CASE WHEN starts THEN [1] ELSE [] END |
  CREATE (x)-[back:RELATION]->(o)
  SET back = values, back.start_moved = nullIf([c IN values.start_moved WHERE c <> $change], [])
)
FOREACH (_ IN CASE WHEN starts THEN [] ELSE [1] END |
  CREATE (o)-[back:RELATION]->(x)
  SET back = values, back.end_moved = nullIf([c IN values.end_moved WHERE c <> $change], [])
)
RETURN count(*) AS moved;

// name: movable
// Those of some relations, by key, that lead from or to an entity and not to the other one.
// parameters: from_key, into_key, relations
UNWIND $relations AS key
MATCH (a:Entity)-[r:RELATION {key: key}]->(b:Entity)
WHERE (a.key = $from_key AND b.key <> $into_key) OR (b.key = $from_key AND a.key <> $into_key)
RETURN key
ORDER BY key;
