// What was said: turns of conversations, in the order in which they arrived.
CREATE CONSTRAINT turn_key IF NOT EXISTS FOR (t:Turn) REQUIRE t.key IS UNIQUE;
CREATE INDEX turn_order IF NOT EXISTS FOR (t:Turn) ON (t.conversation, t.status, t.number);
CREATE INDEX turn_message IF NOT EXISTS FOR (t:Turn) ON (t.conversation, t.message_id);
CREATE INDEX conversation_listing IF NOT EXISTS FOR (c:Conversation) ON (c.space, c.updated_at);
