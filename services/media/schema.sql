create table media.audit_log (
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
CREATE INDEX audit_log_action ON media.audit_log USING btree (action, at, id);
CREATE INDEX audit_log_actor ON media.audit_log USING btree (actor_id, at, id);
CREATE INDEX audit_log_at ON media.audit_log USING btree (at, id);
CREATE INDEX audit_log_removals ON media.audit_log USING btree (workspace_id) WHERE (action = 'workspace.remove'::text);
CREATE INDEX audit_log_workspace ON media.audit_log USING btree (workspace_id, at, id) WHERE (workspace_id IS NOT NULL);
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR TRUNCATE ON media.audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_log_change();
CREATE TRIGGER audit_log_keeps BEFORE DELETE ON media.audit_log FOR EACH ROW WHEN ((old.at > (now() - '90 days'::interval))) EXECUTE FUNCTION refuse_audit_log_change();

create table media.audit_log_deeds (
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
CREATE INDEX audit_log_deeds_actor ON media.audit_log_deeds USING btree (actor_id, at, id);
CREATE INDEX audit_log_deeds_workspace ON media.audit_log_deeds USING btree (workspace_id, at, id);

create table media.deployment (
  only_row boolean not null default true,
  system_identifier text not null,
  database_oid bigint not null,
  deployment_id text not null,
  table_oid bigint not null,
  timeline integer not null,
  owned_since timestamp with time zone not null default now(),
  restored_at timestamp with time zone,
  store_pass bigint not null default 0,
  constraint deployment_pkey PRIMARY KEY (only_row),
  constraint deployment_only_row_check CHECK (only_row)
);

create table media.idempotency_keys (
  workspace_id uuid not null,
  operation text not null,
  key text not null,
  fingerprint text not null,
  response bytea not null,
  created_at timestamp with time zone not null default now(),
  constraint idempotency_keys_pkey PRIMARY KEY (workspace_id, operation, key)
);
CREATE INDEX idempotency_keys_age ON media.idempotency_keys USING btree (created_at);

create table media.import_claims (
  workspace_id uuid not null,
  key text not null,
  token uuid not null,
  lease_until timestamp with time zone not null,
  constraint import_claims_pkey PRIMARY KEY (workspace_id, key)
);
CREATE INDEX import_claims_lease ON media.import_claims USING btree (lease_until);

create table media.job_runs (
  job text not null,
  next_at timestamp with time zone not null,
  constraint job_runs_pkey PRIMARY KEY (job)
);

create table media.media (
  id uuid not null,
  workspace_id uuid not null,
  status text not null,
  rejection jsonb,
  file_name text not null,
  object_key text,
  kind text not null,
  content_type text not null,
  bytes bigint not null,
  sha256 text,
  width integer,
  height integer,
  duration_ms bigint,
  frames integer,
  video jsonb,
  delivery_key text,
  delivery_patches jsonb,
  delivery_bytes bigint,
  delivery_sha256 text,
  delivery_content_type text,
  alt_text text,
  cover_ms bigint,
  prepared_at timestamp(3) with time zone,
  prepared_for uuid,
  lease_token uuid,
  lease_until timestamp with time zone,
  version bigint not null default 1,
  created_at timestamp(3) with time zone not null default now(),
  ready_at timestamp(3) with time zone,
  constraint media_pkey PRIMARY KEY (id),
  constraint media_bytes_check CHECK ((bytes > 0)),
  constraint media_cover_ms_check CHECK ((cover_ms >= 0)),
  constraint media_kind_check CHECK ((kind = ANY (ARRAY['image'::text, 'video'::text]))),
  constraint media_ready_check CHECK (((status <> 'ready'::text) OR ((object_key IS NOT NULL) AND (sha256 IS NOT NULL) AND (delivery_bytes IS NOT NULL) AND (delivery_sha256 IS NOT NULL) AND (delivery_content_type IS NOT NULL) AND (ready_at IS NOT NULL)))),
  constraint media_rejected_check CHECK (((status <> 'rejected'::text) OR (rejection IS NOT NULL))),
  constraint media_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'ready'::text, 'rejected'::text, 'deleting'::text])))
);
CREATE UNIQUE INDEX media_delivery_object ON media.media USING btree (delivery_key) WHERE (delivery_key IS NOT NULL);
CREATE UNIQUE INDEX media_object ON media.media USING btree (object_key) WHERE (object_key IS NOT NULL);
CREATE INDEX media_pending ON media.media USING btree (created_at) WHERE (status = 'pending'::text);
CREATE INDEX media_prepared ON media.media USING btree (id) WHERE ((status = 'ready'::text) AND (prepared_at IS NOT NULL));
CREATE INDEX media_rejected ON media.media USING btree (created_at) WHERE (status = 'rejected'::text);
CREATE INDEX media_removable ON media.media USING btree (lease_until) WHERE ((status = 'deleting'::text) OR ((status = 'rejected'::text) AND (object_key IS NOT NULL)));
CREATE INDEX media_removable_by_workspace ON media.media USING btree (workspace_id, lease_until NULLS FIRST) WHERE ((status = 'deleting'::text) OR ((status = 'rejected'::text) AND (object_key IS NOT NULL)));
CREATE INDEX media_workspace ON media.media USING btree (workspace_id, id);
CREATE TRIGGER count_deleted AFTER DELETE ON media.media REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_media();
CREATE TRIGGER count_inserted AFTER INSERT ON media.media REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_media();
CREATE TRIGGER count_updated AFTER UPDATE ON media.media REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_media();

create table media.media_renditions (
  id uuid not null,
  workspace_id uuid not null,
  media_id uuid not null,
  plan text not null,
  status text not null,
  object_key text,
  content_type text,
  bytes bigint,
  sha256 text,
  width integer,
  height integer,
  refusal text,
  lease_token uuid,
  lease_until timestamp with time zone,
  created_at timestamp(3) with time zone not null default now(),
  constraint media_renditions_media_id_plan_key UNIQUE (media_id, plan),
  constraint media_renditions_pkey PRIMARY KEY (id),
  constraint media_renditions_media_id_fkey FOREIGN KEY (media_id) REFERENCES media(id) ON DELETE CASCADE,
  constraint media_renditions_made_check CHECK (((status <> 'made'::text) OR ((object_key IS NOT NULL) AND (content_type IS NOT NULL) AND (bytes IS NOT NULL) AND (sha256 IS NOT NULL) AND (width IS NOT NULL) AND (height IS NOT NULL)))),
  constraint media_renditions_refused_check CHECK (((status <> 'refused'::text) OR (refusal IS NOT NULL))),
  constraint media_renditions_status_check CHECK ((status = ANY (ARRAY['making'::text, 'made'::text, 'refused'::text])))
);
CREATE UNIQUE INDEX media_renditions_object ON media.media_renditions USING btree (object_key) WHERE (object_key IS NOT NULL);
CREATE TRIGGER count_deleted AFTER DELETE ON media.media_renditions REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_renditions();
CREATE TRIGGER count_inserted AFTER INSERT ON media.media_renditions REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_renditions();
CREATE TRIGGER count_updated AFTER UPDATE ON media.media_renditions REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_renditions();

create table media.media_usages (
  workspace_id uuid not null,
  media_id uuid not null,
  post_id uuid not null,
  post_version bigint not null,
  claim_id uuid,
  noted_at timestamp with time zone not null default now(),
  constraint media_usages_pkey PRIMARY KEY (media_id, post_id),
  constraint media_usages_media_id_fkey FOREIGN KEY (media_id) REFERENCES media(id) ON DELETE CASCADE
);

create table media.outbox (
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

create table media.parked_events (
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

create table media.schema_migrations (
  version integer not null,
  name text not null,
  applied_at timestamp with time zone not null default now(),
  constraint schema_migrations_pkey PRIMARY KEY (version)
);

create table media.storage_changes (
  id bigint not null generated always as identity,
  workspace_id uuid not null,
  used_bytes bigint not null,
  reserved_bytes bigint not null,
  uploads integer not null,
  files integer not null,
  constraint storage_changes_pkey PRIMARY KEY (id)
);
CREATE INDEX storage_changes_workspace ON media.storage_changes USING btree (workspace_id);

create table media.storage_limits (
  workspace_id uuid not null,
  bytes bigint not null,
  constraint storage_limits_pkey PRIMARY KEY (workspace_id),
  constraint storage_limits_bytes_check CHECK ((bytes >= 0))
);

create table media.storage_usage (
  workspace_id uuid not null,
  used_bytes bigint not null,
  reserved_bytes bigint not null,
  uploads integer not null,
  files integer not null,
  constraint storage_usage_pkey PRIMARY KEY (workspace_id)
);

create table media.upload_grants (
  media_id uuid not null,
  workspace_id uuid not null,
  token_sha256 bytea not null,
  expires_at timestamp(3) with time zone not null,
  used_at timestamp(3) with time zone,
  constraint upload_grants_pkey PRIMARY KEY (media_id),
  constraint upload_grants_media_id_fkey FOREIGN KEY (media_id) REFERENCES media(id) ON DELETE CASCADE
);
