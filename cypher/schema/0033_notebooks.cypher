// What the lifecycle keeps of a space beside its memories: boxes and topic traces, artefacts, profile, identity, questions.
CREATE CONSTRAINT notebook_space IF NOT EXISTS FOR (n:Notebook) REQUIRE n.space IS UNIQUE;
CREATE CONSTRAINT box_key IF NOT EXISTS FOR (b:Box) REQUIRE b.key IS UNIQUE;
CREATE INDEX box_listing IF NOT EXISTS FOR (b:Box) ON (b.space, b.last_at);
CREATE INDEX box_open IF NOT EXISTS FOR (b:OpenBox) ON (b.space);
CREATE INDEX box_quiet IF NOT EXISTS FOR (b:OpenBox) ON (b.last_at);
CREATE CONSTRAINT topic_trace_key IF NOT EXISTS FOR (r:TopicTrace) REQUIRE r.key IS UNIQUE;
CREATE INDEX topic_trace_listing IF NOT EXISTS FOR (r:TopicTrace) ON (r.space, r.last_at);
CREATE CONSTRAINT artefact_key IF NOT EXISTS FOR (n:Artefact) REQUIRE n.key IS UNIQUE;
CREATE INDEX artefact_listing IF NOT EXISTS FOR (n:Artefact) ON (n.space, n.noted_at);
CREATE CONSTRAINT profile_line_key IF NOT EXISTS FOR (n:ProfileLine) REQUIRE n.key IS UNIQUE;
CREATE INDEX profile_line_listing IF NOT EXISTS FOR (n:ProfileLine) ON (n.space, n.noted_at);
CREATE CONSTRAINT reflection_key IF NOT EXISTS FOR (n:Reflection) REQUIRE n.key IS UNIQUE;
CREATE INDEX reflection_listing IF NOT EXISTS FOR (n:Reflection) ON (n.space, n.noted_at);
CREATE CONSTRAINT question_key IF NOT EXISTS FOR (n:Question) REQUIRE n.key IS UNIQUE;
CREATE INDEX question_listing IF NOT EXISTS FOR (n:Question) ON (n.space, n.priority);
CREATE INDEX question_open IF NOT EXISTS FOR (n:OpenQuestion) ON (n.space, n.priority);
