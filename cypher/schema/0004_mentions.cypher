// Mentions repeat what entity cards choose by.
MATCH (m:Memory)-[x:MENTIONS]->(:Entity) WHERE x.space IS NULL
  CALL (m, x) {
    SET x.space = m.space, x.status = m.status, x.weight = m.importance + CASE WHEN m.pinned THEN 1000 ELSE 0 END,
        x.created = m.created_at.epochMillis, x.expires = m.expires_at,
        x.begins = coalesce(m.valid_from.epochMillis, -62135596800000),
        x.ends = coalesce(m.valid_until.epochMillis, 4102444800000)
  } IN TRANSACTIONS OF 2000 ROWS;
