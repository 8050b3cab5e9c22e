-- One row per account that ever had a publish task. Claims look for due accounts here instead of reading due tasks, so that
-- a long backlog of one account, or of a paused platform, costs them nothing.
create table account_queues (
  account_id uuid primary key,
  workspace_id uuid not null,
  platform text not null,
  -- No task of the account can be claimed for publishing before this time. It may be too early, because the next claim
  -- corrects it, but never too late, because the task would be lost. Null if no task waits.
  publish_at timestamptz,
  -- The same for tasks whose outcome is unknown, for which the platform is searched. Pauses do not hold them back.
  look_at timestamptz
);

create index account_queues_publish on account_queues (platform, publish_at)
  where publish_at is not null;
create index account_queues_look on account_queues (platform, look_at)
  where look_at is not null;

-- Finds the first task of an account in each status, however many tasks the account has.
create index publish_tasks_by_account on publish_tasks (account_id, status, wake_at)
  where status in ('queued', 'working', 'calling', 'unknown', 'reconciling');
-- Finds the tasks in work without reading the tasks that wait. It makes `publish_tasks_wake` and `publish_tasks_live`
-- superfluous when no process of the previous release runs any more.
create index publish_tasks_in_work on publish_tasks (wake_at)
  where status in ('working', 'calling', 'reconciling');

-- These triggers only ever lower the times of an account, whichever process changes its tasks, also one of the previous release.
-- Only a claim raises them, after it has locked the row: a change that the claim does not see waits for its lock here and
-- lowers the raised time again. Rows are locked in the order of accounts, and after the tasks, so that two transactions
-- cannot deadlock. They are written even if no time changes, because the write waits for the claim.
create function queue_inserted_tasks() returns trigger
language plpgsql
set search_path from current
as $$
begin
  insert into account_queues as q (account_id, workspace_id, platform, publish_at, look_at)
  select account_id, any_value(workspace_id), any_value(platform), min(wake_at),
    min(wake_at) filter (where status <> 'queued')
  from inserted
  where status in ('queued', 'working', 'calling', 'unknown', 'reconciling')
  group by account_id
  order by account_id
  on conflict (account_id) do update
  set publish_at = least(q.publish_at, excluded.publish_at),
    look_at = least(q.look_at, excluded.look_at);
  return null;
end;
$$;

-- A task that leaves the work, ends, or stays in work for a shorter time can free the other tasks of its account. A task that
-- stays in work until later frees nothing.
create function queue_changed_tasks() returns trigger
language plpgsql
set search_path from current
as $$
begin
  insert into account_queues as q (account_id, workspace_id, platform, publish_at, look_at)
  select account_id, any_value(workspace_id), any_value(platform),
    min(wake_at) filter (where is_end or status in ('queued', 'working')),
    min(wake_at) filter (where is_end or status in ('unknown', 'reconciling'))
  from (
    select n.account_id, n.workspace_id, n.platform, n.status,
      n.status <> o.status or n.status in ('working', 'reconciling') as is_end,
      case when n.status <> o.status then least(now(), n.wake_at) else n.wake_at end as wake_at
    from changed n
    join previous o on o.target_id = n.target_id and o.generation = n.generation
    where (n.status <> o.status and n.status not in ('working', 'calling', 'reconciling'))
    or (n.wake_at < o.wake_at and n.status in ('queued', 'working', 'unknown', 'reconciling'))
  ) as woken
  group by account_id
  order by account_id
  on conflict (account_id) do update
  set publish_at = least(q.publish_at, excluded.publish_at),
    look_at = least(q.look_at, excluded.look_at);
  return null;
end;
$$;

create trigger queue_inserted_tasks after insert on publish_tasks
  referencing new table as inserted
  for each statement execute function queue_inserted_tasks();
create trigger queue_changed_tasks after update on publish_tasks
  referencing old table as previous new table as changed
  for each statement execute function queue_changed_tasks();

-- Creating the triggers locked the table against writes, so no task is missed between them and this statement.
insert into account_queues (account_id, workspace_id, platform, publish_at, look_at)
select account_id, any_value(workspace_id), any_value(platform), min(wake_at), min(wake_at)
from publish_tasks
where status in ('queued', 'working', 'calling', 'unknown', 'reconciling')
group by account_id;
