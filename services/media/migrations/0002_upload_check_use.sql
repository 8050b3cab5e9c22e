-- unwritten media
-- Version 1 only reads, so the checks below meet no rows.

-- `content_type` and `bytes` are the declared values until the media are ready, then the values found in the file. Both
-- must agree.
alter table media
  -- Version of the media, incremented by each change of the media that an event reports.
  add column version bigint not null default 1,
  -- Key of the uploaded object in the object store; null before the upload and after the object is removed.
  add column object_key text,
  -- The file that platforms receive: the object `delivery_key`, or the uploaded object with `delivery_patches` applied, or,
  -- if both are null, the uploaded object.
  add column delivery_key text,
  -- Patches as `[{offset, bytes}]`, ordered by offset; `bytes` is in base64.
  add column delivery_patches jsonb,
  add column delivery_bytes bigint,
  add column delivery_sha256 text,
  add column delivery_content_type text,
  -- The reason why the check rejected the upload: `{code, limit, actual}`.
  add column rejection jsonb,
  -- Token and end of the lease of the process that checks the upload or deletes the objects of these media.
  add column lease_token uuid,
  add column lease_until timestamptz,
  add column ready_at timestamptz(3),
  alter column created_at type timestamptz(3),
  add constraint media_ready_check check (status <> 'ready' or (
    object_key is not null
    and sha256 is not null
    and delivery_bytes is not null
    and delivery_sha256 is not null
    and delivery_content_type is not null
    and ready_at is not null
  )),
  add constraint media_rejected_check check (status <> 'rejected' or rejection is not null);

-- Used by the job remove-forgotten-uploads to find pending media.
create index media_pending on media (created_at) where status = 'pending';

-- Used by the job remove-objects to find media whose objects have to be deleted.
create index media_removable on media (lease_until)
  where status = 'deleting' or (status = 'rejected' and object_key is not null);

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

create index upload_grants_open on upload_grants (expires_at) where used_at is null;

-- The usages of media by posts. A row is written before the posts service commits the post version.
create table media_usages (
  workspace_id uuid not null,
  media_id uuid not null references media (id) on delete cascade,
  post_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (media_id, post_id)
);

create index media_usages_post on media_usages (post_id);

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

create table outbox (
  id bigint generated always as identity primary key,
  event_id uuid not null,
  type text not null,
  key text not null,
  payload text not null check (octet_length(payload) <= 65536),
  headers jsonb not null,
  created_at timestamptz not null default now()
);

create table parked_events (
  id uuid primary key,
  -- 'in': a handler of this service failed for the event; 'out': the broker refused the event permanently.
  direction text not null check (direction in ('in', 'out')),
  topic text not null,
  event_id text not null,
  type text not null,
  key text not null,
  payload text not null,
  headers jsonb not null,
  error text not null,
  attempt_count int not null,
  parked_at timestamptz not null default now(),
  unique (direction, topic, event_id)
);
