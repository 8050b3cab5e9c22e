import type { ServiceImpl } from "@connectrpc/connect";
import type { WorkspaceExportService } from "@postrider/contracts/operations/v1/workspace_export_service_pb";
import { invalidRequest } from "#src/errors.ts";
import { assertWorkspaceId, isId } from "#src/ids.ts";
import type { ISql, Sql, SqlFragment } from "#src/postgres.ts";
import { hasWaitingEvents } from "#src/workspaces/workspace-rows.ts";

export interface ExportedTable {
  /** Columns that an export leaves out: secrets, leases and what only processes use. */
  readonly omitted?: readonly string[];
  /** SQL of the columns that an export says in another way than the row, which is `t`. */
  readonly exported?: Readonly<Record<string, (sql: ISql) => SqlFragment>>;
  /**
   * SQL of the columns for which an import takes another value than that of the exported row, which
   * is `r`.
   */
  readonly imported?: Readonly<Record<string, string>>;
  /** Columns in which a time may be `infinity`. */
  readonly endless?: readonly string[];
  /**
   * Columns without a foreign key that refer to a table of the service, by `table.column`: the row
   * may be gone, but it must not be one of another workspace.
   */
  readonly refers?: Readonly<Record<string, readonly [table: string, key: string]>>;
  /** The service has another RPC that imports the rows of this table. */
  readonly isImportedApart?: boolean;
}

/**
 * In the order in which they are exported and imported: a table comes before what has a foreign key
 * to it.
 */
export type ExportedTables = Readonly<Record<string, ExportedTable>>;

/** Of all workspaces together, so that a statement reads a bounded part of a large table. */
const PAGE_ROWS = 2_000;
/** A page ends after the rows with which it has this size: a draft alone can have 0.5 MB. */
const PAGE_BYTES = 4 * 1024 * 1024;
const FETCH_ROWS = 16;

interface Page {
  readonly rows: readonly string[];
  readonly last: string | undefined;
}

/** The columns of the primary key. */
export async function keyOf(sql: Sql, table: string): Promise<readonly string[]> {
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
    exported: { omitted = [], exported = {} },
    workspaceId,
    after,
  }: {
    readonly table: string;
    readonly key: readonly string[];
    readonly exported: ExportedTable;
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
  const row = Object.entries(exported).reduce(
    (before, [column, value]) =>
      sql`${before} || jsonb_build_object(${column}::text, ${value(sql)})`,
    sql`to_jsonb(t) - ${omitted as string[]}::text[]`,
  );
  const found = sql<{ key: string; row: string | null }[]>`
    select jsonb_build_object(${keyPairs(sql, key)})::text as key,
      case when ${owner} = ${workspaceId} then (${row})::text end as row
    from ${sql(table)} as t
    where ${beyond}
    order by ${columns}
    limit ${PAGE_ROWS}`;
  const rows: string[] = [];
  let last: string | undefined;
  let bytes = 0;
  for await (const part of found.cursor(FETCH_ROWS)) {
    const own = part.flatMap(({ row }) => row ?? []);
    rows.push(...own);
    bytes += own.reduce((sum, { length }) => sum + length, 0);
    last = part.at(-1)?.key;
    if (bytes >= PAGE_BYTES) break;
  }
  return { rows, last };
}

function keyPairs(sql: Sql, key: readonly string[]) {
  return key
    .map((column) => sql`${column}::text, ${sql(column)}`)
    .reduce((before, next) => sql`${before}, ${next}`);
}

export function createWorkspaceExportService(
  sql: Sql,
  tables: ExportedTables,
  listOpenWork: (workspaceId: string) => Promise<readonly string[]> = () => Promise.resolve([]),
): ServiceImpl<typeof WorkspaceExportService> {
  const keys = new Map<string, readonly string[]>();
  return {
    listExportedTables: () => ({ tables: Object.keys(tables) }),
    async listExportedRows({ workspaceId, table, after }) {
      const exported = Object.hasOwn(tables, table) ? tables[table] : undefined;
      if (!isId(workspaceId) || exported === undefined)
        throw invalidRequest([{ code: "invalid", path: "/table" }]);
      const key = keys.get(table) ?? (await keyOf(sql, table));
      keys.set(table, key);
      const { rows, last } = await readPage(sql, { table, key, exported, workspaceId, after });
      return { rows: [...rows], next: last ?? "" };
    },
    async listOpenWork({ workspaceId }) {
      assertWorkspaceId(workspaceId);
      const isWaiting = await hasWaitingEvents(sql, workspaceId);
      const events = isWaiting ? ["events that wait in the outbox"] : [];
      return { openWork: [...events, ...(await listOpenWork(workspaceId))] };
    },
  };
}
