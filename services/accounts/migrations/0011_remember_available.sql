-- What a platform offered an account when it was last asked, for example TikTok's privacy levels. Validation of posts uses it.
alter table accounts
  -- As the platform's reader of options returned it; null = never asked since the account was connected.
  add column available jsonb check (jsonb_typeof(available) = 'object'),
  add column available_at timestamptz,
  add check ((available is null) = (available_at is null));
