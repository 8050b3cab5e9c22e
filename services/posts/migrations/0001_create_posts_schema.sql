-- Posts and their targets

-- Instants that clients see are stored with milliseconds, the precision of the JSON in responses. A list cursor with
-- such an instant therefore finds its row again.
create table posts (
  id uuid primary key,
  workspace_id uuid not null,
  status text not null check (status in (
    'draft', 'scheduled', 'publishing', 'published', 'partial', 'failed', 'cancelled'
  )),
  content text not null,
  options jsonb not null,
  media_ids uuid[] not null,
  -- Copy of the media when the post was stored, as proto JSON in the order of media_ids, so that reading the post calls
  -- no other service.
  media jsonb not null,
  -- The platforms of the post's targets. They are copied so that one index serves a list of posts that is filtered by
  -- platform, in the order of the list.
  platforms text[] not null default '{}',
  scheduled_at timestamptz(3),
  queue_slot_rule_id uuid,
  started_at timestamptz(3),
  published_at timestamptz(3),
  created_via text not null check (created_via in ('rest', 'mcp', 'dashboard')),
  -- The request that last created or changed the post, as headers of events (request id and trace). The events that
  -- start the publishing of the post continue this trace.
  cause jsonb,
  version bigint not null default 1,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  effective_at timestamptz(3) not null generated always as (coalesce(scheduled_at, created_at)) stored
);

-- The scheduled posts that the scheduler starts when they are due.
create index posts_due on posts (scheduled_at, id) where status = 'scheduled';

-- The lists of posts: without a filter, and filtered by status, by interface or by platform.
create index posts_effective on posts (workspace_id, effective_at desc, id desc);
create index posts_by_status on posts (workspace_id, status, effective_at desc, id desc);
create index posts_by_created_via on posts (workspace_id, created_via, effective_at desc, id desc);
create index posts_on_instagram on posts (workspace_id, effective_at desc, id desc) where 'instagram' = any (platforms);
create index posts_on_x on posts (workspace_id, effective_at desc, id desc) where 'x' = any (platforms);
create index posts_on_facebook on posts (workspace_id, effective_at desc, id desc) where 'facebook' = any (platforms);
create index posts_on_tiktok on posts (workspace_id, effective_at desc, id desc) where 'tiktok' = any (platforms);
create index posts_on_youtube on posts (workspace_id, effective_at desc, id desc) where 'youtube' = any (platforms);
create index posts_on_telegram on posts (workspace_id, effective_at desc, id desc) where 'telegram' = any (platforms);
create index posts_on_bluesky on posts (workspace_id, effective_at desc, id desc) where 'bluesky' = any (platforms);

create table targets (
  id uuid primary key,
  workspace_id uuid not null,
  post_id uuid not null references posts (id) on delete cascade,
  ordinal int not null,
  account_id uuid not null,
  platform text not null,
  username text not null,
  status text not null default 'pending' check (status in (
    'pending', 'publishing', 'published', 'failed', 'deleting', 'deleted', 'delete_failed', 'cancelled'
  )),
  -- The settings of the account when the post was accepted, with which each attempt publishes; null = all defaults, or
  -- a draft.
  settings jsonb,
  -- Hash of the content that the duplicate guard compares; null for a draft.
  content_hash bytea,
  -- The number of requests to publish the target so far.
  generation int not null,
  -- Due time and deadline of the current request to publish the target; null for a draft.
  due_at timestamptz(3),
  publish_before timestamptz(3),
  -- The UTC day on whose quota the target counts, which also determines the month; null for a draft.
  due_day text,
  -- Generation and version of the last update from the delivery service that was applied to the target.
  task_generation int not null default 0,
  task_version bigint not null default 0,
  -- Time at which the delivery service last reported the target or the sweep last asked about it; initially the due
  -- time. The sweep does not ask the delivery service before the due time.
  last_report_at timestamptz not null,
  attempt_count int not null default 0,
  next_attempt_at timestamptz(3),
  external_id text,
  permalink text,
  published_at timestamptz(3),
  error_code text,
  error_message text,
  error_retryable boolean,
  -- The newest counters of the published post that the delivery service reported, as proto JSON of TargetMetrics; null
  -- until the first report.
  metrics jsonb,
  -- When the platform was asked for these counters, by the clock of the delivery service's database.
  metrics_refreshed_at timestamptz(3),
  -- The number of requests to delete the target so far.
  deletion int not null default 0,
  -- Version of the last applied update about the current request to delete the target.
  deletion_version bigint not null default 0,
  -- Time of the last request to delete the target; null before the first request.
  deletion_requested_at timestamptz(3),
  updated_at timestamptz(3) not null,
  unique (post_id, ordinal)
);

-- The targets that the sweep asks about: open targets, and failed targets that may turn out to be published.
create index targets_unsettled on targets (last_report_at)
  where publish_before is not null
  and (status in ('pending', 'publishing') or (status = 'failed' and error_code = 'outcome_unknown'));

-- The targets whose deletion the sweep asks the delivery service about.
create index targets_deleting on targets (last_report_at) where status = 'deleting';

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
  -- The response of the RPC, as a binary proto message. That of CreatePost lacks the content and the options of the
  -- post, and begins with a zero byte. They are in the post `post_id` as long as the post has them, and else in the
  -- next columns.
  response bytea not null,
  post_id uuid,
  content text,
  options jsonb,
  created_at timestamptz not null default now(),
  primary key (workspace_id, operation, key)
);

create index idempotency_keys_age on idempotency_keys (created_at);
create index idempotency_keys_post on idempotency_keys (post_id) where post_id is not null;

-- Keeps what a response refers to, before a post loses it. The post is locked by the same statement, and a repeated
-- request reads key and post in one statement, so it finds them in one of both.
create function keep_answered_content() returns trigger language plpgsql as $$
begin
  update idempotency_keys
  set content = old.content,
    options = old.options
  where post_id = old.id
  and content is null;
  if tg_op = 'DELETE' then
    return old;
  end if;
  return new;
end
$$;

create trigger posts_keep_update before update of content, options on posts for each row
when (old.content <> new.content or old.options <> new.options)
execute function keep_answered_content();

create trigger posts_keep_delete before delete on posts for each row
execute function keep_answered_content();

-- Throws an error in a statement that must not take effect. The error undoes everything that the statement wrote.
create function refuse(reason text) returns boolean language plpgsql as $$
begin
  raise exception using errcode = 'PR001', message = reason;
end
$$;

-- Whether a statement may store a post that uses media. The media service drops a claim on media after 10 minutes if the
-- post does not exist, so a process that was suspended for longer must not store the post. The condition already fails
-- after 5 minutes, because the commit still takes some time. `noted_after` is the time of this database, read before the
-- media service was asked to record the use.
create function media_use_holds(media_ids uuid[], noted_after timestamptz) returns boolean language sql volatile as $$
  select cardinality(media_ids) = 0 or clock_timestamp() < noted_after + interval '5 minutes'
$$;

-- What a workspace may store

-- Limits of workspaces that differ from the defaults.
create table post_limits (
  workspace_id uuid primary key,
  -- Maximum number of drafts; null = the default.
  drafts int check (drafts >= 0),
  -- Maximum number of bytes of large posts; null = the default.
  bytes bigint check (bytes >= 0)
);

-- What a workspace stores, kept by the triggers below. The row is locked from just before the commit until the commit.
create table post_usage (
  workspace_id uuid primary key,
  drafts int not null,
  -- Bytes of content, options and media of posts that have over 4,096 of them, and of large responses that are kept for
  -- repeated requests. Smaller posts are limited by the number of drafts and by the monthly quota, so that most posts
  -- change no counter.
  bytes bigint not null
) with (fillfactor = 50);

create function counted_bytes(bytes bigint) returns bigint language sql immutable as $$
  select case when bytes > 4096 then bytes else 0 end
$$;

create function post_bytes(content text, options jsonb, media jsonb) returns bigint language sql immutable as $$
  select counted_bytes(octet_length(content)::bigint + octet_length(options::text) + octet_length(media::text))
$$;

create function key_bytes(response bytea, content text, options jsonb) returns bigint language sql immutable as $$
  select counted_bytes(
    octet_length(response)::bigint + coalesce(octet_length(content), 0) + coalesce(octet_length(options::text), 0)
  )
$$;

-- The limits of a workspace. A default that is changed here takes effect for all workspaces without limits of their
-- own.
create function limits_of_posts(id uuid, out drafts int, out bytes bigint) language sql stable as $$
  select coalesce(own.drafts, 10000), coalesce(own.bytes, 1000000000)
  from (select 1) as one
  left join post_limits as own on own.workspace_id = id
$$;

-- Adds to the counters of a workspace. The upsert locks the row, so each of several concurrent transactions sees the
-- counters of the one before, and they cannot exceed a limit together.
create function count_usage(id uuid, more_drafts int, more_bytes bigint, is_limited boolean) returns void
language plpgsql as $$
declare
  used record;
  allowed record;
begin
  insert into post_usage as usage (workspace_id, drafts, bytes)
  values (id, more_drafts, more_bytes)
  on conflict (workspace_id) do update
  set drafts = usage.drafts + excluded.drafts,
    bytes = usage.bytes + excluded.bytes
  returning usage.drafts, usage.bytes into used;
  if not is_limited then
    return;
  end if;
  select limits.drafts, limits.bytes into allowed from limits_of_posts(id) as limits;
  if more_drafts > 0 and used.drafts > allowed.drafts then
    perform refuse('too_many_drafts');
  end if;
  if more_bytes > 0 and used.bytes > allowed.bytes then
    perform refuse('post_storage');
  end if;
end
$$;

create function count_post() returns trigger language plpgsql as $$
declare
  more_drafts int := 0;
  more_bytes bigint := 0;
begin
  if tg_op <> 'INSERT' then
    more_drafts := more_drafts - (old.status = 'draft')::int;
    more_bytes := more_bytes - post_bytes(old.content, old.options, old.media);
  end if;
  if tg_op <> 'DELETE' then
    more_drafts := more_drafts + (new.status = 'draft')::int;
    more_bytes := more_bytes + post_bytes(new.content, new.options, new.media);
  end if;
  if more_drafts <> 0 or more_bytes <> 0 then
    perform count_usage(coalesce(new.workspace_id, old.workspace_id), more_drafts, more_bytes, true);
  end if;
  return null;
end
$$;

-- The triggers are deferred to the commit, because the row of a workspace is then locked only for a moment, and after
-- every other lock of the transaction.
create constraint trigger posts_count_insert after insert on posts
deferrable initially deferred for each row
when (new.status = 'draft' or post_bytes(new.content, new.options, new.media) > 0)
execute function count_post();

create constraint trigger posts_count_update after update of content, options, media on posts
deferrable initially deferred for each row
when (
  (old.status = 'draft') <> (new.status = 'draft')
  or post_bytes(old.content, old.options, old.media) <> post_bytes(new.content, new.options, new.media)
)
execute function count_post();

create constraint trigger posts_count_delete after delete on posts
deferrable initially deferred for each row
when (old.status = 'draft' or post_bytes(old.content, old.options, old.media) > 0)
execute function count_post();

-- Responses count, but never refuse anything: they grow when a post is deleted, which must always be possible.
create function count_key() returns trigger language plpgsql as $$
declare
  more_bytes bigint := 0;
begin
  if tg_op <> 'INSERT' then
    more_bytes := more_bytes - key_bytes(old.response, old.content, old.options);
  end if;
  if tg_op <> 'DELETE' then
    more_bytes := more_bytes + key_bytes(new.response, new.content, new.options);
  end if;
  if more_bytes <> 0 then
    perform count_usage(coalesce(new.workspace_id, old.workspace_id), 0, more_bytes, false);
  end if;
  return null;
end
$$;

create constraint trigger keys_count_insert after insert on idempotency_keys
deferrable initially deferred for each row
when (key_bytes(new.response, new.content, new.options) > 0)
execute function count_key();

create constraint trigger keys_count_update after update on idempotency_keys
deferrable initially deferred for each row
when (key_bytes(old.response, old.content, old.options) <> key_bytes(new.response, new.content, new.options))
execute function count_key();

create constraint trigger keys_count_delete after delete on idempotency_keys
deferrable initially deferred for each row
when (key_bytes(old.response, old.content, old.options) > 0)
execute function count_key();

-- Quotas and queue slots

-- Number of publications by month and by day. Few rows get many updates, and no update changes an indexed column.
create table quota_usage (
  -- ffffffff-ffff-ffff-ffff-ffffffffffff for the counters of all workspaces together, which exist for the daily limits of
  -- apps and projects. They change with those of the workspaces, and are locked after them.
  workspace_id uuid not null,
  -- The id of the workspace or the account that the counter belongs to, or the platform whose app or project has the
  -- limit.
  subject text not null,
  -- Period of the counter: a month, 2026-11, or a day, 2026-11-21, in UTC.
  period text not null,
  used int not null default 0,
  reserved int not null default 0,
  -- In the counter of a month: how often a target of the workspace failed or was cancelled and gave its share back. Such
  -- targets are kept as long as others.
  released int not null default 0,
  -- When the counter of a workspace first reached its limit. The event about the used-up quota is published once, by
  -- the post that sets this time.
  exhausted_at timestamptz,
  -- Of a limit that all workspaces share: how many of those used and reserved the limit of all does not count, because
  -- posts of an imported workspace reserve more than a workspace may beside others. The counter of all has the sum.
  uncounted int not null default 0,
  primary key (workspace_id, subject, period)
) with (fillfactor = 50);

-- What a counter counts against its limit.
create function counted(counter quota_usage) returns int language sql immutable as $$
  select counter.used + counter.reserved
    - case when counter.workspace_id = 'ffffffff-ffff-ffff-ffff-ffffffffffff' then counter.uncounted else 0 end
$$;

-- What a workspace gives back is first what is not counted. Its counter and that of all are locked already: they change in
-- one statement.
create function give_back_uncounted() returns trigger language plpgsql as $$
begin
  update quota_usage
  set uncounted = greatest(
    uncounted - least(old.uncounted, old.used + old.reserved - new.used - new.reserved), 0
  )
  where workspace_id in (new.workspace_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
  and subject = new.subject
  and period = new.period;
  return null;
end
$$;

create trigger quota_usage_uncounted after update on quota_usage for each row
when (
  old.uncounted > 0
  and new.used + new.reserved < old.used + old.reserved
  and new.workspace_id <> 'ffffffff-ffff-ffff-ffff-ffffffffffff'
)
execute function give_back_uncounted();

-- How many targets may have given their share of a quota back before it accepts no more. As in `domain/quota.ts`.
create function max_released(quota bigint) returns bigint language sql immutable as $$
  select greatest(20 * quota, 10000)
$$;

-- A removed workspace publishes no more: what it reserved is free for the others. What it used remains used.
create function free_removed_quota() returns trigger language plpgsql as $$
declare
  freed record;
begin
  for freed in
    select subject, period, sum(reserved) as reserved, sum(least(uncounted, reserved)) as uncounted
    from removed
    where reserved > 0
    group by subject, period
    order by period collate "C", subject collate "C"
  loop
    update quota_usage
    set reserved = greatest(quota_usage.reserved - freed.reserved, 0),
      uncounted = greatest(quota_usage.uncounted - freed.uncounted, 0)
    where workspace_id = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
    and subject = freed.subject
    and period = freed.period;
  end loop;
  return null;
end
$$;

create trigger quota_usage_free after delete on quota_usage
referencing old table as removed for each statement
execute function free_removed_quota();

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

-- Duplicate guards

-- The contents that an account is publishing or has published in the last 24 hours.
create table duplicate_guards (
  target_id uuid primary key references targets (id) on delete cascade,
  workspace_id uuid not null,
  account_id uuid not null,
  content_hash bytea not null,
  -- When the target is due.
  due_at timestamptz(3) not null,
  -- Whether the guard was compared with the others. A post that was forced, or whose outcome changed late, is not.
  is_checked boolean not null default false,
  -- Time at which the duplicate guard expires; null while the outcome of the target is open or unknown.
  expires_at timestamptz(3)
) with (fillfactor = 80);

create index duplicate_guards_content on duplicate_guards (account_id, content_hash);

-- A guard expires 24 hours after its due time at the earliest. There is no index on `expires_at`, so the update at the
-- end of publishing changes no index and stays on its page, for which the fill factor leaves room.
create index duplicate_guards_due on duplicate_guards (due_at);

-- Whether a guard keeps the same content from being published at a planned time: within 24 hours of its own planned
-- time, of now if its outcome is open, or of its publication, which is 24 hours before it expires.
create function guard_clashes(due_at timestamptz, expires_at timestamptz, planned_at timestamptz) returns boolean
language sql stable as $$
  select case
    when expires_at is not null then expires_at > now() and planned_at < expires_at
    else planned_at > due_at - interval '24 hours' and planned_at < greatest(due_at, now()) + interval '24 hours'
  end
$$;

-- The lock under which guards of one content of one account are inserted and compared.
create function lock_guard(account_id uuid, content_hash bytea) returns void language sql volatile as $$
  select pg_advisory_xact_lock(hashtextextended(account_id::text || encode(content_hash, 'hex'), 0))
$$;

-- Compares new guards with those of concurrent transactions, all guards of a statement at once. A transaction that
-- inserts guards to be checked has locked their contents before (`lock_guard`). This query begins after the locks were
-- taken, so it sees what every earlier holder of a lock has committed; of several concurrent posts, exactly one is
-- stored.
create function check_guards() returns trigger language plpgsql as $$
begin
  if exists (
    select 1
    from added,
    -- The limit makes Postgres look each guard up in the index.
    lateral (
      select 1
      from duplicate_guards as held
      where held.account_id = added.account_id
      and held.content_hash = added.content_hash
      and held.target_id <> added.target_id
      and guard_clashes(held.due_at, held.expires_at, added.due_at)
      limit 1
    ) as clash
    where added.is_checked
  ) then
    perform refuse('duplicate_content');
  end if;
  return null;
end
$$;

create trigger duplicate_guards_check after insert on duplicate_guards
referencing new table as added for each statement
execute function check_guards();

-- The deployment and its events

-- The deployment that the data of this database belongs to: one row, inserted by the first process that starts. Data
-- that another deployment uses is a copy: on Kafka, its events would reach the services of the original deployment.
create table deployment (
  only_row boolean primary key default true check (only_row),
  system_identifier text not null,
  database_oid bigint not null,
  deployment_id text not null
);

-- include outbox.sql

-- The relay reads the events of a backlog after all others, and reads no row of the one kind to find those of the other.
create index outbox_before_backlog on outbox (id) where type not like 'postrider.backlog.%';
create index outbox_of_backlog on outbox (id) where type like 'postrider.backlog.%';

-- include audit-log.sql
