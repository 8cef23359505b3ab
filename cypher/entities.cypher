// name: lock_standing
// Take the locks of entities that are there, in order, and of what merged ones became, and return their labels and
// what they became; so none of them is merged before its new mentions are drawn.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (e:Entity {key: key})
SET e.locked = true
REMOVE e.locked
WITH key, e
CALL (e) {
  OPTIONAL MATCH (e)-[:MERGED_INTO*1..20]->(t:Entity)
  WHERE NOT EXISTS { (t)-[:MERGED_INTO]->(:Entity) }
  SET t.locked = true
  REMOVE t.locked
  RETURN t.entity_key AS became
}
RETURN key, e.label AS label, became
ORDER BY key;

// name: resolve
// The labels of entities that are there, each asked for by its key, and what merged ones became.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (e:Entity {key: key})
OPTIONAL MATCH (e)-[:MERGED_INTO*1..20]->(t:Entity)
WHERE NOT EXISTS { (t)-[:MERGED_INTO]->(:Entity) }
RETURN key, e.label AS label, t.entity_key AS became
ORDER BY key;

// fragment: in_ranges
// The entities of some ranges whose names begin so. Each range is a space and the first and last key that it holds.
UNWIND $ranges AS range
MATCH (e:Entity)
WHERE e.space = range.space AND e.entity_key >= range.first AND e.entity_key <= range.last
WITH e, split(e.entity_key, ':')[1] AS name
WHERE name STARTS WITH $prefix

// fragment: shown
// True of an entity that stands for itself, and that memories of some spaces mention or that is declared there.
NOT EXISTS { (e)-[:MERGED_INTO]->(:Entity) }
AND ((e.declared AND e.space IN $spaces)
  OR EXISTS { MATCH (m:Memory)-[:MENTIONS]->(e) WHERE m.space IN $spaces AND m.status <> 'retracted' })

// fragment: entity
// An entity as it is read. Times come as text, which is faster to read.
e {.entity_key, .space, .label, .aliases, .declared, .description, .attributes,
   created_at: toString(e.created_at), updated_at: toString(e.updated_at)} AS e

// name: next_type
// The type of the next entity of an owner by key.
// parameters: after, space
MATCH (e:Entity)
USING INDEX SEEK e:Entity(space, entity_key)
WHERE e.space = $space AND e.entity_key > $after
RETURN split(e.entity_key, ':')[0] AS type
ORDER BY e.space, e.entity_key
LIMIT 1;

// name: list
// One page of the entities that memories of some spaces mention or that are declared there; the exactly named first,
// then by key.
// parameters: cursor_exact, cursor_key, limit, prefix, ranges, spaces
@in_ranges
WITH e, name = $prefix AS is_exact
WHERE (is_exact < $cursor_exact OR (is_exact = $cursor_exact AND e.key > $cursor_key))
  AND @shown
RETURN e.key AS key, is_exact, @entity
ORDER BY is_exact DESC, key
LIMIT $limit;

// name: count
// How many entities a list shows on all its pages.
// parameters: prefix, ranges, spaces
@in_ranges
  AND @shown
RETURN count(e) AS total;

// fragment: found
// The entities that words find among their names and that readers of some spaces see.
CYPHER 25
MATCH (e:Entity)
  SEARCH e IN (FULLTEXT INDEX entity_names FOR $text LIMIT $most) SCORE AS s
WHERE e.space IN $owners AND @shown
WITH e, s ORDER BY s DESC, e.key

// name: search
// One page of the entities that words find among their names: those called exactly so, those of which it is another
// name, and the others, each best first.
// parameters: aliases, cursor_key, cursor_rank, cursor_score, labels, limit, most, owners, spaces, text
@found
WITH e, toInteger(round(s * 1000000)) AS score, CASE
  WHEN any(token IN $labels WHERE e.space_token CONTAINS token) THEN 2
  WHEN any(token IN $aliases WHERE e.space_token CONTAINS token) THEN 1 ELSE 0
END AS rank
WHERE rank < $cursor_rank
  OR (rank = $cursor_rank AND (score < $cursor_score OR (score = $cursor_score AND e.key > $cursor_key)))
RETURN e.key AS key, rank, score, @entity
ORDER BY rank DESC, score DESC, key
LIMIT $limit;

// name: named
// The entities of an owner that have one of some names exactly and that readers of some spaces see.
// parameters: most, owner, spaces, text
CYPHER 25
MATCH (e:Entity)
  SEARCH e IN (FULLTEXT INDEX entity_names FOR $text LIMIT $most) SCORE AS s
WHERE e.space = $owner AND @shown
RETURN e.key AS key, @entity
ORDER BY s DESC, key;

// name: count_found
// How many entities a search shows on all its pages.
// parameters: most, owners, spaces, text
@found
RETURN count(e) AS total;

// name: card
// What is known of one entity in some spaces, most important first, and how many memories mention it. Only of the
// first ones, and those that tie with the last of them, more than the mention is read.
// parameters: begins_by, ends_after, importance, keys, limit, now, spaces, statuses
UNWIND $keys AS key
MATCH (:Entity {key: key})-[:MERGED_INTO*0..20]->(e:Entity)
WHERE NOT EXISTS { (e)-[:MERGED_INTO]->(:Entity) }
WITH DISTINCT e
CALL (e) {
  MATCH (f:Memory)-[x:MENTIONS]->(e)
  WHERE x.space IN $spaces AND x.status IN $statuses AND x.expires > $now
  WITH count(x) AS mentions, collect(CASE
    WHEN x.weight >= $importance AND x.begins <= $begins_by AND x.ends > $ends_after THEN [x.weight, x.created, f]
  END) AS found
  CALL (found) {
    UNWIND found AS fact
    WITH fact ORDER BY fact[0] DESC, fact[1] DESC LIMIT $limit
    RETURN collect(fact)[-1] AS last
  }
  CALL (found, last) {
    UNWIND found AS fact
    WITH fact WHERE fact[0] > last[0] OR (fact[0] = last[0] AND fact[1] >= last[1])
    WITH fact[0] AS weight, fact[1] AS created, fact[2] AS f
    ORDER BY weight DESC, created DESC, f.key LIMIT $limit
    WITH f WHERE f.space IN $spaces AND f.status IN $statuses
    RETURN collect([f.key, f.uid, f.content]) AS facts
  }
  RETURN mentions, facts
}
RETURN e.space AS space, mentions, facts, @entity
ORDER BY mentions DESC, space;

// name: card_known_at
// The same as far as it was known at a past time.
// parameters: begins_by, ends_after, importance, keys, known_at, limit, now, spaces, statuses
UNWIND $keys AS key
MATCH (:Entity {key: key})-[:MERGED_INTO*0..20]->(e:Entity)
WHERE NOT EXISTS { (e)-[:MERGED_INTO]->(:Entity) }
WITH DISTINCT e
CALL (e) {
  MATCH (m:Memory)-[:MENTIONS]->(e)
  WHERE @known_then
  @version_then
  WITH m, r, @as_it_was
  WHERE status IN $statuses
  WITH m, r, (m.pinned OR m.importance >= $importance) AND @valid_then AS counts
  WITH count(m) AS mentions, collect(CASE WHEN counts THEN [m, coalesce(r.content, m.content)] END) AS found
  UNWIND CASE WHEN size(found) = 0 THEN [null] ELSE found END AS fact
  WITH mentions, fact[0] AS f, fact[1] AS content
  ORDER BY f.pinned DESC, f.importance DESC, f.created_at DESC, f.key LIMIT $limit
  RETURN mentions, collect([f.key, f.uid, content]) AS facts
}
RETURN e.space AS space, mentions, [fact IN facts WHERE fact[0] IS NOT NULL] AS facts, @entity
ORDER BY mentions DESC, space;

// name: lock
// Take the locks of entities, in order, and return what is known of them.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (e:Entity {key: key})
SET e.locked = true
REMOVE e.locked
RETURN e.key AS key, e.entity_key AS entity_key, e.label AS label, e.aliases AS aliases, e.declared AS declared,
       COUNT { (:Memory)-[:MENTIONS]->(e) } AS mentions, EXISTS { (e)-[:MERGED_INTO]->(:Entity) } AS is_merged
ORDER BY key;

// name: shared
// How many memories mention two entities both.
// parameters: from_key, into_key, space_prefix
MATCH (a:Entity {key: $from_key})<-[:MENTIONS]-(m:Memory)
WHERE m.space STARTS WITH $space_prefix AND EXISTS { (m)-[:MENTIONS]->(:Entity {key: $into_key}) }
RETURN count(m) AS shared;

// name: create
// Create the entity that a split leads to.
// parameters: properties
CREATE (e:Entity)
SET e = $properties;

// name: lock_mentioning
// Take the locks of the memories that mention an entity, in order: of all of them, or of those of the given keys.
// parameters: every, key, space_keys, space_prefix
MATCH (m:Memory)-[:MENTIONS]->(:Entity {key: $key})
WHERE m.space STARTS WITH $space_prefix AND ($every OR m.key IN $space_keys)
WITH m ORDER BY m.key
SET m.locked = true
REMOVE m.locked
RETURN count(m) AS memories, collect(m.uid)[0..10] AS sample;

// name: move_mentions
// Let memories mention one entity instead of another: all of them, or those of the given keys. What they mentioned
// before, and their tokens, stay on a relation that names the change.
// parameters: change, every, from_key, from_token, into_key, into_token, space_keys, space_prefix
CYPHER 25
MATCH (a:Entity {key: $from_key})
MATCH (b:Entity {key: $into_key})
MATCH (m:Memory)-[old:MENTIONS]->(a)
WHERE m.space STARTS WITH $space_prefix AND ($every OR m.key IN $space_keys)
WITH a, b, m, old ORDER BY m.key
SET m.locked = true
REMOVE m.locked
WITH a, b, m, old, EXISTS { (m)-[:MENTIONS]->(b) } AS both
CREATE (m)-[:FORMERLY_MENTIONED {change: $change, both: both, via: old.change, tokens: m.space_token}]->(a)
DELETE old
SET m.space_token = CASE
  WHEN both THEN replace(m.space_token, ' ' + $from_token, '') ELSE replace(m.space_token, $from_token, $into_token)
END
FOREACH (_ IN CASE WHEN both THEN [] ELSE [1] END |
  CREATE (m)-[x:MENTIONS {change: $change}]->(b)
  SET @mention_copies
)
RETURN count(m) AS moved;

// name: merge_into
// An entity now stands for another one too, and is also known by its names.
// parameters: aliases, change, from_key, into_key
MATCH (a:Entity {key: $from_key})
MATCH (b:Entity {key: $into_key})
CREATE (a)-[:MERGED_INTO {change: $change}]->(b)
SET b.aliases = $aliases;

// name: save_change
// Keep what a merge or split did and on what evidence.
// parameters: aliases_before, created_at, evidence, from_key, into_is_new, into_key, key_id, kind, moved, space, uid
CREATE (c:EntityChange {
  uid: $uid, kind: $kind, space: $space, from_key: $from_key, into_key: $into_key, into_is_new: $into_is_new,
  aliases_before: $aliases_before, evidence: $evidence, moved: $moved, key_id: $key_id, created_at: $created_at
});

// name: change
// One merge or split of a tenant, locked.
// parameters: space_prefix, uid
MATCH (c:EntityChange {uid: $uid})
WHERE c.space STARTS WITH $space_prefix
SET c.locked = true
REMOVE c.locked
RETURN c;

// name: changes
// One page of the merges and splits of a space, newest first, behind the cursor.
// parameters: cursor_time, cursor_uid, limit, space
MATCH (c:EntityChange)
WHERE c.space = $space AND c.created_at <= $cursor_time
  AND (c.created_at < $cursor_time OR (c.created_at = $cursor_time AND c.uid > $cursor_uid))
RETURN c
ORDER BY c.created_at DESC, c.uid
LIMIT $limit;

// name: count_changes
// How many merges and splits a space has.
// parameters: space
MATCH (c:EntityChange)
WHERE c.space = $space AND c.created_at > datetime({epochMillis: 0})
RETURN count(*) AS total;

// name: later_changes
// Merges and splits after one that moved mentions of the same entities and are not undone.
// parameters: created_at, keys, space, uid
MATCH (c:EntityChange)
WHERE c.space = $space AND c.undone_at IS NULL AND c.uid <> $uid AND c.created_at >= $created_at
  AND (c.from_key IN $keys OR c.into_key IN $keys)
RETURN c.uid AS uid
ORDER BY c.created_at, uid
LIMIT 10;

// name: move_back
// Give memories back the mentions that a change moved. One whose mentions were rewritten since keeps them.
// parameters: change, from_key, from_token, into_key, into_token, space_prefix
CYPHER 25
MATCH (a:Entity {key: $from_key})<-[former:FORMERLY_MENTIONED {change: $change}]-(m:Memory)
WHERE m.space STARTS WITH $space_prefix
MATCH (b:Entity {key: $into_key})
WITH a, b, former, m ORDER BY m.key
SET m.locked = true
REMOVE m.locked
WITH a, b, former, m, EXISTS { (m)-[:MENTIONS {change: $change}]->(b) } AS moved,
     former.both AND EXISTS { (m)-[:MENTIONS]->(b) } AS kept_both,
     CASE WHEN former.both THEN replace(former.tokens, ' ' + $from_token, '')
          ELSE replace(former.tokens, $from_token, $into_token) END AS tokens_then
SET m.space_token = CASE
  WHEN m.space_token = tokens_then THEN former.tokens
  WHEN moved THEN replace(m.space_token, $into_token, $from_token)
  WHEN kept_both THEN m.space_token + ' ' + $from_token
  ELSE m.space_token
END
FOREACH (_ IN CASE WHEN moved OR kept_both THEN [1] ELSE [] END |
  MERGE (m)-[x:MENTIONS]->(a)
  SET x.change = former.via, @mention_copies
)
DELETE former
WITH b, m
OPTIONAL MATCH (m)-[x:MENTIONS {change: $change}]->(b)
DELETE x
RETURN count(m) AS restored;

// name: finish_undo
// The merged entity stands for itself again and takes the names along that it brought; what the other learned since it
// keeps. The change is marked as undone.
// parameters: now, uid
MATCH (c:EntityChange {uid: $uid})
MATCH (a:Entity {key: c.from_key})
MATCH (b:Entity {key: c.into_key})
OPTIONAL MATCH (a)-[merged:MERGED_INTO {change: $uid}]->(b)
SET c.undone_at = $now
FOREACH (_ IN CASE WHEN merged IS NULL THEN [] ELSE [1] END |
  SET b.aliases = nullIf(
    [name IN coalesce(b.aliases, []) WHERE name IN c.aliases_before
      OR NOT (name = a.label OR name IN coalesce(a.aliases, []))], [])
  DELETE merged
)
WITH b, c
WHERE c.into_is_new AND b.declared IS NULL AND NOT EXISTS { (b)--() }
DELETE b;

// name: declared
// The next declared entities of an owner by key; what was merged away is another one by now.
// parameters: after, limit, space
MATCH (e:Entity)
USING INDEX SEEK e:Entity(space, entity_key)
WHERE e.space = $space AND e.entity_key > $after AND e.declared AND NOT EXISTS { (e)-[:MERGED_INTO]->(:Entity) }
RETURN e.entity_key AS key, @entity
ORDER BY key
LIMIT $limit;

// name: declared_there
// Which of some entities, by key, are declared.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (e:Entity {key: key})
WHERE e.declared
RETURN key
ORDER BY key;

// name: take
// Take the locks of entities, in order, and return them; one that is not there yet is made, for its key to be locked.
// parameters: space_keys
UNWIND $space_keys AS key
MERGE (e:Entity {key: key})
SET e.locked = true
REMOVE e.locked
RETURN e.entity_key IS NOT NULL AS is_there, @entity
ORDER BY key;

// name: ties
// What an entity is tied to: memories, relations, others that it became or that became it, and changes of it that can
// still be undone. Its lock is taken.
// parameters: key, space
MATCH (e:Entity {key: $key})
RETURN COUNT { (:Memory)-[:MENTIONS]->(e) } AS mentions, COUNT { (e)-[:RELATION]-() } AS relations,
       COUNT { (e)-[:MERGED_INTO]-(:Entity) } AS merges,
       COUNT {
         MATCH (c:EntityChange)
         WHERE c.space = $space AND c.created_at > datetime({epochMillis: 0}) AND c.undone_at IS NULL
           AND $key IN [c.from_key, c.into_key]
       } AS changes;

// name: save
// Write what is declared of entities, or the names that they are indexed under.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (e:Entity {key: row.key})
SET e += row.fields;

// name: delete
// Remove an entity, and the summaries of it.
// parameters: key
MATCH (e:Entity {key: $key})
OPTIONAL MATCH (s:EntitySummary)-[:SUMMARISES]->(e)
DETACH DELETE s, e;
