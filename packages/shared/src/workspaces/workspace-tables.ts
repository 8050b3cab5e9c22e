import type { Sql } from "#src/postgres.ts";

export interface WorkspaceTable {
  readonly name: string;
  /** Whether an index finds the rows of a workspace without reading those of others. */
  readonly isIndexed: boolean;
}

/** The audit log has an end of its own, and says who deleted what. */
const KEPT = ["audit_log", "audit_log_deeds"];

/**
 * The tables of the connection's schema whose rows belong to a workspace, from `pg_catalog`, so
 * that no list can lack a new table: those with a column `workspace_id`. A table comes before those
 * that it refers to. Tables whose rows are deleted with the row that they refer to are left out.
 */
export async function listWorkspaceTables(sql: Sql): Promise<readonly WorkspaceTable[]> {
  const tables = await sql<(WorkspaceTable & { refersTo: string[]; isDependent: boolean })[]>`
    select c.relname as name,
      exists (
        select
        from pg_index i
        where i.indrelid = c.oid
        and i.indpred is null
        and i.indkey[0] = a.attnum
      ) as is_indexed,
      array(
        select k.confrelid::regclass::text
        from pg_constraint k
        where k.conrelid = c.oid
        and k.contype = 'f'
        and k.confrelid <> c.oid
      ) as refers_to,
      exists (
        select
        from pg_constraint k
        where k.conrelid = c.oid
        and k.contype = 'f'
        and k.confdeltype = 'c'
      ) as is_dependent
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped
    where c.relnamespace = current_schema()::regnamespace
    and c.relkind in ('r', 'p')
    and not c.relispartition
    and c.relname <> all(${KEPT})
    order by c.relname`;
  const left = new Map(tables.map((table) => [table.name, table]));
  const ordered: WorkspaceTable[] = [];
  while (left.size > 0) {
    const referred = new Set([...left.values()].flatMap(({ refersTo }) => refersTo));
    const free = [...left.values()].filter(({ name }) => !referred.has(name));
    if (free.length === 0) throw new Error("the foreign keys of the tables form a circle");
    for (const { name, isIndexed, isDependent } of free) {
      left.delete(name);
      if (!isDependent) ordered.push({ name, isIndexed });
    }
  }
  return ordered;
}
