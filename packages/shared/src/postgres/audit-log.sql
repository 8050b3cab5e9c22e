-- The audit log: who changed what, when and from where. The first migration of every service includes this file, so
-- later releases change its tables only with migrations of their own. Rows are inserted in the transaction of the change
-- that they describe, are never changed, and stay for at least 90 days.
create table audit_log (
  id uuid primary key,
  -- The database's time of the change, in whole milliseconds, so that readers can continue after an instant exactly.
  at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  -- The workspace that the change belongs to; null for a change of the whole deployment.
  workspace_id uuid,
  actor_kind text not null check (actor_kind in ('key', 'session', 'operator', 'service', 'connect_link')),
  -- Id of the API key or of the authorization, or name of the process.
  actor_id text not null,
  -- User and computer of an operator, as the operator's tool says; nothing proves it.
  actor_name text,
  -- Which interface a request used: `rest`, `mcp` or `dashboard`.
  via text,
  action text not null,
  subject_type text not null,
  subject_id text not null,
  -- What changed: values without secrets and without texts of posts.
  details jsonb not null check (jsonb_typeof(details) = 'object'),
  request_id text,
  source_address text
);

create index audit_log_at on audit_log (at, id);
create index audit_log_workspace on audit_log (workspace_id, at, id) where workspace_id is not null;
create index audit_log_action on audit_log (action, at, id);
create index audit_log_actor on audit_log (actor_id, at, id);
-- Finds out whether a late event belongs to a workspace that was removed.
create index audit_log_removals on audit_log (workspace_id) where action = 'workspace.remove';

create function refuse_audit_log_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only: % is refused', tg_op using errcode = 'insufficient_privilege';
end
$$;

create trigger audit_log_append_only before update or truncate on audit_log
  for each statement execute function refuse_audit_log_change();
create trigger audit_log_keeps before delete on audit_log
  for each row when (old.at > now() - interval '90 days') execute function refuse_audit_log_change();

-- What clients asked for: one row for each request that changed posts, media and the like. These rows are many, so they
-- are deleted after 90 days, earlier than those of `audit_log`. The processes can only add rows with the current time
-- and read them.
create table audit_log_deeds (
  id uuid not null,
  at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  workspace_id uuid,
  actor_kind text not null check (actor_kind in ('key', 'session', 'operator', 'service', 'connect_link')),
  actor_id text not null,
  actor_name text,
  via text,
  action text not null,
  subject_type text not null,
  subject_id text not null,
  details jsonb not null,
  request_id text,
  source_address text,
  primary key (at, id)
);

create index audit_log_deeds_actor on audit_log_deeds (actor_id, at, id);
create index audit_log_deeds_workspace on audit_log_deeds (workspace_id, at, id);

-- Deletes up to `most` deeds that are over 90 days old, and up to `most` entries of `audit_log` that are over `days` and
-- over 90 days old; returns the larger number. It has the rights of the owner of the tables, and a stolen connection of
-- a service cannot delete what it did in the last 90 days. Temporary tables come last in the search path, so that no
-- caller can put another table in the place of ours.
do $do$
begin
  execute format($sql$
    create function delete_old_audit_entries(most int, days int) returns int
    language plpgsql security definer
    set search_path = %I, pg_temp
    as $$
    declare
      deeds int;
      entries int;
    begin
      delete from audit_log_deeds
      where (at, id) in (
        select at, id
        from audit_log_deeds
        where at < now() - interval '90 days'
        order by at, id
        limit least(most, 10000)
        for update skip locked
      );
      get diagnostics deeds = row_count;
      delete from audit_log
      where id in (
        select id
        from audit_log
        where at < now() - greatest(days, 90) * interval '1 day'
        order by at, id
        limit least(most, 10000)
        for update skip locked
      );
      get diagnostics entries = row_count;
      return greatest(deeds, entries);
    end;
    $$
  $sql$, current_schema());
end
$do$;

-- Keeps 1,000 deeds of a workspace for each hour that has ended: the first ones of each actor and action, as many as fit.
-- Of the others, those of one actor and action become one row in the place of the last of them, whose details say how
-- many they are, since when and from which addresses (20 at most). Replaces up to `most` deeds and returns their number. Like the function above, it has the rights of the owner: a process can
-- only have counted what exceeds the 1,000.
do $do$
begin
  execute format($sql$
    create function count_excess_deeds(most int) returns int
    language plpgsql security definer
    set search_path = %I, pg_temp
    as $$
    declare
      kept constant int := 1000;
      room int := least(most, 10000);
      busy record;
      removed_rows int;
    begin
      for busy in
        select workspace_id, date_trunc('hour', at) as since
        from audit_log_deeds
        where at >= date_trunc('hour', now() - interval '121 minutes')
        -- A transaction that began before the end of an hour ends at most 15 s after it.
        and at < date_trunc('hour', now() - interval '1 minute')
        and workspace_id is not null
        and details -> 'deeds' is null
        group by 1, 2
        having count(*) > kept
      loop
        exit when room <= 0;
        with numbered as (
          select at, id, row_number() over (partition by actor_kind, actor_id, action order by at, id) as number
          from audit_log_deeds
          where workspace_id = busy.workspace_id
          and at >= busy.since
          and at < busy.since + interval '1 hour'
          and details -> 'deeds' is null
        ),
        excess as (
          select at, id
          from numbered
          order by number, at, id
          limit room
          offset kept
        ),
        removed as (
          delete from audit_log_deeds as deed
          using excess
          where deed.at = excess.at
          and deed.id = excess.id
          returning deed
        ),
        replacement as (
          insert into audit_log_deeds (
            id, at, workspace_id, actor_kind, actor_id, actor_name, via, action, subject_type, subject_id, details,
            request_id, source_address
          )
          select
            (last).id, (last).at, (last).workspace_id, (last).actor_kind, (last).actor_id, (last).actor_name,
            (last).via, (last).action, (last).subject_type, (last).subject_id,
            jsonb_build_object('deeds', deeds, 'since', since, 'addresses', to_jsonb(addresses[1:20])),
            (last).request_id, (last).source_address
          from (
            select
              (array_agg(deed order by (deed).at desc, (deed).id desc))[1] as last, count(*) as deeds,
              min((deed).at) as since, array_agg(distinct (deed).source_address) as addresses
            from removed
            group by (deed).actor_kind, (deed).actor_id, (deed).action
          ) as grouped
        )
        select count(*) into removed_rows from removed;
        room := room - removed_rows;
      end loop;
      return least(most, 10000) - room;
    end;
    $$
  $sql$, current_schema());
end
$do$;
