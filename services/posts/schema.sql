create table posts.audit_log (
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
CREATE INDEX audit_log_action ON posts.audit_log USING btree (action, at, id);
CREATE INDEX audit_log_actor ON posts.audit_log USING btree (actor_id, at, id);
CREATE INDEX audit_log_at ON posts.audit_log USING btree (at, id);
CREATE INDEX audit_log_removals ON posts.audit_log USING btree (workspace_id) WHERE (action = 'workspace.remove'::text);
CREATE INDEX audit_log_workspace ON posts.audit_log USING btree (workspace_id, at, id) WHERE (workspace_id IS NOT NULL);
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR TRUNCATE ON posts.audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_log_change();
CREATE TRIGGER audit_log_keeps BEFORE DELETE ON posts.audit_log FOR EACH ROW WHEN ((old.at > (now() - '90 days'::interval))) EXECUTE FUNCTION refuse_audit_log_change();

create table posts.audit_log_deeds (
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
CREATE INDEX audit_log_deeds_actor ON posts.audit_log_deeds USING btree (actor_id, at, id);
CREATE INDEX audit_log_deeds_workspace ON posts.audit_log_deeds USING btree (workspace_id, at, id);

create table posts.deployment (
  only_row boolean not null default true,
  system_identifier text not null,
  database_oid bigint not null,
  deployment_id text not null,
  constraint deployment_pkey PRIMARY KEY (only_row),
  constraint deployment_only_row_check CHECK (only_row)
);

create table posts.duplicate_guards (
  target_id uuid not null,
  workspace_id uuid not null,
  account_id uuid not null,
  content_hash bytea not null,
  due_at timestamp(3) with time zone not null,
  is_checked boolean not null default false,
  expires_at timestamp(3) with time zone,
  constraint duplicate_guards_pkey PRIMARY KEY (target_id),
  constraint duplicate_guards_target_id_fkey FOREIGN KEY (target_id) REFERENCES targets(id) ON DELETE CASCADE
);
CREATE INDEX duplicate_guards_content ON posts.duplicate_guards USING btree (account_id, content_hash);
CREATE INDEX duplicate_guards_due ON posts.duplicate_guards USING btree (due_at);
CREATE TRIGGER duplicate_guards_check AFTER INSERT ON posts.duplicate_guards REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION check_guards();

create table posts.idempotency_keys (
  workspace_id uuid not null,
  operation text not null,
  key text not null,
  fingerprint text not null,
  response bytea not null,
  post_id uuid,
  content text,
  options jsonb,
  created_at timestamp with time zone not null default now(),
  constraint keys_count_delete TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint keys_count_insert TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint keys_count_update TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint idempotency_keys_pkey PRIMARY KEY (workspace_id, operation, key)
);
CREATE INDEX idempotency_keys_age ON posts.idempotency_keys USING btree (created_at);
CREATE INDEX idempotency_keys_post ON posts.idempotency_keys USING btree (post_id) WHERE (post_id IS NOT NULL);
CREATE CONSTRAINT TRIGGER keys_count_delete AFTER DELETE ON posts.idempotency_keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((key_bytes(old.response, old.content, old.options) > 0)) EXECUTE FUNCTION count_key();
CREATE CONSTRAINT TRIGGER keys_count_insert AFTER INSERT ON posts.idempotency_keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((key_bytes(new.response, new.content, new.options) > 0)) EXECUTE FUNCTION count_key();
CREATE CONSTRAINT TRIGGER keys_count_update AFTER UPDATE ON posts.idempotency_keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((key_bytes(old.response, old.content, old.options) <> key_bytes(new.response, new.content, new.options))) EXECUTE FUNCTION count_key();

create table posts.outbox (
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
CREATE INDEX outbox_before_backlog ON posts.outbox USING btree (id) WHERE (type !~~ 'postrider.backlog.%'::text);
CREATE INDEX outbox_of_backlog ON posts.outbox USING btree (id) WHERE (type ~~ 'postrider.backlog.%'::text);

create table posts.parked_events (
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

create table posts.post_limits (
  workspace_id uuid not null,
  drafts integer,
  bytes bigint,
  constraint post_limits_pkey PRIMARY KEY (workspace_id),
  constraint post_limits_bytes_check CHECK ((bytes >= 0)),
  constraint post_limits_drafts_check CHECK ((drafts >= 0))
);

create table posts.post_usage (
  workspace_id uuid not null,
  drafts integer not null,
  bytes bigint not null,
  constraint post_usage_pkey PRIMARY KEY (workspace_id)
);

create table posts.posts (
  id uuid not null,
  workspace_id uuid not null,
  status text not null,
  content text not null,
  options jsonb not null,
  media_ids uuid[] not null,
  media jsonb not null,
  platforms text[] not null default '{}'::text[],
  scheduled_at timestamp(3) with time zone,
  queue_slot_rule_id uuid,
  started_at timestamp(3) with time zone,
  published_at timestamp(3) with time zone,
  created_via text not null,
  cause jsonb,
  version bigint not null default 1,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  effective_at timestamp(3) with time zone not null generated always as (COALESCE(scheduled_at, created_at)) stored,
  constraint posts_count_delete TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint posts_count_insert TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint posts_count_update TRIGGER DEFERRABLE INITIALLY DEFERRED,
  constraint posts_pkey PRIMARY KEY (id),
  constraint posts_created_via_check CHECK ((created_via = ANY (ARRAY['rest'::text, 'mcp'::text, 'dashboard'::text]))),
  constraint posts_status_check CHECK ((status = ANY (ARRAY['draft'::text, 'scheduled'::text, 'publishing'::text, 'published'::text, 'partial'::text, 'failed'::text, 'cancelled'::text])))
);
CREATE INDEX posts_by_created_via ON posts.posts USING btree (workspace_id, created_via, effective_at DESC, id DESC);
CREATE INDEX posts_by_status ON posts.posts USING btree (workspace_id, status, effective_at DESC, id DESC);
CREATE INDEX posts_due ON posts.posts USING btree (scheduled_at, id) WHERE (status = 'scheduled'::text);
CREATE INDEX posts_effective ON posts.posts USING btree (workspace_id, effective_at DESC, id DESC);
CREATE INDEX posts_on_bluesky ON posts.posts USING btree (workspace_id, effective_at DESC, id DESC) WHERE ('bluesky'::text = ANY (platforms));
CREATE INDEX posts_on_facebook ON posts.posts USING btree (workspace_id, effective_at DESC, id DESC) WHERE ('facebook'::text = ANY (platforms));
CREATE INDEX posts_on_instagram ON posts.posts USING btree (workspace_id, effective_at DESC, id DESC) WHERE ('instagram'::text = ANY (platforms));
CREATE INDEX posts_on_telegram ON posts.posts USING btree (workspace_id, effective_at DESC, id DESC) WHERE ('telegram'::text = ANY (platforms));
CREATE INDEX posts_on_tiktok ON posts.posts USING btree (workspace_id, effective_at DESC, id DESC) WHERE ('tiktok'::text = ANY (platforms));
CREATE INDEX posts_on_x ON posts.posts USING btree (workspace_id, effective_at DESC, id DESC) WHERE ('x'::text = ANY (platforms));
CREATE INDEX posts_on_youtube ON posts.posts USING btree (workspace_id, effective_at DESC, id DESC) WHERE ('youtube'::text = ANY (platforms));
CREATE CONSTRAINT TRIGGER posts_count_delete AFTER DELETE ON posts.posts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.status = 'draft'::text) OR (post_bytes(old.content, old.options, old.media) > 0))) EXECUTE FUNCTION count_post();
CREATE CONSTRAINT TRIGGER posts_count_insert AFTER INSERT ON posts.posts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((new.status = 'draft'::text) OR (post_bytes(new.content, new.options, new.media) > 0))) EXECUTE FUNCTION count_post();
CREATE CONSTRAINT TRIGGER posts_count_update AFTER UPDATE OF content, options, media ON posts.posts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((((old.status = 'draft'::text) <> (new.status = 'draft'::text)) OR (post_bytes(old.content, old.options, old.media) <> post_bytes(new.content, new.options, new.media)))) EXECUTE FUNCTION count_post();
CREATE TRIGGER posts_keep_delete BEFORE DELETE ON posts.posts FOR EACH ROW EXECUTE FUNCTION keep_answered_content();
CREATE TRIGGER posts_keep_update BEFORE UPDATE OF content, options ON posts.posts FOR EACH ROW WHEN (((old.content <> new.content) OR (old.options <> new.options))) EXECUTE FUNCTION keep_answered_content();

create table posts.queue_slot_rules (
  id uuid not null,
  workspace_id uuid not null,
  name text not null,
  weekdays text[] not null,
  times text[] not null,
  timezone text not null,
  starts_on date,
  ends_on date,
  status text not null default 'active'::text,
  created_at timestamp(3) with time zone not null,
  updated_at timestamp(3) with time zone not null,
  constraint queue_slot_rules_pkey PRIMARY KEY (id),
  constraint queue_slot_rules_status_check CHECK ((status = ANY (ARRAY['active'::text, 'paused'::text, 'revoked'::text])))
);
CREATE INDEX queue_slot_rules_live ON posts.queue_slot_rules USING btree (workspace_id, id) WHERE (status <> 'revoked'::text);

create table posts.quota_usage (
  workspace_id uuid not null,
  subject text not null,
  period text not null,
  used integer not null default 0,
  reserved integer not null default 0,
  released integer not null default 0,
  exhausted_at timestamp with time zone,
  uncounted integer not null default 0,
  constraint quota_usage_pkey PRIMARY KEY (workspace_id, subject, period)
);
CREATE TRIGGER quota_usage_free AFTER DELETE ON posts.quota_usage REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION free_removed_quota();
CREATE TRIGGER quota_usage_uncounted AFTER UPDATE ON posts.quota_usage FOR EACH ROW WHEN (((old.uncounted > 0) AND ((new.used + new.reserved) < (old.used + old.reserved)) AND (new.workspace_id <> 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid))) EXECUTE FUNCTION give_back_uncounted();

create table posts.schema_migrations (
  version integer not null,
  name text not null,
  applied_at timestamp with time zone not null default now(),
  constraint schema_migrations_pkey PRIMARY KEY (version)
);

create table posts.slot_assignments (
  workspace_id uuid not null,
  slot_at timestamp(3) with time zone not null,
  post_id uuid not null,
  rule_id uuid not null,
  constraint slot_assignments_post_id_key UNIQUE (post_id),
  constraint slot_assignments_pkey PRIMARY KEY (workspace_id, slot_at),
  constraint slot_assignments_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE
);

create table posts.target_attempts (
  workspace_id uuid not null,
  target_id uuid not null,
  number integer not null,
  task_generation integer not null,
  task_version bigint not null,
  started_at timestamp(3) with time zone not null,
  finished_at timestamp(3) with time zone,
  outcome text not null,
  code text not null,
  message text not null,
  constraint target_attempts_pkey PRIMARY KEY (target_id, number),
  constraint target_attempts_target_id_fkey FOREIGN KEY (target_id) REFERENCES targets(id) ON DELETE CASCADE
);

create table posts.targets (
  id uuid not null,
  workspace_id uuid not null,
  post_id uuid not null,
  ordinal integer not null,
  account_id uuid not null,
  platform text not null,
  username text not null,
  status text not null default 'pending'::text,
  settings jsonb,
  content_hash bytea,
  generation integer not null,
  due_at timestamp(3) with time zone,
  publish_before timestamp(3) with time zone,
  due_day text,
  task_generation integer not null default 0,
  task_version bigint not null default 0,
  last_report_at timestamp with time zone not null,
  attempt_count integer not null default 0,
  next_attempt_at timestamp(3) with time zone,
  external_id text,
  permalink text,
  published_at timestamp(3) with time zone,
  error_code text,
  error_message text,
  error_retryable boolean,
  metrics jsonb,
  metrics_refreshed_at timestamp(3) with time zone,
  deletion integer not null default 0,
  deletion_version bigint not null default 0,
  deletion_requested_at timestamp(3) with time zone,
  updated_at timestamp(3) with time zone not null,
  constraint targets_post_id_ordinal_key UNIQUE (post_id, ordinal),
  constraint targets_pkey PRIMARY KEY (id),
  constraint targets_post_id_fkey FOREIGN KEY (post_id) REFERENCES posts(id) ON DELETE CASCADE,
  constraint targets_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'publishing'::text, 'published'::text, 'failed'::text, 'deleting'::text, 'deleted'::text, 'delete_failed'::text, 'cancelled'::text])))
);
CREATE INDEX targets_deleting ON posts.targets USING btree (last_report_at) WHERE (status = 'deleting'::text);
CREATE INDEX targets_unsettled ON posts.targets USING btree (last_report_at) WHERE ((publish_before IS NOT NULL) AND ((status = ANY (ARRAY['pending'::text, 'publishing'::text])) OR ((status = 'failed'::text) AND (error_code = 'outcome_unknown'::text))));
