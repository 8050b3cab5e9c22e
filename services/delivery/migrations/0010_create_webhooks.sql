-- One row per webhook subscription. A revoked subscription leaves the list, but its history stays readable.
create table webhook_subscriptions (
  id uuid primary key,
  workspace_id uuid not null,
  url text not null,
  description text not null,
  -- Event filters: full event types, `group.*` or `*`.
  events text[] not null,
  status text not null,
  -- Why the subscription is disabled: `gone` (the receiver answered 410) or `failing` (nothing but failures for 5
  -- days); null unless the status is `disabled`.
  disabled_reason text,
  signing text not null,
  -- Public key `whpk_…` that verifies Ed25519 signatures; null with HMAC.
  public_key text,
  max_per_second int,
  -- Raised by every change of the webhook subscription. It is the `sequence` of events about the subscription.
  version bigint not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint webhook_subscriptions_status_check
    check (status in ('active', 'paused', 'disabled', 'revoked')),
  constraint webhook_subscriptions_signing_check check (signing in ('hmac-sha256', 'ed25519')),
  constraint webhook_subscriptions_key_check check ((signing = 'ed25519') = (public_key is not null))
);

create index webhook_subscriptions_by_workspace on webhook_subscriptions (workspace_id, id)
  where status <> 'revoked';

-- The signing secrets of a webhook subscription, encrypted. During the grace period of a rotation there are several.
create table webhook_secrets (
  id uuid primary key,
  subscription_id uuid not null references webhook_subscriptions (id),
  workspace_id uuid not null,
  sealed text not null,
  created_at timestamptz not null default now(),
  -- When the signing secret stops signing; null for the newest one.
  expires_at timestamptz
);

create index webhook_secrets_by_subscription on webhook_secrets (subscription_id);

-- One narrow row per webhook subscription, which processes lease. Only the process that holds the lease sends the
-- deliveries of the subscription, so the limits on concurrency and rate, and the pauses of a receiver, hold for all
-- processes together.
create table webhook_lanes (
  subscription_id uuid primary key references webhook_subscriptions (id),
  workspace_id uuid not null,
  -- No delivery of the webhook subscription is due before this time. The time may be too early, because the next claim
  -- corrects it, but never too late. `infinity` when no delivery waits.
  wake_at timestamptz not null default 'infinity',
  owner uuid,
  lease_until timestamptz not null default '-infinity',
  -- Nothing is sent to the webhook subscription before this time: the receiver asked for a pause, or did not answer 10
  -- attempts in a row.
  blocked_until timestamptz not null default '-infinity',
  -- Number of attempts in a row that got no HTTP answer. From 10 on, the circuit is open: only one attempt at a time is
  -- made.
  unanswered_in_row int not null default 0,
  -- Since when every attempt of the webhook subscription has failed; null after a success.
  failing_since timestamptz,
  -- How fast the receiver answered its last attempts: `fast`, `slow`, or `new` while that is not known. All
  -- subscriptions with slow and new receivers together can use only a part of the attempts that run at the same time.
  pace text not null default 'new',
  constraint webhook_lanes_pace_check check (pace in ('new', 'fast', 'slow'))
) with (fillfactor = 50);

create index webhook_lanes_due on webhook_lanes (pace, wake_at) where wake_at < 'infinity';

-- Webhook events whose payload is not written yet. The job compose-payloads asks the owning service for the object and
-- writes `webhook_events`.
create table webhook_compositions (
  event_id uuid primary key,
  workspace_id uuid not null,
  type text not null,
  occurred_at timestamptz not null,
  sequence bigint not null,
  -- What the webhook event is about and what it says happened; see `EventSource` in the code.
  source jsonb not null,
  cause jsonb not null,
  tries int not null default 0,
  lease_until timestamptz not null default '-infinity'
) with (fillfactor = 70);

-- Webhook deliveries with a payload that are due now or later. A row is deleted when its delivery has ended.
create table webhook_queue (
  delivery_id uuid primary key,
  subscription_id uuid not null,
  event_id uuid not null,
  attempt_count int not null default 0,
  due_at timestamptz not null default now(),
  -- Whether a user asked for the next attempt. It is made even while the receiver does not answer other attempts.
  is_manual boolean not null default false,
  -- While this time is in the future, a process is sending the webhook delivery.
  sending_until timestamptz not null default '-infinity'
) with (fillfactor = 70);

create index webhook_queue_due on webhook_queue (subscription_id, is_manual, due_at);

-- The webhook history: events with the JSON that is sent, one delivery per event and subscription, and one row per
-- attempt. All ids are UUIDv7 made from the time of the event, so that each table is partitioned by the day in its id,
-- a unique index on the id alone is possible, and a lookup by id reads one partition. Other tables with UUIDv7 ids can
-- use the same functions.
create table webhook_events (
  id uuid primary key,
  workspace_id uuid not null,
  type text not null,
  payload text not null,
  -- The request that caused the webhook event, as headers of events: request id and trace.
  cause jsonb not null default '{}',
  created_at timestamptz not null default now()
) partition by range (id);

create table webhook_deliveries (
  id uuid primary key,
  subscription_id uuid not null,
  workspace_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  status text not null default 'pending',
  attempt_count int not null default 0,
  next_attempt_at timestamptz,
  created_at timestamptz not null default now(),
  constraint webhook_deliveries_status_check
    check (status in ('pending', 'succeeded', 'failed', 'cancelled'))
) partition by range (id);

create index webhook_deliveries_by_status on webhook_deliveries (subscription_id, status, id);
create index webhook_deliveries_by_type
  on webhook_deliveries (subscription_id, event_type, status, id);

create table webhook_attempts (
  delivery_id uuid not null,
  number int not null,
  workspace_id uuid not null,
  started_at timestamptz not null,
  duration_ms int not null,
  status_code int,
  error text,
  request_headers jsonb not null,
  response_headers jsonb,
  response_body text,
  primary key (delivery_id, number)
) partition by range (delivery_id);

-- Returns the smallest UUIDv7 of a day in UTC.
create function first_id_of_day(day date) returns uuid
language sql immutable strict
set search_path from current
as $$
  select rpad(
    lpad(to_hex((extract(epoch from day::timestamp at time zone 'UTC') * 1000)::bigint), 12, '0'),
    32, '0'
  )::uuid;
$$;

-- Creates the missing partitions of a partitioned table for the days from `first` to `last`. This function and the next one
-- run with the rights of the owner of the tables, because the service itself may not create or drop tables. They accept only
-- our tables and only days for which they are meant, and temporary tables come last in the search path, so that a stolen
-- connection can neither fill the database with tables nor drop recent data. The lock timeout keeps readers from
-- queueing behind them.
create function create_day_partitions(parent text, first date, last date) returns int
language plpgsql security definer
set search_path = delivery, pg_temp
set lock_timeout = '2s'
as $$
declare
  today date := (now() at time zone 'UTC')::date;
  day date;
  created int := 0;
begin
  if parent not in ('webhook_events', 'webhook_deliveries', 'webhook_attempts') then
    raise exception 'the table % has no partitions by day', parent;
  end if;
  if first < today - 40 or last > today + 40 then
    raise exception 'partitions are created for the 40 days before and after today, not for % to %', first, last;
  end if;
  for day in select generate_series(first, last, interval '1 day')::date loop
    if to_regclass(format('%I', parent || to_char(day, '_YYYYMMDD'))) is null then
      -- Attaching an empty table blocks no reader and no writer of the parent; `create table … partition of` blocks both.
      execute format(
        'create table %I (like %I including defaults including constraints)',
        parent || to_char(day, '_YYYYMMDD'), parent
      );
      execute format(
        'alter table %I attach partition %I for values from (%L) to (%L)',
        parent, parent || to_char(day, '_YYYYMMDD'), first_id_of_day(day), first_id_of_day(day + 1)
      );
      created := created + 1;
    end if;
  end loop;
  return created;
end;
$$;

-- Drops the partitions of a table for the days before `before`, and returns their number.
create function drop_day_partitions(parent text, before date) returns int
language plpgsql security definer
set search_path = delivery, pg_temp
set lock_timeout = '2s'
as $$
declare
  name text;
  dropped int := 0;
begin
  if parent not in ('webhook_events', 'webhook_deliveries', 'webhook_attempts') then
    raise exception 'the table % has no partitions by day', parent;
  end if;
  if before is null or before > (now() at time zone 'UTC')::date - 8 then
    raise exception 'only partitions of days that are over 8 days ago are dropped, not those before %', before;
  end if;
  for name in
    select child.relname
    from pg_inherits
    join pg_class child on child.oid = pg_inherits.inhrelid
    where pg_inherits.inhparent = to_regclass(format('%I', parent))
    and child.relname < parent || to_char(before, '_YYYYMMDD')
    order by child.relname
  loop
    execute format('drop table %I', name);
    dropped := dropped + 1;
  end loop;
  return dropped;
end;
$$;
