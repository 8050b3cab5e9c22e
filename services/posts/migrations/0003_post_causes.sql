-- The request that created or changed the post last, as headers of events (request id and trace). The events of starting
-- the post continue its trace.
alter table posts add column cause jsonb;
