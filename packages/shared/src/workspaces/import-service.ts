import type { ServiceImpl } from "@connectrpc/connect";
import type { RowImportService } from "@postrider/contracts/operations/v1/row_import_service_pb";
import { invalidRequest } from "#src/errors.ts";
import { assertWorkspaceId, isId } from "#src/ids.ts";
import type { Sql, TransactionSql } from "#src/postgres.ts";
import type { ExportedTables } from "./export-service.ts";
import { importRows, readShape, type RowLimit, type TableShape } from "./import-rows.ts";
import { assertImporting, isImporting, recordImport } from "./import-state.ts";
import { type ColumnChecks, MAX_IMPORTED_ROWS, parseRow } from "./imported-row.ts";

export interface RowImportOptions {
  readonly sql: Sql;
  readonly tables: ExportedTables;
  /** By table. Default: none beyond the types of the columns. */
  readonly rules?: ImportRules;
  /** In the transaction that begins the import. */
  readonly prepare?: (tx: TransactionSql, workspaceId: string) => Promise<void>;
  /**
   * Lets work begin that was kept back. It is repeated after a crash.
   *
   * @param isCopy Whether the exported workspace may have gone on publishing.
   */
  readonly release?: (workspaceId: string, isCopy: boolean) => Promise<void>;
}

/** What the service itself stores in a table. */
export interface TableRules {
  readonly columns?: ColumnChecks;
  /** Default: none. */
  readonly max?: readonly RowLimit[];
}

export type ImportRules = Readonly<Record<string, TableRules>>;

class RowImport {
  readonly #options: RowImportOptions;
  readonly #shapes = new Map<string, TableShape>();

  constructor(options: RowImportOptions) {
    this.#options = options;
  }

  async prepare(workspaceId: string): Promise<void> {
    const { sql, prepare } = this.#options;
    await sql.begin(async (tx) => {
      await prepare?.(tx, workspaceId);
      if (!(await isImporting(tx, workspaceId)))
        await recordImport(tx, workspaceId, "workspace.import");
    });
  }

  async release(workspaceId: string, isCopy: boolean): Promise<void> {
    const { sql, release } = this.#options;
    if (!(await isImporting(sql, workspaceId))) return;
    await release?.(workspaceId, isCopy);
    await sql.begin((tx) => recordImport(tx, workspaceId, "workspace.finish_import"));
  }

  async import(workspaceId: string, table: string, texts: readonly string[]): Promise<number> {
    const shape = await this.#shapeOf(table);
    if (shape.isImportedApart || texts.length > MAX_IMPORTED_ROWS)
      throw invalidRequest([{ code: "invalid", path: "/table" }]);
    await assertImporting(this.#options.sql, workspaceId);
    const { columns: checks = {}, max = [] } = this.#options.rules?.[table] ?? {};
    const { columns, endless } = shape;
    const rules = { columns, workspaceId, owner: "workspace_id", endless, checks };
    const parsed = texts.map((text, index) => {
      const result = parseRow(text, rules);
      if (result.kind === "row") return result.row;
      throw invalidRequest([{ code: "invalid", path: `/rows/${index}/${result.column}` }]);
    });
    const given = { workspaceId, rows: JSON.stringify(parsed), max };
    return await importRows(this.#options.sql, shape, given);
  }

  async find(workspaceId: string, table: string, ids: readonly string[]): Promise<string[]> {
    const { name } = await this.#shapeOf(table);
    if (ids.length > MAX_IMPORTED_ROWS || !ids.every(isId))
      throw invalidRequest([{ code: "invalid", path: "/ids" }]);
    const { sql } = this.#options;
    const rows = await sql<{ id: string }[]>`
      select id
      from ${sql(name)}
      where workspace_id = ${workspaceId}
      and id = any(${ids as string[]}::uuid[])`;
    return rows.map(({ id }) => id);
  }

  async #shapeOf(table: string): Promise<TableShape> {
    const { sql, tables } = this.#options;
    const known = this.#shapes.get(table);
    if (known !== undefined) return known;
    const exported = Object.hasOwn(tables, table) ? tables[table] : undefined;
    if (exported === undefined) throw invalidRequest([{ code: "invalid", path: "/table" }]);
    const shape = await readShape(sql, table, exported);
    this.#shapes.set(table, shape);
    return shape;
  }
}

export function createRowImportService(
  options: RowImportOptions,
): ServiceImpl<typeof RowImportService> {
  const rowImport = new RowImport(options);
  return {
    async prepareRowImport({ workspaceId }) {
      assertWorkspaceId(workspaceId);
      await rowImport.prepare(workspaceId);
      return {};
    },
    async importRows({ workspaceId, table, rows }) {
      assertWorkspaceId(workspaceId);
      return { leftOut: await rowImport.import(workspaceId, table, rows) };
    },
    async findImportedRows({ workspaceId, table, ids }) {
      assertWorkspaceId(workspaceId);
      return { ids: await rowImport.find(workspaceId, table, ids) };
    },
    async releaseRowImport({ workspaceId, isCopy }) {
      assertWorkspaceId(workspaceId);
      await rowImport.release(workspaceId, isCopy);
      return {};
    },
  };
}
