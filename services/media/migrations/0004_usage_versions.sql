alter table media_usages
  -- The last time it was noted.
  rename column created_at to noted_at;

alter table media_usages
  -- Version that the post has once what was noted is committed: a post that has it without the media, never had it with.
  add column post_version bigint not null,
  -- The request that noted it; null when another one did, too.
  add column claim_id uuid;

-- Every statement knows the media.
drop index media_usages_post;
