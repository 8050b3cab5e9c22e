-- Live checks of accounts: `postrider doctor account --live` publishes one post, reads it and deletes it.
create table live_checks (
  id uuid primary key,
  workspace_id uuid not null,
  account_id uuid not null,
  platform text not null,
  -- The text of the post, by which it can be found on the platform.
  text text not null,
  -- The steps of the live check that have ended, in their order.
  steps jsonb not null default '[]',
  started_at timestamptz not null default now(),
  -- When the publishing call of the live check began. It is set at most once, so a live check publishes at most one post.
  called_at timestamptz,
  ended_at timestamptz,
  -- The post that exists on the platform; null before it was published and after it was deleted.
  external_id text,
  permalink text
);
