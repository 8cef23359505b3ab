// fragment: persona
// A persona as it is read.
p {.*, created_at: toString(p.created_at), updated_at: toString(p.updated_at)}

// name: lock
// Take the lock of a persona, which begins with it.
// parameters: key, slug, tenant
MERGE (p:Persona {key: $key})
  ON CREATE SET p.tenant = $tenant, p.slug = $slug
SET p.locked = true
REMOVE p.locked
RETURN @persona AS persona;

// name: save
// Write what a persona is.
// parameters: created_at, key, properties, updated_at
MATCH (p:Persona {key: $key})
SET p += $properties, p.created_at = datetime($created_at), p.updated_at = datetime($updated_at);

// name: find
// A persona by its key.
// parameters: key
MATCH (p:Persona {key: $key})
WHERE p.created_at IS NOT NULL
RETURN @persona AS persona;

// fragment: personas_shown
// The personas of a tenant.
MATCH (p:Persona)
USING INDEX SEEK p:Persona(tenant, slug)
WHERE p.tenant = $tenant AND p.slug > '' AND p.created_at IS NOT NULL

// name: list
// One page of the personas of a tenant, by slug.
// parameters: after, limit, tenant
@personas_shown
  AND p.slug > $after
RETURN @persona AS persona
ORDER BY p.slug
LIMIT $limit;

// name: count
// How many personas a tenant has.
// parameters: tenant
@personas_shown
RETURN count(p) AS total;
