-- removes media_usages.created_at
-- No version since migration 0004 reads or writes this column. Databases that applied an earlier text of migration 0004
-- have no such column and no default of `post_version`.
alter table media_usages
  drop column if exists created_at,
  alter column post_version set default 9007199254740991;
