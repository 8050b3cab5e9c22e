-- include outbox.sql

-- What the handlers of these tests write: one row per time an event took effect.
create table effects (
  id bigint generated always as identity primary key,
  group_name text not null,
  key text not null,
  value text not null
);
