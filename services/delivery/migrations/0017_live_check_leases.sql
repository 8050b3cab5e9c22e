-- A live check belongs to the process that makes it until `lease_until`. Afterwards another process deletes the post and ends the
-- check. The default gives checks of the previous release, which has no leases, the time that they need.
alter table live_checks
  -- Raised by each process that takes the check, so that writes of an earlier one fail.
  add column fence integer not null default 0,
  add column lease_until timestamptz not null default now() + interval '10 minutes',
  -- The media of the post, by which a lost post is searched for.
  add column media_id uuid;

create index live_checks_open on live_checks (lease_until) where ended_at is null;
create index live_checks_ended on live_checks (ended_at) where ended_at is not null;
