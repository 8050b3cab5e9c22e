-- The Postgres bus: a log that all services append to, and each consumer group's position in each topic.
create schema if not exists bus;

-- A sequence of its own, which no column owns: `truncate bus.records restart identity` leaves it alone, so an id is never
-- given twice and no position can be ahead of records that are still to come. `cache 1` keeps ids in the order of the calls.
create sequence if not exists bus.record_ids cache 1;

create table if not exists bus.records (
  -- Given under the lock on the topic, so per topic ids are in commit order and `id > position` is complete.
  id bigint primary key default nextval('bus.record_ids'),
  topic text not null,
  key text not null,
  headers jsonb not null,
  value text not null,
  appended_at timestamptz not null default now()
);

create index if not exists records_topic_id on bus.records (topic, id);

create table if not exists bus.positions (
  group_name text not null,
  topic text not null,
  position bigint not null default 0,
  updated_at timestamptz not null default now(),
  primary key (group_name, topic)
) with (fillfactor = 50);
