-- Where the data was when it was last used for publishing: one row, created by the first process that starts. It belongs to
-- the installation, not to a workspace. Data in another cluster, database or deployment is a copy. Data with another
-- timeline or table was restored and lacks the calls that were made after the backup.
create table deployment (
  only_row boolean primary key default true check (only_row),
  system_identifier text not null,
  database_oid bigint not null,
  table_oid bigint not null,
  timeline int not null,
  deployment_id text not null,
  -- Updated about twice a minute, so that restored data shows to within that time when its backup ends.
  seen_at timestamptz not null,
  -- Time of the latest restore. A target that was due before may be visible, whatever the status of its task.
  restored_at timestamptz,
  -- End of the data in the backup: calls after it are missing from the data. Null if it is not known.
  data_until timestamptz
);

-- The restore (`deployment.restored_at`) that last made the outcome of the task uncertain.
alter table publish_tasks add column doubted_at timestamptz;
-- True while the outcome in question is that of calls that a restore removed from the data.
alter table publish_tasks add column is_restored boolean not null default false;
