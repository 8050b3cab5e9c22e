-- The audit log: who changed what, when and from where. Every service has this table with the same definition. Rows are
-- inserted in the transaction of the change that they describe, and are never changed or deleted.
create table audit_log (
  id uuid primary key,
  -- The database's time of the change, in whole milliseconds, so that readers can continue after an instant exactly.
  at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  -- The workspace that the change belongs to; null for a change of the whole deployment.
  workspace_id uuid,
  actor_kind text not null check (actor_kind in ('key', 'operator', 'service', 'connect_link')),
  -- Id of the API key or of the authorization, or name of the process.
  actor_id text not null,
  -- User and computer of an operator, as the operator's tool says; nothing proves it.
  actor_name text,
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

create function refuse_audit_log_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only: % is refused', tg_op using errcode = 'insufficient_privilege';
end
$$;

create trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_audit_log_change();
