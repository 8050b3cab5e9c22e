-- One row per target and generation; it lives as long as the post, so that a replayed request finds it.
create table publish_tasks (
  target_id uuid not null,
  generation int not null check (generation > 0),
  workspace_id uuid not null,
  post_id uuid not null,
  account_id uuid not null,
  platform text not null,
  status text not null check (status in (
    'queued', 'working', 'calling', 'unknown', 'reconciling', 'published', 'failed', 'dropped'
  )),
  -- No worker takes the task before this time: its due time (queued), the end of the lease (working, reconciling), the end of the
  -- visible call (calling), the next look (unknown).
  wake_at timestamptz not null,
  due_at timestamptz not null,
  -- No visible call starts after it.
  publish_before timestamptz not null,
  -- Raised with each claim: a worker with an older fence can no longer decide.
  fence bigint not null default 0,
  lease_owner uuid,
  crash_count int not null default 0,
  -- The latest attempt begun, counted over all generations; 0 = none.
  attempt_number int not null default 0,
  is_attempt_open boolean not null default false,
  retry_count int not null default 0,
  unknown_count int not null default 0,
  -- Visible calls that are neither known nor proved absent.
  open_unknowns int not null default 0,
  resend_count int not null default 0,
  -- Complete looks at the call with an unknown outcome.
  looks int not null default 0,
  -- The unknown outcome was the platform's limit: sending again after a proved absence is free.
  is_limited boolean not null default false,
  call_number int not null default 0,
  first_unknown_at timestamptz,
  called_at timestamptz,
  call_until timestamptz,
  content_hash text,
  version bigint not null default 1,
  external_id text,
  permalink text,
  published_at timestamptz,
  error_code text,
  error_message text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (target_id, generation)
);

-- These three are the guarantee against publishing twice; the claim only makes meeting them rare.
create unique index publish_tasks_one_published on publish_tasks (target_id)
  where status = 'published';
create unique index publish_tasks_one_calling on publish_tasks (account_id)
  where status = 'calling';
create unique index publish_tasks_one_content on publish_tasks (account_id, content_hash)
  where status in ('calling', 'unknown', 'reconciling');

-- Finished work leaves the hot indexes.
create index publish_tasks_wake on publish_tasks (wake_at)
  where status in ('queued', 'working', 'calling', 'unknown', 'reconciling');
create index publish_tasks_live on publish_tasks (account_id)
  where status in ('working', 'calling', 'unknown', 'reconciling');

-- Which ids of the platform an account's targets own: never adopted for another one.
create index publish_tasks_external on publish_tasks (account_id, external_id)
  where external_id is not null;

-- What prepare steps have made, stored before the next step; removed when the task ends.
create table task_handles (
  target_id uuid not null,
  generation int not null,
  workspace_id uuid not null,
  handles jsonb not null,
  primary key (target_id, generation)
);

-- The intent before and the fact after each visible call.
create table publish_attempts (
  target_id uuid not null,
  -- Counts over generations.
  number int not null check (number > 0),
  generation int not null,
  workspace_id uuid not null,
  account_id uuid not null,
  fence bigint not null,
  -- The task's latest call within this attempt. Calls before it in the same attempt certainly made nothing.
  call_number int not null default 0,
  started_at timestamptz not null default now(),
  called_at timestamptz,
  call_until timestamptz,
  finished_at timestamptz,
  outcome text check (outcome in ('published', 'retry', 'failed', 'unknown')),
  code text not null default '',
  message text not null default '',
  external_id text,
  permalink text,
  is_not_sent boolean not null default false,
  primary key (target_id, number)
);

create index publish_attempts_external on publish_attempts (account_id, external_id)
  where external_id is not null;

-- Accounts that wait: after a platform's limit, or after too many failures in a row.
create table account_gates (
  account_id uuid primary key,
  workspace_id uuid not null,
  not_before timestamptz,
  failures_in_row int not null default 0
);

-- What an operator holds back. It belongs to the installation, not to a workspace.
create table pauses (
  kind text not null check (kind in ('platform', 'account', 'workspace')),
  key text not null,
  created_at timestamptz not null default now(),
  primary key (kind, key)
);

create table outbox (
  id bigint generated always as identity primary key,
  event_id uuid not null,
  type text not null,
  key text not null,
  payload text not null check (octet_length(payload) <= 65536),
  headers jsonb not null,
  created_at timestamptz not null default now()
);

create table parked_events (
  id uuid primary key,
  -- 'in': our handler failed; 'out': the broker refused it for good.
  direction text not null check (direction in ('in', 'out')),
  topic text not null,
  event_id text not null,
  type text not null,
  key text not null,
  payload text not null,
  headers jsonb not null,
  error text not null,
  attempt_count int not null,
  parked_at timestamptz not null default now(),
  unique (direction, topic, event_id)
);
