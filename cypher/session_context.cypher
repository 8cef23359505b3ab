// name: beside
// What stands beside recalled memories: the profile of a space, those lines first that matter most, the artefacts of
// the memories, by key, and the newest boxes of the space, told since a time, as far as their memories are current.
// parameters: artefacts, boxes, lines, now, since, space, space_keys
CALL () {
  MATCH (n:ProfileLine)
  USING INDEX SEEK n:ProfileLine(space, noted_at)
  WHERE @shown_line
  WITH n ORDER BY n.importance DESC, n.noted_at, n.key LIMIT $lines
  RETURN collect(@profile_line) AS profile
}
CALL () {
  UNWIND $space_keys AS key
  MATCH (told:Memory {key: key})
  USING INDEX SEEK told:Memory(key)
  MATCH (told)<-[:RESTS_ON]-(n:Artefact)
  WHERE @stands
  WITH n, key ORDER BY n.noted_at, n.key LIMIT $artefacts
  RETURN collect([key, n.text]) AS artefacts
}
CALL () {
  MATCH (b:Box)
  USING INDEX SEEK b:Box(space, last_at)
  WHERE b.space = $space AND b.last_at >= datetime($since)
  WITH b ORDER BY b.last_at DESC, b.key DESC LIMIT $boxes
  RETURN collect([toString(b.last_at), b.topics, COLLECT {
    MATCH (b)-[h:HOLDS]->(m)
    WHERE @holds_now
    RETURN [m.key, h.topics] ORDER BY h.number, m.key
  }]) AS boxes
}
RETURN profile, artefacts, boxes;

// name: newest
// The newest active plain memories of some spaces.
// parameters: limit, now, spaces
UNWIND $spaces AS space
CALL (space) {
  MATCH (m:Memory)
  USING INDEX SEEK m:Memory(space, status, created_at)
  WHERE m.space = space AND m.status = 'active' AND m.created_at > datetime({year: 1}) AND m.kept_by IS NULL
    AND @holds_now
  RETURN m ORDER BY m.created_at DESC, m.key DESC LIMIT $limit
}
WITH m ORDER BY m.created_at DESC, m.key DESC LIMIT $limit
RETURN m.key AS key, @memory AS m, @entities AS entities
ORDER BY m.created_at DESC, m.key DESC;
