// fragment: turn_head
// The values of a turn t without its words: times as text, with the memories of its space that are of it.
.uid, .conversation, .number, .role, .forgotten, .actor, .message_id, .version, .status, .digest,
at: toString(t.at), recorded_at: toString(t.recorded_at), changed_at: toString(t.changed_at),
memories: COLLECT {
  MATCH (m:Memory)-[:FROM_TURN]->(t)
  WHERE m.space = t.space AND m.status <> 'retracted'
  RETURN m.uid ORDER BY m.created_at, m.uid LIMIT 300
}

// fragment: turn
// A turn as it is read.
t {.content, .metadata, .native, @turn_head}

// fragment: as_many_as_fit
// Of the turns t in their order those whose contents have at most $chars characters together, the first in any case,
// and how many there were.
WITH collect([t, t.chars]) AS found
UNWIND range(0, size(found) - 1) AS i
WITH found, i
WHERE i = 0 OR reduce(sum = 0, each IN found[0..i + 1] | sum + each[1]) <= $chars
WITH found[i][0] AS t, size(found) AS seen

// fragment: conversation
// A conversation as it is read.
c {.*, created_at: toString(c.created_at), updated_at: toString(c.updated_at)}

// name: lock_conversations
// Take the locks of conversations, in order, and return them with the last memory of each.
// parameters: conversations
UNWIND $conversations AS conversation
MERGE (c:Conversation {key: conversation.key})
  ON CREATE SET c.space = conversation.space
SET c.locked = true
WITH c
OPTIONAL MATCH (c)-[:LAST]->(m:Memory)
RETURN @conversation AS conversation, m.key AS last
ORDER BY c.key;

// name: of_messages
// The turns of some message ids, each in a conversation; also those that were taken back.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (t:Turn)
WHERE t.conversation = row.conversation AND t.message_id = row.message_id
RETURN t {@turn_head} AS turn
ORDER BY t.key;

// name: by_keys
// Turns by their keys, also those that were taken back, without their words.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (t:Turn {key: key})
RETURN t {@turn_head} AS turn
ORDER BY t.key;

// name: sources_of
// Which memories are of some turns, and which of their sources said them.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (m:Memory)-[f:FROM_TURN]->(t:Turn {key: key})
WHERE m.space = t.space
RETURN key, m.uid AS memory, f.said_by AS said_by
ORDER BY key, memory, said_by;

// name: said_by
// The newest turn in which a source said a memory in a conversation, for each row.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.memory})
CALL (m, row) {
  MATCH (m)-[f:FROM_TURN]->(t:Turn)
  WHERE f.said_by = row.said_by AND t.conversation = row.conversation
  RETURN t ORDER BY t.number DESC LIMIT 1
}
RETURN row.memory AS memory, row.conversation AS conversation, row.said_by AS said_by, t {@turn_head} AS turn
ORDER BY memory, conversation, said_by;

// name: save
// Write new turns, numbered in their conversations, and what these then are; memories are of them. A space may begin
// with a conversation.
// parameters: conversations, space_rows, spaces
CALL () {
  UNWIND $spaces AS space
  MERGE (s:Space {key: space})
    ON CREATE SET s.space = space
}
CALL () {
  UNWIND $conversations AS row
  MATCH (c:Conversation {key: row.key})
  SET c += row.properties, c.created_at = datetime(row.created_at), c.updated_at = datetime(row.updated_at)
}
UNWIND $space_rows AS row
MATCH (c:Conversation {key: row.properties.conversation})
CREATE (t:Turn)-[:IN]->(c)
SET t = row.properties, t.at = datetime(row.at), t.recorded_at = datetime(row.recorded_at),
    t.changed_at = datetime(row.recorded_at)
WITH t, row
UNWIND row.links AS link
MATCH (m:Memory {key: link.memory})
CREATE (m)-[:FROM_TURN {said_by: link.said_by, words: link.words}]->(t)
SET m.turns = (coalesce(m.turns, []) + t.uid)[-32..];

// name: link
// Let memories be of turns that are there.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.memory})
MATCH (t:Turn {key: row.turn})
WHERE t.status = 'active'
MERGE (m)-[f:FROM_TURN {said_by: row.said_by}]->(t)
SET f.words = coalesce(nullIf(row.words, ''), f.words);

// name: unlink
// Let memories no longer be of turns.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.memory})-[f:FROM_TURN]->(t:Turn {key: row.turn})
WHERE f.said_by = row.said_by
DELETE f;

// name: note
// Note on memories the uids of the newest turns that they are of.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (m:Memory {key: key})
SET m.turns = reverse(COLLECT {
  MATCH (m)-[:FROM_TURN]->(t:Turn)
  WITH DISTINCT t ORDER BY t.recorded_at DESC, t.uid DESC LIMIT 32
  RETURN t.uid
});

// name: reword
// Give turns other words, and keep the former ones.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (t:Turn {key: row.key})
CREATE (t)-[:HAS_REVISION]->(:TurnRevision {
  key: row.key + '|' + t.version, space: t.space, version: t.version, content: t.content,
  recorded_from: t.changed_at, replaced_at: datetime(row.changed_at)
})
SET t += row.properties, t.changed_at = datetime(row.changed_at);

// name: retract
// Take turns back; the message id of a popped one is free.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (t:Turn {key: row.key})
SET t.status = 'retracted', t.changed_at = datetime(row.changed_at), t.message_id = row.message_id;

// name: conversations
// One page of the conversations of a space, the latest first.
// parameters: cursor_key, cursor_time, limit, space
MATCH (c:Conversation)
WHERE c.space = $space AND c.updated_at <= $cursor_time AND c.created_at IS NOT NULL
  AND (c.updated_at < $cursor_time OR c.key > $cursor_key)
RETURN @conversation AS conversation
ORDER BY c.updated_at DESC, c.key
LIMIT $limit;

// name: count_conversations
// How many conversations a space has.
// parameters: space
MATCH (c:Conversation)
WHERE c.space = $space AND c.updated_at > datetime({year: 1}) AND c.created_at IS NOT NULL
RETURN count(*) AS total;

// name: find_conversation
// One conversation of a space.
// parameters: space_key
MATCH (c:Conversation {key: $space_key})
WHERE c.created_at IS NOT NULL
RETURN @conversation AS conversation;

// name: place
// The number of a turn of a conversation, also of one that was taken back, so that pages go on from it.
// parameters: conversation, space_key
MATCH (t:Turn {key: $space_key})
WHERE t.conversation = $conversation
RETURN t.number AS number;

// name: before
// The newest turns of a conversation before a number, the newest first.
// parameters: chars, limit, number, space_key
MATCH (t:Turn)
WHERE t.conversation = $space_key AND t.status = 'active' AND t.number < $number
WITH t ORDER BY t.number DESC LIMIT $limit
@as_many_as_fit
RETURN @turn AS turn, seen
ORDER BY t.number DESC;

// name: heads
// The newest turns of a conversation up to a number without their words, the newest first.
// parameters: limit, number, space_key
MATCH (t:Turn)
WHERE t.conversation = $space_key AND t.status = 'active' AND t.number <= $number
WITH t ORDER BY t.number DESC LIMIT $limit
RETURN t {@turn_head} AS turn
ORDER BY t.number DESC;

// name: after
// The first turns of a conversation behind a number.
// parameters: chars, limit, number, space_key
MATCH (t:Turn)
WHERE t.conversation = $space_key AND t.status = 'active' AND t.number > $number
WITH t ORDER BY t.number LIMIT $limit
@as_many_as_fit
RETURN @turn AS turn, seen
ORDER BY t.number;

// name: find
// One turn of a conversation.
// parameters: conversation, space_key
MATCH (t:Turn {key: $space_key})
WHERE t.conversation = $conversation AND t.status = 'active'
RETURN @turn AS turn;

// name: versions
// Former words of a turn, newest first, behind the cursor.
// parameters: cursor_version, limit, space_key
MATCH (t:Turn {key: $space_key})-[:HAS_REVISION]->(r:TurnRevision)
WHERE t.status = 'active' AND r.version < $cursor_version
RETURN r.version AS version, r.content AS content, toString(r.recorded_from) AS recorded_from,
       toString(r.replaced_at) AS recorded_until
ORDER BY version DESC
LIMIT $limit;

// name: count_versions
// How many versions a turn has, the present one with them.
// parameters: space_key
MATCH (t:Turn {key: $space_key})
RETURN 1 + COUNT { (t)-[:HAS_REVISION]->(:TurnRevision) } AS total;

// name: resting
// The memories of some turns, by key, the first ones whole: which source of each said it in which words, whether that
// did so in another turn as well, whether the memory is of any other, and whether another one says what it says now.
// parameters: limit, space_keys
UNWIND $space_keys AS key
MATCH (m:Memory)-[:FROM_TURN]->(:Turn {key: key})
WITH DISTINCT m ORDER BY m.key LIMIT $limit
MATCH (m)-[f:FROM_TURN]->(t:Turn)
WHERE t.key IN $space_keys
RETURN m.key AS memory, t.key AS turn, f.said_by AS said_by, f.words AS words, toString(t.changed_at) AS said_at,
       EXISTS { MATCH (m)-[g:FROM_TURN]->(o:Turn) WHERE g.said_by = f.said_by AND NOT o.key IN $space_keys } AS again,
       EXISTS { MATCH (m)-[:FROM_TURN]->(o:Turn) WHERE NOT o.key IN $space_keys } AS others,
       EXISTS { MATCH (m)-[g:FROM_TURN]->(o:Turn) WHERE g.words = f.words AND NOT o.key IN $space_keys } AS in_words
ORDER BY memory, turn, said_by;

// name: former_versions
// Earlier versions of some memories, the newest thirty, and which words of theirs were taken back.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (m:Memory {key: key})
CALL (m) {
  MATCH (m)-[:HAS_REVISION]->(r:Revision)
  WITH r ORDER BY r.version DESC LIMIT 30
  RETURN collect([r.memory, toString(r.replaced_at)]) AS versions
}
RETURN key, versions, coalesce(m.taken_words, []) AS taken_words
ORDER BY key;

// name: note_taken
// Note which words of memories were taken back, the last hundred.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (m:Memory {key: row.memory})
SET m.taken_words = (coalesce(m.taken_words, []) + row.words)[-100..];

// name: unlink_sources
// Let memories be of no turn any more that a source said which left them.
// parameters: space_rows
UNWIND $space_rows AS row
MATCH (:Memory {key: row.memory})-[f:FROM_TURN {said_by: row.said_by}]->(:Turn)
DELETE f;
