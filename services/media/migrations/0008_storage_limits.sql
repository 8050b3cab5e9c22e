-- Limits of workspaces that differ from the default of the media service.
create table storage_limits (
  workspace_id uuid primary key,
  -- Maximum number of bytes of the workspace's files and pending uploads.
  bytes bigint not null check (bytes >= 0)
);

-- Adds up the bytes that a workspace stores without reading its rows of media.
create index media_storage on media (workspace_id) include (status, bytes, delivery_bytes, delivery_key)
  where status <> 'rejected' or object_key is not null;
