// The last recalls of sessions by their age, to be forgotten with the traces that they name.
CREATE INDEX last_recall_age IF NOT EXISTS FOR (l:LastRecall) ON (l.at);
