-- What the owner of media says about them: a description for people who do not see them, and the time in a video of the
-- picture that stands for it.
alter table media
  add column alt_text text,
  add column cover_ms bigint check (cover_ms >= 0);
