-- The Postgres bus: a log that all services append to, and each consumer group's position in each topic.
create schema if not exists bus;

-- No column owns this sequence, so `truncate bus.records restart identity` does not restart it. An id is therefore
-- never assigned twice, and no position is ahead of later records. `cache 1` keeps ids in the order of the calls.
create sequence if not exists bus.record_ids cache 1;

create table if not exists bus.records (
  -- Assigned under the lock on the topic, so that the ids of a topic are in commit order and `id > position` misses no
  -- record.
  id bigint primary key default nextval('bus.record_ids'),
  topic text not null,
  key text not null,
  headers jsonb not null,
  value text not null,
  appended_at timestamptz not null default now()
);

create table if not exists bus.positions (
  group_name text not null,
  topic text not null,
  position bigint not null default 0,
  updated_at timestamptz not null default now(),
  primary key (group_name, topic)
) with (fillfactor = 50);

-- These statements lock the tables even if they have nothing to do, so they are executed once. Provisioning can then be
-- repeated while the services run.
do $$
begin
  if to_regclass('bus.records_topic_id') is null then
    create index records_topic_id on bus.records (topic, id);
  end if;
  -- Each service appends only to its own topics: see `provision.ts`.
  if not (select relrowsecurity from pg_class where oid = 'bus.records'::regclass) then
    alter table bus.records enable row level security;
    alter table bus.positions enable row level security;
  end if;
end
$$;
