-- Where the data belongs, as it was when we last published from it: one row, made by the first process that starts. It
-- belongs to the installation, not to a workspace. Data that wakes up elsewhere is a clone; data whose timeline or table
-- is another one was restored, and does not know of the calls that came after the backup.
create table deployment (
  only_row boolean primary key default true check (only_row),
  system_identifier text not null,
  database_oid bigint not null,
  table_oid bigint not null,
  timeline int not null,
  deployment_id text not null,
  -- Raised about twice a minute: what comes back from a backup ends at most so much later.
  seen_at timestamptz not null,
  -- A target that was due before may be visible, whatever its task says.
  restored_at timestamptz,
  -- Calls that the data does not know of came after it; null when it is unknown.
  data_until timestamptz
);

-- The restore (`deployment.restored_at`) because of which the task was put in doubt last.
alter table publish_tasks add column doubted_at timestamptz;
-- The question is what became of calls that the data does not know of.
alter table publish_tasks add column is_restored boolean not null default false;
