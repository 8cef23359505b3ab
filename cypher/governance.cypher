// fragment: item
// A governed item as it is read.
m {.key, .uid, .space, .content, .authority, .native, .governed_summary_of}

// name: contract
// The contract of a profile that holds now.
// parameters: profile
MATCH (a:AiProfile {key: $profile})-[:CURRENT]->(c:Contract)
RETURN c.version AS version, c.document AS document;

// name: contract_version
// One version of a contract.
// parameters: key
MATCH (c:Contract {key: $key})
RETURN c.version AS version, c.document AS document;

// name: lock_profile
// Take the lock of a profile, which begins with it, and read its contract.
// parameters: key, profile, tenant
MERGE (a:AiProfile {key: $key})
  ON CREATE SET a.tenant = $tenant, a.profile = $profile
SET a.locked = true
REMOVE a.locked
WITH a
OPTIONAL MATCH (a)-[:CURRENT]->(c:Contract)
RETURN c.version AS version, c.document AS document;

// name: save_contract
// Add a version of a contract, which holds from now on.
// parameters: contract, created_at, key
MATCH (a:AiProfile {key: $key})
OPTIONAL MATCH (a)-[old:CURRENT]->(:Contract)
DELETE old
WITH DISTINCT a
CREATE (c:Contract)
SET c = $contract, c.created_at = datetime($created_at)
CREATE (a)-[:HAS_VERSION]->(c)
CREATE (a)-[:CURRENT]->(c);

// name: list_contracts
// One page of the profiles of a tenant with their contracts, by name.
// parameters: cursor_key, limit, tenant
MATCH (a:AiProfile)-[:CURRENT]->(c:Contract)
WHERE a.tenant = $tenant AND a.profile > $cursor_key
RETURN a.profile AS profile, c.version AS version, c.document AS document, toString(c.created_at) AS created_at
ORDER BY profile
LIMIT $limit;

// name: count_contracts
// How many profiles of a tenant have a contract.
// parameters: tenant
MATCH (a:AiProfile)
USING INDEX SEEK a:AiProfile(tenant, profile)
WHERE a.tenant = $tenant AND a.profile > '' AND EXISTS { (a)-[:CURRENT]->(:Contract) }
RETURN count(a) AS total;

// name: list_versions
// One page of the versions of a contract, the newest first.
// parameters: cursor_version, key, limit
MATCH (:AiProfile {key: $key})-[:HAS_VERSION]->(c:Contract)
WHERE c.version < $cursor_version
RETURN c.version AS version, c.document AS document, toString(c.created_at) AS created_at, c.key_id AS key_id
ORDER BY version DESC
LIMIT $limit;

// name: count_versions
// How many versions a contract has.
// parameters: key
MATCH (:AiProfile {key: $key})-[:HAS_VERSION]->(c:Contract)
RETURN count(c) AS total;

// name: lock
// Take the locks of claim keys and then of places, in the order of their rows, and read them with a contract; some
// places begin with it.
// parameters: claims, profile, space_rows
CALL () {
  UNWIND $claims AS claim
  @locked_claim
  WITH k, m WHERE m IS NOT NULL
  RETURN collect([k.key, m.key]) AS claimed
}
CALL () {
  UNWIND $space_rows AS row
  FOREACH (_ IN CASE WHEN row.makes THEN [1] ELSE [] END |
    MERGE (p:GovernedPlace {key: row.key})
      ON CREATE SET p.space = row.key
  )
  WITH row
  MATCH (p:GovernedPlace {key: row.key})
  SET p.locked = true
  REMOVE p.locked
  WITH p ORDER BY p.key
  RETURN collect(p {.*}) AS places
}
OPTIONAL MATCH (:AiProfile {key: $profile})-[:CURRENT]->(c:Contract)
RETURN claimed, places, c.version AS version, c.document AS document
ORDER BY version DESC LIMIT 1;

// name: places
// Places as they are.
// parameters: spaces
UNWIND $spaces AS space
MATCH (p:GovernedPlace {key: space})
RETURN p {.*} AS place
ORDER BY p.key;

// name: drop_ledgers
// Let the ledgers of the oldest phases of places go.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (h:Phase)
WHERE h.space = row.space AND h.index <= row.dropped AND h.dropped IS NULL
SET h.dropped = true;

// fragment: lasts
// True of an item whose time does not pass soon.
CASE row.modes[m.governed_event]
  WHEN 'decay' THEN m.governed_mark >= row.before[m.governed_event]
  WHEN 'ttl' THEN m.governed_due > row.due
    AND (m.governed_due <> @NEVER_MS OR m.governed_mark >= row.before[m.governed_event])
  ELSE true
END

// name: present
// Present items, by what each row asks for. talk: messages and summaries of some phases, the newest. aged and timed:
// those whose time passes soon, beyond an age or at a tick, the last of them; untold: those that are to be told a tick.
// met: the newest of a key. facts: the oldest of some phases that last. newest: the newest snippets of a place, a phase
// and an importance. A row has only the name of the list that it asks, so the others cost nothing; each list is read in
// the order of its index, as far as it goes.
// parameters: ending_most, facts_most, newest_most, space_rows, talk_most
UNWIND $space_rows AS row
CALL (row) {
  MATCH (m:GovernedItem)
  USING INDEX SEEK m:GovernedItem(governed_place, governed_phase, governed_tick)
  WHERE m.governed_place = row.talk AND m.governed_phase >= row.first AND m.governed_phase <= row.last
    AND m.governed_tick >= 0
  RETURN m ORDER BY m.governed_place DESC, m.governed_phase DESC, m.governed_tick DESC, m.key LIMIT $talk_most
UNION ALL
  MATCH (m:GovernedItem)
  USING INDEX SEEK m:GovernedItem(governed_place, governed_event, governed_mark)
  WHERE m.governed_place = row.aged AND m.governed_event = row.event AND m.governed_mark < row.until
  RETURN m ORDER BY m.governed_place DESC, m.governed_event DESC, m.governed_mark DESC, m.key LIMIT $ending_most
UNION ALL
  MATCH (m:GovernedItem)
  USING INDEX SEEK m:GovernedItem(governed_place, governed_event, governed_due)
  WHERE m.governed_place = row.timed AND m.governed_event = row.event AND m.governed_due <= row.until
  RETURN m ORDER BY m.governed_place DESC, m.governed_event DESC, m.governed_due DESC, m.key LIMIT $ending_most
UNION ALL
  MATCH (m:GovernedItem)
  USING INDEX SEEK m:GovernedItem(governed_place, governed_event, governed_due)
  WHERE m.governed_place = row.untold AND m.governed_event = row.event AND m.governed_due = @NEVER_MS
  RETURN m ORDER BY m.governed_mark DESC, m.key LIMIT $ending_most
UNION ALL
  MATCH (m:GovernedItem)
  USING INDEX SEEK m:GovernedItem(governed_place, governed_dedup)
  WHERE m.governed_place = row.met AND m.governed_dedup = row.dedup
  RETURN m ORDER BY m.governed_tick DESC, m.key LIMIT 1
UNION ALL
  MATCH (m:GovernedItem)
  USING INDEX SEEK m:GovernedItem(governed_place, governed_phase, governed_tick)
  WHERE m.governed_place = row.facts AND m.governed_phase >= row.first AND m.governed_phase <= row.last
    AND m.governed_tick >= 0 AND @lasts
  RETURN m ORDER BY m.governed_place, m.governed_phase, m.governed_tick, m.key LIMIT $facts_most
UNION ALL
  MATCH (m:GovernedItem)
  USING INDEX SEEK m:GovernedItem(governed_class, governed_tick)
  WHERE m.governed_class = row.newest AND m.governed_tick >= 0 AND @lasts
  RETURN m ORDER BY m.governed_class DESC, m.governed_tick DESC, m.key LIMIT $newest_most
}
WITH row.number AS number, m
ORDER BY number, m.governed_tick DESC, m.key
RETURN collect([number, @item]) AS found;

// name: lock_items
// Take the locks of memories, in order, and return them as they then are. With them come the newest present snippets of
// each of some classes that are older than those above, and have words or all of a query; each row is one kind of
// search, with its classes and the tick before which each is searched.
// parameters: limit, searches, space_keys
CALL () {
  UNWIND $space_keys AS key
  @locked_memory
  ORDER BY m.key
  WITH @memory AS memory, @entities AS entities
  RETURN collect([memory, entities]) AS locked
}
CALL () {
  UNWIND $searches AS row
  CALL (row) {
    UNWIND row.searches AS search
    CALL db.index.fulltext.queryNodes('governed_words', search) YIELD node
    WITH DISTINCT node AS m
    WHERE m.governed_tick < row.before_ticks[m.governed_class] AND @lasts
      AND (row.contained = '' OR m.governed_words CONTAINS row.contained)
    WITH m ORDER BY m.governed_tick DESC, m.key
    WITH m.governed_class AS class, collect(m)[..$limit] AS found
    UNWIND found AS m
    RETURN m
  }
  WITH m ORDER BY m.key
  RETURN collect(@item) AS found
}
RETURN locked, found;

// name: phases_with_snippets
// The phases that hold the newest present snippets of a place which last, as far as the first ones go.
// parameters: limit, space_rows
UNWIND $space_rows AS row
CALL (row) {
  MATCH (m:GovernedItem)
  USING INDEX SEEK m:GovernedItem(governed_place, governed_phase, governed_tick)
  WHERE m.governed_place = row.place AND m.governed_phase > 0 AND m.governed_tick >= 0 AND @lasts
  WITH m ORDER BY m.governed_place DESC, m.governed_phase DESC LIMIT $limit
  RETURN DISTINCT m.governed_phase AS phase
}
RETURN phase
ORDER BY phase DESC;

// name: ledger
// What came into the ledgers of a space, or left them, behind one phase and up to another, and what has a key of that
// or of some others.
// parameters: after, keys, space, up_to
CALL () {
  MATCH (m:GovernedItem)
  USING INDEX SEEK m:GovernedItem(space, governed_phase)
  WHERE m.space = $space AND m.governed_phase > $after AND m.governed_phase <= $up_to
  RETURN collect(DISTINCT m.governed_key) AS came
}
CALL (came) {
  MATCH (m:GovernedItem)
  USING INDEX SEEK m:GovernedItem(space, governed_key)
  WHERE m.space = $space AND m.governed_key IN came + $keys
  RETURN m
UNION
  MATCH (m:GovernedItem)
  USING INDEX SEEK m:GovernedItem(space, governed_until)
  WHERE m.space = $space AND m.governed_until > $after AND m.governed_until <= $up_to
  RETURN m
}
RETURN @item AS item, m.governed_until AS until
ORDER BY m.key;

// name: save
// Write what a call changed: places with their phases, items that came, changed or left, and the trace of it all with
// the items that it tells of. What left is found no more.
// parameters: came, created_at, forget_at, left, phases, space_keys, space_rows, trace
CALL () {
  UNWIND $space_rows AS row
  MATCH (p:GovernedPlace {key: row.key})
  SET p += row.properties
}
CALL () {
  UNWIND $phases AS row
  MATCH (p:GovernedPlace {key: row.properties.space})
  MERGE (h:Phase {key: row.key})
  SET h += row.properties
  MERGE (p)-[:HAS_PHASE]->(h)
}
CALL () {
  UNWIND $came AS row
  MATCH (m:Memory {key: row.key})
  SET m:GovernedItem, m += row.properties
  WITH m, row
  MATCH (h:Phase {key: row.phase})
  MERGE (m)-[:ADDED_IN]->(h)
}
CALL () {
  UNWIND $left AS row
  MATCH (m:Memory {key: row.key})
  WHERE m:GovernedItem AND m.governed_place IS NOT NULL
  REMOVE m.governed_place, m.governed_class, m.governed_words, m.governed_dedup, m.governed_due
  SET m.governed_until = row.phase
  WITH m, row
  MATCH (h:Phase {key: row.phase_key})
  MERGE (m)-[:DELETED_IN]->(h)
}
CREATE (t:Trace)
SET t = $trace, t.created_at = datetime($created_at), t.forget_at = datetime($forget_at)
WITH t
UNWIND $space_keys AS key
MATCH (m:Memory {key: key})
CREATE (t)-[:TELLS_OF]->(m);

// name: leave_now
// Let items that somebody took back be present no more, from the present phase of their space on.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (m:Memory {key: key})
WHERE m:GovernedItem AND m.governed_place IS NOT NULL
REMOVE m.governed_place, m.governed_class, m.governed_words, m.governed_dedup, m.governed_due
WITH m
MATCH (p:GovernedPlace {key: m.space})
SET m.governed_until = p.phase_index
WITH m, p
MATCH (h:Phase {key: p.key + '|' + p.phase_index})
MERGE (m)-[:DELETED_IN]->(h);

// name: items_of_space
// The items of a space, by key, behind one, each with the messages that it sums up, and the phase in which it left.
// parameters: after, limit, space
MATCH (m:Memory)
USING INDEX SEEK m:Memory(key)
WHERE m.key > $after AND m.key > $space + '|' AND m.key < $space + '}' AND m:GovernedItem
RETURN m.key AS key, m.uid AS uid, m.governed_summary_of AS summary_of, m.governed_until AS until
ORDER BY key
LIMIT $limit;

// name: to_take_in
// Memories of some keys that governance keeps, and whether each is an item already.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (m:Memory {key: key})
WHERE m.kept_by = 'governance' AND m.native IS NOT NULL
SET m.locked = true
REMOVE m.locked
WITH m
RETURN @item AS item, m.status = 'active' AS is_present, m:GovernedItem AS is_known
ORDER BY m.key;

// name: taken_numbers
// Items that have the numbers of others.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (m:GovernedItem)
USING INDEX SEEK m:GovernedItem(governed_list, governed_number)
WHERE m.governed_list = row.list AND m.governed_number = row.number AND m.key <> row.key
RETURN m.key AS key
ORDER BY key
LIMIT 1;

// name: take_in_items
// Let memories be governed items as another store had them: of the phase in which they came, and in which they left.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.key})
SET m:GovernedItem, m += row.properties
WITH m, row
CALL (m, row) {
  MATCH (h:Phase {key: row.added})
  MERGE (m)-[:ADDED_IN]->(h)
}
CALL (m, row) {
  MATCH (h:Phase {key: row.deleted})
  MERGE (m)-[:DELETED_IN]->(h)
};

// name: save_places
// Write places as another store had them, with their phases.
// parameters: phases, space_rows
CALL () {
  UNWIND $space_rows AS row
  MATCH (p:GovernedPlace {key: row.key})
  SET p += row.properties
}
UNWIND $phases AS row
MATCH (p:GovernedPlace {key: row.properties.space})
MERGE (h:Phase {key: row.key})
  ON CREATE SET h += row.properties
MERGE (p)-[:HAS_PHASE]->(h);

// name: list_items
// One page of the items of a space of one kind, the newest first.
// parameters: cursor_number, limit, list, status
MATCH (m:GovernedItem)
USING INDEX SEEK m:GovernedItem(governed_list, governed_number)
WHERE m.governed_list = $list AND m.governed_number < $cursor_number
  AND ($status = '' OR ($status = 'present') = (m.governed_place IS NOT NULL))
RETURN @item AS item, m.governed_place IS NOT NULL AS is_present, m.status_reason AS reason, m.status AS status
ORDER BY m.governed_list DESC, m.governed_number DESC
LIMIT $limit;

// name: count_items
// How many items of a space and kind there are.
// parameters: list, status
MATCH (m:GovernedItem)
USING INDEX SEEK m:GovernedItem(governed_list, governed_number)
WHERE m.governed_list = $list AND m.governed_number > 0
  AND ($status = '' OR ($status = 'present') = (m.governed_place IS NOT NULL))
RETURN count(m) AS total;

// name: item
// One item by its space, kind and number.
// parameters: list, number
MATCH (m:GovernedItem)
USING INDEX SEEK m:GovernedItem(governed_list, governed_number)
WHERE m.governed_list = $list AND m.governed_number = $number
RETURN @item AS item, m.governed_place IS NOT NULL AS is_present, m.status_reason AS reason, m.status AS status
ORDER BY m.key
LIMIT 1;

// name: list_phases
// One page of the phases of a space, the newest first.
// parameters: cursor_index, limit, space
MATCH (h:Phase)
USING INDEX SEEK h:Phase(space, index)
WHERE h.space = $space AND h.index < $cursor_index
RETURN h {.*} AS phase
ORDER BY h.space DESC, h.index DESC
LIMIT $limit;

// name: count_phases
// How many phases a space has.
// parameters: space
MATCH (h:Phase)
USING INDEX SEEK h:Phase(space, index)
WHERE h.space = $space AND h.index > 0
RETURN count(h) AS total;

// name: told
// The items that a trace tells of, each in a space of its tenant.
// parameters: space, uid
MATCH (t:Trace {uid: $uid})-[:TELLS_OF]->(m:GovernedItem)
WHERE m.key STARTS WITH $space
RETURN @item AS item
ORDER BY m.key;

// name: count_traces_of
// How many traces tell of an item.
// parameters: space_key
MATCH (t:Trace)-[:TELLS_OF]->(:Memory {key: $space_key})
RETURN count(t) AS total;

// name: traces_of
// One page of the traces that tell of an item, the oldest first.
// parameters: cursor_key, cursor_time, limit, space_key
MATCH (t:Trace)-[:TELLS_OF]->(:Memory {key: $space_key})
WHERE t.created_at >= $cursor_time AND (t.created_at > $cursor_time OR t.uid > $cursor_key)
RETURN t
ORDER BY t.created_at, t.uid
LIMIT $limit;

// name: forget_traces
// Remove traces of calls whose time has passed, at most $limit.
// parameters: before, limit
MATCH (t:Trace)
WHERE t.forget_at < $before
WITH t ORDER BY t.forget_at, t.uid LIMIT $limit
DETACH DELETE t
RETURN count(*) AS removed;

// name: count_old_traces
// How many these are.
// parameters: before
MATCH (t:Trace)
WHERE t.forget_at < $before
RETURN count(*) AS old;

// name: forget_tenant
// Remove all of a tenant; its keys begin with its name, of which $space is that with a slash.
// parameters: space, tenant
CALL () {
  MATCH (m:Memory)
  WHERE m.key STARTS WITH $space
  DETACH DELETE m
}
CALL () {
  MATCH (k:ClaimKey)
  WHERE k.key STARTS WITH $space
  DETACH DELETE k
}
CALL () {
  MATCH (r:Revision)
  WHERE r.key STARTS WITH $space
  DETACH DELETE r
}
CALL () {
  MATCH (c:Chunk)
  WHERE c.key STARTS WITH $space
  DETACH DELETE c
}
CALL () {
  MATCH (p:GovernedPlace)
  WHERE p.key STARTS WITH $space
  DETACH DELETE p
}
CALL () {
  MATCH (h:Phase)
  WHERE h.key STARTS WITH $space
  DETACH DELETE h
}
CALL () {
  MATCH (s:Space)
  WHERE s.key STARTS WITH $space
  DETACH DELETE s
}
CALL () {
  MATCH (a:AiProfile)
  WHERE a.key STARTS WITH $tenant + '|'
  DETACH DELETE a
}
CALL () {
  MATCH (c:Contract)
  WHERE c.key STARTS WITH $tenant + '|'
  DETACH DELETE c
}
MATCH (t:Trace)
WHERE t.tenant = $tenant
DETACH DELETE t;
