-- The deployment that the data of this database belongs to: one row, inserted by the first process that starts. Data that
-- another deployment uses is a copy: the files in the object store belong to the original deployment.
create table deployment (
  only_row boolean primary key default true check (only_row),
  system_identifier text not null,
  database_oid bigint not null,
  deployment_id text not null,
  -- The table and the Postgres timeline in which the data was last used. Others show that the data was restored.
  table_oid bigint not null,
  timeline integer not null,
  -- When this deployment began to use the data. Files that are older may belong to another deployment.
  owned_since timestamptz not null default now(),
  -- When a restore was last noticed. Files that no row names are kept for a day after it.
  restored_at timestamptz,
  -- Counts the passes that may delete files; the marker in the object store repeats it. A marker with a higher number shows
  -- that the data was restored to an earlier moment.
  store_pass bigint not null default 0
);
