-- The deployment that the data of this database belongs to: one row, inserted by the first process that starts. Data that
-- another deployment uses is a copy: on Kafka, its events would reach the services of the original deployment.
create table deployment (
  only_row boolean primary key default true check (only_row),
  system_identifier text not null,
  database_oid bigint not null,
  deployment_id text not null
);
