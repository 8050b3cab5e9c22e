-- Limits of workspaces that differ from the defaults.
create table post_limits (
  workspace_id uuid primary key,
  -- Maximum number of drafts; null = the default.
  drafts int check (drafts >= 0),
  -- Maximum number of bytes of large posts; null = the default.
  bytes bigint check (bytes >= 0)
);

-- What a workspace stores, kept by the triggers below. The row is locked from just before the commit until the commit.
create table post_usage (
  workspace_id uuid primary key,
  drafts int not null,
  -- Bytes of content, options and media of posts that have over 4,096 of them, and of large responses that are kept for repeated
  -- requests. Smaller posts are limited by the number of drafts and by the monthly quota, so that most posts change no counter.
  bytes bigint not null
) with (fillfactor = 50);

create function counted_bytes(bytes bigint) returns bigint language sql immutable as $$
  select case when bytes > 4096 then bytes else 0 end
$$;

create function post_bytes(content text, options jsonb, media jsonb) returns bigint language sql immutable as $$
  select counted_bytes(octet_length(content)::bigint + octet_length(options::text) + octet_length(media::text))
$$;

create function key_bytes(response bytea, content text, options jsonb) returns bigint language sql immutable as $$
  select counted_bytes(
    octet_length(response)::bigint + coalesce(octet_length(content), 0) + coalesce(octet_length(options::text), 0)
  )
$$;

-- The limits of a workspace. A default that is changed here takes effect for all workspaces without limits of their own.
create function limits_of_posts(id uuid, out drafts int, out bytes bigint) language sql stable as $$
  select coalesce(own.drafts, 10000), coalesce(own.bytes, 1000000000)
  from (select 1) as one
  left join post_limits as own on own.workspace_id = id
$$;

-- Adds to the counters of a workspace. The upsert locks the row, so each of several concurrent transactions sees the counters
-- of the one before, and they cannot exceed a limit together.
create function count_usage(id uuid, more_drafts int, more_bytes bigint, is_limited boolean) returns void language plpgsql as $$
declare
  used record;
  allowed record;
begin
  insert into post_usage as usage (workspace_id, drafts, bytes)
  values (id, more_drafts, more_bytes)
  on conflict (workspace_id) do update
  set drafts = usage.drafts + excluded.drafts,
    bytes = usage.bytes + excluded.bytes
  returning usage.drafts, usage.bytes into used;
  if not is_limited then
    return;
  end if;
  select limits.drafts, limits.bytes into allowed from limits_of_posts(id) as limits;
  if more_drafts > 0 and used.drafts > allowed.drafts then
    perform refuse('too_many_drafts');
  end if;
  if more_bytes > 0 and used.bytes > allowed.bytes then
    perform refuse('post_storage');
  end if;
end
$$;

create function count_post() returns trigger language plpgsql as $$
declare
  more_drafts int := 0;
  more_bytes bigint := 0;
begin
  if tg_op <> 'INSERT' then
    more_drafts := more_drafts - (old.status = 'draft')::int;
    more_bytes := more_bytes - post_bytes(old.content, old.options, old.media);
  end if;
  if tg_op <> 'DELETE' then
    more_drafts := more_drafts + (new.status = 'draft')::int;
    more_bytes := more_bytes + post_bytes(new.content, new.options, new.media);
  end if;
  if more_drafts <> 0 or more_bytes <> 0 then
    perform count_usage(coalesce(new.workspace_id, old.workspace_id), more_drafts, more_bytes, true);
  end if;
  return null;
end
$$;

-- The triggers are deferred to the commit, because the row of a workspace is then locked only for a moment, and after every other
-- lock of the transaction.
create constraint trigger posts_count_insert after insert on posts
deferrable initially deferred for each row
when (new.status = 'draft' or post_bytes(new.content, new.options, new.media) > 0)
execute function count_post();

create constraint trigger posts_count_update after update of content, options, media on posts
deferrable initially deferred for each row
when (
  (old.status = 'draft') <> (new.status = 'draft')
  or post_bytes(old.content, old.options, old.media) <> post_bytes(new.content, new.options, new.media)
)
execute function count_post();

create constraint trigger posts_count_delete after delete on posts
deferrable initially deferred for each row
when (old.status = 'draft' or post_bytes(old.content, old.options, old.media) > 0)
execute function count_post();

-- A response to CreatePost without the content and the options of the post, which begins with a zero byte. They are in the post
-- as long as the post has them, and else here.
alter table idempotency_keys
  add column post_id uuid,
  add column content text,
  add column options jsonb;

create index idempotency_keys_post on idempotency_keys (post_id) where post_id is not null;

-- Keeps what a response refers to, before a post loses it. The post is locked by the same statement, and a repeated request reads
-- key and post in one statement, so it finds them in one of both.
create function keep_answered_content() returns trigger language plpgsql as $$
begin
  update idempotency_keys
  set content = old.content,
    options = old.options
  where post_id = old.id
  and content is null;
  if tg_op = 'DELETE' then
    return old;
  end if;
  return new;
end
$$;

create trigger posts_keep_update before update of content, options on posts for each row
when (old.content <> new.content or old.options <> new.options)
execute function keep_answered_content();

create trigger posts_keep_delete before delete on posts for each row
execute function keep_answered_content();

-- Responses count, but never refuse anything: they grow when a post is deleted, which must always be possible.
create function count_key() returns trigger language plpgsql as $$
declare
  more_bytes bigint := 0;
begin
  if tg_op <> 'INSERT' then
    more_bytes := more_bytes - key_bytes(old.response, old.content, old.options);
  end if;
  if tg_op <> 'DELETE' then
    more_bytes := more_bytes + key_bytes(new.response, new.content, new.options);
  end if;
  if more_bytes <> 0 then
    perform count_usage(coalesce(new.workspace_id, old.workspace_id), 0, more_bytes, false);
  end if;
  return null;
end
$$;

create constraint trigger keys_count_insert after insert on idempotency_keys
deferrable initially deferred for each row
when (key_bytes(new.response, new.content, new.options) > 0)
execute function count_key();

create constraint trigger keys_count_update after update on idempotency_keys
deferrable initially deferred for each row
when (key_bytes(old.response, old.content, old.options) <> key_bytes(new.response, new.content, new.options))
execute function count_key();

create constraint trigger keys_count_delete after delete on idempotency_keys
deferrable initially deferred for each row
when (key_bytes(old.response, old.content, old.options) > 0)
execute function count_key();

-- The triggers above hold writers of other transactions off until this migration commits, so these sums are complete.
insert into post_usage (workspace_id, drafts, bytes)
select workspace_id, sum(drafts), sum(bytes)
from (
  select workspace_id, (status = 'draft')::int as drafts, post_bytes(content, options, media) as bytes
  from posts
  union all
  select workspace_id, 0, key_bytes(response, content, options)
  from idempotency_keys
) as stored
group by workspace_id
having sum(drafts) > 0
or sum(bytes) > 0;
