create table delivery.account_breakers (
  account_id uuid not null,
  workspace_id uuid not null,
  not_before timestamp with time zone,
  failures_in_row integer not null default 0,
  constraint account_breakers_pkey PRIMARY KEY (account_id)
);

create table delivery.account_queues (
  account_id uuid not null,
  workspace_id uuid not null,
  platform text not null,
  publish_at timestamp with time zone,
  look_at timestamp with time zone,
  constraint account_queues_pkey PRIMARY KEY (account_id)
);
CREATE INDEX account_queues_look ON delivery.account_queues USING btree (platform, look_at) WHERE (look_at IS NOT NULL);
CREATE INDEX account_queues_publish ON delivery.account_queues USING btree (platform, publish_at) WHERE (publish_at IS NOT NULL);

create table delivery.app_budget_shares (
  platform text not null,
  name text not null,
  workspace_id uuid not null,
  budget_until timestamp with time zone not null,
  taken_at timestamp with time zone not null default now(),
  constraint app_budget_shares_pkey PRIMARY KEY (platform, name, workspace_id)
);

create table delivery.app_budgets (
  platform text not null,
  name text not null,
  limited_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  budget_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  taken_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint app_budgets_pkey PRIMARY KEY (platform, name)
);

create table delivery.audit_log (
  id uuid not null,
  at timestamp with time zone not null default date_trunc('milliseconds'::text, clock_timestamp()),
  workspace_id uuid,
  actor_kind text not null,
  actor_id text not null,
  actor_name text,
  via text,
  action text not null,
  subject_type text not null,
  subject_id text not null,
  details jsonb not null,
  request_id text,
  source_address text,
  constraint audit_log_pkey PRIMARY KEY (id),
  constraint audit_log_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['key'::text, 'session'::text, 'operator'::text, 'service'::text, 'connect_link'::text]))),
  constraint audit_log_details_check CHECK ((jsonb_typeof(details) = 'object'::text))
);
CREATE INDEX audit_log_action ON delivery.audit_log USING btree (action, at, id);
CREATE INDEX audit_log_actor ON delivery.audit_log USING btree (actor_id, at, id);
CREATE INDEX audit_log_at ON delivery.audit_log USING btree (at, id);
CREATE INDEX audit_log_removals ON delivery.audit_log USING btree (workspace_id) WHERE (action = 'workspace.remove'::text);
CREATE INDEX audit_log_workspace ON delivery.audit_log USING btree (workspace_id, at, id) WHERE (workspace_id IS NOT NULL);
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR TRUNCATE ON delivery.audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_log_change();
CREATE TRIGGER audit_log_keeps BEFORE DELETE ON delivery.audit_log FOR EACH ROW WHEN ((old.at > (now() - '90 days'::interval))) EXECUTE FUNCTION refuse_audit_log_change();

create table delivery.audit_log_deeds (
  id uuid not null,
  at timestamp with time zone not null default date_trunc('milliseconds'::text, clock_timestamp()),
  workspace_id uuid,
  actor_kind text not null,
  actor_id text not null,
  actor_name text,
  via text,
  action text not null,
  subject_type text not null,
  subject_id text not null,
  details jsonb not null,
  request_id text,
  source_address text,
  constraint audit_log_deeds_pkey PRIMARY KEY (at, id),
  constraint audit_log_deeds_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['key'::text, 'session'::text, 'operator'::text, 'service'::text, 'connect_link'::text])))
);
CREATE INDEX audit_log_deeds_actor ON delivery.audit_log_deeds USING btree (actor_id, at, id);
CREATE INDEX audit_log_deeds_workspace ON delivery.audit_log_deeds USING btree (workspace_id, at, id);

create table delivery.automation_accounts (
  account_id uuid not null,
  workspace_id uuid not null,
  platform text not null,
  poll_at timestamp with time zone not null,
  fence bigint not null default 0,
  lease_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  failures integer not null default 0,
  last_error text,
  media_cursor text,
  polled_at timestamp with time zone,
  budget_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  limited_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint automation_accounts_pkey PRIMARY KEY (account_id)
);
CREATE INDEX automation_accounts_due ON delivery.automation_accounts USING btree (platform, poll_at) WHERE (poll_at < 'infinity'::timestamp with time zone);
CREATE INDEX automation_accounts_turn ON delivery.automation_accounts USING btree (platform, workspace_id, poll_at) WHERE (poll_at < 'infinity'::timestamp with time zone);

create table delivery.automation_media (
  account_id uuid not null,
  media_id text not null,
  workspace_id uuid not null,
  comment_count bigint,
  read_until timestamp with time zone,
  read_cursor text,
  read_newest timestamp with time zone,
  quiet_reads integer not null default 0,
  read_at timestamp with time zone not null,
  failures integer not null default 0,
  last_error text,
  constraint automation_media_pkey PRIMARY KEY (account_id, media_id)
);
CREATE INDEX automation_media_due ON delivery.automation_media USING btree (account_id, read_at);

create table delivery.automation_rules (
  id uuid not null,
  workspace_id uuid not null,
  account_id uuid not null,
  platform text not null,
  name text not null,
  media_ids text[],
  keywords text[] not null,
  match text not null,
  exclude_keywords text[] not null,
  message text not null,
  status text not null default 'draft'::text,
  activated_at timestamp with time zone,
  skip_before timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  constraint automation_rules_pkey PRIMARY KEY (id),
  constraint automation_rules_activated_check CHECK (((status <> 'active'::text) OR (activated_at IS NOT NULL))),
  constraint automation_rules_match_check CHECK ((match = ANY (ARRAY['any'::text, 'all'::text, 'exact'::text]))),
  constraint automation_rules_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'active'::text, 'paused'::text, 'revoked'::text])))
);
CREATE INDEX automation_rules_by_account ON delivery.automation_rules USING btree (account_id, id) WHERE (status = ANY (ARRAY['active'::text, 'paused'::text]));
CREATE INDEX automation_rules_by_creation ON delivery.automation_rules USING btree (workspace_id, created_at);
CREATE INDEX automation_rules_by_workspace ON delivery.automation_rules USING btree (workspace_id, id) WHERE (status <> 'revoked'::text);
CREATE INDEX automation_rules_to_skip ON delivery.automation_rules USING btree (skip_before) WHERE (skip_before IS NOT NULL);

create table delivery.automation_runs (
  id uuid not null,
  workspace_id uuid not null,
  account_id uuid not null,
  rule_id uuid not null,
  comment_id text not null,
  media_id text not null,
  author_id text,
  author_username text,
  status text not null,
  reason text,
  version bigint not null default 1,
  created_at timestamp with time zone not null default now(),
  constraint automation_runs_pkey PRIMARY KEY (id),
  constraint automation_runs_rule_id_fkey FOREIGN KEY (rule_id) REFERENCES automation_rules(id),
  constraint automation_runs_reason_check CHECK ((reason = ANY (ARRAY['sending_blocked'::text, 'excluded'::text, 'already_replied'::text, 'too_old'::text, 'rule_inactive'::text, 'platform_refused'::text, 'outcome_unknown'::text]))),
  constraint automation_runs_sent_check CHECK (((status <> 'sent'::text) OR (reason IS NULL))),
  constraint automation_runs_status_check CHECK ((status = ANY (ARRAY['prepared'::text, 'sent'::text, 'skipped'::text, 'failed'::text])))
);
CREATE INDEX automation_runs_by_rule ON delivery.automation_runs USING btree (rule_id, id);
CREATE INDEX automation_runs_by_rule_status ON delivery.automation_runs USING btree (rule_id, status, id);
CREATE INDEX automation_runs_by_status ON delivery.automation_runs USING btree (workspace_id, status, id);
CREATE INDEX automation_runs_by_workspace ON delivery.automation_runs USING btree (workspace_id, id);
CREATE UNIQUE INDEX automation_runs_once ON delivery.automation_runs USING btree (rule_id, comment_id);
CREATE INDEX automation_runs_waiting ON delivery.automation_runs USING btree (rule_id, created_at) WHERE ((status = 'prepared'::text) AND (reason IS NULL));

create table delivery.automation_sending (
  only_row boolean not null default true,
  enabled_at timestamp with time zone not null,
  constraint automation_sending_pkey PRIMARY KEY (only_row),
  constraint automation_sending_only_row_check CHECK (only_row)
);

create table delivery.backfill_results (
  backfill_id uuid not null,
  "position" integer not null,
  workspace_id uuid not null,
  comment_id text not null,
  comment bytea not null,
  outcome text not null,
  reason text,
  constraint backfill_results_pkey PRIMARY KEY (backfill_id, "position"),
  constraint backfill_results_backfill_id_fkey FOREIGN KEY (backfill_id) REFERENCES backfills(id),
  constraint backfill_results_outcome_check CHECK ((outcome = ANY (ARRAY['prepared'::text, 'skipped'::text, 'no_match'::text]))),
  constraint backfill_results_reason_check CHECK ((((outcome = 'skipped'::text) = (reason IS NOT NULL)) AND (reason = ANY (ARRAY['excluded'::text, 'too_old'::text, 'already_replied'::text]))))
);
CREATE UNIQUE INDEX backfill_results_once ON delivery.backfill_results USING btree (backfill_id, comment_id);

create table delivery.backfills (
  id uuid not null,
  workspace_id uuid not null,
  account_id uuid not null,
  rule_id uuid not null,
  media_id text not null,
  status text not null,
  preparing_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  pages integer not null,
  page_cursor text,
  prepared integer not null,
  skipped integer not null,
  unmatched integer not null,
  bytes bigint not null,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint backfills_pkey PRIMARY KEY (id),
  constraint backfills_rule_id_fkey FOREIGN KEY (rule_id) REFERENCES automation_rules(id),
  constraint backfills_status_check CHECK ((status = ANY (ARRAY['preparing'::text, 'ready'::text, 'paused'::text, 'completed'::text, 'failed'::text])))
);
CREATE INDEX backfills_by_workspace ON delivery.backfills USING btree (workspace_id, id);

create table delivery.comment_action_queues (
  account_id uuid not null,
  workspace_id uuid not null,
  platform text not null,
  wake_at timestamp with time zone,
  not_before timestamp with time zone,
  constraint comment_action_queues_pkey PRIMARY KEY (account_id)
);
CREATE INDEX comment_action_queues_turn ON delivery.comment_action_queues USING btree (platform, workspace_id, wake_at) WHERE (wake_at IS NOT NULL);
CREATE INDEX comment_action_queues_wake ON delivery.comment_action_queues USING btree (platform, wake_at) WHERE (wake_at IS NOT NULL);

create table delivery.comment_actions (
  id uuid not null,
  workspace_id uuid not null,
  account_id uuid not null,
  platform text not null,
  external_account_id text,
  unconfirmed_account_id text,
  media_id text not null,
  comment_id text not null,
  comment_created_at timestamp with time zone,
  type text not null,
  text text,
  call_key text not null,
  rule_id uuid,
  run_id uuid,
  send_before timestamp with time zone not null,
  status text not null,
  wake_at timestamp with time zone not null,
  fence bigint not null default 0,
  lease_owner uuid,
  crash_count integer not null default 0,
  retry_count integer not null default 0,
  call_number integer not null default 0,
  called_at timestamp with time zone,
  call_until timestamp with time zone,
  first_unknown_at timestamp with time zone,
  unknown_count integer not null default 0,
  open_unknowns integer not null default 0,
  resend_count integer not null default 0,
  looks integer not null default 0,
  is_limited boolean not null default false,
  is_restored boolean not null default false,
  doubted_at timestamp with time zone,
  is_doubtful boolean not null default false,
  version bigint not null default 1,
  external_id text,
  further_ids text[] not null default '{}'::text[],
  error_code text,
  error_message text,
  cause jsonb,
  created_at timestamp with time zone not null default now(),
  finished_at timestamp with time zone,
  constraint comment_actions_pkey PRIMARY KEY (id),
  constraint comment_actions_check CHECK (((type = ANY (ARRAY['reply'::text, 'private_reply'::text])) = (text IS NOT NULL))),
  constraint comment_actions_check1 CHECK (((type = 'private_reply'::text) = ((rule_id IS NOT NULL) AND (run_id IS NOT NULL)))),
  constraint comment_actions_check2 CHECK (((status = ANY (ARRAY['succeeded'::text, 'failed'::text])) = (finished_at IS NOT NULL))),
  constraint comment_actions_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'working'::text, 'calling'::text, 'unknown'::text, 'reconciling'::text, 'succeeded'::text, 'failed'::text]))),
  constraint comment_actions_type_check CHECK ((type = ANY (ARRAY['reply'::text, 'hide'::text, 'unhide'::text, 'private_reply'::text])))
);
CREATE INDEX comment_actions_by_external ON delivery.comment_actions USING btree (external_id) WHERE (external_id IS NOT NULL);
CREATE INDEX comment_actions_by_workspace ON delivery.comment_actions USING btree (workspace_id, id);
CREATE INDEX comment_actions_comment ON delivery.comment_actions USING btree (account_id, comment_id);
CREATE INDEX comment_actions_doubtful ON delivery.comment_actions USING btree (wake_at) WHERE (is_doubtful AND (status = ANY (ARRAY['queued'::text, 'working'::text, 'unknown'::text, 'reconciling'::text])));
CREATE INDEX comment_actions_further_ids ON delivery.comment_actions USING btree (comment_id) WHERE (further_ids <> '{}'::text[]);
CREATE INDEX comment_actions_hiding ON delivery.comment_actions USING btree (account_id, media_id, comment_created_at) WHERE ((type = ANY (ARRAY['hide'::text, 'unhide'::text])) AND (status = 'succeeded'::text));
CREATE INDEX comment_actions_in_work ON delivery.comment_actions USING btree (wake_at) WHERE (status = ANY (ARRAY['working'::text, 'calling'::text, 'reconciling'::text]));
CREATE UNIQUE INDEX comment_actions_one_external_open ON delivery.comment_actions USING btree (platform, external_account_id, comment_id, call_key) WHERE (status = ANY (ARRAY['calling'::text, 'unknown'::text, 'reconciling'::text]));
CREATE UNIQUE INDEX comment_actions_one_open ON delivery.comment_actions USING btree (account_id, comment_id, call_key) WHERE (status = ANY (ARRAY['calling'::text, 'unknown'::text, 'reconciling'::text]));
CREATE UNIQUE INDEX comment_actions_one_private_reply ON delivery.comment_actions USING btree (account_id, comment_id) WHERE (type = 'private_reply'::text);
CREATE INDEX comment_actions_open ON delivery.comment_actions USING btree (account_id, status, wake_at) WHERE (status = ANY (ARRAY['queued'::text, 'working'::text, 'unknown'::text, 'reconciling'::text]));
CREATE INDEX comment_actions_open_manual ON delivery.comment_actions USING btree (account_id, status, wake_at) WHERE ((type <> 'private_reply'::text) AND (status = ANY (ARRAY['queued'::text, 'working'::text, 'unknown'::text, 'reconciling'::text])));
CREATE INDEX comment_actions_unconfirmed ON delivery.comment_actions USING btree (workspace_id) WHERE (unconfirmed_account_id IS NOT NULL);
CREATE INDEX comment_actions_visibility ON delivery.comment_actions USING btree (platform, comment_id, call_until) WHERE (type = ANY (ARRAY['hide'::text, 'unhide'::text]));
CREATE INDEX comment_actions_waiting_private_replies ON delivery.comment_actions USING btree (created_at) WHERE ((type = 'private_reply'::text) AND (status = 'queued'::text));
CREATE INDEX comment_actions_waiting_visibility ON delivery.comment_actions USING btree (account_id, comment_id, created_at, id) WHERE ((type = ANY (ARRAY['hide'::text, 'unhide'::text])) AND (status = ANY (ARRAY['queued'::text, 'working'::text, 'calling'::text])));

create table delivery.deletion_queues (
  account_id uuid not null,
  workspace_id uuid not null,
  platform text not null,
  wake_at timestamp with time zone,
  constraint deletion_queues_pkey PRIMARY KEY (account_id)
);
CREATE INDEX deletion_queues_turn ON delivery.deletion_queues USING btree (platform, workspace_id, wake_at) WHERE (wake_at IS NOT NULL);
CREATE INDEX deletion_queues_wake ON delivery.deletion_queues USING btree (platform, wake_at) WHERE (wake_at IS NOT NULL);

create table delivery.deletion_tasks (
  target_id uuid not null,
  deletion integer not null,
  workspace_id uuid not null,
  post_id uuid not null,
  account_id uuid not null,
  platform text not null,
  external_id text not null,
  status text not null,
  wake_at timestamp with time zone not null,
  fence bigint not null default 0,
  lease_owner uuid,
  crash_count integer not null default 0,
  retry_count integer not null default 0,
  version bigint not null default 1,
  error_code text,
  error_message text,
  cause jsonb,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint deletion_tasks_pkey PRIMARY KEY (target_id, deletion),
  constraint deletion_tasks_deletion_check CHECK ((deletion > 0)),
  constraint deletion_tasks_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'working'::text, 'deleted'::text, 'failed'::text])))
);
CREATE INDEX deletion_tasks_in_work ON delivery.deletion_tasks USING btree (wake_at) WHERE (status = 'working'::text);
CREATE INDEX deletion_tasks_open ON delivery.deletion_tasks USING btree (account_id, wake_at) WHERE (status = ANY (ARRAY['queued'::text, 'working'::text]));
CREATE TRIGGER queue_changed_deletions AFTER UPDATE ON delivery.deletion_tasks REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_deletions();
CREATE TRIGGER queue_inserted_deletions AFTER INSERT ON delivery.deletion_tasks REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_deletions();

create table delivery.deployment (
  only_row boolean not null default true,
  system_identifier text not null,
  database_oid bigint not null,
  table_oid bigint not null,
  timeline integer not null,
  deployment_id text not null,
  seen_at timestamp with time zone not null,
  restored_at timestamp with time zone,
  data_until timestamp with time zone,
  undo_for timestamp with time zone,
  undo_restored_at timestamp with time zone,
  undo_data_until timestamp with time zone,
  lossy_at timestamp with time zone,
  trusted_at timestamp with time zone,
  imported_at timestamp with time zone,
  constraint deployment_pkey PRIMARY KEY (only_row),
  constraint deployment_only_row_check CHECK (only_row)
);

create table delivery.detail_questions (
  target_id uuid not null,
  generation integer not null,
  workspace_id uuid not null,
  account_id uuid not null,
  platform text not null,
  handles jsonb not null,
  wake_at timestamp with time zone not null default (now() + '00:00:01'::interval),
  asked_count integer not null default 0,
  created_at timestamp with time zone not null default now(),
  constraint detail_questions_pkey PRIMARY KEY (target_id, generation)
);
CREATE INDEX detail_questions_wake ON delivery.detail_questions USING btree (wake_at);

create table delivery.idempotency_keys (
  workspace_id uuid not null,
  operation text not null,
  key text not null,
  fingerprint text not null,
  response bytea not null,
  created_at timestamp with time zone not null default now(),
  constraint idempotency_keys_pkey PRIMARY KEY (workspace_id, operation, key)
);
CREATE INDEX idempotency_keys_age ON delivery.idempotency_keys USING btree (created_at);

create table delivery.inbox_comments (
  id uuid not null,
  workspace_id uuid not null,
  account_id uuid not null,
  platform text not null,
  media_id text not null,
  comment_id text not null,
  post_id uuid,
  text text not null,
  author_id text,
  author_username text,
  commented_at timestamp with time zone not null,
  like_count bigint,
  reply_count bigint,
  hidden boolean not null,
  state text not null,
  constraint inbox_comments_pkey PRIMARY KEY (id),
  constraint inbox_comments_author_id_check CHECK ((length(author_id) <= 512)),
  constraint inbox_comments_author_username_check CHECK ((length(author_username) <= 256)),
  constraint inbox_comments_comment_id_check CHECK ((length(comment_id) <= 512)),
  constraint inbox_comments_media_id_check CHECK ((length(media_id) <= 512)),
  constraint inbox_comments_state_check CHECK ((state = ANY (ARRAY['open'::text, 'answered'::text, 'done'::text]))),
  constraint inbox_comments_text_check CHECK ((length(text) <= 2000))
);
CREATE INDEX inbox_comments_by_state ON delivery.inbox_comments USING btree (workspace_id, state, commented_at DESC, id DESC);
CREATE INDEX inbox_comments_by_time ON delivery.inbox_comments USING btree (workspace_id, commented_at DESC, id DESC);
CREATE UNIQUE INDEX inbox_comments_once ON delivery.inbox_comments USING btree (account_id, media_id, comment_id);

create table delivery.inbox_reads (
  workspace_id uuid not null,
  begun_at timestamp with time zone not null,
  read_at timestamp with time zone,
  constraint inbox_reads_pkey PRIMARY KEY (workspace_id)
);

create table delivery.live_checks (
  id uuid not null,
  content jsonb not null,
  read_before jsonb,
  read_after jsonb,
  started_at timestamp with time zone not null default now(),
  constraint live_checks_pkey PRIMARY KEY (id)
);

create table delivery.metrics_accounts (
  account_id uuid not null,
  workspace_id uuid not null,
  platform text not null,
  connected_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  due_at timestamp with time zone not null default 'infinity'::timestamp with time zone,
  not_before timestamp with time zone not null default '-infinity'::timestamp with time zone,
  limited_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  budget_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  wake_at timestamp with time zone not null generated always as (GREATEST(due_at, not_before, limited_until)) stored,
  constraint metrics_accounts_pkey PRIMARY KEY (account_id)
);
CREATE INDEX metrics_accounts_turn ON delivery.metrics_accounts USING btree (platform, workspace_id, wake_at) WHERE (wake_at < 'infinity'::timestamp with time zone);
CREATE INDEX metrics_accounts_wake ON delivery.metrics_accounts USING btree (platform, wake_at) WHERE (wake_at < 'infinity'::timestamp with time zone);

create table delivery.outbox (
  id bigint not null generated always as identity,
  event_id uuid not null,
  type text not null,
  key text not null,
  payload text not null,
  headers jsonb not null,
  created_at timestamp with time zone not null default now(),
  constraint outbox_pkey PRIMARY KEY (id),
  constraint outbox_payload_check CHECK ((octet_length(payload) <= 65536))
);

create table delivery.parked_events (
  id uuid not null,
  direction text not null,
  topic text not null,
  event_id text not null,
  type text not null,
  key text not null,
  payload text not null,
  headers jsonb not null,
  error text not null,
  attempt_count integer not null,
  parked_at timestamp with time zone not null default now(),
  constraint parked_events_direction_topic_event_id_key UNIQUE (direction, topic, event_id),
  constraint parked_events_pkey PRIMARY KEY (id),
  constraint parked_events_direction_check CHECK ((direction = ANY (ARRAY['in'::text, 'out'::text])))
);

create table delivery.pauses (
  kind text not null,
  key text not null,
  reason text,
  created_at timestamp with time zone not null default now(),
  constraint pauses_pkey PRIMARY KEY (kind, key),
  constraint pauses_kind_check CHECK ((kind = ANY (ARRAY['platform'::text, 'account'::text, 'workspace'::text, 'deletion'::text, 'move'::text, 'moved'::text])))
);

create table delivery.platform_breakers (
  platform text not null,
  unknowns_in_row integer not null default 0,
  account_id uuid,
  is_several_accounts boolean not null default false,
  failed_probes integer not null default 0,
  held_since timestamp with time zone,
  probe_at timestamp with time zone,
  constraint platform_breakers_pkey PRIMARY KEY (platform),
  constraint platform_breakers_held_check CHECK (((held_since IS NULL) = (probe_at IS NULL)))
);

create table delivery.platform_limits (
  platform text not null,
  until timestamp with time zone not null,
  code text not null,
  message text not null,
  constraint platform_limits_pkey PRIMARY KEY (platform)
);

create table delivery.publish_attempts (
  target_id uuid not null,
  number integer not null,
  generation integer not null,
  workspace_id uuid not null,
  account_id uuid not null,
  fence bigint not null,
  call_number integer not null default 0,
  started_at timestamp with time zone not null default now(),
  called_at timestamp with time zone,
  call_until timestamp with time zone,
  finished_at timestamp with time zone,
  outcome text,
  code text not null default ''::text,
  message text not null default ''::text,
  external_id text,
  permalink text,
  is_not_sent boolean not null default false,
  constraint publish_attempts_pkey PRIMARY KEY (target_id, number),
  constraint publish_attempts_number_check CHECK ((number > 0)),
  constraint publish_attempts_outcome_check CHECK ((outcome = ANY (ARRAY['published'::text, 'retry'::text, 'failed'::text, 'unknown'::text])))
);
CREATE INDEX publish_attempts_by_external ON delivery.publish_attempts USING btree (external_id) WHERE (external_id IS NOT NULL);

create table delivery.publish_tasks (
  target_id uuid not null,
  generation integer not null,
  workspace_id uuid not null,
  post_id uuid not null,
  account_id uuid not null,
  platform text not null,
  external_account_id text,
  unconfirmed_account_id text,
  content_hash text,
  status text not null,
  is_cancelled boolean not null default false,
  wake_at timestamp with time zone not null,
  due_at timestamp with time zone not null,
  first_due_at timestamp with time zone,
  publish_before timestamp with time zone not null,
  fence bigint not null default 0,
  lease_owner uuid,
  crash_count integer not null default 0,
  attempt_number integer not null default 0,
  is_attempt_open boolean not null default false,
  retry_count integer not null default 0,
  call_number integer not null default 0,
  called_at timestamp with time zone,
  call_until timestamp with time zone,
  first_unknown_at timestamp with time zone,
  unknown_count integer not null default 0,
  open_unknowns integer not null default 0,
  resend_count integer not null default 0,
  looks integer not null default 0,
  is_limited boolean not null default false,
  doubted_at timestamp with time zone,
  is_doubtful boolean not null default false,
  is_restored boolean not null default false,
  external_id text,
  permalink text,
  published_at timestamp with time zone,
  error_code text,
  error_message text,
  handles jsonb,
  cause jsonb,
  version bigint not null default 1,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint publish_tasks_pkey PRIMARY KEY (target_id, generation),
  constraint publish_tasks_generation_check CHECK ((generation > 0)),
  constraint publish_tasks_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'working'::text, 'calling'::text, 'unknown'::text, 'reconciling'::text, 'published'::text, 'failed'::text, 'dropped'::text])))
);
CREATE INDEX publish_tasks_by_account ON delivery.publish_tasks USING btree (account_id, status, wake_at) WHERE (status = ANY (ARRAY['queued'::text, 'working'::text, 'calling'::text, 'unknown'::text, 'reconciling'::text]));
CREATE INDEX publish_tasks_by_external ON delivery.publish_tasks USING btree (external_id) WHERE (external_id IS NOT NULL);
CREATE INDEX publish_tasks_doubtful ON delivery.publish_tasks USING btree (wake_at) WHERE (is_doubtful AND (status = ANY (ARRAY['queued'::text, 'working'::text, 'unknown'::text, 'reconciling'::text])));
CREATE INDEX publish_tasks_in_work ON delivery.publish_tasks USING btree (wake_at) WHERE (status = ANY (ARRAY['working'::text, 'calling'::text, 'reconciling'::text]));
CREATE INDEX publish_tasks_live_external ON delivery.publish_tasks USING btree (platform, external_account_id) WHERE ((external_account_id IS NOT NULL) AND (status = ANY (ARRAY['queued'::text, 'working'::text, 'calling'::text, 'unknown'::text, 'reconciling'::text])));
CREATE UNIQUE INDEX publish_tasks_one_calling ON delivery.publish_tasks USING btree (account_id) WHERE (status = 'calling'::text);
CREATE UNIQUE INDEX publish_tasks_one_content ON delivery.publish_tasks USING btree (account_id, content_hash) WHERE (status = ANY (ARRAY['calling'::text, 'unknown'::text, 'reconciling'::text]));
CREATE UNIQUE INDEX publish_tasks_one_external_content ON delivery.publish_tasks USING btree (platform, external_account_id, content_hash) WHERE (status = ANY (ARRAY['calling'::text, 'unknown'::text, 'reconciling'::text]));
CREATE UNIQUE INDEX publish_tasks_one_published ON delivery.publish_tasks USING btree (target_id) WHERE (status = 'published'::text);
CREATE INDEX publish_tasks_restored ON delivery.publish_tasks USING btree (doubted_at) WHERE is_restored;
CREATE INDEX publish_tasks_unconfirmed ON delivery.publish_tasks USING btree (workspace_id) WHERE (unconfirmed_account_id IS NOT NULL);
CREATE INDEX publish_tasks_with_handles ON delivery.publish_tasks USING btree (target_id) WHERE (handles IS NOT NULL);
CREATE TRIGGER queue_changed_tasks AFTER UPDATE ON delivery.publish_tasks REFERENCING OLD TABLE AS previous NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION queue_changed_tasks();
CREATE TRIGGER queue_inserted_tasks AFTER INSERT ON delivery.publish_tasks REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT EXECUTE FUNCTION queue_inserted_tasks();

create table delivery.schema_migrations (
  version integer not null,
  name text not null,
  applied_at timestamp with time zone not null default now(),
  constraint schema_migrations_pkey PRIMARY KEY (version)
);

create table delivery.target_metric_history (
  target_id uuid not null,
  refreshed_at timestamp(3) with time zone not null,
  workspace_id uuid not null,
  views bigint,
  impressions bigint,
  reach bigint,
  likes bigint,
  comments bigint,
  shares bigint,
  saves bigint,
  constraint target_metric_history_pkey PRIMARY KEY (target_id, refreshed_at)
);

create table delivery.target_metrics (
  target_id uuid not null,
  workspace_id uuid not null,
  post_id uuid not null,
  account_id uuid not null,
  platform text not null,
  external_id text,
  published_at timestamp with time zone not null,
  due_at timestamp with time zone not null,
  failure_count integer not null default 0,
  missing_count integer not null default 0,
  asking_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  asked_by_hand_at timestamp with time zone,
  views bigint,
  impressions bigint,
  reach bigint,
  likes bigint,
  comments bigint,
  shares bigint,
  saves bigint,
  refreshed_at timestamp(3) with time zone,
  thin_at timestamp with time zone not null default 'infinity'::timestamp with time zone,
  constraint target_metrics_pkey PRIMARY KEY (target_id)
);
CREATE INDEX target_metrics_by_workspace ON delivery.target_metrics USING btree (workspace_id, published_at DESC);
CREATE INDEX target_metrics_due ON delivery.target_metrics USING btree (account_id, due_at) WHERE (due_at < 'infinity'::timestamp with time zone);
CREATE INDEX target_metrics_thin ON delivery.target_metrics USING btree (thin_at) WHERE (thin_at < 'infinity'::timestamp with time zone);

create table delivery.webhook_attempts (
  delivery_id uuid not null,
  number integer not null,
  workspace_id uuid not null,
  started_at timestamp with time zone not null,
  duration_ms integer not null,
  status_code integer,
  error text,
  request_headers jsonb not null,
  response_headers jsonb,
  response_body text,
  constraint webhook_attempts_pkey PRIMARY KEY (delivery_id, number)
);

create table delivery.webhook_compositions (
  event_id uuid not null,
  workspace_id uuid not null,
  type text not null,
  occurred_at timestamp with time zone not null,
  sequence bigint not null,
  source jsonb not null,
  cause jsonb not null,
  subscription_ids uuid[] not null,
  tries integer not null default 0,
  lease_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint webhook_compositions_pkey PRIMARY KEY (event_id)
);
CREATE INDEX webhook_compositions_by_workspace ON delivery.webhook_compositions USING btree (workspace_id, event_id);

create table delivery.webhook_deliveries (
  id uuid not null,
  subscription_id uuid not null,
  workspace_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  status text not null default 'pending'::text,
  error text,
  attempt_count integer not null default 0,
  next_attempt_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  constraint webhook_deliveries_pkey PRIMARY KEY (id),
  constraint webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text])))
);
CREATE INDEX webhook_deliveries_by_status ON ONLY delivery.webhook_deliveries USING btree (subscription_id, status, id);
CREATE INDEX webhook_deliveries_by_type ON ONLY delivery.webhook_deliveries USING btree (subscription_id, event_type, status, id);

create table delivery.webhook_events (
  id uuid not null,
  workspace_id uuid not null,
  type text not null,
  payload text not null,
  cause jsonb not null default '{}'::jsonb,
  created_at timestamp with time zone not null default now(),
  constraint webhook_events_pkey PRIMARY KEY (id)
);
CREATE INDEX webhook_events_by_workspace ON ONLY delivery.webhook_events USING btree (workspace_id, id);

create table delivery.webhook_leases (
  subscription_id uuid not null,
  workspace_id uuid not null,
  wake_at timestamp with time zone not null default 'infinity'::timestamp with time zone,
  owner uuid,
  lease_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  blocked_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  unanswered_in_row integer not null default 0,
  failing_since timestamp with time zone,
  pace text not null default 'new'::text,
  constraint webhook_leases_pkey PRIMARY KEY (subscription_id),
  constraint webhook_leases_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES webhook_subscriptions(id),
  constraint webhook_leases_pace_check CHECK ((pace = ANY (ARRAY['new'::text, 'fast'::text, 'slow'::text])))
);
CREATE INDEX webhook_leases_by_workspace ON delivery.webhook_leases USING btree (workspace_id);
CREATE INDEX webhook_leases_due ON delivery.webhook_leases USING btree (pace, wake_at) WHERE (wake_at < 'infinity'::timestamp with time zone);

create table delivery.webhook_queue (
  delivery_id uuid not null,
  subscription_id uuid not null,
  event_id uuid not null,
  attempt_count integer not null default 0,
  due_at timestamp with time zone not null default now(),
  is_manual boolean not null default false,
  sending_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint webhook_queue_pkey PRIMARY KEY (delivery_id)
);
CREATE INDEX webhook_queue_due ON delivery.webhook_queue USING btree (subscription_id, is_manual, due_at);

create table delivery.webhook_secrets (
  id uuid not null,
  subscription_id uuid not null,
  workspace_id uuid not null,
  sealed text not null,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone,
  constraint webhook_secrets_pkey PRIMARY KEY (id),
  constraint webhook_secrets_subscription_id_fkey FOREIGN KEY (subscription_id) REFERENCES webhook_subscriptions(id)
);
CREATE INDEX webhook_secrets_by_subscription ON delivery.webhook_secrets USING btree (subscription_id);

create table delivery.webhook_subscriptions (
  id uuid not null,
  workspace_id uuid not null,
  url text not null,
  description text not null,
  events text[] not null,
  status text not null,
  disabled_reason text,
  signing text not null,
  public_key text,
  max_per_second integer,
  version bigint not null default 1,
  created_at timestamp with time zone not null default now(),
  updated_at timestamp with time zone not null default now(),
  constraint webhook_subscriptions_pkey PRIMARY KEY (id),
  constraint webhook_subscriptions_key_check CHECK (((signing = 'ed25519'::text) = (public_key IS NOT NULL))),
  constraint webhook_subscriptions_signing_check CHECK ((signing = ANY (ARRAY['hmac-sha256'::text, 'ed25519'::text]))),
  constraint webhook_subscriptions_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'disabled'::text, 'revoked'::text])))
);
CREATE INDEX webhook_subscriptions_by_creation ON delivery.webhook_subscriptions USING btree (workspace_id, created_at);
CREATE INDEX webhook_subscriptions_by_workspace ON delivery.webhook_subscriptions USING btree (workspace_id, id) WHERE (status <> 'revoked'::text);

create table delivery.webhook_usage (
  workspace_id uuid not null,
  day date not null,
  bytes bigint not null,
  constraint webhook_usage_pkey PRIMARY KEY (workspace_id, day)
);

create table delivery.webhook_usage_changes (
  workspace_id uuid not null,
  day date not null,
  bytes bigint not null
);
