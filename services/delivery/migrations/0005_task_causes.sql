-- Headers of the event that asked for it, with the request's id and its trace: work goes on from there.
alter table publish_tasks add column cause jsonb;
alter table deletion_tasks add column cause jsonb;
