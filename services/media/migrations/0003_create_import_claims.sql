-- Which imports with an idempotency key are being carried out, so that a repeated request need not download as well. Only
-- a hint: the key itself is taken with the media. A claim ends by itself when its process dies.
create table import_claims (
  workspace_id uuid not null,
  key text not null,
  -- New for each claim: it distinguishes the present owner of the claim from an earlier one.
  token uuid not null,
  lease_until timestamptz not null,
  primary key (workspace_id, key)
);

create index import_claims_lease on import_claims (lease_until);
