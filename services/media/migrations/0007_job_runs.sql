-- When the jobs that only one replica may run at a time begin next. A replica claims a run by moving this time.
create table job_runs (
  job text primary key,
  next_at timestamptz not null
);
