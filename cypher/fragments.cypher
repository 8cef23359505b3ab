// fragment: memory
// A memory as it is read: times as text, without what only the indexes need.
m {
  .*, search_text: null, search_context: null, space_token: null, taken_words: null, statement: null, asserts: null,
  native_category: null, unchecked: null,
  created_at: toString(m.created_at), updated_at: toString(m.updated_at), status_at: toString(m.status_at),
  occurred_at: toString(m.occurred_at), valid_from: toString(m.valid_from), valid_until: toString(m.valid_until),
  last_recalled_at: toString(m.last_recalled_at),
  sources_total: 1 + COUNT { (m)-[:FROM]->(:Source) },
  sources: COLLECT {
    MATCH (m)-[:FROM]->(s:Source)
    RETURN [@source] ORDER BY s.at DESC, s.key DESC LIMIT 31
  }
}

// fragment: source
// The values of a further source s.
s.source_type, s.source_path, s.conversation_id, s.workflow_run_id, s.step_id, s.captured_by, s.source_key,
toString(s.at)

// fragment: entities
// The entities that a memory mentions, by key.
COLLECT { MATCH (m)-[:MENTIONS]->(e:Entity) RETURN [e.entity_key, e.label] ORDER BY e.entity_key }

// fragment: in_space
// True of a memory or a claim m of one space, or of any where none is named. Keys begin with their space and |, so that
// the index of keys answers it, whatever else there is.
m.key >= CASE WHEN $space = '' THEN '' ELSE $space + '|' END
AND m.key < CASE WHEN $space = '' THEN '\uFFFF' ELSE $space + '}' END

// fragment: space_in_range
// The same for an index that begins with the space.
m.space >= $space AND m.space <= CASE WHEN $space = '' THEN '\uFFFF' ELSE $space END

// fragment: edge_row
// The values of an edge e between two memories, from and to.
e.uid, from.uid, to.uid, type(e), e.weight, toString(e.created_at), e.reason, e.link_type

// fragment: valid
// True of a memory that is valid between two times; one without a bound is so at any.
coalesce(m.valid_from <= $begins_by, true) AND coalesce(m.valid_until > $ends_after, true)

// fragment: known_then
// True of a memory of some spaces that was there at $known_at and may be shown today.
m.space IN $spaces AND m.status <> 'retracted' AND m.expires_at > $now AND m.created_at <= $known_at

// fragment: version_then
// The version r of a memory that was in force at $known_at, or null where that is the present one.
CALL (m) {
  OPTIONAL MATCH (m)-[:HAS_REVISION]->(r:Revision)
  WHERE r.replaced_at > $known_at
  RETURN r ORDER BY r.version LIMIT 1
}

// fragment: vectors_of_version
// The revision later whose vectors a version r has, which were replaced with that one or forgotten; null where it has
// those of today.
CALL (m, r) {
  OPTIONAL MATCH (m)-[:HAS_REVISION]->(later:Revision)
  WHERE later.version >= r.version AND (later.vectors_forgotten OR EXISTS { (later)<-[:OF]-(:FormerChunk) })
  RETURN later ORDER BY later.version LIMIT 1
}

// fragment: as_it_was
// The status and the validity of a memory in that version.
CASE WHEN r IS NULL THEN m.status ELSE r.status END AS status,
CASE WHEN r IS NULL THEN m.valid_from ELSE r.valid_from END AS valid_from,
CASE WHEN r IS NULL THEN m.valid_until ELSE r.valid_until END AS valid_until

// fragment: valid_then
// True of a memory that was valid between two times in that version.
coalesce(valid_from <= $begins_by, true) AND coalesce(valid_until > $ends_after, true)

// fragment: mention_weight
// What cards choose the memories of an entity by.
m.importance + CASE WHEN m.pinned THEN 1000 ELSE 0 END

// fragment: mention_copies
// What a mention x repeats of its memory, so that cards need not read every memory of a hub.
x.space = m.space, x.status = m.status, x.weight = @mention_weight,
x.created = m.created_at.epochMillis, x.expires = m.expires_at,
x.begins = coalesce(m.valid_from.epochMillis, @ALWAYS_MS),
x.ends = coalesce(m.valid_until.epochMillis, @NEVER_MS)

// fragment: edges_of_uids
// The edges of some uids, by the index of each type, with their ends.
CALL () {
  MATCH (from:Memory)-[e:UPDATES]->(to:Memory) WHERE e.uid IN $uids RETURN from, e, to
  UNION ALL
  MATCH (from:Memory)-[e:CONTRADICTS]->(to:Memory) WHERE e.uid IN $uids RETURN from, e, to
  UNION ALL
  MATCH (from:Memory)-[e:RELATED_TO]->(to:Memory) WHERE e.uid IN $uids RETURN from, e, to
  UNION ALL
  MATCH (from:Memory)-[e:CAUSED_BY]->(to:Memory) WHERE e.uid IN $uids RETURN from, e, to
  UNION ALL
  MATCH (from:Memory)-[e:PART_OF]->(to:Memory) WHERE e.uid IN $uids RETURN from, e, to
}

// fragment: holds_now
// True of a memory m that is current: active, neither expired nor past its validity.
m.status = 'active' AND m.expires_at > $now AND coalesce(m.valid_until.epochMillis > $now, true)

// fragment: stands
// True of a record n of a notebook all of whose memories are current and were not reworded since it was noted; a line
// without words of its own says what its memory says now.
NOT EXISTS {
  MATCH (n)-[:RESTS_ON]->(m:Memory)
  WHERE NOT (@holds_now) OR m.space <> n.space OR n.text IS NOT NULL AND EXISTS {
    MATCH (m)-[:HAS_REVISION]->(v:Revision)
    WHERE v.replaced_at >= n.noted_at AND v.content <> m.content
  }
}
