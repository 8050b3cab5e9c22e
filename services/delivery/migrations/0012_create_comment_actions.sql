-- One row per action on a comment: the manual ones (reply, hide, unhide), and the private replies of automations.
create table comment_actions (
  id uuid primary key,
  workspace_id uuid not null,
  account_id uuid not null,
  platform text not null,
  media_id text not null,
  comment_id text not null,
  -- When the comment was written; null for private replies.
  comment_created_at timestamptz,
  type text not null check (type in ('reply', 'hide', 'unhide', 'private_reply')),
  -- Text of the reply or private reply.
  text text,
  -- Identifies the action among those on the same comment: calls of actions with the same key cannot be told apart.
  call_key text not null,
  -- The rule and the run of a private reply.
  rule_id uuid,
  run_id uuid,
  -- No call starts after this time.
  send_before timestamptz not null,
  status text not null check (status in (
    'queued', 'working', 'calling', 'unknown', 'reconciling', 'succeeded', 'failed'
  )),
  -- No worker takes the action before this time: the next try (queued), the end of the lease (working, reconciling), the end
  -- of the call (calling), or the next search of the platform (unknown).
  wake_at timestamptz not null,
  -- Raised with each claim, so that a worker with an older fence can no longer decide about the action.
  fence bigint not null default 0,
  lease_owner uuid,
  -- Number of claims in a row whose worker recorded no result.
  crash_count int not null default 0,
  retry_count int not null default 0,
  -- Number of the call that began last; 0 if none began.
  call_number int not null default 0,
  called_at timestamptz,
  -- No process acts on the action before this time, because the call may arrive at the platform until then.
  call_until timestamptz,
  -- When the first call with an unknown outcome began. The platform is searched from this time.
  first_unknown_at timestamptz,
  -- Number of calls that neither succeeded nor failed for certain.
  open_unknowns int not null default 0,
  -- Number of calls that were sent after an earlier one with an unknown outcome.
  resend_count int not null default 0,
  -- Number of complete searches of the platform for the call with an unknown outcome.
  looks int not null default 0,
  -- True if the unknown outcome does not count as a resend after proved absence: a rate limit, or a restore from a backup.
  is_limited boolean not null default false,
  -- The restore (`deployment.restored_at`) that last made the outcome of the action uncertain.
  doubted_at timestamptz,
  version bigint not null default 1,
  -- The platform's id of the reply or message.
  external_id text,
  -- The ids that further calls returned, if the platform carried out the action more than once.
  further_ids text[] not null default '{}',
  error_code text,
  error_message text,
  -- Headers of the request or event that caused the action.
  cause jsonb,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  check ((type in ('reply', 'private_reply')) = (text is not null)),
  check ((type = 'private_reply') = (rule_id is not null and run_id is not null)),
  check ((status in ('succeeded', 'failed')) = (finished_at is not null))
);

-- These two indexes guarantee that nothing is sent twice; claims only make conflicts on the first one rare.
create unique index comment_actions_one_open on comment_actions (account_id, comment_id, call_key)
  where status in ('calling', 'unknown', 'reconciling');
create unique index comment_actions_one_private_reply on comment_actions (account_id, comment_id)
  where type = 'private_reply';

-- The indexes for claims leave out ended actions.
create index comment_actions_open on comment_actions (account_id, status, wake_at)
  where status in ('queued', 'working', 'unknown', 'reconciling');
-- Finds waiting private replies from before sending was enabled.
create index comment_actions_waiting_private_replies on comment_actions (created_at)
  where type = 'private_reply' and status = 'queued';
create index comment_actions_in_work on comment_actions (wake_at)
  where status in ('working', 'calling', 'reconciling');
-- Finds other actions on a comment.
create index comment_actions_comment on comment_actions (account_id, comment_id);
-- Finds the comments on media that are hidden.
create index comment_actions_hiding on comment_actions (account_id, media_id, comment_created_at)
  where type in ('hide', 'unhide') and status = 'succeeded';
-- Finds the actions that replies on the platform belong to, so that a reply is not adopted for another action.
create index comment_actions_external on comment_actions (account_id, external_id)
  where external_id is not null;

-- One row per account that ever had an action. Claims look for due accounts here instead of reading due actions, so that a
-- long backlog of one account costs the others nothing.
create table comment_action_queues (
  account_id uuid primary key,
  workspace_id uuid not null,
  platform text not null,
  -- No action of the account can be claimed before this time. It may be too early, because the next claim corrects it, but
  -- never too late, because the action would be lost. Null if no action waits.
  wake_at timestamptz,
  -- No call is made for the account before this time, because of a limit of the platform.
  not_before timestamptz
);

create index comment_action_queues_wake on comment_action_queues (platform, wake_at)
  where wake_at is not null;

create table idempotency_keys (
  workspace_id uuid not null,
  operation text not null,
  key text not null,
  fingerprint text not null,
  -- The response of the RPC, as a binary proto message.
  response bytea not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, operation, key)
);

create index idempotency_keys_age on idempotency_keys (created_at);
