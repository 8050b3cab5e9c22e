-- Publications of a workspace by month and by day. Few rows get many updates, none of an indexed column.
create table quota_usage (
  workspace_id uuid not null,
  -- The workspace, the account, or the platform whose app or project it is.
  subject text not null,
  -- A month, 2026-11, or a day, 2026-11-21, in UTC.
  period text not null,
  used int not null default 0,
  reserved int not null default 0,
  primary key (workspace_id, subject, period)
) with (fillfactor = 50);

create table queue_slot_rules (
  id uuid primary key,
  workspace_id uuid not null,
  name text not null,
  weekdays text[] not null,
  times text[] not null,
  timezone text not null,
  starts_on date,
  ends_on date,
  status text not null default 'active' check (status in ('active', 'paused', 'revoked')),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null
);

create index queue_slot_rules_live on queue_slot_rules (workspace_id, id) where status <> 'revoked';

create table slot_assignments (
  workspace_id uuid not null,
  slot_at timestamptz(3) not null,
  post_id uuid not null unique references posts (id) on delete cascade,
  rule_id uuid not null,
  -- Two posts never share a slot.
  primary key (workspace_id, slot_at)
);

alter table targets
  -- The UTC day, and by it the month, whose quota the target counts in; null for a draft.
  add column due_day text,
  -- What the duplicate guard compares; null for a draft.
  add column content_hash bytea,
  -- The number of requests to delete the target.
  add column deletion int not null default 0,
  -- Version of the update of the last request to delete that was applied.
  add column deletion_version bigint not null default 0,
  -- When the last deletion was requested; null before the first.
  add column deletion_requested_at timestamptz(3);

-- The deletions that the sweep asks about.
create index targets_deleting on targets (last_news_at) where status = 'deleting';

-- The contents that an account is publishing or has published in the last 24 hours.
create table duplicate_guards (
  target_id uuid primary key references targets (id) on delete cascade,
  workspace_id uuid not null,
  account_id uuid not null,
  content_hash bytea not null,
  -- False for a guard beside another one: the post was forced, or its publication was confirmed late.
  exclusive boolean not null,
  -- Null while the outcome of the target is open or unknown.
  expires_at timestamptz(3)
);

-- Only one of several concurrent posts with the same content gets its guard.
create unique index duplicate_guards_exclusive on duplicate_guards (account_id, content_hash) where exclusive;

create index duplicate_guards_shared on duplicate_guards (account_id, content_hash) where not exclusive;

create index duplicate_guards_expiry on duplicate_guards (expires_at) where expires_at is not null;

-- Copied from the targets, so that one index serves a list that is filtered by platform, in its order.
alter table posts add column platforms text[] not null default '{}';

update posts
set platforms = (
  select coalesce(array_agg(distinct platform order by platform), '{}')
  from targets
  where targets.post_id = posts.id
);

-- The posts that the scheduler starts.
create index posts_due on posts (scheduled_at, id) where status = 'scheduled';

create index posts_by_status on posts (workspace_id, status, effective_at desc, id desc);

create index posts_by_created_via on posts (workspace_id, created_via, effective_at desc, id desc);

create index posts_on_instagram on posts (workspace_id, effective_at desc, id desc) where 'instagram' = any (platforms);

create index posts_on_x on posts (workspace_id, effective_at desc, id desc) where 'x' = any (platforms);

create index posts_on_facebook on posts (workspace_id, effective_at desc, id desc) where 'facebook' = any (platforms);

create index posts_on_tiktok on posts (workspace_id, effective_at desc, id desc) where 'tiktok' = any (platforms);

create index posts_on_youtube on posts (workspace_id, effective_at desc, id desc) where 'youtube' = any (platforms);

create index posts_on_telegram on posts (workspace_id, effective_at desc, id desc) where 'telegram' = any (platforms);

create index posts_on_bluesky on posts (workspace_id, effective_at desc, id desc) where 'bluesky' = any (platforms);

-- Fails a statement that must not take effect, which undoes everything that it wrote.
create function refuse(reason text) returns boolean language plpgsql as $$
begin
  raise exception using errcode = 'PR001', message = reason;
end
$$;
