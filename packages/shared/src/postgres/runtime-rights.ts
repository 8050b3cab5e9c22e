import type { TransactionSql } from "#src/postgres.ts";

/**
 * Sets the rights of the runtime role on what the migration role, the current one, owns; executes
 * nothing if they are right already.
 *
 * In `audit_log` and its partitions it can read, and add rows with the current time. It reads the
 * list of migrations, and reads and writes all other tables. It can never truncate, change or drop
 * a table.
 */
async function setRights(tx: TransactionSql, schema: string, runtime: string): Promise<void> {
  const statements = await tx<{ statement: string }[]>`
    with relations as (
      select
        c.oid,
        case c.relkind when 'S' then 'sequence ' else 'table ' end || c.oid::regclass as name,
        case
          -- The relay of the outbox reads the last value of the table's sequence.
          when c.relkind = 'S' then array['SELECT', 'USAGE']
          -- Its columns are granted by grantAuditColumns.
          when ${isAuditLog(tx)} then array['SELECT']
          when c.relname = 'schema_migrations' then array['SELECT']
          else array['SELECT', 'INSERT', 'UPDATE', 'DELETE']
        end as wanted,
        array(
          select privilege_type
          from aclexplode(c.relacl)
          where grantee = ${runtime}::regrole
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
    select format('%s %s on %s %s %I', verb, string_agg(privilege, ', '), name, word, ${runtime}::text) as statement
    from changes
    where privilege <> all (other)
    group by step, verb, name, word
    order by step, name`;
  for (const { statement } of statements) await tx.unsafe(statement);
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
  await setRights(tx, schema, runtime);
}

/** In each migration, so that a new audit log can never be changed. Not with a single role. */
export async function restrictRuntime(tx: TransactionSql): Promise<void> {
  const roles = await tx<{ schema: string; runtime: string }[]>`
    select distinct current_schema() as schema, acl.grantee::regrole::text as runtime
    from pg_default_acl as d
    cross join aclexplode(d.defaclacl) as acl
    where d.defaclrole = current_user::regrole
    and d.defaclnamespace = current_schema()::regnamespace
    and acl.grantee <> d.defaclrole
    and acl.grantee <> 0`;
  for (const { schema, runtime } of roles) await setRights(tx, schema, runtime);
}
