-- One row per target and generation. It is kept as long as the post, so that a repeated request finds it.
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
  -- No worker takes the task before this time: its due time (queued), the end of the lease (working, reconciling), the end
  -- of the publishing call (calling), or the next search of the platform (unknown).
  wake_at timestamptz not null,
  due_at timestamptz not null,
  -- No publishing call starts after this time.
  publish_before timestamptz not null,
  -- Raised with each claim, so that a worker with an older fence can no longer change the task.
  fence bigint not null default 0,
  lease_owner uuid,
  crash_count int not null default 0,
  -- Number of the attempt that began last, counted over all generations; 0 if none began.
  attempt_number int not null default 0,
  is_attempt_open boolean not null default false,
  retry_count int not null default 0,
  unknown_count int not null default 0,
  -- Number of publishing calls that neither succeeded nor failed for certain.
  open_unknowns int not null default 0,
  resend_count int not null default 0,
  -- Number of complete searches of the platform for the call with an unknown outcome.
  looks int not null default 0,
  -- True if the unknown outcome was a rate limit; sending again after proved absence then does not count as a resend.
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

-- These three indexes guarantee that nothing is published twice; claims only make conflicts on them rare.
create unique index publish_tasks_one_published on publish_tasks (target_id)
  where status = 'published';
create unique index publish_tasks_one_calling on publish_tasks (account_id)
  where status = 'calling';
create unique index publish_tasks_one_content on publish_tasks (account_id, content_hash)
  where status in ('calling', 'unknown', 'reconciling');

-- The indexes for claims leave out finished tasks.
create index publish_tasks_wake on publish_tasks (wake_at)
  where status in ('queued', 'working', 'calling', 'unknown', 'reconciling');
create index publish_tasks_live on publish_tasks (account_id)
  where status in ('working', 'calling', 'unknown', 'reconciling');

-- Finds the platform ids that belong to an account's targets, so that they are not adopted for another target.
create index publish_tasks_external on publish_tasks (account_id, external_id)
  where external_id is not null;

-- What the steps before the publishing call returned, stored before the next step begins and deleted when the task ends.
create table task_handles (
  target_id uuid not null,
  generation int not null,
  workspace_id uuid not null,
  handles jsonb not null,
  primary key (target_id, generation)
);

-- The intent to make a publishing call is recorded before the call, its outcome afterwards.
create table publish_attempts (
  target_id uuid not null,
  -- Number of the attempt, counted over all generations.
  number int not null check (number > 0),
  generation int not null,
  workspace_id uuid not null,
  account_id uuid not null,
  fence bigint not null,
  -- Number of the latest publishing call within this attempt. Earlier calls of the attempt are known to have published
  -- nothing.
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

-- Accounts that wait after a rate limit of their platform or after too many failures in a row.
create table account_gates (
  account_id uuid primary key,
  workspace_id uuid not null,
  not_before timestamptz,
  failures_in_row int not null default 0
);

-- Pauses that operators created. They belong to the installation, not to a workspace.
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
  -- 'in': our handler could not process the event; 'out': the broker refused the event permanently.
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
