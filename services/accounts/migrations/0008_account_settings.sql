-- The settings that a workspace chose for an account. An account without a row has the defaults of its platform. The row is
-- kept when the account is disconnected, so that the settings are the same when it is connected again.
create table account_settings (
  account_id uuid primary key references accounts,
  workspace_id uuid not null,
  -- Only the settings that the workspace chose; the others follow the defaults.
  settings jsonb not null,
  -- Raised by every change of the settings.
  version bigint not null default 1,
  updated_at timestamptz not null default now()
);
