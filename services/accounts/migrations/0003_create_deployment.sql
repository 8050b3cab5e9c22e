-- The deployment that the data of this database belongs to: one row, inserted by the first process that starts. Data
-- that another deployment uses is a copy: its refresh tokens belong to the original deployment, and most of them work
-- only once.
create table deployment (
  only_row boolean primary key default true check (only_row),
  system_identifier text not null,
  database_oid bigint not null,
  deployment_id text not null
);
