-- What the platform granted when the account was connected, and what it says about the account.
alter table accounts
  -- The platform's names of the granted permissions, as a list; null = connected before this was recorded.
  add column permissions jsonb check (jsonb_typeof(permissions) = 'array'),
  -- What changes the limits of the account, for example `verified_type` of X, as texts by name.
  add column traits jsonb not null default '{}' check (jsonb_typeof(traits) = 'object');
