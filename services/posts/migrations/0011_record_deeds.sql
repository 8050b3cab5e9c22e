-- Which interface a request used (`rest`, `mcp`, `dashboard`), and what one API key did.
alter table audit_log add column via text;
create index audit_log_actor on audit_log (actor_id, at, id);

-- What clients asked for: one row for each request that changed posts, media and the like. These rows are many, so they are
-- deleted after 90 days, unlike those of `audit_log`. The processes can only add rows with the current time and read them.
create table audit_log_deeds (
  id uuid not null,
  at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  workspace_id uuid,
  actor_kind text not null check (actor_kind in ('key', 'operator', 'service', 'connect_link')),
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

-- Deletes up to `most` deeds that are over 90 days old, and returns their number. It has the rights of the owner of the table
-- and takes no date, so that a stolen connection of a service cannot delete what it did. Temporary tables come last in the
-- search path, so that no caller can put another table in the place of ours.
do $do$
begin
  execute format($sql$
    create function delete_old_deeds(most int) returns int
    language plpgsql security definer
    set search_path = %I, pg_temp
    as $$
    declare
      deleted int;
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
      get diagnostics deleted = row_count;
      return deleted;
    end;
    $$
  $sql$, current_schema());
end
$do$;
