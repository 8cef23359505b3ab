// fragment: extraction
// An extraction as it is read, with the turns that it read, in their order, and what became of its facts. The words of
// a fact are those that its memory has now; what was taken back has none.
x {.*, decided_at: toString(x.decided_at), at: toString(x.at), claimed_until: toString(x.claimed_until),
   first_at: toString(x.first_at),
   turns: COLLECT { MATCH (x)-[:READS]->(t:Turn) RETURN t.uid ORDER BY t.number, t.key },
   facts: COLLECT {
     MATCH (m:Memory)-[f:EXTRACTED_BY]->(x)
     WHERE m.space = x.space
     RETURN f {.number, .outcome, .category, .confidence, .importance, .turns, uid: m.uid,
       content: CASE m.status WHEN 'retracted' THEN null ELSE m.content END} ORDER BY f.number
   }
}

// name: waiting
// The extractions that nobody reads now, the oldest first; of one space or session if one is named.
// parameters: cursor_key, cursor_time, limit, now, session, space
MATCH (x:WaitingExtraction)
WHERE x.decided_at >= $cursor_time AND (x.decided_at > $cursor_time OR x.key > $cursor_key)
  AND coalesce(x.claimed_until <= $now, true)
  AND ($space = '' OR x.space = $space) AND ($session = '' OR x.session = $session)
RETURN @extraction AS extraction
ORDER BY x.decided_at, x.key
LIMIT $limit;

// name: lock
// Take the lock of an extraction.
// parameters: space_key
MATCH (x:Extraction {key: $space_key})
SET x.locked = true
REMOVE x.locked
RETURN @extraction AS extraction;

// name: claim
// Note who reads the turns of an extraction now.
// parameters: claim, claimed_until, space_key
MATCH (x:Extraction {key: $space_key})
SET x.tries = coalesce(x.tries, 0) + CASE WHEN x.claim = $claim THEN 0 ELSE 1 END,
    x.claim = $claim, x.claimed_until = datetime($claimed_until);

// name: turns
// The turns of an extraction that were not taken back, in their order, each with its first characters.
// parameters: chars, space_key
MATCH (x:Extraction {key: $space_key})-[:READS]->(t:Turn)
WHERE t.status = 'active'
RETURN t {@turn_head, content: left(t.content, $chars)} AS turn
ORDER BY t.number, t.key;

// name: finish
// Write what an extraction kept, and to which memories that came.
// parameters: at, properties, space_key, space_rows
MATCH (x:Extraction {key: $space_key})
SET x += $properties, x.at = datetime($at)
REMOVE x:WaitingExtraction, x.claim, x.claimed_until
WITH x
OPTIONAL MATCH (x)-[e:EMPTIES]->(:Buffer)
DELETE e
WITH DISTINCT x
FOREACH (_ IN CASE WHEN $properties.is_empty THEN [1] ELSE [] END | SET x:EmptyExtraction)
WITH x
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.memory})
CREATE (m)-[f:EXTRACTED_BY]->(x)
SET f = row.properties;

// name: of_turn
// The extraction that a turn ended in, if it did.
// parameters: space_key
MATCH (x:Extraction)-[:READS]->(:Turn {key: $space_key})
RETURN @extraction AS extraction
ORDER BY x.key
LIMIT 1;

// name: find
// An extraction.
// parameters: space_key
MATCH (x:Extraction {key: $space_key})
RETURN @extraction AS extraction;

// fragment: extractions_shown
// The extractions of a space, or of one session there, that were done.
MATCH (x:Extraction)
USING INDEX SEEK x:Extraction(space, decided_at)
WHERE x.space = $space AND x.decided_at IS NOT NULL AND x.at IS NOT NULL AND ($session = '' OR x.session = $session)

// name: list
// One page of the extractions of a space, the newest first.
// parameters: cursor_key, cursor_time, limit, session, space
@extractions_shown
  AND (x.decided_at < $cursor_time OR (x.decided_at = $cursor_time AND x.key < $cursor_key))
WITH x ORDER BY x.decided_at DESC, x.key DESC LIMIT $limit
RETURN @extraction AS extraction
ORDER BY x.decided_at DESC, x.key DESC;

// name: count
// How many extractions a list shows on all its pages.
// parameters: session, space
@extractions_shown
RETURN count(x) AS total;

// name: of_space
// The extractions of a space by key, for an export.
// parameters: after, limit, space
MATCH (x:Extraction)
USING INDEX SEEK x:Extraction(key)
WHERE x.key STARTS WITH $space + '|' AND x.key > $after
WITH x ORDER BY x.key LIMIT $limit
RETURN x.key AS key, @extraction AS extraction
ORDER BY key;

// name: resting_on
// Take the locks of extractions that read some turns and keep words of their own, in order.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (x:Extraction)-[:READS]->(:Turn {key: key})
WHERE x.has_texts
WITH DISTINCT x ORDER BY x.key
SET x.locked = true
REMOVE x.locked
RETURN x.key AS key
ORDER BY key;

// name: forget_texts
// Take away the words that extractions keep themselves.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (x:Extraction {key: key})
SET x.has_texts = false
REMOVE x.profile_updates, x.questions, x.reflection, x.entities, x.relationships;

// name: forget_empty
// Remove the oldest extractions before a time that kept nothing.
// parameters: before, limit
MATCH (x:EmptyExtraction)
WHERE x.at < $before
WITH x ORDER BY x.at, x.key LIMIT $limit
DETACH DELETE x
RETURN count(x) AS removed;

// name: count_empty_before
// How many extractions before a time kept nothing.
// parameters: before
MATCH (x:EmptyExtraction)
WHERE x.at < $before
RETURN count(x) AS old;

// fragment: with_spoken_words
// The extractions x that were done before $before and whose turns still have their words.
MATCH (x:Extraction)
USING INDEX SEEK x:Extraction(has_words, at)
WHERE x.has_words = true AND x.at < $before
  AND CASE WHEN $space = '' THEN x.space CONTAINS $space_part AND NOT x.space IN $other_spaces ELSE x.space = $space END

// name: forget_words
// Take away the words of the turns of the oldest extractions of a space, or of a kind of spaces but some, where nothing
// else uses them, and what quotes them.
// parameters: before, limit, other_spaces, space, space_part
@with_spoken_words
WITH x ORDER BY x.at, x.key LIMIT $limit
SET x.has_words = null
WITH x
CALL (x) {
  MATCH (x)-[:READS]->(t:Turn)
  WHERE NOT EXISTS { (t)<-[:READS]-(:WaitingExtraction) } AND NOT EXISTS { (t)-[:WAITS_IN]->(:Buffer) }
    AND NOT EXISTS {
      MATCH (m:Memory)-[f:FROM_TURN]->(t)
      WHERE m.space = t.space AND m.status <> 'retracted' AND NOT f.said_by STARTS WITH 'channel_transcript|extractor|'
    }
  SET t.content = null, t.forgotten = true
  WITH t
  OPTIONAL MATCH (t)-[:HAS_REVISION]->(r:TurnRevision)
  DETACH DELETE r
  WITH DISTINCT t
  OPTIONAL MATCH (n:Artefact)-[:QUOTES]->(t)
  DETACH DELETE n
}
RETURN count(x) AS removed;

// name: count_words_before
// Of how many extractions the turns would lose their words.
// parameters: before, other_spaces, space, space_part
@with_spoken_words
RETURN count(x) AS old;

// name: take_in
// Write extractions that another store kept, where they are not here, with the turns and memories that are; each with
// whether it is new.
// parameters: space_rows
UNWIND $space_rows AS row
OPTIONAL MATCH (known:Extraction {key: row.key})
WITH row, known IS NULL AS is_new
CALL (row, is_new) {
  WITH row, is_new WHERE is_new
  MERGE (x:Extraction {key: row.key})
  SET x += row.properties, x.decided_at = datetime(row.decided_at), x.at = datetime(row.at)
  FOREACH (_ IN CASE WHEN row.at IS NULL THEN [1] ELSE [] END | SET x:WaitingExtraction)
  FOREACH (_ IN CASE WHEN row.properties.is_empty THEN [1] ELSE [] END | SET x:EmptyExtraction)
  WITH x, row
  CALL (x, row) {
    UNWIND row.turns AS key
    MATCH (t:Turn {key: key})
    MERGE (x)-[:READS]->(t)
  }
  CALL (x, row) {
    UNWIND row.facts AS fact
    MATCH (m:Memory {key: fact.memory})
    CREATE (m)-[f:EXTRACTED_BY]->(x)
    SET f = fact.properties
  }
  CALL (x, row) {
    WITH x, row WHERE row.at IS NULL
    MATCH (b:Buffer {key: row.buffer})
    MERGE (x)-[:EMPTIES]->(b)
  }
}
RETURN row.key AS key, is_new
ORDER BY key;
