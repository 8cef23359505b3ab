// Phases of a governed session, and the items that came and left in each
// Look for: a phase that holds what a correction should have taken away.
WITH 'main/session:s1' AS space
MATCH (p:GovernedPlace {key: space})-[has:HAS_PHASE]->(h:Phase)
OPTIONAL MATCH (h)<-[in:ADDED_IN|DELETED_IN]-(m:GovernedItem)
RETURN p, has, h, in, m
ORDER BY h.index, m.governed_tick, type(in)
LIMIT 200;
