-- When the account was last connected. A call that began before does not pause the account.
alter table metrics_accounts add column connected_at timestamptz not null default '-infinity';

-- Finds the actions that hide or show a comment and have not begun their call, in the order of their requests.
create index comment_actions_waiting_visibility on comment_actions (account_id, comment_id, created_at, id)
  where type in ('hide', 'unhide') and status in ('queued', 'working');
