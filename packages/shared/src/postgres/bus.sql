-- The Postgres bus: a log that all services append to, and each consumer group's position in each topic.
create schema if not exists bus;

create table if not exists bus.records (
  -- Given inside the relay's locked transaction, so per topic ids are in commit order and `id > position` is complete.
  id bigint generated always as identity primary key,
  topic text not null,
  key text not null,
  headers jsonb not null,
  value text not null,
  appended_at timestamptz not null default now()
);

create index if not exists records_topic_id on bus.records (topic, id);
create index if not exists records_appended_at on bus.records (appended_at);

create table if not exists bus.positions (
  group_name text not null,
  topic text not null,
  position bigint not null default 0,
  updated_at timestamptz not null default now(),
  primary key (group_name, topic)
);
