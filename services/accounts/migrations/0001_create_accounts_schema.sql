-- Workspaces and the API keys that may use them

create table workspaces (
  id uuid primary key,
  name text not null,
  verified boolean not null,
  -- Request limit of the workspace; null = the default limit applies.
  requests_per_minute int check (requests_per_minute > 0),
  monthly_quota int check (monthly_quota >= 0),
  daily_quota int check (daily_quota >= 0),
  -- When the deletion of the workspace was requested, when the removal of its data is due, and when it began: from then on
  -- nothing cancels it. From the request on, its API keys, publishing and webhooks are stopped.
  deletion_requested_at timestamptz,
  removes_at timestamptz,
  removal_began_at timestamptz,
  -- The cell that the workspace goes to, since when it can only be read here, and since when it is the other cell's, for good.
  -- The import there ends only with the handover secret, which is told once `moved_at` is set.
  moves_to text,
  frozen_at timestamptz,
  moved_at timestamptz,
  handover bytea check (octet_length(handover) = 32),
  created_at timestamptz not null default now(),
  check ((deletion_requested_at is null) = (removes_at is null)),
  check (removal_began_at is null or removes_at is not null),
  check (num_nulls(moves_to, frozen_at, handover) in (0, 3)),
  check (moved_at is null or frozen_at is not null)
);

create index workspaces_stopped on workspaces (id) where removes_at is not null or frozen_at is not null;
create index workspaces_daily_quota on workspaces (daily_quota) where daily_quota is not null;

-- What each service has removed of a workspace that is being deleted. A service without a row has reported nothing.
create table workspace_removals (
  workspace_id uuid not null references workspaces,
  service text not null check (service in ('posts', 'media', 'delivery')),
  removed_rows bigint not null default 0,
  done_at timestamptz,
  primary key (workspace_id, service)
);

-- Workspaces that are being created from an export. They are stopped, as if their deletion was requested.
create table workspace_imports (
  workspace_id uuid primary key references workspaces,
  manifest_sha256 text not null,
  -- Number of imported rows by file.
  progress jsonb not null default '{}',
  -- SHA-256 of the handover secret and the name of this cell, without which the import of a moved workspace does not end;
  -- null for other imports.
  handover_hash bytea,
  -- The deletion of the workspace was requested: the import cannot continue, and would withdraw the request at its end.
  is_cancelled boolean not null default false,
  started_at timestamptz not null default now()
);

create table api_keys (
  id uuid primary key,
  -- SHA-256 of the API key; the API key itself is not stored.
  hash bytea not null unique check (octet_length(hash) = 32),
  prefix text not null,
  name text not null,
  scopes text[] not null,
  -- The cell that issued the key and that its text names, if the key was imported with a workspace from there.
  imported_from text,
  -- The chain of keys and sessions that made this one, the first of them first; empty = the operator made it. A key ends
  -- with each key among its makers.
  makers uuid[] not null default '{}',
  expires_at timestamptz,
  revoked_at timestamptz,
  -- Time of the last request with the API key; written at most once a minute.
  last_used_at timestamptz,
  created_at timestamptz not null default now()
);

create index api_keys_imported on api_keys (imported_from) where imported_from is not null;
create index api_keys_makers on api_keys using gin (makers);

create table api_key_workspaces (
  api_key_id uuid not null references api_keys,
  workspace_id uuid not null references workspaces,
  primary key (api_key_id, workspace_id)
);

create index api_key_workspaces_workspace on api_key_workspaces (workspace_id);

-- Token buckets of the workspaces' request budgets. Unlogged: a crash of Postgres empties the table, and every bucket
-- is full again. Without a foreign key, which would lock the row of the workspace. Free space in each page lets updates
-- skip the index.
create unlogged table request_budgets (
  workspace_id uuid primary key,
  tokens double precision not null,
  refilled_at timestamptz not null
) with (fillfactor = 50);

-- Token buckets of the attempts to connect accounts with entered credentials, each of which calls the platform. Each
-- platform has one for each workspace, and one for all of them together, which has the nil UUID. Unlogged as above.
create unlogged table connect_budgets (
  workspace_id uuid not null,
  platform text not null,
  tokens double precision not null,
  refilled_at timestamptz not null,
  primary key (workspace_id, platform)
);

-- Connected accounts

create table accounts (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  platform text not null,
  -- The server of an account may be its owner's and answer with anything: no text is larger than one account needs.
  external_id text not null check (length(external_id) <= 512),
  username text not null check (length(username) <= 256),
  display_name text not null check (length(display_name) <= 256),
  avatar_url text check (length(avatar_url) <= 2048),
  status text not null check (status in ('active', 'reconnect_required', 'disconnected')),
  -- The platform's names of the permissions that were granted when the account was connected, as a list; null = the
  -- platform did not say.
  permissions jsonb check (jsonb_typeof(permissions) = 'array'),
  -- What changes the limits of the account, for example `verified_type` of X, as texts by name.
  traits jsonb not null default '{}' check (jsonb_typeof(traits) = 'object'),
  -- What the platform offered the account when it was last asked, for example TikTok's privacy levels, as the
  -- platform's reader of options returned it. Validation of posts uses it. Null = never asked since the account was
  -- connected.
  available jsonb check (jsonb_typeof(available) = 'object'),
  available_at timestamptz,
  version bigint not null default 1,
  connected_at timestamptz not null default now(),
  -- When the platform refused its access; null while it is accepted, and after an import.
  access_ended_at timestamptz,
  created_at timestamptz not null default now(),
  check ((available is null) = (available_at is null)),
  -- An external account that a workspace connects again keeps its account id.
  unique (workspace_id, platform, external_id)
);

-- Finds the same external account in other workspaces.
create index accounts_external on accounts (platform, external_id);

-- The settings that a workspace chose for an account. An account without a row has the defaults of its platform. The
-- row is kept when the account is disconnected, so that the settings are the same when it is connected again.
create table account_settings (
  account_id uuid primary key references accounts,
  workspace_id uuid not null,
  -- Only the settings that the workspace chose; the others follow the defaults.
  settings jsonb not null,
  -- Raised by every change of the settings.
  version bigint not null default 1,
  updated_at timestamptz not null default now()
);

create table credentials (
  account_id uuid primary key references accounts,
  workspace_id uuid not null,
  -- Version of the credential: every change of its tokens raises it, and it never falls.
  version bigint not null default 1,
  -- The access token and the refresh token are sealed: v1.<key id>.<nonce>.<ciphertext>.<tag>. The access token is null
  -- when the account was disconnected: its tokens are deleted, and the version of its credential is kept.
  access_token text check (length(access_token) <= 32768),
  refresh_token text check (length(refresh_token) <= 32768),
  -- Further data that the platform's connector needs besides the tokens; not secret.
  attributes jsonb not null default '{}' check (length(attributes::text) <= 16384),
  issued_at timestamptz not null,
  -- End of the access token's lifetime; null = the access token does not expire.
  expires_at timestamptz,
  -- Time from which a job refreshes unused tokens, because they would expire. Null = unused tokens do not expire.
  renew_at timestamptz,
  -- Identifies the process that holds the refresh lease; null when the lease has ended properly. A lease that has
  -- expired while this is set was never ended: its process died, or has new tokens that it cannot store yet.
  refresh_lease_token uuid,
  -- End of the refresh lease: until this time one process refreshes the tokens, or a failed refresh must not be tried
  -- again.
  refresh_lease_until timestamptz,
  -- The version whose refresh token the platform refused, if that was why the account needs a reconnect; otherwise
  -- null. Tokens that another process received for this version are still stored.
  given_up_version bigint
);

create index credentials_renewals on credentials (renew_at) where renew_at is not null;

-- Finds credentials by the key that sealed them; both tokens of a row are sealed with the same key.
create index credentials_sealing_keys on credentials (split_part(access_token, '.', 2), account_id);

-- Authorizations: a person opens a connect link once and connects accounts on the page of a platform.
create table authorizations (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  platform text not null,
  -- SHA-256 of the secret in the connect link; the secret itself is not stored.
  link_hash bytea not null unique check (octet_length(link_hash) = 32),
  status text not null check (status in ('issued', 'opened', 'exchanging', 'connected', 'failed')),
  -- Why the authorization failed; null unless it failed.
  failure text,
  -- SHA-256 of the state that the platform returns, and of the secret of the browser that opened the link.
  state_hash bytea unique check (octet_length(state_hash) = 32),
  browser_hash bytea check (octet_length(browser_hash) = 32),
  -- The PKCE code verifier, sealed; null after the end of the authorization.
  code_verifier text,
  -- Ids of the accounts that the authorization connected.
  account_ids uuid[] not null default '{}',
  -- The path of the dashboard to which the browser returns; null = it stays on the page that connects accounts.
  return_to text,
  -- The API key and the session that issued the link, which ends with them; both null = the operator issued it.
  api_key_id uuid,
  session_id uuid,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index authorizations_expired on authorizations (expires_at);

-- The dashboard: a login link or an API key opens a session of one browser in one workspace.

create table dashboard_links (
  id uuid primary key,
  -- SHA-256 of the secret in the login link; the secret itself is not stored. The row is deleted when the link is used.
  hash bytea not null unique check (octet_length(hash) = 32),
  workspace_id uuid not null references workspaces,
  scopes text[] not null,
  expires_at timestamptz not null
);

create table dashboard_sessions (
  id uuid primary key,
  -- SHA-256 of the token in the browser's cookie; the token itself is not stored. The row is deleted when the session is
  -- revoked.
  hash bytea not null unique check (octet_length(hash) = 32),
  workspace_id uuid not null references workspaces,
  -- The API key with which the session was opened; null = it was opened with a link.
  api_key_id uuid,
  -- Scopes of the link; null for a session that was opened with an API key, whose scopes it has.
  scopes text[],
  user_agent text not null,
  created_at timestamptz not null default now(),
  -- Time of the last request of the session; written at most once a minute.
  last_seen_at timestamptz not null default now(),
  expires_at timestamptz not null,
  check ((api_key_id is null) = (scopes is not null)),
  foreign key (api_key_id, workspace_id) references api_key_workspaces
);

create index dashboard_sessions_workspace on dashboard_sessions (workspace_id, id);
create index dashboard_sessions_key on dashboard_sessions (api_key_id, workspace_id);

-- The deployment and its events

-- The deployment that the data of this database belongs to: one row, inserted by the first process that starts. Data
-- that another deployment uses is a copy: its refresh tokens belong to the original deployment, and most of them work
-- only once.
create table deployment (
  only_row boolean primary key default true check (only_row),
  system_identifier text not null,
  database_oid bigint not null,
  deployment_id text not null
);

-- include outbox.sql

-- include audit-log.sql
