// name: save
// Store an API key, only its hash, unless one of that hash is there; two processes may start at once.
// parameters: created_at, hash, name, role, spaces, tenant, uid
MERGE (k:ApiKey {hash: $hash})
  ON CREATE SET k.uid = $uid, k.name = $name, k.tenant = $tenant, k.role = $role, k.spaces = $spaces,
                k.created_at = $created_at
RETURN k;

// name: by_hash
// The key of a hash, unless it was revoked.
// parameters: hash
MATCH (k:ApiKey {hash: $hash})
WHERE k.revoked_at IS NULL
RETURN k;

// name: list
// The keys of a tenant, oldest first.
// parameters: tenant
MATCH (k:ApiKey {tenant: $tenant})
RETURN k
ORDER BY k.created_at, k.uid;

// name: revoke
// End a key of a tenant; a second time changes nothing.
// parameters: now, tenant, uid
MATCH (k:ApiKey {uid: $uid, tenant: $tenant})
SET k.revoked_at = coalesce(k.revoked_at, $now)
RETURN k;

// name: exist
// Whether any key was made yet.
RETURN EXISTS { MATCH (:ApiKey) } AS found;
