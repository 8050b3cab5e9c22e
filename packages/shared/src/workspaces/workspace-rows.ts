import type { Sql } from "#src/postgres.ts";

interface WorkspaceTable {
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
async function listWorkspaceTables(sql: Sql): Promise<readonly WorkspaceTable[]> {
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

/** Of a table with an index: a post takes some ten rows of other tables with it. */
const PAGE_ROWS = 200;
/** Of a table without an index: 1 MB, which is read in some milliseconds. */
const PAGE_BLOCKS = 128;

async function deleteIndexed(sql: Sql, table: string, workspaceId: string): Promise<number> {
  // With the partition, because rows of several partitions have the same `ctid`.
  const { count } = await sql`
    delete from ${sql(table)}
    where workspace_id = ${workspaceId}
    and (tableoid, ctid) in (
      select tableoid, ctid
      from ${sql(table)}
      where workspace_id = ${workspaceId}
      limit ${PAGE_ROWS}
    )`;
  return count;
}

/** Of all partitions: the largest. */
async function countBlocks(sql: Sql, table: string): Promise<number> {
  const [row] = await sql<{ blocks: number }[]>`
    select ceil(greatest(
      pg_relation_size(to_regclass(${table})),
      (select max(pg_relation_size(relid)) from pg_partition_tree(to_regclass(${table})))
    ) / current_setting('block_size')::float8)::float8 as blocks`;
  return row?.blocks ?? 0;
}

async function deleteBlocks(
  sql: Sql,
  table: string,
  workspaceId: string,
  first: number,
): Promise<number> {
  const { count } = await sql`
    delete from ${sql(table)}
    where ctid >= ${`(${first},0)`}::tid
    and ctid < ${`(${first + PAGE_BLOCKS},0)`}::tid
    and workspace_id = ${workspaceId}`;
  return count;
}

async function* deleteFromIndex(
  sql: Sql,
  { name }: WorkspaceTable,
  workspaceId: string,
): AsyncGenerator<number, undefined> {
  for (let count = 1; count > 0;) {
    count = await deleteIndexed(sql, name, workspaceId);
    yield count;
  }
  return undefined;
}

async function* deleteFromBlocks(
  sql: Sql,
  { name }: WorkspaceTable,
  workspaceId: string,
): AsyncGenerator<number, undefined> {
  const blocks = await countBlocks(sql, name);
  for (let first = 0; first < blocks; first += PAGE_BLOCKS)
    yield await deleteBlocks(sql, name, workspaceId, first);
  return undefined;
}

/**
 * Deletes the rows of a workspace in all tables of the schema, page by page, and yields the number
 * of deleted rows after each page. Most of the large tables have no index by workspace, because
 * every post would pay for it; they are read once from the first block to the last. A row that
 * another transaction moves meanwhile can be missed, so a caller repeats the pass until it deletes
 * nothing.
 *
 * @param except Tables whose rows other code removes.
 */
export async function* deleteWorkspaceRows(
  sql: Sql,
  workspaceId: string,
  except: readonly string[] = [],
): AsyncGenerator<number, undefined> {
  for (const table of await listWorkspaceTables(sql)) {
    if (except.includes(table.name)) continue;
    const deleteFrom = table.isIndexed ? deleteFromIndex : deleteFromBlocks;
    yield* deleteFrom(sql, table, workspaceId);
  }
  return undefined;
}

/** Whether one of these tables still has a row of the workspace. */
export async function hasRowsOf(
  sql: Sql,
  tables: readonly string[],
  workspaceId: string,
): Promise<boolean> {
  for (const table of tables) {
    const rows = await sql`select from ${sql(table)} where workspace_id = ${workspaceId} limit 1`;
    if (rows.length > 0) return true;
  }
  return false;
}

/** Whether events of the workspace still wait in the outbox. */
export async function hasWaitingEvents(sql: Sql, workspaceId: string): Promise<boolean> {
  const text = `%${workspaceId}%`;
  const rows = await sql`select from outbox where payload like ${text} limit 1`;
  return rows.length > 0;
}

/** Deletes parked events that name the workspace. */
export async function deleteParkedEvents(sql: Sql, workspaceId: string): Promise<void> {
  const text = `%${workspaceId}%`;
  await sql`delete from parked_events where payload like ${text} or key = ${workspaceId}`;
}
