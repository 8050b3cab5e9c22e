-- The triggers write no time that has passed into a task queue, even if a task has waited for longer. Searches for due queues
-- therefore do not read the index from its beginning: a transaction adds no time before its own start. A time of now is not too
-- late for any claim. The triggers of a table also work for processes of the previous release.
create or replace function queue_inserted_tasks() returns trigger
language plpgsql
set search_path from current
as $$
begin
  insert into account_queues as q (account_id, workspace_id, platform, publish_at, look_at)
  select account_id, any_value(workspace_id), any_value(platform), min(wake_at),
    min(wake_at) filter (where status <> 'queued')
  from (
    select account_id, workspace_id, platform, status, greatest(now(), wake_at) as wake_at
    from inserted
    where status in ('queued', 'working', 'calling', 'unknown', 'reconciling')
  ) as woken
  group by account_id
  order by account_id
  on conflict (account_id) do update
  set publish_at = least(q.publish_at, excluded.publish_at),
    look_at = least(q.look_at, excluded.look_at);
  return null;
end;
$$;

create or replace function queue_changed_tasks() returns trigger
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
      case when n.status <> o.status then now() else greatest(now(), n.wake_at) end as wake_at
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
