// How entities stand to each other is found by its key, which its space begins.
CREATE CONSTRAINT relation_key IF NOT EXISTS FOR ()-[r:RELATION]-() REQUIRE r.key IS UNIQUE;
