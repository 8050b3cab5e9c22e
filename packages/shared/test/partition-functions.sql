-- A pattern for migrations: a table whose partitions the runtime role of the service creates and drops. The role may not do it
-- itself, so it calls functions that have the rights of the migration role. Each takes a date and nothing else, and accepts
-- only dates for which it is meant: a stolen connection can neither fill the database with tables nor drop recent data.
create table readings (
  id bigint generated always as identity,
  at timestamptz not null,
  value text not null
) partition by range (at);

-- `security definer` uses the rights of the function's owner. The search path is the schema of the service (here `sample`), and
-- temporary tables come last, so that no caller can put another table in the place of ours. The lock timeout keeps readers
-- from queueing behind a partition change.
create function create_readings_partition(day date) returns void
language plpgsql
security definer
set search_path = sample, pg_temp
set lock_timeout = '2s'
as $$
begin
  if day is null or day < current_date - 1 or day > current_date + 7 then
    raise exception 'partitions are created for the days from yesterday to a week ahead, not for %', day;
  end if;
  execute format(
    'create table if not exists %I partition of readings for values from (%L) to (%L)',
    'readings_' || to_char(day, 'YYYYMMDD'), day, day + 1
  );
end;
$$;

create function drop_readings_partition(day date) returns void
language plpgsql
security definer
set search_path = sample, pg_temp
set lock_timeout = '2s'
as $$
begin
  if day is null or day > current_date - 7 then
    raise exception 'only partitions that are at least a week old are dropped, not that of %', day;
  end if;
  execute format('drop table if exists %I', 'readings_' || to_char(day, 'YYYYMMDD'));
end;
$$;
