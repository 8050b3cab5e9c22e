-- One way of connecting accounts: a link that is opened once, and the authorization that it begins.
create table oauth_tickets (
  id uuid primary key,
  workspace_id uuid not null references workspaces,
  platform text not null,
  -- SHA-256 of the secret in the link; the secret itself is nowhere.
  ticket_hash bytea not null unique check (octet_length(ticket_hash) = 32),
  status text not null check (status in ('issued', 'opened', 'exchanging', 'connected', 'failed')),
  -- Why it failed; null unless it did.
  failure text,
  -- SHA-256 of the state that the platform hands back, and of the secret of the browser that opened the link.
  state_hash bytea unique check (octet_length(state_hash) = 32),
  browser_hash bytea check (octet_length(browser_hash) = 32),
  -- Sealed; gone with the end of the authorization.
  code_verifier text,
  -- What was connected.
  account_ids uuid[] not null default '{}',
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index oauth_tickets_expired on oauth_tickets (expires_at);

-- Null = the account was disconnected, which destroys its tokens and keeps the version.
alter table credentials alter column access_token drop not null;

-- From then on the tokens are renewed though nobody uses them, because they would lapse for good. Null = they do not.
alter table credentials add column renew_at timestamptz;

create index credentials_renewals on credentials (renew_at) where renew_at is not null;

-- By the key that they are sealed with: both tokens of a row are always sealed together.
create index credentials_sealing_keys on credentials (split_part(access_token, '.', 2), account_id);

-- The same external account in other workspaces.
create index accounts_external on accounts (platform, external_id);
