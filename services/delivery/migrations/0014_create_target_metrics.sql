-- One row per published target on a platform with metrics: the newest counters, and when they are read next.
create table target_metrics (
  target_id uuid primary key,
  workspace_id uuid not null,
  post_id uuid not null,
  account_id uuid not null,
  platform text not null,
  -- The platform's id of the post; null until the platform has returned it.
  external_id text,
  published_at timestamptz not null,
  -- When the next scheduled refresh is due; `infinity` when the target is not on the schedule, or no longer.
  due_at timestamptz not null,
  -- Number of scheduled refreshes in a row that got no answer about the post.
  failure_count int not null default 0,
  -- Number of answers in a row that the post is not on the platform.
  missing_count int not null default 0,
  -- A refresh by hand runs until this time at the latest; no second one starts before.
  asking_until timestamptz not null default '-infinity',
  -- When the platform was asked for the newest refresh by hand that it answered.
  asked_by_hand_at timestamptz,
  -- The counters; null where the platform does not give one.
  views bigint,
  impressions bigint,
  reach bigint,
  likes bigint,
  comments bigint,
  shares bigint,
  saves bigint,
  -- When the platform was asked for these counters; null until it answered once.
  refreshed_at timestamptz(3),
  -- When rows of the target's history are deleted next; `infinity` while there is no history.
  thin_at timestamptz not null default 'infinity'
) with (fillfactor = 80);

create index target_metrics_due on target_metrics (account_id, due_at) where due_at < 'infinity';
create index target_metrics_thin on target_metrics (thin_at) where thin_at < 'infinity';

-- One row per refresh, so that a curve can be drawn. The job thin-metrics-history deletes most rows with age.
create table target_metric_history (
  target_id uuid not null,
  refreshed_at timestamptz(3) not null,
  workspace_id uuid not null,
  views bigint,
  impressions bigint,
  reach bigint,
  likes bigint,
  comments bigint,
  shares bigint,
  saves bigint,
  primary key (target_id, refreshed_at)
);

-- One row per account with published targets. A process takes an account for one call at a time, by moving `not_before`.
create table metrics_accounts (
  account_id uuid primary key,
  workspace_id uuid not null,
  platform text not null,
  -- No target of the account is due before this time. The time may be too early, but never too late.
  due_at timestamptz not null default 'infinity',
  -- No scheduled call before this time: another process makes one, the budget is used up, or the account has to be
  -- connected again.
  not_before timestamptz not null default '-infinity',
  -- No call before this time, because the platform answered with a rate limit.
  limited_until timestamptz not null default '-infinity',
  -- The calls of scheduled refreshes that were made count as evenly spread until this time. It lies at most one window
  -- ahead.
  budget_until timestamptz not null default '-infinity',
  wake_at timestamptz not null generated always as (greatest(due_at, not_before, limited_until)) stored
) with (fillfactor = 80);

create index metrics_accounts_wake on metrics_accounts (platform, wake_at) where wake_at < 'infinity';

-- The same for platforms that limit all accounts of our app together.
create table metrics_apps (
  platform text primary key,
  limited_until timestamptz not null default '-infinity',
  budget_until timestamptz not null default '-infinity'
);
