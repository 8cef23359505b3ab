// Memories in which contradictions are still to be looked for; every space is looked at whole once.
CREATE INDEX memory_unchecked IF NOT EXISTS FOR (m:Memory) ON (m.space, m.unchecked);
MATCH (s:Space) SET s.check_due = true;
