-- Where the data belongs: one row, made by the first process that starts. It belongs to the installation, not to a
-- workspace. Data that wakes up elsewhere is a copy: its refresh tokens are the original's, and most work only once.
create table deployment (
  only_row boolean primary key default true check (only_row),
  system_identifier text not null,
  database_oid bigint not null,
  deployment_id text not null
);
