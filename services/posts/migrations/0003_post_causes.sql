-- The request that placed the post last, as the headers of its events: its id and its trace. What happens when the post
-- is due goes on from there.
alter table posts add column cause jsonb;
