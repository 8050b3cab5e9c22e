-- One row per platform on which a publishing call had an unknown outcome. While `held_since` is set, only a probe, one
-- publishing call at a time, is sent to the platform; `probe_at` is the time of the next one.
create table platform_brakes (
  platform text primary key,
  unknowns_in_row int not null default 0,
  failed_probes int not null default 0,
  held_since timestamptz,
  probe_at timestamptz,
  constraint platform_brakes_held_check check ((held_since is null) = (probe_at is null))
);
