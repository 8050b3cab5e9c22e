alter table targets
  -- The settings of the account when the post was accepted, with which each attempt publishes; null = all defaults, or a
  -- draft.
  add column settings jsonb;
