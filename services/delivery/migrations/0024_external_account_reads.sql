-- Finds the unfinished targets on one account of the platform, of whichever workspace.
create index publish_tasks_live_external on publish_tasks (platform, external_account_id)
  where external_account_id is not null and status in ('queued', 'working', 'calling', 'unknown', 'reconciling');

-- Finds the actions on a comment that the platform carried out more than once; there are few.
create index comment_actions_further_ids on comment_actions (comment_id) where further_ids <> '{}';
