alter table media
  -- Number of frames of an image, or of pages of a TIFF; 0 for videos; null when it was not counted.
  add column frames int,
  -- When a platform's file was asked for first. From then on the description and the cover do not change.
  add column prepared_at timestamptz(3);

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

-- Adds up the bytes of a workspace's renditions.
create index media_renditions_storage on media_renditions (workspace_id) include (bytes) where bytes is not null;
