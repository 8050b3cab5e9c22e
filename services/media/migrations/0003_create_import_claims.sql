-- Running media imports that have an idempotency key. The claim keeps a repeated request from starting a second
-- download. It does not guarantee this: only the idempotency key, which is stored with the media, is unique. The claim
-- of a dead process expires.
create table import_claims (
  workspace_id uuid not null,
  key text not null,
  -- Unique per import claim: distinguishes the current holder of the claim from an earlier holder.
  token uuid not null,
  lease_until timestamptz not null,
  primary key (workspace_id, key)
);

create index import_claims_lease on import_claims (lease_until);
