import type { Sql, TransactionSql } from "#src/postgres.ts";
import { grantRuntime } from "#src/postgres/runtime-rights.ts";
import { migrationRoleOf, runtimeRoleOf } from "#src/postgres/service-role.ts";

/**
 * Lists everything that the runtime role owns in the schema of its service, in the form that `alter … owner` requires:
 * the schema first, because the next owner of a table must be allowed to create tables in the schema. Indexes and the
 * sequences of columns are not listed, because Postgres changes their owner together with the owner of their table.
 */
async function listOwned(sql: Sql, service: string): Promise<readonly string[]> {
  const runtime = runtimeRoleOf(service);
  const rows = await sql<{ name: string }[]>`
    select 'schema ' || nspname as name
    from pg_namespace
    where nspname = ${service} and nspowner = ${runtime}::regrole
    union all
    select
      case c.relkind
        when 'v' then 'view '
        when 'm' then 'materialized view '
        when 'S' then 'sequence '
        else 'table '
      end || c.oid::regclass
    from pg_class as c
    where c.relnamespace = ${service}::regnamespace
    and c.relowner = ${runtime}::regrole
    and c.relkind in ('r', 'p', 'v', 'm', 'S')
    and not exists (
      select 1
      from pg_depend as d
      where c.relkind = 'S'
      and d.classid = 'pg_class'::regclass
      and d.objid = c.oid
      and d.deptype in ('a', 'i')
    )
    union all
    select 'routine ' || oid::regprocedure
    from pg_proc
    where pronamespace = ${service}::regnamespace
    and proowner = ${runtime}::regrole
    union all
    select 'type ' || oid::regtype
    from pg_type
    where typnamespace = ${service}::regnamespace
    and typowner = ${runtime}::regrole
    and typtype in ('d', 'e', 'r')`;
  return rows.map(({ name }) => name);
}

/**
 * Runs `work` with the rights of the owner of a role. A user who is not a superuser needs a temporary grant for this.
 */
async function withRightsOf(
  tx: TransactionSql,
  role: string,
  work: () => Promise<void>,
): Promise<void> {
  const [has] = await tx<{ usage: boolean }[]>`select pg_has_role(${role}, 'usage') as usage`;
  if (has?.usage === true) return await work();
  await tx.unsafe(`grant ${role} to current_user with inherit true, set true`);
  await work();
  await tx.unsafe(`grant ${role} to current_user with inherit false, set true`);
}

/** Grants the runtime role its rights on everything that the migration role owns. */
async function grantAsOwner(tx: TransactionSql, service: string): Promise<void> {
  await tx.unsafe(`set local role ${migrationRoleOf(service)}`);
  await grantRuntime(tx, service, runtimeRoleOf(service));
  await tx.unsafe("set local role none");
}

/**
 * Makes the migration role the owner of everything that the runtime role owns, as in releases that had one role for
 * both, and grants the runtime role its rights.
 *
 * Processes keep working meanwhile: each table changes its owner and gets its grants in a transaction of its own. One
 * transaction for all tables could end in a deadlock: it would wait for a transaction of a service that waits for a
 * table whose owner it has changed.
 */
export async function moveOwnership(
  sql: Sql,
  service: string,
  prepare: (tx: TransactionSql) => Promise<void>,
): Promise<void> {
  const runtime = runtimeRoleOf(service);
  for (const name of await listOwned(sql, service)) {
    await sql.begin(async (tx) => {
      await prepare(tx);
      await withRightsOf(tx, runtime, async () => {
        await tx.unsafe(`alter ${name} owner to ${migrationRoleOf(service)}`);
      });
      await grantAsOwner(tx, service);
    });
  }
  await sql.begin(async (tx) => {
    await prepare(tx);
    await grantAsOwner(tx, service);
  });
}
