-- Until when the publishing call of a live check can arrive at the platform; no other publishing call of the account begins before.
alter table live_checks add column call_until timestamptz;
