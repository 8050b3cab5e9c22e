-- Finds the actions that hide or show a comment and have not begun their call, in the order of their requests.
create index comment_actions_waiting_visibility on comment_actions (account_id, comment_id, created_at, id)
  where type in ('hide', 'unhide') and status in ('queued', 'working');
