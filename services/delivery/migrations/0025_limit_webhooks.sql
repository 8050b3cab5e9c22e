-- Why a webhook delivery failed without an attempt: `backlog_full`; null for all other deliveries.
alter table webhook_deliveries add column error text;

-- Finds the webhook subscriptions of a workspace that may have waiting deliveries, also revoked ones.
create index webhook_lanes_by_workspace on webhook_lanes (workspace_id);

-- Finds the oldest events of a workspace, which leave the history first when it is too large.
create index webhook_events_by_workspace on webhook_events (workspace_id, id);

-- Returns the day in UTC of the time in a UUIDv7.
create function day_of_id(id uuid) returns date
language sql immutable strict
as $$
  select (to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0) at time zone 'UTC')::date;
$$;

-- Bytes that the webhook history of each workspace takes, by the day of the events.
create table webhook_usage (
  workspace_id uuid not null,
  day date not null,
  bytes bigint not null,
  primary key (workspace_id, day)
) with (fillfactor = 70);

-- Changes of `webhook_usage` that are not added to it yet. A transaction that writes or deletes rows of the history appends one
-- and never waits for another transaction that does the same.
create table webhook_usage_changes (
  workspace_id uuid not null,
  day date not null,
  bytes bigint not null
);
