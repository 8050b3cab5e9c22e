-- Publishing

-- One row per target and generation. It is kept as long as the post, so that a repeated request finds it.
create table publish_tasks (
  target_id uuid not null,
  generation int not null check (generation > 0),
  workspace_id uuid not null,
  post_id uuid not null,
  account_id uuid not null,
  platform text not null,
  -- The platform's id of the account that a call is made for. Accounts of several workspaces can be the same account on
  -- the platform. Null until a worker begins a call or searches the platform for one.
  external_account_id text,
  -- What the export said of an imported task; empty if nothing. Until it is confirmed, or a call or search names an
  -- account, the task counts for its own account only: the author of the export may have named accounts and posts of
  -- others.
  unconfirmed_account_id text,
  content_hash text,
  status text not null check (status in (
    'queued', 'working', 'calling', 'unknown', 'reconciling', 'published', 'failed', 'dropped'
  )),
  -- True if CancelTargets dropped the task; a repeated request at this generation does not queue the task again.
  is_cancelled boolean not null default false,
  -- No worker takes the task before this time: its due time (queued), the end of the lease (working, reconciling), the
  -- end of the publishing call (calling), or the next search of the platform (unknown).
  wake_at timestamptz not null,
  due_at timestamptz not null,
  -- The earliest time at which the content of the target was due, over all its generations; null = `due_at`.
  first_due_at timestamptz,
  -- No publishing call starts after this time.
  publish_before timestamptz not null,
  -- Raised with each claim, so that a worker with an older fence can no longer change the task.
  fence bigint not null default 0,
  lease_owner uuid,
  crash_count int not null default 0,
  -- Number of the attempt that began last, counted over all generations; 0 if none began.
  attempt_number int not null default 0,
  is_attempt_open boolean not null default false,
  retry_count int not null default 0,
  call_number int not null default 0,
  called_at timestamptz,
  call_until timestamptz,
  first_unknown_at timestamptz,
  unknown_count int not null default 0,
  -- Number of publishing calls that neither succeeded nor failed for certain.
  open_unknowns int not null default 0,
  resend_count int not null default 0,
  -- Number of complete searches of the platform for the call with an unknown outcome.
  looks int not null default 0,
  -- True if the unknown outcome was a rate limit; sending again after proved absence then does not count as a resend.
  is_limited boolean not null default false,
  -- The restore (`deployment.restored_at`) that last made the outcome of the task uncertain.
  doubted_at timestamptz,
  -- A restore of the installation that the task was imported from made its outcome uncertain, and no search has followed.
  is_doubtful boolean not null default false,
  -- True while the outcome in question is that of calls that a restore removed from the data, or whose handles an import
  -- did not bring.
  is_restored boolean not null default false,
  external_id text,
  permalink text,
  published_at timestamptz,
  error_code text,
  error_message text,
  -- What the steps before the publishing call returned, stored before the next step begins or, if the worker made it
  -- itself, by the mark of the call. Null when the task has ended.
  handles jsonb,
  -- Headers of the event that requested the task, with the id of the API request and its trace.
  cause jsonb,
  version bigint not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (target_id, generation)
);

-- These four indexes guarantee that nothing is published twice; claims only make conflicts on them rare.
create unique index publish_tasks_one_published on publish_tasks (target_id)
  where status = 'published';
create unique index publish_tasks_one_calling on publish_tasks (account_id)
  where status = 'calling';
create unique index publish_tasks_one_content on publish_tasks (account_id, content_hash)
  where status in ('calling', 'unknown', 'reconciling');
-- A search of the platform could not tell the posts of two such calls apart, whichever workspaces made them.
create unique index publish_tasks_one_external_content on publish_tasks (platform, external_account_id, content_hash)
  where status in ('calling', 'unknown', 'reconciling');

-- Each change of a status writes an entry into every index whose condition the task meets. The indexes for claims and
-- searches leave out finished tasks, and there is none for searches that are rare and may read all unfinished tasks.
-- Finds the first task of an account in each status, however many tasks the account has.
create index publish_tasks_by_account on publish_tasks (account_id, status, wake_at)
  where status in ('queued', 'working', 'calling', 'unknown', 'reconciling');
-- Finds the tasks in work without reading the tasks that wait.
create index publish_tasks_in_work on publish_tasks (wake_at)
  where status in ('working', 'calling', 'reconciling');
-- Finds the unfinished targets on one account of the platform, of whichever workspace.
create index publish_tasks_live_external on publish_tasks (platform, external_account_id)
  where external_account_id is not null and status in ('queued', 'working', 'calling', 'unknown', 'reconciling');
-- Finds the targets of all workspaces that a post on the platform belongs to, so that it is not adopted for another
-- target.
create index publish_tasks_by_external on publish_tasks (external_id) where external_id is not null;
-- Tasks whose outcome a restore made uncertain, so that they are found when an operator declares the restore lossless.
create index publish_tasks_restored on publish_tasks (doubted_at) where is_restored;
-- Finds whether an unfinished imported task has to be searched for.
create index publish_tasks_doubtful on publish_tasks (wake_at)
  where is_doubtful and status in ('queued', 'working', 'unknown', 'reconciling');
-- Finds the imported tasks of a workspace whose accounts of the platform are not confirmed.
create index publish_tasks_unconfirmed on publish_tasks (workspace_id) where unconfirmed_account_id is not null;
-- Finds the sealed handles, whose keys a service that starts needs.
create index publish_tasks_with_handles on publish_tasks (target_id) where handles is not null;

-- The intent to make a publishing call is recorded before the call, its outcome afterwards.
create table publish_attempts (
  target_id uuid not null,
  -- Number of the attempt, counted over all generations.
  number int not null check (number > 0),
  generation int not null,
  workspace_id uuid not null,
  account_id uuid not null,
  fence bigint not null,
  -- Number of the latest publishing call within this attempt. Earlier calls of the attempt are known to have published
  -- nothing.
  call_number int not null default 0,
  started_at timestamptz not null default now(),
  called_at timestamptz,
  call_until timestamptz,
  finished_at timestamptz,
  outcome text check (outcome in ('published', 'retry', 'failed', 'unknown')),
  code text not null default '',
  message text not null default '',
  external_id text,
  permalink text,
  is_not_sent boolean not null default false,
  primary key (target_id, number)
);

-- Finds the targets of all workspaces that a post on the platform belongs to.
create index publish_attempts_by_external on publish_attempts (external_id) where external_id is not null;

-- Published targets whose id the platform returns later, with the data that the request for the id needs. A row is
-- deleted when the id is known or given up.
create table detail_questions (
  target_id uuid not null,
  generation int not null,
  workspace_id uuid not null,
  account_id uuid not null,
  platform text not null,
  handles jsonb not null,
  -- The platform is not asked before this time, which is the next request or the end of the lease of the current one.
  wake_at timestamptz not null default now() + interval '1 second',
  asked_count int not null default 0,
  created_at timestamptz not null default now(),
  primary key (target_id, generation)
);

create index detail_questions_wake on detail_questions (wake_at);

-- Queues, pauses and limits of publishing

-- One row per account that ever had a publish task. Claims look for due accounts here instead of reading due tasks, so
-- that a long backlog of one account, or of a paused platform, costs them nothing.
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

-- These triggers only ever lower the times of an account. Only a claim raises them, after it has locked the row: a
-- change that the claim does not see waits for its lock here and lowers the raised time again. Rows are locked in the
-- order of accounts, and after the tasks, so that two transactions cannot deadlock. They are written even if no time
-- changes, because the write waits for the claim. Nothing is written for an account without another unfinished task: a
-- task that the trigger does not see lowers the time itself when it is inserted or changed.
--
-- The triggers write no time that has passed into a task queue, even if a task has waited for longer. Searches for due
-- queues therefore do not read the index from its beginning: a transaction adds no time before its own start. A time of
-- now is not too late for any claim.
create function queue_inserted_tasks() returns trigger
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

-- A task that leaves the work, ends, or stays in work for a shorter time can free the other tasks of its account. A
-- task that stays in work until later frees nothing.
create function queue_changed_tasks() returns trigger
language plpgsql
set search_path from current
as $$
begin
  insert into account_queues as q (account_id, workspace_id, platform, publish_at, look_at)
  select account_id, any_value(workspace_id), any_value(platform), min(publish_at), min(look_at)
  from (
    select w.account_id, w.workspace_id, w.platform,
      case
        when w.is_end and exists (
          select 1
          from publish_tasks t
          where t.account_id = w.account_id
          and t.status in ('queued', 'working')
          and (t.target_id, t.generation) <> (w.target_id, w.generation)
        ) then w.end_at
        when w.status in ('queued', 'working') then w.wake_at
      end as publish_at,
      case
        when w.is_end and exists (
          select 1
          from publish_tasks t
          where t.account_id = w.account_id
          and t.status in ('unknown', 'reconciling')
          and (t.target_id, t.generation) <> (w.target_id, w.generation)
        ) then w.end_at
        when w.status in ('unknown', 'reconciling') then w.wake_at
      end as look_at
    from (
      select n.target_id, n.generation, n.account_id, n.workspace_id, n.platform, n.status,
        n.status <> o.status or n.status in ('working', 'reconciling') as is_end,
        greatest(now(), n.wake_at) as wake_at,
        case when n.status <> o.status then now() else greatest(now(), n.wake_at) end as end_at
      from changed n
      join previous o on o.target_id = n.target_id and o.generation = n.generation
      where (n.status <> o.status and n.status not in ('working', 'calling', 'reconciling'))
      or (n.wake_at < o.wake_at and n.status in ('queued', 'working', 'unknown', 'reconciling'))
    ) as w
  ) as woken
  where coalesce(publish_at, look_at) is not null
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

-- Pauses that operators created, and those of workspaces whose deletion was requested (`deletion`), which are frozen for a
-- move (`move`), or are another cell's (`moved`, beside `move`). They belong to the installation, not to a workspace.
create table pauses (
  kind text not null check (kind in ('platform', 'account', 'workspace', 'deletion', 'move', 'moved')),
  key text not null,
  -- The operator's words for the people whose posts wait; null if none were given.
  reason text,
  created_at timestamptz not null default now(),
  primary key (kind, key)
);

-- Accounts that wait after a rate limit of their platform or after too many failures in a row.
create table account_breakers (
  account_id uuid primary key,
  workspace_id uuid not null,
  not_before timestamptz,
  failures_in_row int not null default 0
);

-- One row per platform at which a limit of our app was used up. Publishing to the platform waits until `until` on all
-- accounts; `code` and `message` say why.
create table platform_limits (
  platform text primary key,
  until timestamptz not null,
  code text not null,
  message text not null
);

-- One row per platform on which a publishing call had an unknown outcome. `account_id` is the account of the first of
-- the unknown outcomes in a row, and `is_several_accounts` says whether others are of another account. While
-- `held_since` is set, only a probe, one publishing call at a time, is sent to the platform; `probe_at` is the time of
-- the next one.
create table platform_breakers (
  platform text primary key,
  unknowns_in_row int not null default 0,
  account_id uuid,
  is_several_accounts boolean not null default false,
  failed_probes int not null default 0,
  held_since timestamptz,
  probe_at timestamptz,
  constraint platform_breakers_held_check check ((held_since is null) = (probe_at is null))
);

-- Deletions and live checks

-- One row per target and request to delete the target, kept as long as the post.
create table deletion_tasks (
  target_id uuid not null,
  deletion int not null check (deletion > 0),
  workspace_id uuid not null,
  post_id uuid not null,
  account_id uuid not null,
  platform text not null,
  -- The platform's id of the published post; empty if it is not known.
  external_id text not null,
  status text not null check (status in ('queued', 'working', 'deleted', 'failed')),
  -- No worker takes the task before this time: the next try (queued) or the end of the lease (working).
  wake_at timestamptz not null,
  -- Raised with each claim, so that a worker with an older fence can no longer change the task.
  fence bigint not null default 0,
  lease_owner uuid,
  -- Number of claims in a row whose worker recorded no result.
  crash_count int not null default 0,
  retry_count int not null default 0,
  version bigint not null default 1,
  error_code text,
  error_message text,
  -- Headers of the event that requested the task, with the id of the API request and its trace.
  cause jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (target_id, deletion)
);

-- The indexes for claims leave out finished deletions.
create index deletion_tasks_open on deletion_tasks (account_id, wake_at)
  where status in ('queued', 'working');
create index deletion_tasks_in_work on deletion_tasks (wake_at)
  where status = 'working';

-- One row per account that ever had a deletion, as in `account_queues`.
create table deletion_queues (
  account_id uuid primary key,
  workspace_id uuid not null,
  platform text not null,
  -- No deletion of the account can be claimed before this time. It may be too early, but never too late. Null if none
  -- waits.
  wake_at timestamptz
);

create index deletion_queues_wake on deletion_queues (platform, wake_at)
  where wake_at is not null;
-- Finds the due accounts of each workspace.
create index deletion_queues_turn on deletion_queues (platform, workspace_id, wake_at)
  where wake_at is not null;

-- The rules of the triggers on `publish_tasks` hold here too. Every deletion that waits or ends makes its account due,
-- because it may have been the one in work.
create function queue_deletions() returns trigger
language plpgsql
set search_path from current
as $$
begin
  insert into deletion_queues as q (account_id, workspace_id, platform, wake_at)
  select account_id, any_value(workspace_id), any_value(platform),
    min(case when status = 'working' then greatest(now(), wake_at) else now() end)
  from changed
  group by account_id
  order by account_id
  on conflict (account_id) do update
  set wake_at = least(q.wake_at, excluded.wake_at);
  return null;
end;
$$;

create trigger queue_inserted_deletions after insert on deletion_tasks
  referencing new table as changed
  for each statement execute function queue_deletions();
create trigger queue_changed_deletions after update on deletion_tasks
  referencing new table as changed
  for each statement execute function queue_deletions();

-- What a check with `postrider doctor account --live` publishes, and what it read on the platform. Its target, in
-- `publish_tasks` and `deletion_tasks`, has the same id, and no post.
create table live_checks (
  id uuid primary key,
  -- TargetContent as JSON: what the posts service returns for other targets.
  content jsonb not null,
  -- The steps that read the post before its deletion and after it; null until they have ended.
  read_before jsonb,
  read_after jsonb,
  started_at timestamptz not null default now()
);

-- Actions on comments

-- One row per action on a comment: the manual ones (reply, hide, unhide), and the private replies of automations.
create table comment_actions (
  id uuid primary key,
  workspace_id uuid not null,
  account_id uuid not null,
  platform text not null,
  -- The platform's id of the account that a call is made for. Null until a worker begins a call or searches the
  -- platform for one.
  external_account_id text,
  -- What the export said of an imported action; see `publish_tasks`.
  unconfirmed_account_id text,
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
  -- No worker takes the action before this time: the next try (queued), the end of the lease (working, reconciling),
  -- the end of the call (calling), or the next search of the platform (unknown).
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
  unknown_count int not null default 0,
  -- Number of calls that neither succeeded nor failed for certain.
  open_unknowns int not null default 0,
  -- Number of calls that were sent after an earlier one with an unknown outcome.
  resend_count int not null default 0,
  -- Number of complete searches of the platform for the call with an unknown outcome.
  looks int not null default 0,
  -- True if the unknown outcome does not count as a resend after proved absence: a rate limit, or a restore from a
  -- backup.
  is_limited boolean not null default false,
  -- True while a call that the restored data does not contain may have been carried out.
  is_restored boolean not null default false,
  -- The restore (`deployment.restored_at`) that last made the outcome of the action uncertain.
  doubted_at timestamptz,
  -- As in `publish_tasks`.
  is_doubtful boolean not null default false,
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

-- These three indexes guarantee that nothing is sent twice; claims only make conflicts on the first two rare.
create unique index comment_actions_one_open on comment_actions (account_id, comment_id, call_key)
  where status in ('calling', 'unknown', 'reconciling');
-- A search of the platform could not tell the replies of two such calls apart, whichever workspaces made them.
create unique index comment_actions_one_external_open
  on comment_actions (platform, external_account_id, comment_id, call_key)
  where status in ('calling', 'unknown', 'reconciling');
create unique index comment_actions_one_private_reply on comment_actions (account_id, comment_id)
  where type = 'private_reply';

-- The indexes for claims leave out ended actions.
create index comment_actions_open on comment_actions (account_id, status, wake_at)
  where status in ('queued', 'working', 'unknown', 'reconciling');
-- Those that people requested, which come before private replies.
create index comment_actions_open_manual on comment_actions (account_id, status, wake_at)
  where type <> 'private_reply' and status in ('queued', 'working', 'unknown', 'reconciling');
create index comment_actions_in_work on comment_actions (wake_at)
  where status in ('working', 'calling', 'reconciling');
-- Finds waiting private replies from before sending was enabled.
create index comment_actions_waiting_private_replies on comment_actions (created_at)
  where type = 'private_reply' and status = 'queued';
-- Finds the actions that hide or show a comment and wait, or whose call is open, in the order of their requests.
create index comment_actions_waiting_visibility on comment_actions (account_id, comment_id, created_at, id)
  where type in ('hide', 'unhide') and status in ('queued', 'working', 'calling');
-- Finds the actions that hide or show a comment and may still arrive at the platform, whether they have ended or not. A comment
-- can have any number of actions that have ended.
create index comment_actions_visibility on comment_actions (platform, comment_id, call_until)
  where type in ('hide', 'unhide');
-- Finds the oldest actions of a workspace, which are removed.
create index comment_actions_by_workspace on comment_actions (workspace_id, id);
-- Finds whether an unfinished imported action has to be searched for.
create index comment_actions_doubtful on comment_actions (wake_at)
  where is_doubtful and status in ('queued', 'working', 'unknown', 'reconciling');
-- Finds the imported actions of a workspace whose accounts of the platform are not confirmed.
create index comment_actions_unconfirmed on comment_actions (workspace_id) where unconfirmed_account_id is not null;
-- Finds other actions on a comment.
create index comment_actions_comment on comment_actions (account_id, comment_id);
-- Finds the comments on media that are hidden.
create index comment_actions_hiding on comment_actions (account_id, media_id, comment_created_at)
  where type in ('hide', 'unhide') and status = 'succeeded';
-- Finds the actions of all workspaces that a reply on the platform belongs to, so that it is not adopted for another
-- action.
create index comment_actions_by_external on comment_actions (external_id) where external_id is not null;
-- Finds the actions on a comment that the platform carried out more than once; there are few.
create index comment_actions_further_ids on comment_actions (comment_id) where further_ids <> '{}';

-- One row per account that ever had an action. Claims look for due accounts here instead of reading due actions, so
-- that a long backlog of one account costs the others nothing.
create table comment_action_queues (
  account_id uuid primary key,
  workspace_id uuid not null,
  platform text not null,
  -- No action of the account can be claimed before this time. It may be too early, because the next claim corrects it,
  -- but never too late, because the action would be lost. Null if no action waits.
  wake_at timestamptz,
  -- No call is made for the account before this time, because of a limit of the platform.
  not_before timestamptz
);

create index comment_action_queues_wake on comment_action_queues (platform, wake_at)
  where wake_at is not null;
-- Finds the due accounts of each workspace.
create index comment_action_queues_turn on comment_action_queues (platform, workspace_id, wake_at)
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

-- Automations

-- One row per rule that answers comments with private replies. A revoked rule leaves the list, but its runs stay
-- readable.
create table automation_rules (
  id uuid primary key,
  workspace_id uuid not null,
  account_id uuid not null,
  platform text not null,
  name text not null,
  -- The platform's ids of the media whose comments the rule reads; null = all media of the account.
  media_ids text[],
  keywords text[] not null,
  match text not null,
  exclude_keywords text[] not null,
  message text not null,
  status text not null default 'draft',
  -- When the rule last became active. Comments that were written before get no run.
  activated_at timestamptz,
  -- Runs from before this time that still wait are skipped, because the rule was paused or revoked then; null if none
  -- wait.
  skip_before timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint automation_rules_match_check check (match in ('any', 'all', 'exact')),
  constraint automation_rules_status_check check (status in ('draft', 'active', 'paused', 'revoked')),
  constraint automation_rules_activated_check check (status <> 'active' or activated_at is not null)
);

create index automation_rules_by_workspace on automation_rules (workspace_id, id)
  where status <> 'revoked';
-- Finds the rules that a workspace created in the last day, also revoked ones.
create index automation_rules_by_creation on automation_rules (workspace_id, created_at);
create index automation_rules_by_account on automation_rules (account_id, id)
  where status in ('active', 'paused');
create index automation_rules_to_skip on automation_rules (skip_before)
  where skip_before is not null;

-- One row per account that ever had an active rule. Processes lease it to look for new comments. A transaction that
-- stores runs or changes the status of a rule locks the row, so that both happen one after the other.
create table automation_accounts (
  account_id uuid primary key,
  workspace_id uuid not null,
  platform text not null,
  -- When new comments are looked for next; `infinity` if the account has no active rule.
  poll_at timestamptz not null,
  -- Raised with each lease, so that a process whose lease has ended can no longer store what it has read.
  fence bigint not null default 0,
  lease_until timestamptz not null default '-infinity',
  -- Number of polls in a row that failed, and why the last one failed.
  failures int not null default 0,
  last_error text,
  -- Where the list of older media is continued; null = at its beginning.
  media_cursor text,
  -- When new comments were last looked for without a failure.
  polled_at timestamptz,
  -- Each call of a poll moves this time on by the interval of the account's call budget; the budget is full while it is
  -- past.
  budget_until timestamptz not null default '-infinity',
  -- The platform limits the account until this time; no poll before.
  limited_until timestamptz not null default '-infinity'
) with (fillfactor = 50);

create index automation_accounts_due on automation_accounts (platform, poll_at)
  where poll_at < 'infinity';
-- Finds the due accounts of each workspace.
create index automation_accounts_turn on automation_accounts (platform, workspace_id, poll_at)
  where poll_at < 'infinity';

-- What is known of the comments on a piece of media. Media without a comment since the activation has no row.
create table automation_media (
  account_id uuid not null,
  media_id text not null,
  workspace_id uuid not null,
  -- Number of comments that the platform gave before the comments were last read; null if it does not say.
  comment_count bigint,
  -- Time of the newest comment that was read; null before the first read has ended.
  read_until timestamptz,
  -- A read that has not ended: where it continues, and the time of the newest comment that it has found.
  read_cursor text,
  read_newest timestamptz,
  -- Number of reads in a row that found no new comment.
  quiet_reads int not null default 0,
  -- When the comments are read even if their number has not changed.
  read_at timestamptz not null,
  -- Number of reads in a row that failed, and why the last one failed. Such media are not read before `read_at`.
  failures int not null default 0,
  last_error text,
  primary key (account_id, media_id)
) with (fillfactor = 70);

create index automation_media_due on automation_media (account_id, read_at);

-- One row per comment that a rule has answered or has skipped.
create table automation_runs (
  id uuid primary key,
  workspace_id uuid not null,
  account_id uuid not null,
  rule_id uuid not null references automation_rules (id),
  comment_id text not null,
  media_id text not null,
  author_id text,
  author_username text,
  status text not null,
  -- Why the run is not `sent`; null if it is sent, or while its private reply waits to be sent.
  reason text,
  version bigint not null default 1,
  created_at timestamptz not null default now(),
  constraint automation_runs_status_check check (status in ('prepared', 'sent', 'skipped', 'failed')),
  constraint automation_runs_reason_check check (reason in (
    'sending_blocked', 'excluded', 'already_replied', 'too_old', 'rule_inactive', 'platform_refused', 'outcome_unknown'
  )),
  constraint automation_runs_sent_check check (status <> 'sent' or reason is null)
) with (fillfactor = 90);

-- Guarantees one run per rule and comment for ever.
create unique index automation_runs_once on automation_runs (rule_id, comment_id);
-- The lists: all runs of a workspace or a rule, each with a status or without.
create index automation_runs_by_workspace on automation_runs (workspace_id, id);
create index automation_runs_by_status on automation_runs (workspace_id, status, id);
create index automation_runs_by_rule on automation_runs (rule_id, id);
create index automation_runs_by_rule_status on automation_runs (rule_id, status, id);
create index automation_runs_waiting on automation_runs (rule_id, created_at)
  where status = 'prepared' and reason is null;

-- Whether private replies may be sent: one row while an operator has enabled it, with the time at which this was first
-- seen. Comments from before are never answered.
create table automation_sending (
  only_row boolean primary key default true check (only_row),
  enabled_at timestamptz not null
);

-- Jobs that prepare past comments page by page. They never send anything.
create table backfills (
  id uuid primary key,
  workspace_id uuid not null,
  account_id uuid not null,
  rule_id uuid not null references automation_rules (id),
  media_id text not null,
  status text not null,
  -- While this time is in the future, a request is preparing the next page. Afterwards the page can be prepared again.
  preparing_until timestamptz not null default '-infinity',
  -- Number of stored pages, and the platform's cursor of the next one; null on the last page.
  pages int not null,
  page_cursor text,
  -- Numbers of results by outcome; their sum is the number of comments read.
  prepared int not null,
  skipped int not null,
  unmatched int not null,
  -- Approximate size of the results in bytes.
  bytes bigint not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint backfills_status_check
    check (status in ('preparing', 'ready', 'paused', 'completed', 'failed'))
);

create index backfills_by_workspace on backfills (workspace_id, id);

create table backfill_results (
  backfill_id uuid not null references backfills (id),
  -- Place of the comment among the results, newest first.
  position int not null,
  workspace_id uuid not null,
  comment_id text not null,
  -- The comment as the platform showed it, a binary proto message `postrider.engagement.v1.Comment`.
  comment bytea not null,
  outcome text not null,
  reason text,
  primary key (backfill_id, position),
  constraint backfill_results_outcome_check check (outcome in ('prepared', 'skipped', 'no_match')),
  constraint backfill_results_reason_check
    check ((outcome = 'skipped') = (reason is not null) and reason in ('excluded', 'too_old', 'already_replied'))
);

create unique index backfill_results_once on backfill_results (backfill_id, comment_id);

-- Metrics of published targets

-- One row per published target on a platform with metrics: the newest counters, and when they are read next.
create table target_metrics (
  target_id uuid primary key,
  workspace_id uuid not null,
  post_id uuid not null,
  account_id uuid not null,
  platform text not null,
  -- The platform's id of the post; null until the platform has returned it.
  external_id text,
  published_at timestamptz not null,
  -- When the next scheduled refresh is due; `infinity` when the target is not on the schedule, or no longer.
  due_at timestamptz not null,
  -- Number of scheduled refreshes in a row that got no answer about the post.
  failure_count int not null default 0,
  -- Number of answers in a row that the post is not on the platform.
  missing_count int not null default 0,
  -- A refresh by hand runs until this time at the latest; no second one starts before.
  asking_until timestamptz not null default '-infinity',
  -- When the platform was asked for the newest refresh by hand that it answered.
  asked_by_hand_at timestamptz,
  -- The counters; null where the platform does not give one.
  views bigint,
  impressions bigint,
  reach bigint,
  likes bigint,
  comments bigint,
  shares bigint,
  saves bigint,
  -- When the platform was asked for these counters; null until it answered once.
  refreshed_at timestamptz(3),
  -- When rows of the target's history are deleted next; `infinity` while there is no history.
  thin_at timestamptz not null default 'infinity'
) with (fillfactor = 80);

create index target_metrics_due on target_metrics (account_id, due_at) where due_at < 'infinity';
-- For sums over the publications of a workspace, and for its newest publications, whose comments are read.
create index target_metrics_by_workspace on target_metrics (workspace_id, published_at desc);
create index target_metrics_thin on target_metrics (thin_at) where thin_at < 'infinity';

-- One row per refresh, so that a curve can be drawn. The job thin-metrics-history deletes most rows with age.
create table target_metric_history (
  target_id uuid not null,
  refreshed_at timestamptz(3) not null,
  workspace_id uuid not null,
  views bigint,
  impressions bigint,
  reach bigint,
  likes bigint,
  comments bigint,
  shares bigint,
  saves bigint,
  primary key (target_id, refreshed_at)
);

-- One row per account with published targets. A process takes an account for one call at a time, by moving
-- `not_before`.
create table metrics_accounts (
  account_id uuid primary key,
  workspace_id uuid not null,
  platform text not null,
  -- When the account was last connected. A call that began before does not pause the account.
  connected_at timestamptz not null default '-infinity',
  -- No target of the account is due before this time. The time may be too early, but never too late.
  due_at timestamptz not null default 'infinity',
  -- No scheduled call before this time: another process makes one, the budget is used up, or the account has to be
  -- connected again.
  not_before timestamptz not null default '-infinity',
  -- No call before this time, because the platform answered with a rate limit.
  limited_until timestamptz not null default '-infinity',
  -- The calls of scheduled refreshes that were made count as evenly spread until this time. It lies at most one window
  -- ahead.
  budget_until timestamptz not null default '-infinity',
  wake_at timestamptz not null generated always as (greatest(due_at, not_before, limited_until)) stored
) with (fillfactor = 80);

create index metrics_accounts_wake on metrics_accounts (platform, wake_at) where wake_at < 'infinity';
-- Finds the next workspace whose turn it is, and its due accounts.
create index metrics_accounts_turn on metrics_accounts (platform, workspace_id, wake_at) where wake_at < 'infinity';

-- The same for platforms that limit all accounts of our app together. Each use of a platform has a budget of its own
-- (`metrics`, `comments`, `replies`), so that none takes the units of another.
create table app_budgets (
  platform text not null,
  name text not null,
  limited_until timestamptz not null default '-infinity',
  budget_until timestamptz not null default '-infinity',
  -- When units were last taken. Some platforms give back all units at midnight.
  taken_at timestamptz not null default '-infinity',
  primary key (platform, name)
);

-- What a workspace has used of a budget a short time ago. A row is deleted when its time is over.
create table app_budget_shares (
  platform text not null,
  name text not null,
  workspace_id uuid not null,
  budget_until timestamptz not null,
  taken_at timestamptz not null default now(),
  primary key (platform, name, workspace_id)
);

-- Webhooks

-- One row per webhook subscription. A revoked subscription leaves the list, but its history stays readable.
create table webhook_subscriptions (
  id uuid primary key,
  workspace_id uuid not null,
  url text not null,
  description text not null,
  -- Event filters: full event types, `group.*` or `*`.
  events text[] not null,
  status text not null,
  -- Why the subscription is disabled: `gone` (the receiver answered 410) or `failing` (nothing but failures for 5
  -- days); null unless the status is `disabled`.
  disabled_reason text,
  signing text not null,
  -- Public key `whpk_…` that verifies Ed25519 signatures; null with HMAC.
  public_key text,
  max_per_second int,
  -- Raised by every change of the webhook subscription. It is the `sequence` of events about the subscription.
  version bigint not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint webhook_subscriptions_status_check
    check (status in ('active', 'paused', 'disabled', 'revoked')),
  constraint webhook_subscriptions_signing_check check (signing in ('hmac-sha256', 'ed25519')),
  constraint webhook_subscriptions_key_check check ((signing = 'ed25519') = (public_key is not null))
);

create index webhook_subscriptions_by_workspace on webhook_subscriptions (workspace_id, id)
  where status <> 'revoked';
-- Finds the subscriptions that a workspace created in the last day, also revoked ones.
create index webhook_subscriptions_by_creation on webhook_subscriptions (workspace_id, created_at);

-- The signing secrets of a webhook subscription, encrypted. During the grace period of a rotation there are several.
create table webhook_secrets (
  id uuid primary key,
  subscription_id uuid not null references webhook_subscriptions (id),
  workspace_id uuid not null,
  sealed text not null,
  created_at timestamptz not null default now(),
  -- When the signing secret stops signing; null for the newest one.
  expires_at timestamptz
);

create index webhook_secrets_by_subscription on webhook_secrets (subscription_id);

-- One narrow row per webhook subscription, which processes lease. Only the process that holds the lease sends the
-- deliveries of the subscription, so the limits on concurrency and rate, and the pauses of a receiver, hold for all
-- processes together.
create table webhook_leases (
  subscription_id uuid primary key references webhook_subscriptions (id),
  workspace_id uuid not null,
  -- No delivery of the webhook subscription is due before this time. The time may be too early, because the next claim
  -- corrects it, but never too late. `infinity` when no delivery waits.
  wake_at timestamptz not null default 'infinity',
  owner uuid,
  lease_until timestamptz not null default '-infinity',
  -- Nothing is sent to the webhook subscription before this time: the receiver asked for a pause, or did not answer 10
  -- attempts in a row.
  blocked_until timestamptz not null default '-infinity',
  -- Number of attempts in a row that got no HTTP answer. From 10 on, the breaker is open: only one attempt at a time is
  -- made.
  unanswered_in_row int not null default 0,
  -- Since when every attempt of the webhook subscription has failed; null after a success.
  failing_since timestamptz,
  -- How fast the receiver answered its last attempts: `fast`, `slow`, or `new` while that is not known. All
  -- subscriptions with slow and new receivers together can use only a part of the attempts that run at the same time.
  pace text not null default 'new',
  constraint webhook_leases_pace_check check (pace in ('new', 'fast', 'slow'))
) with (fillfactor = 50);

create index webhook_leases_due on webhook_leases (pace, wake_at) where wake_at < 'infinity';
-- Finds the webhook subscriptions of a workspace that may have waiting deliveries, also revoked ones.
create index webhook_leases_by_workspace on webhook_leases (workspace_id);

-- Webhook events whose payload is not written yet. The job compose-payloads asks the owning service for the object, and
-- writes the event and its deliveries; the workspaces take turns, so that many deliveries of one delay no other.
create table webhook_compositions (
  event_id uuid primary key,
  workspace_id uuid not null,
  type text not null,
  occurred_at timestamptz not null,
  sequence bigint not null,
  -- What the webhook event is about and what it says happened; see `EventSource` in the code.
  source jsonb not null,
  cause jsonb not null,
  -- The webhook subscriptions that receive the event.
  subscription_ids uuid[] not null,
  tries int not null default 0,
  lease_until timestamptz not null default '-infinity'
) with (fillfactor = 70);

-- Workspaces take turns when the payloads of their webhook events are written.
create index webhook_compositions_by_workspace on webhook_compositions (workspace_id, event_id);

-- Webhook deliveries with a payload that are due now or later. A row is deleted when its delivery has ended.
create table webhook_queue (
  delivery_id uuid primary key,
  subscription_id uuid not null,
  event_id uuid not null,
  attempt_count int not null default 0,
  due_at timestamptz not null default now(),
  -- Whether a user asked for the next attempt. It is made even while the receiver does not answer other attempts.
  is_manual boolean not null default false,
  -- While this time is in the future, a process is sending the webhook delivery.
  sending_until timestamptz not null default '-infinity'
) with (fillfactor = 70);

create index webhook_queue_due on webhook_queue (subscription_id, is_manual, due_at);

-- The webhook history: events with the JSON that is sent, one delivery per event and subscription, and one row per
-- attempt. All ids are UUIDv7 made from the time of the event, so that each table is partitioned by the day in its id,
-- a unique index on the id alone is possible, and a lookup by id reads one partition. Other tables with UUIDv7 ids can
-- use the same functions.
create table webhook_events (
  id uuid primary key,
  workspace_id uuid not null,
  type text not null,
  payload text not null,
  -- The request that caused the webhook event, as headers of events: request id and trace.
  cause jsonb not null default '{}',
  created_at timestamptz not null default now()
) partition by range (id);

-- Finds the oldest events of a workspace, which leave the history first when it is too large.
create index webhook_events_by_workspace on webhook_events (workspace_id, id);

create table webhook_deliveries (
  id uuid primary key,
  subscription_id uuid not null,
  workspace_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  status text not null default 'pending',
  -- Why a webhook delivery failed without an attempt: `backlog_full`; null for all other deliveries.
  error text,
  attempt_count int not null default 0,
  next_attempt_at timestamptz,
  created_at timestamptz not null default now(),
  constraint webhook_deliveries_status_check
    check (status in ('pending', 'succeeded', 'failed', 'cancelled'))
) partition by range (id);

create index webhook_deliveries_by_status on webhook_deliveries (subscription_id, status, id);
create index webhook_deliveries_by_type
  on webhook_deliveries (subscription_id, event_type, status, id);

create table webhook_attempts (
  delivery_id uuid not null,
  number int not null,
  workspace_id uuid not null,
  started_at timestamptz not null,
  duration_ms int not null,
  status_code int,
  error text,
  request_headers jsonb not null,
  response_headers jsonb,
  response_body text,
  primary key (delivery_id, number)
) partition by range (delivery_id);

-- Bytes that the webhook history of each workspace takes, by the day of the events.
create table webhook_usage (
  workspace_id uuid not null,
  day date not null,
  bytes bigint not null,
  primary key (workspace_id, day)
) with (fillfactor = 70);

-- Changes of `webhook_usage` that are not added to it yet. A process that writes or deletes rows of the history appends
-- one in the same transaction, and never waits for another transaction that does the same.
create table webhook_usage_changes (
  workspace_id uuid not null,
  day date not null,
  bytes bigint not null
);

-- Returns the smallest UUIDv7 of a day in UTC.
create function first_id_of_day(day date) returns uuid
language sql immutable strict
set search_path from current
as $$
  select rpad(
    lpad(to_hex((extract(epoch from day::timestamp at time zone 'UTC') * 1000)::bigint), 12, '0'),
    32, '0'
  )::uuid;
$$;

-- Returns the day in UTC of the time in a UUIDv7.
create function day_of_id(id uuid) returns date
language sql immutable strict
as $$
  select (to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0) at time zone 'UTC')::date;
$$;

-- Creates the missing partitions of a partitioned table for the days from `first` to `last`. This function and the next
-- one run with the rights of the owner of the tables, because the service itself may not create or drop tables. They
-- accept only our tables and only days for which they are meant, and temporary tables come last in the search path, so
-- that a stolen connection can neither fill the database with tables nor drop recent data. The lock timeout keeps
-- readers from queueing behind them.
create function create_day_partitions(parent text, first date, last date) returns int
language plpgsql security definer
set search_path = delivery, pg_temp
set lock_timeout = '2s'
as $$
declare
  today date := (now() at time zone 'UTC')::date;
  day date;
  created int := 0;
begin
  if parent not in ('webhook_events', 'webhook_deliveries', 'webhook_attempts') then
    raise exception 'the table % has no partitions by day', parent;
  end if;
  if first < today - 40 or last > today + 40 then
    raise exception 'partitions are created for the 40 days before and after today, not for % to %', first, last;
  end if;
  for day in select generate_series(first, last, interval '1 day')::date loop
    if to_regclass(format('%I', parent || to_char(day, '_YYYYMMDD'))) is null then
      -- Attaching an empty table blocks no reader and no writer of the parent; `create table … partition of` blocks
      -- both.
      execute format(
        'create table %I (like %I including defaults including constraints)',
        parent || to_char(day, '_YYYYMMDD'), parent
      );
      execute format(
        'alter table %I attach partition %I for values from (%L) to (%L)',
        parent, parent || to_char(day, '_YYYYMMDD'), first_id_of_day(day), first_id_of_day(day + 1)
      );
      created := created + 1;
    end if;
  end loop;
  return created;
end;
$$;

-- Drops the partitions of a table for the days before `before`, and returns their number.
create function drop_day_partitions(parent text, before date) returns int
language plpgsql security definer
set search_path = delivery, pg_temp
set lock_timeout = '2s'
as $$
declare
  name text;
  dropped int := 0;
begin
  if parent not in ('webhook_events', 'webhook_deliveries', 'webhook_attempts') then
    raise exception 'the table % has no partitions by day', parent;
  end if;
  if before is null or before > (now() at time zone 'UTC')::date - 8 then
    raise exception 'only partitions of days that are over 8 days ago are dropped, not those before %', before;
  end if;
  for name in
    select child.relname
    from pg_inherits
    join pg_class child on child.oid = pg_inherits.inhrelid
    where pg_inherits.inhparent = to_regclass(format('%I', parent))
    and child.relname < parent || to_char(before, '_YYYYMMDD')
    order by child.relname
  loop
    execute format('drop table %I', name);
    dropped := dropped + 1;
  end loop;
  return dropped;
end;
$$;

-- The deployment and its events

-- Where the data was when it was last used for publishing: one row, created by the first process that starts. It
-- belongs to the installation, not to a workspace. Data in another cluster, database or deployment is a copy. Data with
-- another timeline or table was restored and lacks the calls that were made after the backup.
create table deployment (
  only_row boolean primary key default true check (only_row),
  system_identifier text not null,
  database_oid bigint not null,
  table_oid bigint not null,
  timeline int not null,
  deployment_id text not null,
  -- Updated about twice a minute, so that restored data shows to within that time when its backup ends.
  seen_at timestamptz not null,
  -- Time of the latest restore. A target that was due before may be visible, whatever the status of its task.
  restored_at timestamptz,
  -- End of the data in the backup: calls after it are missing from the data. Null if it is not known.
  data_until timestamptz,
  -- The restore (`restored_at`) that the next two columns belong to.
  undo_for timestamptz,
  -- Values of `restored_at` and `data_until` before that restore, which hold again when an operator declares it
  -- lossless.
  undo_restored_at timestamptz,
  undo_data_until timestamptz,
  -- The latest restore that is known to have lost commits, because a process had read later data before the restore.
  lossy_at timestamptz,
  -- The restore that an operator declared lossless last.
  trusted_at timestamptz,
  -- Time of the last import of a workspace.
  imported_at timestamptz
);

-- Comments of readers on the media of a workspace, as they were when they were last read: the newest 10,000 of each
-- workspace. What became of them is known only here.
create table inbox_comments (
  id uuid primary key,
  workspace_id uuid not null,
  account_id uuid not null,
  platform text not null,
  media_id text not null check (length(media_id) <= 512),
  comment_id text not null check (length(comment_id) <= 512),
  -- Null when Postrider did not publish the media.
  post_id uuid,
  -- The server of an account may be its owner's and answer with anything.
  text text not null check (length(text) <= 2000),
  author_id text check (length(author_id) <= 512),
  author_username text check (length(author_username) <= 256),
  commented_at timestamptz not null,
  like_count bigint,
  reply_count bigint,
  hidden boolean not null,
  state text not null check (state in ('open', 'answered', 'done'))
);

-- Comments are stored by several processes that read them at the same time. The author of a Bluesky reply chooses its id,
-- which is unique only among the replies to one post.
create unique index inbox_comments_once on inbox_comments (account_id, media_id, comment_id);
create index inbox_comments_by_time on inbox_comments (workspace_id, commented_at desc, id desc);
create index inbox_comments_by_state on inbox_comments (workspace_id, state, commented_at desc, id desc);

-- When comments of a workspace were last read because a page showed its inbox.
create table inbox_reads (
  workspace_id uuid primary key,
  begun_at timestamptz not null,
  -- Null until the first read has ended.
  read_at timestamptz
);

-- include outbox.sql

-- include audit-log.sql
