import { join } from "node:path";
import { WorkspaceImportService } from "@postrider/contracts/accounts/v1/workspace_import_service_pb";
import { RowImportService } from "@postrider/contracts/operations/v1/row_import_service_pb";
import { ServiceError } from "@postrider/shared/errors";
import { MAX_IMPORTED_ROWS } from "@postrider/shared/workspaces/imported-row";
import type { ServiceName } from "#src/config.ts";
import { readLines, rowsFileOf } from "#src/export-folder.ts";
import { CommandFailure } from "#src/failures.ts";
import type { Services } from "#src/services.ts";

export interface Import {
  readonly services: Services;
  readonly folder: string;
  readonly workspaceId: string;
  /** Number of rows by file that earlier runs have imported. */
  readonly done: Readonly<Record<string, number>>;
}

const MAX_CHARACTERS = 1024 * 1024;

/**
 * Columns that name a row of another service. Within a service foreign keys say whether the row is
 * one of the workspace; across services only this look does, before the service stores the row.
 */
const REFERENCES: Readonly<Record<string, readonly [ServiceName, string]>> = {
  account_id: ["accounts", "accounts"],
  post_id: ["posts", "posts"],
  target_id: ["posts", "targets"],
};

async function findUnknown(
  { services, workspaceId }: Import,
  [service, table]: readonly [ServiceName, string],
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const client = services.client(service, RowImportService);
  const found = await client.findImportedRows({ workspaceId, table, ids: [...ids] });
  return new Set(ids).difference(new Set(found.ids));
}

/** Leaves out rows whose account, post or target is not among the imported ones. */
async function keepKnown(
  given: Import,
  service: ServiceName,
  lines: readonly string[],
): Promise<readonly string[]> {
  let kept = lines.map((line) => ({ line, row: JSON.parse(line) as Record<string, unknown> }));
  for (const [column, owner] of Object.entries(REFERENCES)) {
    if (owner[0] === service) continue;
    const idOf = ({ row }: (typeof kept)[number]) => row[column];
    const ids = new Set(kept.map(idOf).filter((id) => typeof id === "string"));
    const unknown = await findUnknown(given, owner, [...ids]);
    kept = kept.filter((each) => !unknown.has(String(idOf(each))));
  }
  return kept.map(({ line }) => line);
}

/** Yields the lines that are not imported yet, as many as a call takes. */
async function* readBatches(path: string, done: number): AsyncGenerator<string[], undefined> {
  let batch: string[] = [];
  let characters = 0;
  let index = 0;
  for await (const line of readLines(path)) {
    index += 1;
    if (index <= done) continue;
    if (batch.length === MAX_IMPORTED_ROWS || (batch.length > 0 && characters > MAX_CHARACTERS)) {
      yield batch;
      [batch, characters] = [[], 0];
    }
    batch.push(line);
    characters += line.length;
  }
  if (batch.length > 0) yield batch;
  return undefined;
}

/** Calls `work` for the lines that are left, and stores the progress after each batch. */
export async function forEachBatch(
  { services, folder, workspaceId, done }: Import,
  file: string,
  work: (lines: readonly string[]) => Promise<void>,
): Promise<void> {
  const progress = services.client("accounts", WorkspaceImportService);
  let rows = done[file] ?? 0;
  for await (const batch of readBatches(join(folder, file), rows)) {
    await work(batch);
    rows += batch.length;
    await progress.recordWorkspaceImport({ workspaceId, file, rows });
  }
}

/** Returns the number of rows that were left out. */
export async function importTable(
  given: Import,
  service: ServiceName,
  table: string,
): Promise<number> {
  const client = given.services.client(service, RowImportService);
  const { workspaceId } = given;
  let leftOut = 0;
  await forEachBatch(given, rowsFileOf(service, table), async (lines) => {
    const rows = [...(await keepKnown(given, service, lines))];
    const answer = await client.importRows({ workspaceId, table, rows }).catch((error: unknown) => {
      throw toFailure(error, `${service}.${table}`);
    });
    leftOut += lines.length - rows.length + answer.leftOut;
  });
  return leftOut;
}

/** Names the table; what the service answers names the row within the batch. */
function toFailure(error: unknown, table: string): unknown {
  if (!(error instanceof ServiceError)) return error;
  const { reason, violations } = error;
  if (reason !== "invalid_request" && reason !== "row_exists") return error;
  const faults = violations.map(({ path, reason: text }) => text ?? path ?? "");
  return new CommandFailure(
    "row_refused",
    `a row of ${table} was refused: ${[reason, ...faults].join(" ")}`,
  );
}
