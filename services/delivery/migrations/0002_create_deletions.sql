-- One row per target and request to delete the target, kept as long as the post.
create table deletion_tasks (
  target_id uuid not null,
  deletion int not null check (deletion > 0),
  workspace_id uuid not null,
  post_id uuid not null,
  account_id uuid not null,
  platform text not null,
  -- The platform's id of the published post; empty if it is not known.
  external_id text not null,
  status text not null check (status in ('queued', 'working', 'deleted', 'failed')),
  -- No worker takes the task before this time: the next try (queued) or the end of the lease (working).
  wake_at timestamptz not null,
  -- Raised with each claim, so that a worker with an older fence can no longer change the task.
  fence bigint not null default 0,
  lease_owner uuid,
  -- Number of claims in a row whose worker recorded no result.
  crash_count int not null default 0,
  retry_count int not null default 0,
  version bigint not null default 1,
  error_code text,
  error_message text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (target_id, deletion)
);

-- The index for claims leaves out finished deletions.
create index deletion_tasks_wake on deletion_tasks (wake_at)
  where status in ('queued', 'working');

-- True if CancelTargets dropped the task; a repeated request at this generation does not queue the task again.
alter table publish_tasks add column is_cancelled boolean not null default false;
