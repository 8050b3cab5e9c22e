-- Finds the earlier actions that hide or show a comment and may still arrive at the platform, whether they have ended or not.
create index comment_actions_visibility on comment_actions (platform, comment_id, created_at, id)
  where type in ('hide', 'unhide');
