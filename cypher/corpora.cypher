// fragment: corpus_commit
// A commit as it is read, with the hash of the one before it and what it holds: each text by its path, some packed.
c {.sha, .revision, .message, .key_id, .cause, .tree, .delta, .failed, .error, .retry_count,
  at: toString(c.at),
  parent: head(COLLECT { MATCH (c)-[:PARENT]->(p:CorpusCommit) RETURN p.sha ORDER BY p.key }),
  documents: COLLECT {
    MATCH (c)-[h:HOLDS]->(d:CorpusDocument) RETURN [h.path, d.text, d.packed] ORDER BY h.path, d.key
  }
}

// fragment: whole_by
// The commits after a commit of which only what differs is kept, up to the first one (a) that is whole.
MATCH (c)
  ((x:CorpusCommit WHERE x.delta IS NOT NULL)<-[:PARENT]-(y:CorpusCommit WHERE y.failed IS NULL)){1,@WHOLE_EVERY}
  (a)

// fragment: corpus_chain
// What the commits after a commit hold by which it is whole, the last first.
CASE WHEN c.delta IS NULL THEN [] ELSE COLLECT {
  @whole_by
  RETURN a {.tree, .delta, documents: COLLECT {
    MATCH (a)-[h:HOLDS]->(d:CorpusDocument) RETURN [h.path, d.text, d.packed] ORDER BY h.path, d.key
  }} AS held ORDER BY a.revision DESC
} END

// fragment: corpus_repository
// A repository as it is read, with its newest commit, and the last proved one with its documents.
r {.space, .turn, .topics, .state, .works, .work, .last_failed, .has_failed_write, .approvals, .transitions,
  created_at: toString(r.created_at), last_written: toString(r.last_written),
  head: head(COLLECT { MATCH (r)-[:HEAD]->(c:CorpusCommit) RETURN [c.sha, c.revision] ORDER BY c.key }),
  verified: head(COLLECT { MATCH (r)-[:VERIFIED]->(c:CorpusCommit) RETURN @corpus_commit ORDER BY c.key })
}

// fragment: locked
// The lock of a repository, which begins with it; it is there once it is created.
MERGE (r:CorpusRepository {key: $space})
  ON CREATE SET r.space = $space, r.tenant = $tenant, r.owner = $owner
SET r.locked = true
REMOVE r.locked

// fragment: last_shown
// What an audience saw last.
head(COLLECT {
  MATCH (u:CorpusAudience {key: $space + '|audience|' + $audience}) RETURN u {.state, .work} AS seen ORDER BY u.key
})

// name: lock
// Take the lock of a repository.
// parameters: owner, space, tenant
@locked
RETURN @corpus_repository AS repository;

// name: lock_draft
// Take the lock of a repository, and read the draft of a session.
// parameters: owner, session, space, tenant
@locked
RETURN @corpus_repository AS repository, head(COLLECT {
  MATCH (f:CorpusDraft {key: $space + '|draft|' + $session}) RETURN @corpus_draft AS draft ORDER BY f.key
}) AS draft;

// name: lock_shown
// Take the lock of a repository, and read what an audience saw last.
// parameters: audience, owner, space, tenant
@locked
RETURN @corpus_repository AS repository, @last_shown AS seen;

// name: find
// A repository.
// parameters: space
MATCH (r:CorpusRepository {key: $space})
RETURN @corpus_repository AS repository;

// name: view
// A repository, the draft of a session as its text, and what was said of some contents.
// parameters: hashes, session, space
MATCH (r:CorpusRepository {key: $space})
RETURN @corpus_repository AS repository, head(COLLECT {
  MATCH (f:CorpusDraft {key: $space + '|draft|' + $session}) RETURN f.corpus ORDER BY f.key
}) AS draft, COLLECT {
  MATCH (a:CorpusApproval)
  USING INDEX SEEK a:CorpusApproval(space, content_sha256)
  WHERE a.space = $space AND a.content_sha256 IN $hashes
  RETURN @corpus_approval AS approval ORDER BY a.number, a.key
} AS approvals;

// name: shown
// A repository, and what an audience saw last.
// parameters: audience, space
MATCH (r:CorpusRepository {key: $space})
RETURN @corpus_repository AS repository, @last_shown AS seen;

// fragment: repositories_shown
// The repositories of a tenant that a caller may see.
MATCH (r:CorpusRepository)
USING INDEX SEEK r:CorpusRepository(tenant, space)
WHERE r.tenant = $tenant AND r.space > '' AND r.created_at IS NOT NULL
  AND any(pattern IN $space_patterns WHERE r.space =~ pattern)

// name: list
// One page of the repositories that a caller may see, by owner.
// parameters: after, limit, space_patterns, tenant
@repositories_shown
  AND r.space > $after
WITH r ORDER BY r.space LIMIT $limit
RETURN @corpus_repository AS repository
ORDER BY r.space;

// name: count
// How many repositories a list shows on all its pages.
// parameters: space_patterns, tenant
@repositories_shown
RETURN count(r) AS total;

// name: unproved
// The repositories whose newest commit was written before a time and is not proved, the oldest first.
// parameters: before, cursor_key, cursor_time, limit, space
MATCH (r:CorpusRepository)
USING INDEX SEEK r:CorpusRepository(unproved_at)
WHERE r.unproved_at >= $cursor_time AND r.unproved_at < $before AND ($space = '' OR r.space = $space)
  AND (r.unproved_at > $cursor_time OR r.key > $cursor_key)
RETURN r.key AS key, r.space AS space, toString(r.unproved_at) AS unproved_at
ORDER BY r.unproved_at, r.key
LIMIT $limit;

// fragment: recorded
// What is recorded of a repository; null removes it.
r += $properties, r.created_at = datetime($created_at), r.last_written = datetime($last_written)

// name: save
// Set what is recorded of a repository.
// parameters: created_at, last_written, properties, space
MATCH (r:CorpusRepository {key: $space})
SET @recorded;

// fragment: draft_saved
// Write a draft of a session.
MERGE (f:CorpusDraft {key: $space + '|draft|' + saved.session})
SET f += saved.draft, f.space = $space, f.session = saved.session, f.updated_at = datetime(saved.at)
MERGE (r)-[:HAS_DRAFT]->(f)

// fragment: commit_documents
// Write the new documents of a commit, let it hold those of its tree, and stand behind the one before it.
CALL (c) {
  UNWIND $documents AS document
  MERGE (d:CorpusDocument {key: $space + '|document|' + document.sha256})
  SET d.space = $space, d.sha256 = document.sha256, d.text = document.text, d.packed = null
  RETURN count(d) AS written
}
CALL (c) {
  UNWIND $tree AS entry
  MATCH (d:CorpusDocument {key: $space + '|document|' + entry.sha256})
  MERGE (c)-[:HOLDS {path: entry.path}]->(d)
  RETURN count(d) AS held
}
CALL (c) {
  MATCH (p:CorpusCommit {key: $space + '|commit|' + $parent})
  MERGE (c)-[:PARENT]->(p)
  RETURN count(p) AS parents
}

// name: commit
// Write a commit: its documents, each once per content, behind the one before it; it is the newest one from now on.
// It holds what that one holds, but for the paths in which its tree differs. What is written is written anew, also
// where a document of that hash was damaged. Drafts that it was made from are saved with it.
// parameters: at, differs, documents, drafts, parent, properties, sha, space, tree
MATCH (r:CorpusRepository {key: $space})
CREATE (c:CorpusCommit {key: $space + '|commit|' + $sha})
SET c += $properties, c.sha = $sha, c.space = $space, c.at = datetime($at), r.unproved_at = datetime($at)
WITH r, c
@commit_documents
CALL (c) {
  MATCH (c)-[:PARENT]->(:CorpusCommit)-[h:HOLDS]->(d:CorpusDocument)
  WHERE NOT h.path IN $differs
  CREATE (c)-[:HOLDS {path: h.path}]->(d)
  RETURN count(d) AS kept
}
CALL (r) {
  MATCH (r)-[old:HEAD]->()
  DELETE old
  RETURN count(*) AS moved
}
CREATE (r)-[:HEAD]->(c)
WITH r
UNWIND $drafts AS saved
@draft_saved;

// name: verify
// Let a commit be the last proved one, with what is recorded of that; where it is the newest one too, nothing waits
// for a proof. Of the one before it only what differs is kept, if that is given, and packed what it alone holds.
// parameters: before, created_at, delta, last_written, packed, paths, properties, sha, space
MATCH (r:CorpusRepository {key: $space})
MATCH (c:CorpusCommit {key: $space + '|commit|' + $sha})
CALL (r) {
  MATCH (r)-[old:VERIFIED]->()
  DELETE old
  RETURN count(*) AS moved
}
CREATE (r)-[:VERIFIED]->(c)
SET r.unproved_at = CASE WHEN (r)-[:HEAD]->(c) THEN null ELSE r.unproved_at END, @recorded
WITH r
CALL () {
  MATCH (p:CorpusCommit {key: $space + '|commit|' + $before})-[h:HOLDS]->()
  WHERE NOT h.path IN $paths
  DELETE h
  RETURN count(*) AS left
}
CALL () {
  MATCH (p:CorpusCommit {key: $space + '|commit|' + $before})
  SET p.delta = $delta
  REMOVE p.tree
  RETURN count(p) AS shortened
}
CALL () {
  UNWIND $packed AS each
  MATCH (d:CorpusDocument {key: $space + '|document|' + each.sha256})
  WHERE d.text IS NOT NULL AND COUNT { (d)<-[:HOLDS]-(:CorpusCommit) } = 1
  SET d.packed = each.packed
  REMOVE d.text, d.sha256
  RETURN count(d) AS packed
}
RETURN left, shortened, packed;

// name: fail
// Mark a commit that could not be proved; the newest one is the last proved one again.
// parameters: error, sha, space
MATCH (r:CorpusRepository {key: $space})
MATCH (c:CorpusCommit {key: $space + '|commit|' + $sha})
SET c.failed = true, c.error = $error, r.unproved_at = null
WITH r
CALL (r) {
  MATCH (r)-[old:HEAD]->()
  DELETE old
  RETURN count(*) AS moved
}
CALL (r) {
  MATCH (r)-[:VERIFIED]->(v:CorpusCommit)
  CREATE (r)-[:HEAD]->(v)
  RETURN count(*) AS back
}
RETURN back;

// name: pointers
// The newest and the last proved commit of a repository, by their hashes.
// parameters: space
MATCH (r:CorpusRepository {key: $space})
RETURN head(COLLECT { MATCH (r)-[:HEAD]->(c:CorpusCommit) RETURN c.sha ORDER BY c.key }) AS head,
  head(COLLECT { MATCH (r)-[:VERIFIED]->(c:CorpusCommit) RETURN c.sha ORDER BY c.key }) AS verified;

// name: lock_written
// Take the lock of a repository, and read a commit as it lies there, with the tree of the one before it. A document
// that the proved commit holds at the same path is read once, for both.
// parameters: owner, sha, space, tenant
@locked
WITH r, @corpus_repository AS repository
OPTIONAL MATCH (c:CorpusCommit {key: $space + '|commit|' + $sha})
RETURN repository, c {
  .sha, .revision, .message, .key_id, .cause, .tree, .delta, .failed, .error, .retry_count, at: toString(c.at),
  parent: head(COLLECT { MATCH (c)-[:PARENT]->(p:CorpusCommit) RETURN p.sha ORDER BY p.key }),
  documents: COLLECT {
    MATCH (c)-[h:HOLDS]->(d:CorpusDocument)
    WITH h, d, EXISTS {
      MATCH (r)-[:VERIFIED]->(:CorpusCommit)-[:HOLDS {path: h.path}]->(d)
    } AS is_read
    RETURN [h.path, CASE WHEN NOT is_read THEN d.text END, d.packed, is_read] ORDER BY h.path, d.key
  }} AS commit, head(COLLECT {
    MATCH (c)-[:PARENT]->(p:CorpusCommit) RETURN p {.tree, .delta} ORDER BY p.key
  }) AS parent;

// name: by_sha
// A commit by its hash.
// parameters: sha, space
MATCH (c:CorpusCommit {key: $space + '|commit|' + $sha})
RETURN @corpus_commit AS commit, @corpus_chain AS chain;

// name: by_revision
// The commit of a revision; one that could not be proved is none.
// parameters: revision, space
MATCH (c:CorpusCommit)
USING INDEX SEEK c:CorpusCommit(space, revision)
WHERE c.space = $space AND c.revision = $revision AND c.failed IS NULL
RETURN @corpus_commit AS commit, @corpus_chain AS chain
ORDER BY c.at DESC, c.key
LIMIT 1;

// fragment: history_shown
// The commits of a repository, those that could not be proved too.
MATCH (c:CorpusCommit)
USING INDEX SEEK c:CorpusCommit(space, revision)
WHERE c.space = $space AND c.revision > 0

// name: history
// One page of the commits of a repository, the newest first.
// parameters: cursor_key, cursor_revision, limit, space
@history_shown
  AND (c.revision < $cursor_revision OR (c.revision = $cursor_revision AND c.key > $cursor_key))
WITH c ORDER BY c.revision DESC, c.key LIMIT $limit
RETURN c.key AS key, c {.sha, .revision, .message, .key_id, .cause, .tree, .delta, .failed, .error, .retry_count,
  at: toString(c.at), documents: [],
  parent: head(COLLECT { MATCH (c)-[:PARENT]->(p:CorpusCommit) RETURN p.sha ORDER BY p.key })} AS commit,
  CASE WHEN c.delta IS NULL THEN [] ELSE COLLECT {
    @whole_by
    RETURN a {.tree, .delta, documents: []} AS held ORDER BY a.revision DESC
  } END AS chain
ORDER BY c.revision DESC, c.key;

// name: count_history
// How many commits a repository has.
// parameters: space
@history_shown
RETURN count(c) AS total;

// fragment: corpus_draft
// A draft as it is read.
f {.session, .revision, .corpus, .files}

// name: draft
// The draft of a session.
// parameters: session, space
MATCH (f:CorpusDraft {key: $space + '|draft|' + $session})
RETURN @corpus_draft AS draft;

// name: drafts
// All drafts of a repository, by session.
// parameters: space
MATCH (f:CorpusDraft)
USING INDEX SEEK f:CorpusDraft(space, session)
WHERE f.space = $space AND f.session > ''
RETURN @corpus_draft AS draft
ORDER BY f.session;

// name: sessions
// The sessions that have a draft.
// parameters: space
MATCH (f:CorpusDraft)
USING INDEX SEEK f:CorpusDraft(space, session)
WHERE f.space = $space AND f.session > ''
RETURN f.session AS session
ORDER BY session;

// name: save_drafts
// Write drafts of sessions.
// parameters: drafts, space
MATCH (r:CorpusRepository {key: $space})
UNWIND $drafts AS saved
@draft_saved;

// name: rebase
// Let the drafts that were made from a revision be made from another one.
// parameters: revision, space, to_revision
MATCH (f:CorpusDraft)
USING INDEX SEEK f:CorpusDraft(space, session)
WHERE f.space = $space AND f.session > '' AND f.revision = $revision
SET f.revision = $to_revision;

// name: rebase_all
// Let all drafts be made from a revision.
// parameters: space, to_revision
MATCH (f:CorpusDraft)
USING INDEX SEEK f:CorpusDraft(space, session)
WHERE f.space = $space AND f.session > ''
SET f.revision = $to_revision;

// fragment: corpus_approval
// An approval as it is read.
a {.section, .content_sha256, .basis, .approved, .key_id, .number, at: toString(a.at)}

// name: approvals_of
// What was said of some contents, in its order.
// parameters: hashes, space
MATCH (a:CorpusApproval)
USING INDEX SEEK a:CorpusApproval(space, content_sha256)
WHERE a.space = $space AND a.content_sha256 IN $hashes
RETURN @corpus_approval AS approval
ORDER BY a.number, a.key;

// name: save_approval
// Write what was said of a content.
// parameters: approval, at, key, space
MATCH (r:CorpusRepository {key: $space})
MERGE (a:CorpusApproval {key: $space + '|approval|' + $key})
SET a += $approval, a.space = $space, a.at = datetime($at)
MERGE (r)-[:HAS_APPROVAL]->(a);

// fragment: approvals_shown
// All that was said of contents of a corpus.
MATCH (a:CorpusApproval)
USING INDEX SEEK a:CorpusApproval(space, number)
WHERE a.space = $space AND a.number > 0

// name: approvals
// One page of what was said of contents, the newest first.
// parameters: cursor_number, limit, space
@approvals_shown
  AND a.number < $cursor_number
WITH a ORDER BY a.number DESC LIMIT $limit
RETURN @corpus_approval AS approval
ORDER BY a.number DESC;

// name: count_approvals
// How many approvals a list shows on all its pages.
// parameters: space
@approvals_shown
RETURN count(a) AS total;

// name: save_transition
// Write a change of state.
// parameters: at, key, space, transition
MATCH (r:CorpusRepository {key: $space})
MERGE (t:CorpusTransition {key: $space + '|transition|' + $key})
SET t += $transition, t.space = $space, t.at = datetime($at)
MERGE (r)-[:HAS_TRANSITION]->(t);

// fragment: transitions_shown
// The changes of state of a corpus.
MATCH (t:CorpusTransition)
USING INDEX SEEK t:CorpusTransition(space, number)
WHERE t.space = $space AND t.number > 0

// name: transitions
// One page of the changes of state, the newest first.
// parameters: cursor_number, limit, space
@transitions_shown
  AND t.number < $cursor_number
WITH t ORDER BY t.number DESC LIMIT $limit
RETURN t {.before, .after, .cause, .extension, .number, at: toString(t.at)} AS transition
ORDER BY t.number DESC;

// name: count_transitions
// How many changes of state a list shows on all its pages.
// parameters: space
@transitions_shown
RETURN count(t) AS total;

// name: save_audience
// Write what an audience saw last.
// parameters: audience, space, state, work
MATCH (r:CorpusRepository {key: $space})
MERGE (u:CorpusAudience {key: $space + '|audience|' + $audience})
SET u.space = $space, u.audience = $audience, u.state = $state, u.work = $work
MERGE (r)-[:SHOWN_TO]->(u);

// name: memories
// The memories of a corpus that are active or retracted, the oldest first.
// parameters: kept_by, space, types
MATCH (m:Memory)
USING INDEX SEEK m:Memory(kept_by, space, type, status, created_at)
WHERE m.kept_by = $kept_by AND m.space = $space AND m.type IN $types AND m.status IN ['active', 'retracted']
  AND m.created_at > datetime({year: 1})
WITH m ORDER BY m.created_at, m.key
RETURN collect([m.uid, m.native, m.status]) AS found;

// name: commit_keys
// All commits of a repository, the first first, those that could not be proved too, for an export.
// parameters: space
MATCH (c:CorpusCommit)
USING INDEX SEEK c:CorpusCommit(space, revision)
WHERE c.space = $space AND c.revision > 0
RETURN c.sha AS sha
ORDER BY c.revision, c.at, c.key;

// name: take_in_commit
// Write a commit that another store kept, unless it is there.
// parameters: at, documents, parent, properties, sha, space, tree
MERGE (c:CorpusCommit {key: $space + '|commit|' + $sha})
SET c += $properties, c.sha = $sha, c.space = $space, c.at = datetime($at)
WITH c
@commit_documents
RETURN held;

// name: point
// Let a repository that another store kept have its newest and its last proved commit.
// parameters: head, space, unproved_at, verified
MATCH (r:CorpusRepository {key: $space})
SET r.unproved_at = datetime($unproved_at)
WITH r
CALL (r) {
  MATCH (c:CorpusCommit {key: $space + '|commit|' + $head})
  MERGE (r)-[:HEAD]->(c)
  RETURN count(c) AS heads
}
CALL (r) {
  MATCH (c:CorpusCommit {key: $space + '|commit|' + $verified})
  MERGE (r)-[:VERIFIED]->(c)
  RETURN count(c) AS proofs
}
RETURN heads, proofs;

// name: numbers
// The numbers of the approvals and transitions that are there.
// parameters: space
RETURN COLLECT {
  MATCH (a:CorpusApproval)
  USING INDEX SEEK a:CorpusApproval(space, number)
  WHERE a.space = $space AND a.number > 0
  RETURN a.number ORDER BY a.number
} AS approvals, COLLECT {
  MATCH (t:CorpusTransition)
  USING INDEX SEEK t:CorpusTransition(space, number)
  WHERE t.space = $space AND t.number > 0
  RETURN t.number ORDER BY t.number
} AS transitions;
