-- The earliest time at which the content of the target was due, over all its generations. Null in rows that the previous
-- release created: then `due_at` counts.
alter table publish_tasks add column first_due_at timestamptz;

-- Open retries that were requested before this migration. Ended tasks do not need the time.
update publish_tasks t
set first_due_at = (
  select min(s.due_at)
  from publish_tasks s
  where s.target_id = t.target_id
)
where t.generation > 1
and t.status in ('queued', 'working', 'calling', 'unknown', 'reconciling');

-- Tasks whose outcome a restore made uncertain, so that they are found when an operator declares the restore lossless.
create index publish_tasks_restored on publish_tasks (doubted_at) where is_restored;

-- The restore (`restored_at`) that the next two columns belong to. The previous release does not write them.
alter table deployment add column undo_for timestamptz;
-- Values of `restored_at` and `data_until` before that restore, which hold again when an operator declares it lossless.
alter table deployment add column undo_restored_at timestamptz;
alter table deployment add column undo_data_until timestamptz;
-- The latest restore that is known to have lost commits, because a process had read later data before the restore.
alter table deployment add column lossy_at timestamptz;
-- The restore that an operator declared lossless last.
alter table deployment add column trusted_at timestamptz;
