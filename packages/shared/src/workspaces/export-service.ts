import type { ServiceImpl } from "@connectrpc/connect";
import type { WorkspaceExportService } from "@postrider/contracts/operations/v1/workspace_export_service_pb";
import { invalidRequest } from "#src/errors.ts";
import { isId } from "#src/ids.ts";
import type { Sql } from "#src/postgres.ts";

/**
 * The columns of a table that an export leaves out: secrets, leases and what only processes use.
 */
export type ExportedTables = Readonly<Record<string, readonly string[]>>;

/** Of all workspaces together, so that a statement reads a bounded part of a large table. */
const PAGE_ROWS = 2_000;

interface Page {
  readonly rows: readonly string[];
  readonly last: string | null;
}

async function keyOf(sql: Sql, table: string): Promise<readonly string[]> {
  const rows = await sql<{ name: string }[]>`
    select a.attname as name
    from pg_index i
    cross join unnest(i.indkey) with ordinality as k (number, place)
    join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
    where i.indrelid = to_regclass(${table})
    and i.indisprimary
    order by k.place`;
  return rows.map(({ name }) => name);
}

/**
 * The next rows in the order of the primary key, whose columns never change: unlike a place in the
 * heap, it finds each row once, whatever is written meanwhile. Large tables have no index by
 * workspace, so the page counts the rows of all workspaces.
 */
async function readPage(
  sql: Sql,
  {
    table,
    key,
    omitted,
    workspaceId,
    after,
  }: {
    readonly table: string;
    readonly key: readonly string[];
    readonly omitted: readonly string[];
    readonly workspaceId: string;
    readonly after: string;
  },
): Promise<Page> {
  const owner = table === "workspaces" ? sql`id` : sql`workspace_id`;
  const columns = sql(key as string[]);
  const beyond =
    after === ""
      ? sql`true`
      : sql`(${columns}) > (select ${columns} from jsonb_populate_record(null::${sql(table)}, ${after}::text::jsonb))`;
  const [page] = await sql<[Page]>`
    with page as materialized (
      select t.*
      from ${sql(table)} as t
      where ${beyond}
      order by ${columns}
      limit ${PAGE_ROWS}
    )
    select
      to_json(array(
        select (to_jsonb(p) - ${omitted as string[]}::text[])::text
        from page as p
        where ${owner} = ${workspaceId}
        order by ${columns}
      )) as rows,
      (
        select (select jsonb_object_agg(name, value) from jsonb_each(to_jsonb(p)) as e (name, value) where name = any(${key as string[]}::text[]))::text
        from page as p
        order by ${descending(sql, key)}
        limit 1
      ) as last`;
  return page;
}

function descending(sql: Sql, key: readonly string[]) {
  return key
    .map((column) => sql`${sql(column)} desc`)
    .reduce((before, next) => sql`${before}, ${next}`);
}

export function createWorkspaceExportService(
  sql: Sql,
  tables: ExportedTables,
): ServiceImpl<typeof WorkspaceExportService> {
  const keys = new Map<string, readonly string[]>();
  return {
    listExportedTables: () => ({ tables: Object.keys(tables) }),
    async listExportedRows({ workspaceId, table, after }) {
      const omitted = Object.hasOwn(tables, table) ? tables[table] : undefined;
      if (!isId(workspaceId) || omitted === undefined)
        throw invalidRequest([{ code: "invalid", path: "/table" }]);
      const key = keys.get(table) ?? (await keyOf(sql, table));
      keys.set(table, key);
      const { rows, last } = await readPage(sql, { table, key, omitted, workspaceId, after });
      return { rows: [...rows], next: last ?? "" };
    },
  };
}
