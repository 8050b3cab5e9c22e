-- The post with which a platform may have received the media first. It explains why their description can no longer change.
alter table media add column prepared_for uuid;
