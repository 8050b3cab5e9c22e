-- Live checks of accounts: one post each, which is published, read back and deleted for `postrider doctor account --live`.
create table live_checks (
  id uuid primary key,
  workspace_id uuid not null,
  account_id uuid not null,
  platform text not null,
  -- The text of the post, by which it can be found on the platform.
  text text not null,
  -- The ended steps, in their order.
  steps jsonb not null default '[]',
  started_at timestamptz not null default now(),
  -- When the publishing call began. It is set at most once, so a live check publishes at most one post.
  called_at timestamptz,
  ended_at timestamptz,
  -- The post that the platform has; null before it was published and after it was deleted.
  external_id text,
  permalink text
);
