create table media.media (
  id uuid not null,
  workspace_id uuid not null,
  status text not null,
  kind text not null,
  content_type text not null,
  bytes bigint not null,
  width integer,
  height integer,
  duration_ms bigint,
  sha256 text,
  file_name text not null,
  created_at timestamp with time zone not null default now(),
  constraint media_pkey PRIMARY KEY (id),
  constraint media_bytes_check CHECK ((bytes > 0)),
  constraint media_kind_check CHECK ((kind = ANY (ARRAY['image'::text, 'video'::text]))),
  constraint media_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'ready'::text, 'rejected'::text, 'deleting'::text])))
);
CREATE INDEX media_workspace ON media.media USING btree (workspace_id, id);

create table media.schema_migrations (
  version integer not null,
  name text not null,
  applied_at timestamp with time zone not null default now(),
  constraint schema_migrations_pkey PRIMARY KEY (version)
);
