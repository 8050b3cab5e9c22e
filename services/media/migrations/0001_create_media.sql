create table media (
  id uuid primary key,
  workspace_id uuid not null,
  status text not null check (status in ('pending', 'ready', 'rejected', 'deleting')),
  kind text not null check (kind in ('image', 'video')),
  content_type text not null,
  bytes bigint not null check (bytes > 0),
  width int,
  height int,
  duration_ms bigint,
  sha256 text,
  file_name text not null,
  created_at timestamptz not null default now()
);

create index media_workspace on media (workspace_id, id);
