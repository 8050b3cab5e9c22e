-- Authorizations: a person opens a connect link once and connects accounts on the page of a platform.
create table oauth_tickets (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  platform text not null,
  -- SHA-256 of the secret in the connect link; the secret itself is not stored.
  ticket_hash bytea not null unique check (octet_length(ticket_hash) = 32),
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
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index oauth_tickets_expired on oauth_tickets (expires_at);

-- Null = the account was disconnected: its tokens are deleted, and the version of its credential is kept.
alter table credentials alter column access_token drop not null;

-- Time from which a job refreshes unused tokens, because they would expire. Null = unused tokens do not expire.
alter table credentials add column renew_at timestamptz;

create index credentials_renewals on credentials (renew_at) where renew_at is not null;

-- Finds credentials by the key that sealed them; both tokens of a row are sealed with the same key.
create index credentials_sealing_keys on credentials (split_part(access_token, '.', 2), account_id);

-- Finds the same external account in other workspaces.
create index accounts_external on accounts (platform, external_id);
