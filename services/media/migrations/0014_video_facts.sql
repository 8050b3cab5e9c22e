-- How a video is encoded: its codecs, pixel format, frames per second, and where its index lies. Null for images and for media of
-- earlier releases, which are published without a check of these facts.
alter table media
  add column video jsonb;
