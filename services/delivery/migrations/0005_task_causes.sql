-- Headers of the event that requested the task, with the id of the API request and its trace.
alter table publish_tasks add column cause jsonb;
alter table deletion_tasks add column cause jsonb;
