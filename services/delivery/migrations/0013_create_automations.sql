-- One row per rule that answers comments with private replies. A revoked rule leaves the list, but its runs stay readable.
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
  -- Runs from before this time that still wait are skipped, because the rule was paused or revoked then; null if none wait.
  skip_before timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint automation_rules_match_check check (match in ('any', 'all', 'exact')),
  constraint automation_rules_status_check check (status in ('draft', 'active', 'paused', 'revoked')),
  constraint automation_rules_activated_check check (status <> 'active' or activated_at is not null)
);

create index automation_rules_by_workspace on automation_rules (workspace_id, id)
  where status <> 'revoked';
create index automation_rules_by_account on automation_rules (account_id, id)
  where status in ('active', 'paused');
create index automation_rules_to_skip on automation_rules (skip_before)
  where skip_before is not null;

-- One row per account that ever had an active rule. Processes lease it to look for new comments. A transaction that stores runs
-- or changes the status of a rule locks the row, so that both happen one after the other.
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
  -- Each call of a poll moves this time on by the interval of the account's call budget; the budget is full while it is past.
  budget_until timestamptz not null default '-infinity',
  -- The platform limits the account until this time; no poll before.
  held_until timestamptz not null default '-infinity'
) with (fillfactor = 50);

create index automation_accounts_due on automation_accounts (platform, poll_at)
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

-- Whether private replies may be sent: one row while an operator has enabled it, with the time at which this was first seen.
-- Comments from before are never answered.
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
