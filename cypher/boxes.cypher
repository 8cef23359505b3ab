// fragment: box
// A box as it is read, with the memories that were put in and may be shown, in that order, each with its topics.
b {.*, created_at: toString(b.created_at), last_at: toString(b.last_at), kept_at: toString(b.kept_at),
   sealed_at: toString(b.sealed_at),
   members: COLLECT {
     MATCH (b)-[h:HOLDS]->(m:Memory)
     WHERE m.space = b.space AND m.status <> 'retracted'
     RETURN [m.uid, h.topics] ORDER BY h.number, m.key
   },
   trace: head(COLLECT { MATCH (b)-[:OF_TRACE]->(r:TopicTrace) RETURN r.uid ORDER BY r.key })
}

// fragment: topic_trace
// A topic trace as it is read: its newest boxes, and the topics that memories which may be shown have brought.
r {.*, first_at: toString(r.first_at), last_at: toString(r.last_at),
   boxes: COLLECT { MATCH (b:Box)-[:OF_TRACE]->(r) RETURN b.uid ORDER BY b.created_at DESC, b.key LIMIT 1000 },
   topics: [topic IN r.topics WHERE EXISTS {
     MATCH (r)<-[:OF_TRACE]-(:Box)-[h:HOLDS]->(m:Memory) WHERE m.status <> 'retracted' AND topic IN h.topics
   }]
}

// name: open_box
// The open box of a space, with all that was put in, and the topic traces that were last told in the days before it, or
// before a time where that is earlier, the latest first. The notebook of the space is locked.
// parameters: at, days, limit, space
OPTIONAL MATCH (b:OpenBox {space: $space})
WITH b, CASE WHEN b.last_at < datetime($at) THEN b.last_at ELSE datetime($at) END AS at ORDER BY b.key LIMIT 1
RETURN b {.*, created_at: toString(b.created_at), last_at: toString(b.last_at), kept_at: toString(b.kept_at),
  sealed_at: null, trace: null,
  members: COLLECT { MATCH (b)-[h:HOLDS]->(m:Memory) RETURN [m.uid, h.topics] ORDER BY h.number, m.key }
} AS box, COLLECT {
  MATCH (r:TopicTrace)
  USING INDEX SEEK r:TopicTrace(space, last_at)
  WHERE r.space = $space AND r.last_at >= at - duration({days: $days})
  WITH r ORDER BY r.last_at DESC, r.key LIMIT $limit
  RETURN r {.uid, .space, .topics, first_at: toString(r.first_at), last_at: toString(r.last_at), boxes: []}
} AS traces;

// name: save
// Write boxes with the memories that are new in them. One that is sealed is open no more.
// parameters: space_rows
UNWIND $space_rows AS row
MERGE (b:Box {key: row.key})
SET b += row.properties, b.created_at = datetime(row.created_at), b.last_at = datetime(row.last_at),
    b.kept_at = datetime(row.kept_at), b.sealed_at = datetime(row.sealed_at)
FOREACH (_ IN CASE WHEN row.sealed_at IS NULL THEN [1] ELSE [] END | SET b:OpenBox)
FOREACH (_ IN CASE WHEN row.sealed_at IS NULL THEN [] ELSE [1] END | REMOVE b:OpenBox)
WITH b, row
UNWIND row.members AS member
MATCH (m:Memory {key: member.memory})
MERGE (b)-[h:HOLDS]->(m)
SET h.topics = member.topics, h.number = member.number;

// name: trace
// Let boxes be of topic traces, which get their topics and times.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (b:Box {key: row.box})
MERGE (r:TopicTrace {key: row.key})
  ON CREATE SET r.uid = row.uid, r.space = row.space, r.topics = [], r.first_at = datetime(row.first_at),
    r.last_at = datetime(row.last_at)
SET r.topics = r.topics + [topic IN row.topics WHERE NOT topic IN r.topics],
    r.first_at = CASE WHEN datetime(row.first_at) < r.first_at THEN datetime(row.first_at) ELSE r.first_at END,
    r.last_at = CASE WHEN datetime(row.last_at) > r.last_at THEN datetime(row.last_at) ELSE r.last_at END
MERGE (b)-[:OF_TRACE]->(r);

// fragment: boxes_shown
// The boxes of a space that hold what may be shown: open or sealed ones, of one session, last told since a time, if
// asked for.
MATCH (b:Box)
USING INDEX SEEK b:Box(space, last_at)
WHERE b.space = $space AND b.last_at >= datetime($since) AND ($session = '' OR b.session = $session)
  AND ($open IS NULL OR $open = (b.sealed_at IS NULL))
  AND EXISTS { (b)-[:HOLDS]->(m:Memory) WHERE m.status <> 'retracted' }

// name: list
// One page of the boxes of a space, the latest first.
// parameters: cursor_key, cursor_time, limit, open, session, since, space
@boxes_shown
  AND (b.last_at < $cursor_time OR (b.last_at = $cursor_time AND b.key < $cursor_key))
WITH b ORDER BY b.last_at DESC, b.key DESC LIMIT $limit
RETURN @box AS box
ORDER BY b.last_at DESC, b.key DESC;

// name: count
// How many boxes a list shows on all its pages.
// parameters: open, session, since, space
@boxes_shown
RETURN count(b) AS total;

// name: find
// A box.
// parameters: space_key
MATCH (b:Box {key: $space_key})
RETURN @box AS box;

// name: quiet
// The open boxes that were last told, and last put in, before a time, the oldest first; of one space if one is named.
// parameters: before, cursor_key, cursor_time, limit, space
MATCH (b:OpenBox)
WHERE b.last_at >= $cursor_time AND b.last_at < $before AND b.kept_at < $before
  AND ($space = '' OR b.space = $space)
  AND (b.last_at > $cursor_time OR b.key > $cursor_key)
RETURN b.key AS key, b.space AS space, toString(b.last_at) AS last_at
ORDER BY b.last_at, b.key
LIMIT $limit;

// fragment: traces_shown
// The topic traces of a space whose boxes hold what may be shown.
MATCH (r:TopicTrace)
USING INDEX SEEK r:TopicTrace(space, last_at)
WHERE r.space = $space AND r.last_at IS NOT NULL
  AND EXISTS { (r)<-[:OF_TRACE]-(:Box)-[:HOLDS]->(m:Memory) WHERE m.status <> 'retracted' }

// name: list_traces
// One page of the topic traces of a space, the latest first.
// parameters: cursor_key, cursor_time, limit, space
@traces_shown
  AND (r.last_at < $cursor_time OR (r.last_at = $cursor_time AND r.key < $cursor_key))
WITH r ORDER BY r.last_at DESC, r.key DESC LIMIT $limit
RETURN @topic_trace AS trace
ORDER BY r.last_at DESC, r.key DESC;

// name: count_traces
// How many topic traces a list shows on all its pages.
// parameters: space
@traces_shown
RETURN count(r) AS total;

// name: find_trace
// A topic trace.
// parameters: space_key
MATCH (r:TopicTrace {key: $space_key})
RETURN @topic_trace AS trace;

// name: of_space
// The boxes of a space by key, with all that was put in, for an export.
// parameters: after, limit, space
MATCH (b:Box)
USING INDEX SEEK b:Box(key)
WHERE b.key STARTS WITH $space + '|' AND b.key > $after
WITH b ORDER BY b.key LIMIT $limit
RETURN b.key AS key, b {.*, created_at: toString(b.created_at), last_at: toString(b.last_at),
  kept_at: toString(b.kept_at), sealed_at: toString(b.sealed_at),
  members: COLLECT { MATCH (b)-[h:HOLDS]->(m:Memory) RETURN [m.uid, h.topics] ORDER BY h.number, m.key },
  trace: head(COLLECT { MATCH (b)-[:OF_TRACE]->(r:TopicTrace) RETURN r.uid ORDER BY r.key })
} AS box
ORDER BY key;

// name: traces_of_space
// The topic traces of a space by key, for an export; boxes tell which one they are of.
// parameters: after, limit, space
MATCH (r:TopicTrace)
USING INDEX SEEK r:TopicTrace(key)
WHERE r.key STARTS WITH $space + '|' AND r.key > $after
WITH r ORDER BY r.key LIMIT $limit
RETURN r.key AS key, r {.*, first_at: toString(r.first_at), last_at: toString(r.last_at), boxes: []} AS trace
ORDER BY key;

// name: there
// Which of some boxes are here, by key.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (b:Box {key: key})
RETURN key
ORDER BY key;

// name: open_in
// Whether a space has an open box.
// parameters: space
RETURN EXISTS { (:OpenBox {space: $space}) } AS is_open;

// name: take_in_traces
// Write topic traces that another store kept, where they are not here; each with whether it is new.
// parameters: space_rows
UNWIND $space_rows AS row
OPTIONAL MATCH (known:TopicTrace {key: row.key})
WITH row, known IS NULL AS is_new
CALL (row, is_new) {
  WITH row, is_new WHERE is_new
  MERGE (r:TopicTrace {key: row.key})
  SET r += row.properties, r.first_at = datetime(row.first_at), r.last_at = datetime(row.last_at)
}
RETURN row.key AS key, is_new
ORDER BY key;
