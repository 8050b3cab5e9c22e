-- Instants that clients see are stored with milliseconds, the precision of the JSON in responses. A list cursor with
-- such an instant therefore finds its row again.
create table posts (
  id uuid primary key,
  workspace_id uuid not null,
  status text not null check (status in ('draft', 'scheduled', 'publishing', 'published', 'partial', 'failed', 'cancelled')),
  content text not null,
  options jsonb not null,
  media_ids uuid[] not null,
  -- Copy of the media when the post was stored, as proto JSON in the order of media_ids, so that reading the post calls
  -- no other service.
  media jsonb not null,
  scheduled_at timestamptz(3),
  started_at timestamptz(3),
  published_at timestamptz(3),
  created_via text not null check (created_via in ('rest', 'mcp', 'dashboard')),
  queue_slot_rule_id uuid,
  version bigint not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  effective_at timestamptz(3) not null generated always as (coalesce(scheduled_at, created_at)) stored
);

create index posts_effective on posts (workspace_id, effective_at desc, id desc);

create table targets (
  id uuid primary key,
  workspace_id uuid not null,
  post_id uuid not null references posts (id) on delete cascade,
  ordinal int not null,
  account_id uuid not null,
  platform text not null,
  username text not null,
  status text not null default 'pending' check (status in ('pending', 'publishing', 'published', 'failed', 'deleting', 'deleted', 'delete_failed', 'cancelled')),
  -- The number of requests to publish the target so far.
  generation int not null,
  -- Generation and version of the last update from the delivery service that was applied to the target.
  task_generation int not null default 0,
  task_version bigint not null default 0,
  external_id text,
  permalink text,
  published_at timestamptz(3),
  error_code text,
  error_message text,
  error_retryable boolean,
  attempt_count int not null default 0,
  next_attempt_at timestamptz(3),
  -- Due time and deadline of the current request to publish the target; null for a draft.
  due_at timestamptz(3),
  publish_before timestamptz(3),
  -- Time at which the delivery service last reported the target or the sweep last asked about it; initially the due
  -- time. The sweep does not ask the delivery service before the due time.
  last_news_at timestamptz not null,
  updated_at timestamptz(3) not null,
  unique (post_id, ordinal)
);

-- The targets that the sweep asks about: open targets, and failed targets that may turn out to be published.
create index targets_unsettled on targets (last_news_at)
  where publish_before is not null
  and (status in ('pending', 'publishing') or (status = 'failed' and error_code = 'outcome_unknown'));

create table target_attempts (
  workspace_id uuid not null,
  target_id uuid not null references targets (id) on delete cascade,
  number int not null,
  -- Generation and version of the target update that reported the attempt; a newer update replaces the attempt.
  task_generation int not null,
  task_version bigint not null,
  started_at timestamptz(3) not null,
  finished_at timestamptz(3),
  outcome text not null,
  code text not null,
  message text not null,
  primary key (target_id, number)
);

create table idempotency_keys (
  workspace_id uuid not null,
  operation text not null,
  key text not null,
  fingerprint text not null,
  -- The response of the RPC, as a binary proto message.
  response bytea not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, operation, key)
);

create index idempotency_keys_age on idempotency_keys (created_at);

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
  -- 'in': a handler of this service failed for the event; 'out': the broker refused the event permanently.
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
