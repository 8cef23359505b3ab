// How entities stand to each other is found by its uid, in the space of their owner.
CREATE INDEX relation_uid IF NOT EXISTS FOR ()-[r:RELATION]-() ON (r.space, r.uid);
