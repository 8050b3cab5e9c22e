-- `content_type` and `bytes` are what was declared until the media is ready, and what was found in the bytes from then on:
-- the two must agree.
alter table media
  -- Raised by each change that an event tells.
  add column version bigint not null default 1,
  -- Where the bytes are in the object store; null before they arrived and once they are removed.
  add column object_key text,
  -- What platforms receive: another object, or this one with some bytes replaced, or (both null) this one.
  add column delivery_key text,
  -- `[{offset, bytes}]`, bytes in base64, by offset.
  add column delivery_patches jsonb,
  add column delivery_bytes bigint,
  add column delivery_sha256 text,
  add column delivery_content_type text,
  -- Why the bytes are not taken: `{code, limit, actual}`.
  add column rejection jsonb,
  -- The lease of the worker that checks it or removes its objects, and when the lease ends.
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

-- What the job that removes forgotten uploads takes.
create index media_pending on media (created_at) where status = 'pending';

-- What the job that removes objects takes.
create index media_removable on media (lease_until)
  where status = 'deleting' or (status = 'rejected' and object_key is not null);

-- No two media share an object; an object that neither index knows belongs to no media.
create unique index media_object on media (object_key) where object_key is not null;

create unique index media_delivery_object on media (delivery_key) where delivery_key is not null;

-- A grant stays as long as its media, so that a second upload is told from an unknown one.
create table upload_grants (
  media_id uuid primary key references media (id) on delete cascade,
  workspace_id uuid not null,
  token_sha256 bytea not null,
  expires_at timestamptz(3) not null,
  -- When all declared bytes had arrived.
  used_at timestamptz(3)
);

create index upload_grants_open on upload_grants (expires_at) where used_at is null;

-- Which posts use which media, written before the post commits.
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
  -- The response's message in proto binary form.
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
  -- 'in': our handler failed; 'out': the broker refused it for good.
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
