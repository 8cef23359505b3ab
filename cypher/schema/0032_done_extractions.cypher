// Extractions of a space by when they were done: those since a consolidation make the next one due.
CREATE INDEX extraction_done IF NOT EXISTS FOR (x:Extraction) ON (x.space, x.at);
