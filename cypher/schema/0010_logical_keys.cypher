// The values of one logical key are read by it.
CREATE INDEX memory_logical_key IF NOT EXISTS FOR (m:Memory) ON (m.space, m.logical_key);
