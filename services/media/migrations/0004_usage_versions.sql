-- The columns have defaults and `created_at` stays, because processes of the previous version still insert rows. Migration
-- 0005 removes `created_at`. Databases that applied an earlier text of this migration renamed `created_at` to `noted_at`.
alter table media_usages
  -- Time at which the usage of the media was last recorded. Existing rows count as recorded now, which keeps their media
  -- from being deleted for 10 minutes.
  add column noted_at timestamptz not null default now(),
  -- Post version for which the usage of the media was recorded. If the stored post has reached this version and does
  -- not use the media, the usage has ended. The default stands for an unknown version: 2^53 - 1, which no post reaches.
  add column post_version bigint not null default 9007199254740991,
  -- Id of the request that recorded the usage of the media; null if several requests recorded it.
  add column claim_id uuid;

-- Every statement looks usages up by the id of the media, so the index by post is not needed.
drop index media_usages_post;
