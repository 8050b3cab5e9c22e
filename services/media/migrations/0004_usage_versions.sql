alter table media_usages
  -- Time at which the usage was last recorded.
  rename column created_at to noted_at;

alter table media_usages
  -- Post version for which the usage was recorded. If the post has reached this version without the media, this version
  -- never used them.
  add column post_version bigint not null,
  -- Id of the request that recorded the usage; null if several requests recorded it.
  add column claim_id uuid;

-- Every statement looks usages up by their media.
drop index media_usages_post;
