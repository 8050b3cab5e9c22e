-- The request that last created or changed the post, as headers of events (request id and trace). The events that start
-- the publishing of the post continue this trace.
alter table posts add column cause jsonb;
