-- Number of publications of a workspace by month and by day. Few rows get many updates, and no update changes an
-- indexed column.
create table quota_usage (
  workspace_id uuid not null,
  -- The id of the workspace or the account that the counter belongs to, or the platform whose app or project has the
  -- limit.
  subject text not null,
  -- Period of the counter: a month, 2026-11, or a day, 2026-11-21, in UTC.
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
  -- Two posts of a workspace never share a queue slot.
  primary key (workspace_id, slot_at)
);

alter table targets
  -- The UTC day on whose quota the target counts, which also determines the month; null for a draft.
  add column due_day text,
  -- Hash of the content that the duplicate guard compares; null for a draft.
  add column content_hash bytea,
  -- The number of requests to delete the target so far.
  add column deletion int not null default 0,
  -- Version of the last applied update about the current request to delete the target.
  add column deletion_version bigint not null default 0,
  -- Time of the last request to delete the target; null before the first request.
  add column deletion_requested_at timestamptz(3);

-- The targets whose deletion the sweep asks the delivery service about.
create index targets_deleting on targets (last_news_at) where status = 'deleting';

-- The duplicate guards: the contents that an account is publishing or has published in the last 24 hours.
create table duplicate_guards (
  target_id uuid primary key references targets (id) on delete cascade,
  workspace_id uuid not null,
  account_id uuid not null,
  content_hash bytea not null,
  -- False if another duplicate guard may have the same content: the post was forced, or its publication was confirmed
  -- late.
  exclusive boolean not null,
  -- Time at which the duplicate guard expires; null while the outcome of the target is open or unknown.
  expires_at timestamptz(3)
);

-- Only one of several concurrent posts with the same content can get a duplicate guard.
create unique index duplicate_guards_exclusive on duplicate_guards (account_id, content_hash) where exclusive;

create index duplicate_guards_shared on duplicate_guards (account_id, content_hash) where not exclusive;

create index duplicate_guards_expiry on duplicate_guards (expires_at) where expires_at is not null;

-- The platforms of the post's targets. They are copied so that one index serves a list of posts that is filtered by
-- platform, in the order of the list.
alter table posts add column platforms text[] not null default '{}';

update posts
set platforms = (
  select coalesce(array_agg(distinct platform order by platform), '{}')
  from targets
  where targets.post_id = posts.id
);

-- The scheduled posts that the scheduler starts when they are due.
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

-- Throws an error in a statement that must not take effect. The error undoes everything that the statement wrote.
create function refuse(reason text) returns boolean language plpgsql as $$
begin
  raise exception using errcode = 'PR001', message = reason;
end
$$;
