-- Media, their uploads and the files for platforms

create table media (
  id uuid primary key,
  workspace_id uuid not null,
  status text not null check (status in ('pending', 'ready', 'rejected', 'deleting')),
  -- The reason why the check rejected the upload: `{code, limit, actual}`.
  rejection jsonb,
  file_name text not null,
  -- Key of the uploaded object in the object store; null before the upload and after the object is removed.
  object_key text,
  kind text not null check (kind in ('image', 'video')),
  -- `content_type` and `bytes` are the declared values until the media are ready, then the values found in the file.
  -- Both must agree.
  content_type text not null,
  bytes bigint not null check (bytes > 0),
  sha256 text,
  width int,
  height int,
  duration_ms bigint,
  -- Number of frames of an image, or of pages of a TIFF; 0 for videos; null until the file is checked.
  frames int,
  -- How a video is encoded: its codecs, pixel format, frames per second, and where its index lies. Null for images, and
  -- until the file is checked.
  video jsonb,
  -- The file that platforms receive: the object `delivery_key`, or the uploaded object with `delivery_patches` applied,
  -- or, if both are null, the uploaded object.
  delivery_key text,
  -- Patches as `[{offset, bytes}]`, ordered by offset; `bytes` is in base64.
  delivery_patches jsonb,
  delivery_bytes bigint,
  delivery_sha256 text,
  delivery_content_type text,
  -- What the owner says about the media: a description for people who do not see them, and the time in a video of the
  -- picture that stands for it.
  alt_text text,
  cover_ms bigint check (cover_ms >= 0),
  -- When a platform's file was asked for first. From then on the description and the cover do not change.
  prepared_at timestamptz(3),
  -- The post with which a platform may have received the media first. It explains why their description can no longer
  -- change.
  prepared_for uuid,
  -- Token and end of the lease of the process that checks the upload or deletes the objects of these media.
  lease_token uuid,
  lease_until timestamptz,
  -- Version of the media, incremented by each change of the media that an event reports.
  version bigint not null default 1,
  created_at timestamptz(3) not null default now(),
  ready_at timestamptz(3),
  constraint media_ready_check check (status <> 'ready' or (
    object_key is not null
    and sha256 is not null
    and delivery_bytes is not null
    and delivery_sha256 is not null
    and delivery_content_type is not null
    and ready_at is not null
  )),
  constraint media_rejected_check check (status <> 'rejected' or rejection is not null)
);

create index media_workspace on media (workspace_id, id);

-- Used by the job remove-forgotten-uploads to find pending media.
create index media_pending on media (created_at) where status = 'pending';

-- Used by the job remove-objects to find media whose objects have to be deleted.
create index media_removable on media (lease_until)
  where status = 'deleting' or (status = 'rejected' and object_key is not null);

-- Used by the job remove-objects to give each workspace its turn.
create index media_removable_by_workspace on media (workspace_id, lease_until nulls first)
  where status = 'deleting' or (status = 'rejected' and object_key is not null);

-- Used by the job clean-rejected-media to find media whose file is deleted.
create index media_rejected on media (created_at) where status = 'rejected';

-- Used by the job remove-old-media to find media that were published.
create index media_prepared on media (id) where status = 'ready' and prepared_at is not null;

-- No two media share an object of the object store. An object whose key is in neither of the two indexes belongs to no
-- media.
create unique index media_object on media (object_key) where object_key is not null;

create unique index media_delivery_object on media (delivery_key) where delivery_key is not null;

-- An upload grant is kept as long as its media, so that a second upload with the grant gets another error than an
-- upload without a grant.
create table upload_grants (
  media_id uuid primary key references media (id) on delete cascade,
  workspace_id uuid not null,
  token_sha256 bytea not null,
  expires_at timestamptz(3) not null,
  -- Time at which all declared bytes of the upload had been received.
  used_at timestamptz(3)
);

-- Images that were made from images for platforms. They exist as long as their media.
create table media_renditions (
  -- Name of the file in `GET /objects/{workspace_id}/{media_id}?rendition=`.
  id uuid primary key,
  workspace_id uuid not null,
  media_id uuid not null references media (id) on delete cascade,
  -- What was asked for: `<media type> <width>x<height> <fit> <maximum of bytes>`.
  plan text not null,
  status text not null check (status in ('making', 'made', 'refused')),
  object_key text,
  content_type text,
  bytes bigint,
  sha256 text,
  width int,
  height int,
  -- Why the rendition cannot be made, as a code.
  refusal text,
  -- Token and end of the lease of the process that makes the rendition.
  lease_token uuid,
  lease_until timestamptz,
  created_at timestamptz(3) not null default now(),
  -- Each rendition is made once.
  unique (media_id, plan),
  constraint media_renditions_made_check check (status <> 'made' or (
    object_key is not null
    and content_type is not null
    and bytes is not null
    and sha256 is not null
    and width is not null
    and height is not null
  )),
  constraint media_renditions_refused_check check (status <> 'refused' or refusal is not null)
);

-- No two renditions share an object of the object store.
create unique index media_renditions_object on media_renditions (object_key) where object_key is not null;

-- Use of media by posts, and the limit of storage

-- The usages of media by posts. A row is written before the posts service commits the post version.
create table media_usages (
  workspace_id uuid not null,
  media_id uuid not null references media (id) on delete cascade,
  post_id uuid not null,
  -- Post version for which the usage of the media was recorded. If the stored post has reached this version and does
  -- not use the media, the usage has ended.
  post_version bigint not null,
  -- Id of the request that recorded the usage of the media; null if several requests recorded it.
  claim_id uuid,
  -- Time at which the usage of the media was last recorded. It keeps the media from being deleted for 10 minutes.
  noted_at timestamptz not null default now(),
  primary key (media_id, post_id)
);

-- What a workspace stores, kept by the triggers below: a workspace can have a million files, too many to add up for each
-- upload.
create table storage_usage (
  workspace_id uuid primary key,
  -- Bytes of stored files and of their renditions, also of media that are being deleted.
  used_bytes bigint not null,
  -- Bytes of pending uploads, as declared.
  reserved_bytes bigint not null,
  -- Number of uploads that are not complete, and of deleted ones whose file may still arrive.
  uploads int not null,
  -- Number of rows of media, also of rejected ones.
  files int not null
) with (fillfactor = 50);

-- Further changes of `storage_usage`, made while another transaction had the lock of the workspace's storage, so that
-- none waits for another. The next transaction that has the lock adds them.
create table storage_changes (
  id bigint generated always as identity primary key,
  workspace_id uuid not null,
  used_bytes bigint not null,
  reserved_bytes bigint not null,
  uploads int not null,
  files int not null
);

create index storage_changes_workspace on storage_changes (workspace_id);

-- A smaller file counts with this size: it also takes a row and a block of the disk.
create function file_bytes(bytes bigint) returns bigint language sql immutable as $$
  select case when bytes is null then 0 else greatest(bytes, 16384) end
$$;

create function storage_of(
  m media, out used_bytes bigint, out reserved_bytes bigint, out uploads int, out files int
) language sql immutable as $$
  select
    case when m.status <> 'pending' then stored else 0 end,
    case when m.status = 'pending' then stored else 0 end,
    (m.status <> 'rejected' and m.delivery_bytes is null)::int,
    (m.id is not null)::int
  from (
    select case
      when m.status = 'rejected' and m.object_key is null then 0
      else file_bytes(m.bytes) + case when m.delivery_key is null then 0 else file_bytes(m.delivery_bytes) end
    end as stored
  ) as file
$$;

create function add_storage(id uuid, more_used bigint, more_reserved bigint, more_uploads int, more_files int)
returns void language plpgsql as $$
begin
  if (more_used, more_reserved, more_uploads, more_files) = (0, 0, 0, 0) then
    return;
  end if;
  if pg_try_advisory_xact_lock(hashtext('media.storage'), hashtext(id::text)) then
    insert into storage_usage as usage (workspace_id, used_bytes, reserved_bytes, uploads, files)
    values (id, more_used, more_reserved, more_uploads, more_files)
    on conflict (workspace_id) do update
    set used_bytes = usage.used_bytes + excluded.used_bytes,
      reserved_bytes = usage.reserved_bytes + excluded.reserved_bytes,
      uploads = usage.uploads + excluded.uploads,
      files = usage.files + excluded.files;
  else
    insert into storage_changes (workspace_id, used_bytes, reserved_bytes, uploads, files)
    values (id, more_used, more_reserved, more_uploads, more_files);
  end if;
end
$$;

-- Once for each statement and workspace: a statement that changes many rows must not write the counters as often.
create function add_media(rows media[], former media[]) returns void language sql as $$
  select add_storage(
    (m).workspace_id, sum(sign * used_bytes)::bigint, sum(sign * reserved_bytes)::bigint, sum(sign * uploads)::int,
    sum(sign * files)::int
  )
  from (select m, 1 as sign from unnest(rows) as m union all select m, -1 from unnest(former) as m) as changed
  cross join lateral storage_of(m)
  group by (m).workspace_id
$$;

create function count_media() returns trigger language plpgsql as $$
declare
  rows media[] := '{}';
  former media[] := '{}';
begin
  if tg_op <> 'DELETE' then
    rows := array(select n from new_rows n);
  end if;
  if tg_op <> 'INSERT' then
    former := array(select o from old_rows o);
  end if;
  perform add_media(rows, former);
  return null;
end
$$;

create trigger count_inserted after insert on media
  referencing new table as new_rows for each statement execute function count_media();
create trigger count_updated after update on media
  referencing new table as new_rows old table as old_rows for each statement execute function count_media();
create trigger count_deleted after delete on media
  referencing old table as old_rows for each statement execute function count_media();

create function add_renditions(rows media_renditions[], former media_renditions[]) returns void language sql as $$
  select add_storage(workspace_id, sum(sign * file_bytes(bytes))::bigint, 0, 0, 0)
  from (
    select workspace_id, bytes, 1 as sign from unnest(rows)
    union all
    select workspace_id, bytes, -1 from unnest(former)
  ) as changed
  group by workspace_id
$$;

create function count_renditions() returns trigger language plpgsql as $$
declare
  rows media_renditions[] := '{}';
  former media_renditions[] := '{}';
begin
  if tg_op <> 'DELETE' then
    rows := array(select n from new_rows n);
  end if;
  if tg_op <> 'INSERT' then
    former := array(select o from old_rows o);
  end if;
  perform add_renditions(rows, former);
  return null;
end
$$;

create trigger count_inserted after insert on media_renditions
  referencing new table as new_rows for each statement execute function count_renditions();
create trigger count_updated after update on media_renditions
  referencing new table as new_rows old table as old_rows for each statement execute function count_renditions();
create trigger count_deleted after delete on media_renditions
  referencing old table as old_rows for each statement execute function count_renditions();

-- Limits of workspaces that differ from the default of the media service.
create table storage_limits (
  workspace_id uuid primary key,
  -- Maximum number of bytes of the workspace's files and pending uploads.
  bytes bigint not null check (bytes >= 0)
);

-- Requests and jobs

create table idempotency_keys (
  workspace_id uuid not null,
  operation text not null,
  key text not null,
  fingerprint text not null,
  -- The response message of the RPC in protobuf binary format.
  response bytea not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, operation, key)
);

create index idempotency_keys_age on idempotency_keys (created_at);

-- Running media imports that have an idempotency key. The claim keeps a repeated request from starting a second
-- download. It does not guarantee this: only the idempotency key, which is stored with the media, is unique. The claim
-- of a dead process expires.
create table import_claims (
  workspace_id uuid not null,
  key text not null,
  -- Unique per import claim: distinguishes the current holder of the claim from an earlier holder.
  token uuid not null,
  lease_until timestamptz not null,
  primary key (workspace_id, key)
);

create index import_claims_lease on import_claims (lease_until);

-- When the jobs that only one replica may run at a time begin next. A replica claims a run by moving this time.
create table job_runs (
  job text primary key,
  next_at timestamptz not null
);

-- The deployment and its events

-- The deployment that the data of this database belongs to: one row, inserted by the first process that starts. Data
-- that another deployment uses is a copy: the files in the object store belong to the original deployment.
create table deployment (
  only_row boolean primary key default true check (only_row),
  system_identifier text not null,
  database_oid bigint not null,
  deployment_id text not null,
  -- The table and the Postgres timeline in which the data was last used. Others show that the data was restored.
  table_oid bigint not null,
  timeline integer not null,
  -- When this deployment began to use the data. Files that are older may belong to another deployment.
  owned_since timestamptz not null default now(),
  -- When a restore was last noticed. Files that no row names are kept for a day after it.
  restored_at timestamptz,
  -- Counts the passes that may delete files; the marker in the object store repeats it. A marker with a higher number
  -- shows that the data was restored to an earlier moment.
  store_pass bigint not null default 0
);

-- include outbox.sql

-- include audit-log.sql
