-- The platform's id of the account that a call is made for. Accounts of several workspaces can be the same account on the
-- platform. Null until a worker of this release begins a call or searches the platform for one.
alter table publish_tasks add column external_account_id text;
alter table comment_actions add column external_account_id text;

-- A search of the platform could not tell the posts of two such calls apart, whichever workspaces made them.
create unique index publish_tasks_one_external_content on publish_tasks (platform, external_account_id, content_hash)
  where status in ('calling', 'unknown', 'reconciling');
create unique index comment_actions_one_external_open
  on comment_actions (platform, external_account_id, comment_id, call_key)
  where status in ('calling', 'unknown', 'reconciling');

-- Find the targets and actions of all workspaces that a post or reply on the platform belongs to. The indexes that began with
-- the account are not needed any more: also earlier releases name the ids that they look for.
create index publish_tasks_by_external on publish_tasks (external_id) where external_id is not null;
create index publish_attempts_by_external on publish_attempts (external_id) where external_id is not null;
create index comment_actions_by_external on comment_actions (external_id) where external_id is not null;
drop index publish_tasks_external;
drop index publish_attempts_external;
drop index comment_actions_external;
