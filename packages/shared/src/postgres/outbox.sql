-- The events that a service publishes, and those that wait for an operator. The first migration of every service includes
-- this file, so later releases change its tables only with migrations of their own.
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
  -- 'in': a handler of this service failed for the event; 'out': the broker refused the event for good.
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
