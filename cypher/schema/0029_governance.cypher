// Governed memory: contracts, places with their counters, phases, and items by what a call looks for.
CREATE CONSTRAINT ai_profile_key IF NOT EXISTS FOR (a:AiProfile) REQUIRE a.key IS UNIQUE;
CREATE CONSTRAINT contract_key IF NOT EXISTS FOR (c:Contract) REQUIRE c.key IS UNIQUE;
CREATE CONSTRAINT governed_place_key IF NOT EXISTS FOR (p:GovernedPlace) REQUIRE p.key IS UNIQUE;
CREATE CONSTRAINT phase_key IF NOT EXISTS FOR (h:Phase) REQUIRE h.key IS UNIQUE;
CREATE INDEX ai_profile_listing IF NOT EXISTS FOR (a:AiProfile) ON (a.tenant, a.profile);
CREATE INDEX phase_listing IF NOT EXISTS FOR (h:Phase) ON (h.space, h.index);
CREATE INDEX governed_listing IF NOT EXISTS FOR (m:GovernedItem) ON (m.governed_list, m.governed_number);
CREATE INDEX governed_ticks IF NOT EXISTS FOR (m:GovernedItem) ON (m.governed_class, m.governed_tick);
CREATE INDEX governed_phases IF NOT EXISTS FOR (m:GovernedItem) ON (m.governed_place, m.governed_phase, m.governed_tick);
CREATE INDEX governed_marks IF NOT EXISTS FOR (m:GovernedItem) ON (m.governed_place, m.governed_event, m.governed_mark);
CREATE INDEX governed_dues IF NOT EXISTS FOR (m:GovernedItem) ON (m.governed_place, m.governed_due);
CREATE INDEX governed_keys IF NOT EXISTS FOR (m:GovernedItem) ON (m.governed_place, m.governed_dedup);
CREATE INDEX governed_added IF NOT EXISTS FOR (m:GovernedItem) ON (m.space, m.governed_phase);
CREATE INDEX governed_said IF NOT EXISTS FOR (m:GovernedItem) ON (m.space, m.governed_key);
CREATE INDEX governed_until IF NOT EXISTS FOR (m:GovernedItem) ON (m.space, m.governed_until);
CREATE INDEX trace_forget IF NOT EXISTS FOR (t:Trace) ON (t.forget_at);
CREATE FULLTEXT INDEX governed_words IF NOT EXISTS FOR (m:GovernedItem) ON EACH [m.governed_class, m.governed_words]
OPTIONS { indexConfig: { `fulltext.analyzer`: 'whitespace' } };
