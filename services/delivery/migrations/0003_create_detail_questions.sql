-- Publications whose id the platform gives later: what it is asked with until then. A row goes with its answer.
create table detail_questions (
  target_id uuid not null,
  generation int not null,
  workspace_id uuid not null,
  account_id uuid not null,
  platform text not null,
  handles jsonb not null,
  -- The platform is not asked before this time: the next question, or the end of the time that one may take.
  wake_at timestamptz not null default now() + interval '1 second',
  asked_count int not null default 0,
  created_at timestamptz not null default now(),
  primary key (target_id, generation)
);

create index detail_questions_wake on detail_questions (wake_at);
