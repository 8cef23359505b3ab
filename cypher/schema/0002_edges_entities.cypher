// Edges are found by their uid, entities by the beginning of their key, spaces count their memories.
CREATE INDEX updates_uid IF NOT EXISTS FOR ()-[e:UPDATES]-() ON (e.uid);
CREATE INDEX contradicts_uid IF NOT EXISTS FOR ()-[e:CONTRADICTS]-() ON (e.uid);
CREATE INDEX related_to_uid IF NOT EXISTS FOR ()-[e:RELATED_TO]-() ON (e.uid);
CREATE INDEX caused_by_uid IF NOT EXISTS FOR ()-[e:CAUSED_BY]-() ON (e.uid);
CREATE INDEX part_of_uid IF NOT EXISTS FOR ()-[e:PART_OF]-() ON (e.uid);
CREATE INDEX entity_listing IF NOT EXISTS FOR (e:Entity) ON (e.space, e.entity_key);
CREATE INDEX memory_counts IF NOT EXISTS FOR (m:Memory) ON (m.space, m.type, m.status);
CREATE CONSTRAINT space_key IF NOT EXISTS FOR (s:Space) REQUIRE s.key IS UNIQUE;
CREATE CONSTRAINT entity_change_uid IF NOT EXISTS FOR (c:EntityChange) REQUIRE c.uid IS UNIQUE;
