-- Published targets whose id the platform returns later, with the data that the request for the id needs. A row is deleted
-- when the id is known or given up.
create table detail_questions (
  target_id uuid not null,
  generation int not null,
  workspace_id uuid not null,
  account_id uuid not null,
  platform text not null,
  handles jsonb not null,
  -- The platform is not asked before this time, which is the next request or the end of the lease of the current one.
  wake_at timestamptz not null default now() + interval '1 second',
  asked_count int not null default 0,
  created_at timestamptz not null default now(),
  primary key (target_id, generation)
);

create index detail_questions_wake on detail_questions (wake_at);
