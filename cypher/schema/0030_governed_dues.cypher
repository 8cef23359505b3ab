// What is to end at a tick is found by its event type, too: a rule holds for one.
CREATE INDEX governed_ends IF NOT EXISTS FOR (m:GovernedItem) ON (m.governed_place, m.governed_event, m.governed_due);
DROP INDEX governed_dues IF EXISTS;
