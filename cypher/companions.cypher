// fragment: user
// A user as he is read, with what an operator wrote of him.
u {.*, created_at: toString(u.created_at), updated_at: toString(u.updated_at)}

// fragment: seed
// The seed of a user.
COLLECT { MATCH (e:UserSeed {key: u.key}) RETURN [e.content, toString(e.updated_at)] }

// fragment: state
// What lasts of a user with a persona, as it is read.
t {.*, last_interaction: toString(t.last_interaction), last_user_at: toString(t.last_user_at),
   curator_last_run_at: toString(t.curator_last_run_at),
   last_rolling_attempt_at: toString(t.last_rolling_attempt_at),
   last_rolling_success_at: toString(t.last_rolling_success_at)}

// name: lock_user
// Take the lock of a user, who begins with it.
// parameters: space
MERGE (u:User {key: $space})
  ON CREATE SET u.space = $space
SET u.locked = true
REMOVE u.locked
RETURN @user AS user, @seed AS seed;

// name: save_user
// Write what is known of a user; his space begins with him.
// parameters: created_at, properties, space, updated_at
MATCH (u:User {key: $space})
SET u += $properties, u.created_at = datetime($created_at), u.updated_at = datetime($updated_at)
MERGE (s:Space {key: $space})
  ON CREATE SET s.space = $space;

// name: save_seed
// Write what an operator says of a user.
// parameters: content, space, updated_at
MATCH (u:User {key: $space})
MERGE (e:UserSeed {key: u.key})
  ON CREATE SET e.space = u.space
SET e.content = $content, e.updated_at = datetime($updated_at)
MERGE (u)-[:HAS_SEED]->(e);

// name: find_user
// A user by his space.
// parameters: space
MATCH (u:User {key: $space})
WHERE u.created_at IS NOT NULL
RETURN @user AS user, @seed AS seed;

// name: lock_state
// Take the lock of what lasts of a user with a persona, which begins with it.
// parameters: space
MERGE (t:SessionState {key: $space})
  ON CREATE SET t.space = $space
SET t.locked = true
REMOVE t.locked
RETURN @state AS state;

// name: save_state
// Write what lasts of a user with a persona.
// parameters: properties, space, times
MATCH (t:SessionState {key: $space})
SET t += $properties, t.last_interaction = datetime($times.last_interaction),
    t.last_user_at = datetime($times.last_user_at), t.curator_last_run_at = datetime($times.curator_last_run_at),
    t.last_rolling_attempt_at = datetime($times.last_rolling_attempt_at),
    t.last_rolling_success_at = datetime($times.last_rolling_success_at)
FOREACH (_ IN CASE WHEN $properties.message_count = $properties.rolled_count THEN [1] ELSE [] END |
  REMOVE t:UnrolledState);

// name: find_state
// What lasts of a user with a persona.
// parameters: space
MATCH (t:SessionState {key: $space})
RETURN @state AS state;

// name: names
// All names of the entities that some keys mean: each with what it stands for now.
// parameters: space_keys
UNWIND $space_keys AS key
MATCH (:Entity {key: key})-[:MERGED_INTO*0..20]->(stands:Entity)
WHERE NOT EXISTS { (stands)-[:MERGED_INTO]->(:Entity) }
WITH DISTINCT stands
MATCH (e:Entity)-[:MERGED_INTO*0..20]->(stands)
RETURN e.entity_key AS name, stands.entity_key AS stands
ORDER BY stands, name
LIMIT 1000;
