-- Publications of a workspace by month and by day. They are many updates of few rows, none of an indexed column.
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
  -- The UTC day, and by it the month, whose quota it counts in; null while it counts in none.
  add column due_day text,
  -- What the duplicate guard compares; null while the post is a draft.
  add column content_hash bytea,
  -- Raised by each request to delete; 0 before the first.
  add column deletion int not null default 0,
  -- Version of delivery's update of that request which was applied last.
  add column deletion_version bigint not null default 0,
  -- What the request said; null before the first.
  add column deletion_requested_at timestamptz(3);

-- What the sweep asks about besides the targets that are open.
create index targets_deleting on targets (last_news_at) where status = 'deleting';

-- What an account is publishing, or has published in the last 24 hours.
create table duplicate_guards (
  target_id uuid primary key references targets (id) on delete cascade,
  workspace_id uuid not null,
  account_id uuid not null,
  content_hash bytea not null,
  -- False: beside another one, by force or because a publication was proved late.
  exclusive boolean not null,
  -- Null = as long as the target's outcome is open or unknown.
  expires_at timestamptz(3)
);

-- Of concurrent equal posts one wins.
create unique index duplicate_guards_exclusive on duplicate_guards (account_id, content_hash) where exclusive;

create index duplicate_guards_shared on duplicate_guards (account_id, content_hash) where not exclusive;

create index duplicate_guards_expiry on duplicate_guards (expires_at) where expires_at is not null;

-- A copy from the targets: a list that is filtered by platform is read from one index, in its order.
alter table posts add column platforms text[] not null default '{}';

update posts
set platforms = (
  select coalesce(array_agg(distinct platform order by platform), '{}')
  from targets
  where targets.post_id = posts.id
);

-- What the scheduler takes.
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

-- Ends a statement that may not take effect, and with it all that the statement wrote.
create function refuse(reason text) returns boolean language plpgsql as $$
begin
  raise exception using errcode = 'PR001', message = reason;
end
$$;
