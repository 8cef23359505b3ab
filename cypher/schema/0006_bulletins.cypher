// Bulletins by message, and by age.
CREATE CONSTRAINT bulletin_key IF NOT EXISTS FOR (b:Bulletin) REQUIRE b.key IS UNIQUE;
CREATE INDEX bulletin_newest IF NOT EXISTS FOR (b:Bulletin) ON (b.space, b.generated_at);
CREATE INDEX bulletin_age IF NOT EXISTS FOR (b:Bulletin) ON (b.generated_at);
