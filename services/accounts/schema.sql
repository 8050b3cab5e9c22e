create table accounts.account_settings (
  account_id uuid not null,
  workspace_id uuid not null,
  settings jsonb not null,
  version bigint not null default 1,
  updated_at timestamp with time zone not null default now(),
  constraint account_settings_pkey PRIMARY KEY (account_id),
  constraint account_settings_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id)
);

create table accounts.accounts (
  id uuid not null,
  workspace_id uuid not null,
  platform text not null,
  external_id text not null,
  username text not null,
  display_name text not null,
  avatar_url text,
  status text not null,
  permissions jsonb,
  traits jsonb not null default '{}'::jsonb,
  available jsonb,
  available_at timestamp with time zone,
  version bigint not null default 1,
  connected_at timestamp with time zone not null default now(),
  access_ended_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  constraint accounts_workspace_id_platform_external_id_key UNIQUE (workspace_id, platform, external_id),
  constraint accounts_pkey PRIMARY KEY (id),
  constraint accounts_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint accounts_available_check CHECK ((jsonb_typeof(available) = 'object'::text)),
  constraint accounts_avatar_url_check CHECK ((length(avatar_url) <= 2048)),
  constraint accounts_check CHECK (((available IS NULL) = (available_at IS NULL))),
  constraint accounts_display_name_check CHECK ((length(display_name) <= 256)),
  constraint accounts_external_id_check CHECK ((length(external_id) <= 512)),
  constraint accounts_permissions_check CHECK ((jsonb_typeof(permissions) = 'array'::text)),
  constraint accounts_status_check CHECK ((status = ANY (ARRAY['active'::text, 'reconnect_required'::text, 'disconnected'::text]))),
  constraint accounts_traits_check CHECK ((jsonb_typeof(traits) = 'object'::text)),
  constraint accounts_username_check CHECK ((length(username) <= 256))
);
CREATE INDEX accounts_external ON accounts.accounts USING btree (platform, external_id);

create table accounts.api_key_workspaces (
  api_key_id uuid not null,
  workspace_id uuid not null,
  constraint api_key_workspaces_pkey PRIMARY KEY (api_key_id, workspace_id),
  constraint api_key_workspaces_api_key_id_fkey FOREIGN KEY (api_key_id) REFERENCES api_keys(id),
  constraint api_key_workspaces_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);
CREATE INDEX api_key_workspaces_workspace ON accounts.api_key_workspaces USING btree (workspace_id);

create table accounts.api_keys (
  id uuid not null,
  hash bytea not null,
  prefix text not null,
  name text not null,
  scopes text[] not null,
  imported_from text,
  makers uuid[] not null default '{}'::uuid[],
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  last_used_at timestamp with time zone,
  created_at timestamp with time zone not null default now(),
  constraint api_keys_hash_key UNIQUE (hash),
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_hash_check CHECK ((octet_length(hash) = 32))
);
CREATE INDEX api_keys_imported ON accounts.api_keys USING btree (imported_from) WHERE (imported_from IS NOT NULL);
CREATE INDEX api_keys_makers ON accounts.api_keys USING gin (makers);

create table accounts.audit_log (
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
CREATE INDEX audit_log_action ON accounts.audit_log USING btree (action, at, id);
CREATE INDEX audit_log_actor ON accounts.audit_log USING btree (actor_id, at, id);
CREATE INDEX audit_log_at ON accounts.audit_log USING btree (at, id);
CREATE INDEX audit_log_removals ON accounts.audit_log USING btree (workspace_id) WHERE (action = 'workspace.remove'::text);
CREATE INDEX audit_log_workspace ON accounts.audit_log USING btree (workspace_id, at, id) WHERE (workspace_id IS NOT NULL);
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR TRUNCATE ON accounts.audit_log FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_log_change();
CREATE TRIGGER audit_log_keeps BEFORE DELETE ON accounts.audit_log FOR EACH ROW WHEN ((old.at > (now() - '90 days'::interval))) EXECUTE FUNCTION refuse_audit_log_change();

create table accounts.audit_log_deeds (
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
CREATE INDEX audit_log_deeds_actor ON accounts.audit_log_deeds USING btree (actor_id, at, id);
CREATE INDEX audit_log_deeds_workspace ON accounts.audit_log_deeds USING btree (workspace_id, at, id);

create table accounts.authorizations (
  id uuid not null,
  workspace_id uuid not null,
  platform text not null,
  link_hash bytea not null,
  status text not null,
  failure text,
  state_hash bytea,
  browser_hash bytea,
  code_verifier text,
  account_ids uuid[] not null default '{}'::uuid[],
  return_to text,
  api_key_id uuid,
  session_id uuid,
  created_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint authorizations_link_hash_key UNIQUE (link_hash),
  constraint authorizations_state_hash_key UNIQUE (state_hash),
  constraint authorizations_pkey PRIMARY KEY (id),
  constraint authorizations_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint authorizations_browser_hash_check CHECK ((octet_length(browser_hash) = 32)),
  constraint authorizations_link_hash_check CHECK ((octet_length(link_hash) = 32)),
  constraint authorizations_state_hash_check CHECK ((octet_length(state_hash) = 32)),
  constraint authorizations_status_check CHECK ((status = ANY (ARRAY['issued'::text, 'opened'::text, 'exchanging'::text, 'connected'::text, 'failed'::text])))
);
CREATE INDEX authorizations_expired ON accounts.authorizations USING btree (expires_at);

create unlogged table accounts.connect_budgets (
  workspace_id uuid not null,
  platform text not null,
  tokens double precision not null,
  refilled_at timestamp with time zone not null,
  constraint connect_budgets_pkey PRIMARY KEY (workspace_id, platform)
);

create table accounts.credentials (
  account_id uuid not null,
  workspace_id uuid not null,
  version bigint not null default 1,
  access_token text,
  refresh_token text,
  attributes jsonb not null default '{}'::jsonb,
  issued_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  renew_at timestamp with time zone,
  refresh_lease_token uuid,
  refresh_lease_until timestamp with time zone,
  given_up_version bigint,
  constraint credentials_pkey PRIMARY KEY (account_id),
  constraint credentials_account_id_fkey FOREIGN KEY (account_id) REFERENCES accounts(id),
  constraint credentials_access_token_check CHECK ((length(access_token) <= 32768)),
  constraint credentials_attributes_check CHECK ((length((attributes)::text) <= 16384)),
  constraint credentials_refresh_token_check CHECK ((length(refresh_token) <= 32768))
);
CREATE INDEX credentials_renewals ON accounts.credentials USING btree (renew_at) WHERE (renew_at IS NOT NULL);
CREATE INDEX credentials_sealing_keys ON accounts.credentials USING btree (split_part(access_token, '.'::text, 2), account_id);

create table accounts.dashboard_links (
  id uuid not null,
  hash bytea not null,
  workspace_id uuid not null,
  scopes text[] not null,
  expires_at timestamp with time zone not null,
  constraint dashboard_links_hash_key UNIQUE (hash),
  constraint dashboard_links_pkey PRIMARY KEY (id),
  constraint dashboard_links_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint dashboard_links_hash_check CHECK ((octet_length(hash) = 32))
);

create table accounts.dashboard_sessions (
  id uuid not null,
  hash bytea not null,
  workspace_id uuid not null,
  api_key_id uuid,
  scopes text[],
  user_agent text not null,
  created_at timestamp with time zone not null default now(),
  last_seen_at timestamp with time zone not null default now(),
  expires_at timestamp with time zone not null,
  constraint dashboard_sessions_hash_key UNIQUE (hash),
  constraint dashboard_sessions_pkey PRIMARY KEY (id),
  constraint dashboard_sessions_api_key_id_workspace_id_fkey FOREIGN KEY (api_key_id, workspace_id) REFERENCES api_key_workspaces(api_key_id, workspace_id),
  constraint dashboard_sessions_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint dashboard_sessions_check CHECK (((api_key_id IS NULL) = (scopes IS NOT NULL))),
  constraint dashboard_sessions_hash_check CHECK ((octet_length(hash) = 32))
);
CREATE INDEX dashboard_sessions_key ON accounts.dashboard_sessions USING btree (api_key_id, workspace_id);
CREATE INDEX dashboard_sessions_workspace ON accounts.dashboard_sessions USING btree (workspace_id, id);

create table accounts.deployment (
  only_row boolean not null default true,
  system_identifier text not null,
  database_oid bigint not null,
  deployment_id text not null,
  constraint deployment_pkey PRIMARY KEY (only_row),
  constraint deployment_only_row_check CHECK (only_row)
);

create table accounts.outbox (
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

create table accounts.parked_events (
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

create unlogged table accounts.request_budgets (
  workspace_id uuid not null,
  tokens double precision not null,
  refilled_at timestamp with time zone not null,
  constraint request_budgets_pkey PRIMARY KEY (workspace_id)
);

create table accounts.schema_migrations (
  version integer not null,
  name text not null,
  applied_at timestamp with time zone not null default now(),
  constraint schema_migrations_pkey PRIMARY KEY (version)
);

create table accounts.workspace_imports (
  workspace_id uuid not null,
  manifest_sha256 text not null,
  progress jsonb not null default '{}'::jsonb,
  handover_hash bytea,
  is_cancelled boolean not null default false,
  started_at timestamp with time zone not null default now(),
  constraint workspace_imports_pkey PRIMARY KEY (workspace_id),
  constraint workspace_imports_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id)
);

create table accounts.workspace_removals (
  workspace_id uuid not null,
  service text not null,
  removed_rows bigint not null default 0,
  done_at timestamp with time zone,
  constraint workspace_removals_pkey PRIMARY KEY (workspace_id, service),
  constraint workspace_removals_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces(id),
  constraint workspace_removals_service_check CHECK ((service = ANY (ARRAY['posts'::text, 'media'::text, 'delivery'::text])))
);

create table accounts.workspaces (
  id uuid not null,
  name text not null,
  verified boolean not null,
  requests_per_minute integer,
  monthly_quota integer,
  daily_quota integer,
  deletion_requested_at timestamp with time zone,
  removes_at timestamp with time zone,
  removal_began_at timestamp with time zone,
  moves_to text,
  frozen_at timestamp with time zone,
  moved_at timestamp with time zone,
  handover bytea,
  created_at timestamp with time zone not null default now(),
  constraint workspaces_pkey PRIMARY KEY (id),
  constraint workspaces_check CHECK (((deletion_requested_at IS NULL) = (removes_at IS NULL))),
  constraint workspaces_check1 CHECK (((removal_began_at IS NULL) OR (removes_at IS NOT NULL))),
  constraint workspaces_check2 CHECK ((num_nulls(moves_to, frozen_at, handover) = ANY (ARRAY[0, 3]))),
  constraint workspaces_check3 CHECK (((moved_at IS NULL) OR (frozen_at IS NOT NULL))),
  constraint workspaces_daily_quota_check CHECK ((daily_quota >= 0)),
  constraint workspaces_handover_check CHECK ((octet_length(handover) = 32)),
  constraint workspaces_monthly_quota_check CHECK ((monthly_quota >= 0)),
  constraint workspaces_requests_per_minute_check CHECK ((requests_per_minute > 0))
);
CREATE INDEX workspaces_daily_quota ON accounts.workspaces USING btree (daily_quota) WHERE (daily_quota IS NOT NULL);
CREATE INDEX workspaces_stopped ON accounts.workspaces USING btree (id) WHERE ((removes_at IS NOT NULL) OR (frozen_at IS NOT NULL));
