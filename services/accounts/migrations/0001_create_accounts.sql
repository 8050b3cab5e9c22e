create table workspaces (
  id uuid primary key,
  name text not null,
  verified boolean not null,
  -- Request limit of the workspace; null = the default limit applies.
  requests_per_minute int check (requests_per_minute > 0),
  monthly_quota int check (monthly_quota >= 0),
  daily_quota int check (daily_quota >= 0),
  created_at timestamptz not null default now()
);

create table api_keys (
  id uuid primary key,
  -- SHA-256 of the API key; the API key itself is not stored.
  hash bytea not null unique check (octet_length(hash) = 32),
  prefix text not null,
  name text not null,
  scopes text[] not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  -- Time of the last request with the API key; written at most once a minute.
  last_used_at timestamptz,
  created_at timestamptz not null default now()
);

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

create table accounts (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  platform text not null,
  external_id text not null,
  username text not null,
  display_name text not null,
  avatar_url text,
  status text not null check (status in ('active', 'reconnect_required', 'disconnected')),
  version bigint not null default 1,
  connected_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  -- An external account that a workspace connects again keeps its account id.
  unique (workspace_id, platform, external_id)
);

create table credentials (
  account_id uuid primary key references accounts,
  workspace_id uuid not null,
  -- Version of the credential: every change of its tokens raises it, and it never falls.
  version bigint not null default 1,
  -- The access token and the refresh token are sealed: v1.<key id>.<nonce>.<ciphertext>.<tag>.
  access_token text not null,
  refresh_token text,
  -- Further data that the platform's connector needs besides the tokens; not secret.
  attributes jsonb not null default '{}',
  issued_at timestamptz not null,
  -- End of the access token's lifetime; null = the access token does not expire.
  expires_at timestamptz,
  -- End of the refresh lease: until this time one process refreshes the tokens, or a failed refresh must not be tried
  -- again.
  refresh_lease_until timestamptz
);

create table outbox (
  id bigint generated always as identity primary key,
  event_id uuid not null,
  type text not null,
  key text not null,
  payload text not null check (octet_length(payload) <= 65536),
  headers jsonb not null,
  created_at timestamptz not null default now()
);

create table parked_events (
  id uuid primary key,
  -- 'in': the handler of an event failed; 'out': the broker refused an event for good.
  direction text not null check (direction in ('in', 'out')),
  topic text not null,
  event_id text not null,
  type text not null,
  key text not null,
  payload text not null,
  headers jsonb not null,
  error text not null,
  attempt_count int not null,
  parked_at timestamptz not null default now(),
  unique (direction, topic, event_id)
);
