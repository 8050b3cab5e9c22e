alter table media_usages
  -- Time at which the usage of the media was last recorded.
  rename column created_at to noted_at;

alter table media_usages
  -- Post version for which the usage of the media was recorded. If the stored post has reached this version and does
  -- not use the media, the usage has ended.
  add column post_version bigint not null,
  -- Id of the request that recorded the usage of the media; null if several requests recorded it.
  add column claim_id uuid;

-- Every statement looks usages up by the id of the media, so the index by post is not needed.
drop index media_usages_post;
