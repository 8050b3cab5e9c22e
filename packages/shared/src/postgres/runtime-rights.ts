import type { TransactionSql } from "#src/postgres.ts";
import { webhooksRoleOf } from "#src/postgres/service-role.ts";

/**
 * Sets the rights of a role on what the migration role, the current one, owns; executes nothing if
 * they are right already.
 *
 * @param wanted The rights on the table or sequence `c`, as a SQL array.
 */
async function setRights(
  tx: TransactionSql,
  { schema, role }: { readonly schema: string; readonly role: string },
  wanted: ReturnType<typeof isAuditLog>,
): Promise<void> {
  const statements = await tx<{ statement: string }[]>`
    with relations as (
      select
        c.oid,
        case c.relkind when 'S' then 'sequence ' else 'table ' end || c.oid::regclass as name,
        ${wanted} as wanted,
        array(
          select privilege_type
          from aclexplode(c.relacl)
          where grantee = ${role}::regrole
        ) as present
      from pg_class as c
      where c.relnamespace = ${schema}::regnamespace
      and c.relowner = current_user::regrole
      and c.relkind in ('r', 'p', 'v', 'm', 'S')
    ),
    changes as (
      select 1 as step, 'revoke' as verb, 'from' as word, name, unnest(present) as privilege, wanted as other
      from relations
      union all
      select 2, 'grant', 'to', name, unnest(wanted), present
      from relations
    )
    select format('%s %s on %s %s %I', verb, string_agg(privilege, ', '), name, word, ${role}::text) as statement
    from changes
    where privilege <> all (other)
    group by step, verb, name, word
    order by step, name`;
  for (const { statement } of statements) await tx.unsafe(statement);
}

/**
 * In `audit_log` and its partitions the runtime role can read, and add rows with the current time.
 * It reads the list of migrations, and reads and writes all other tables. It can never truncate,
 * change or drop a table.
 */
async function setRuntimeRights(
  tx: TransactionSql,
  schema: string,
  runtime: string,
): Promise<void> {
  const wanted = tx`
    case
      -- The relay of the outbox reads the last value of the table's sequence.
      when c.relkind = 'S' then array['SELECT', 'USAGE']
      -- Its columns are granted by grantAuditColumns.
      when ${isAuditLog(tx)} then array['SELECT']
      when c.relname = 'schema_migrations' then array['SELECT']
      else array['SELECT', 'INSERT', 'UPDATE', 'DELETE']
    end`;
  await setRights(tx, { schema, role: runtime }, wanted);
  await grantAuditColumns(tx, schema, runtime);
}

/** The table `c` is an audit log or a partition of one. */
function isAuditLog(tx: TransactionSql) {
  return tx`(c.relname = 'audit_log' or starts_with(c.relname, 'audit_log_'))`;
}

/** Not `at`: an attacker could hide later changes behind an entry that stays the newest. */
async function grantAuditColumns(
  tx: TransactionSql,
  schema: string,
  runtime: string,
): Promise<void> {
  const statements = await tx<{ statement: string }[]>`
    select format(
      'grant insert (%s) on table %s to %I',
      string_agg(quote_ident(a.attname), ', ' order by a.attnum), c.oid::regclass, ${runtime}::text
    ) as statement
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid
    where c.relnamespace = ${schema}::regnamespace
    and c.relowner = current_user::regrole
    and c.relkind in ('r', 'p')
    and ${isAuditLog(tx)}
    and a.attnum > 0
    and not a.attisdropped
    and a.attname <> 'at'
    and not has_column_privilege(${runtime}::text, c.oid, a.attnum, 'insert')
    group by c.oid
    order by c.oid`;
  for (const { statement } of statements) await tx.unsafe(statement);
}

/** Grants rights on everything that the migration role has created or will create in the schema. */
export async function grantRuntime(
  tx: TransactionSql,
  schema: string,
  runtime: string,
): Promise<void> {
  await tx.unsafe(`grant usage on schema ${schema} to ${runtime}`);
  const future = `alter default privileges in schema ${schema} grant`;
  await tx.unsafe(`${future} select, insert, update, delete on tables to ${runtime}`);
  await tx.unsafe(`${future} select, usage on sequences to ${runtime}`);
  await setRuntimeRights(tx, schema, runtime);
}

/** What processes that only send webhooks read besides the tables of webhooks. */
const READ_BY_WEBHOOKS = [
  "automation_runs",
  "comment_actions",
  "deployment",
  "pauses",
  "schema_migrations",
];

/** Of an event that is parked again. Its payload, which an operator redrives, stays. */
const CHANGED_WHEN_PARKED_AGAIN = ["error", "attempt_count"];

/**
 * It reads and writes the tables of webhooks, whose partitions it can only use through them, reads
 * a few others, and can park events.
 */
async function setWebhooksRights(tx: TransactionSql, schema: string, role: string): Promise<void> {
  const wanted = tx`
    case
      when c.relkind = 'S' or c.relispartition then array[]::text[]
      when starts_with(c.relname, 'webhook_') then array['SELECT', 'INSERT', 'UPDATE', 'DELETE']
      when c.relname = 'parked_events' then array['SELECT', 'INSERT']
      when c.relname = any(${READ_BY_WEBHOOKS}::text[]) then array['SELECT']
      else array[]::text[]
    end`;
  await setRights(tx, { schema, role }, wanted);
  const columns = await tx<{ name: string }[]>`
    select a.attname as name
    from pg_attribute as a
    join pg_class as c on c.oid = a.attrelid
    where c.relnamespace = ${schema}::regnamespace
    and c.relname = 'parked_events'
    and a.attname = any(${CHANGED_WHEN_PARKED_AGAIN}::text[])
    and not has_column_privilege(${role}, c.oid, a.attnum, 'update')`;
  for (const { name } of columns)
    await tx.unsafe(`grant update (${name}) on ${schema}.parked_events to ${role}`);
}

/** Tables that are created later get their rights from `restrictRuntime`. */
export async function grantWebhooks(
  tx: TransactionSql,
  schema: string,
  role: string,
): Promise<void> {
  await tx.unsafe(`grant usage on schema ${schema} to ${role}`);
  await setWebhooksRights(tx, schema, role);
}

/**
 * In each migration, so that a new audit log can never be changed, and a new table of webhooks can
 * be used. Not with a single role.
 */
export async function restrictRuntime(tx: TransactionSql): Promise<void> {
  const roles = await tx<{ schema: string; runtime: string }[]>`
    select distinct current_schema() as schema, acl.grantee::regrole::text as runtime
    from pg_default_acl as d
    cross join aclexplode(d.defaclacl) as acl
    where d.defaclrole = current_user::regrole
    and d.defaclnamespace = current_schema()::regnamespace
    and acl.grantee <> d.defaclrole
    and acl.grantee <> 0`;
  for (const { schema, runtime } of roles) {
    await setRuntimeRights(tx, schema, runtime);
    const role = webhooksRoleOf(schema);
    const granted = await tx`
      select
      from pg_roles
      where rolname = ${role}
      and has_schema_privilege(oid, ${schema}, 'usage')`;
    if (granted.length > 0) await setWebhooksRights(tx, schema, role);
  }
}
