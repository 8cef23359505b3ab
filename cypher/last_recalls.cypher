// name: save
// Write what the last recall of a session gave, in the place of the one before.
// parameters: at, key, properties
MERGE (l:LastRecall {key: $key})
SET l += $properties, l.at = datetime($at);

// name: of_session
// The last recall of a session.
// parameters: key
MATCH (l:LastRecall {key: $key})
RETURN l {.*, at: toString(l.at)} AS last;
