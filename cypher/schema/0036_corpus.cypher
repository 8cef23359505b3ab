// Career corpora: repositories with their revisions and documents, drafts, approvals, transitions, and who saw a status.
CREATE CONSTRAINT corpus_repository_key IF NOT EXISTS FOR (r:CorpusRepository) REQUIRE r.key IS UNIQUE;
CREATE CONSTRAINT corpus_commit_key IF NOT EXISTS FOR (c:CorpusCommit) REQUIRE c.key IS UNIQUE;
CREATE CONSTRAINT corpus_document_key IF NOT EXISTS FOR (d:CorpusDocument) REQUIRE d.key IS UNIQUE;
CREATE CONSTRAINT corpus_draft_key IF NOT EXISTS FOR (f:CorpusDraft) REQUIRE f.key IS UNIQUE;
CREATE CONSTRAINT corpus_approval_key IF NOT EXISTS FOR (a:CorpusApproval) REQUIRE a.key IS UNIQUE;
CREATE CONSTRAINT corpus_transition_key IF NOT EXISTS FOR (t:CorpusTransition) REQUIRE t.key IS UNIQUE;
CREATE CONSTRAINT corpus_audience_key IF NOT EXISTS FOR (u:CorpusAudience) REQUIRE u.key IS UNIQUE;
CREATE INDEX corpus_repository_listing IF NOT EXISTS FOR (r:CorpusRepository) ON (r.tenant, r.space);
CREATE INDEX corpus_unproved IF NOT EXISTS FOR (r:CorpusRepository) ON (r.unproved_at);
CREATE INDEX corpus_commit_listing IF NOT EXISTS FOR (c:CorpusCommit) ON (c.space, c.revision);
CREATE INDEX corpus_draft_listing IF NOT EXISTS FOR (f:CorpusDraft) ON (f.space, f.session);
CREATE INDEX corpus_approval_listing IF NOT EXISTS FOR (a:CorpusApproval) ON (a.space, a.number);
CREATE INDEX corpus_approval_content IF NOT EXISTS FOR (a:CorpusApproval) ON (a.space, a.content_sha256);
CREATE INDEX corpus_transition_listing IF NOT EXISTS FOR (t:CorpusTransition) ON (t.space, t.number);
