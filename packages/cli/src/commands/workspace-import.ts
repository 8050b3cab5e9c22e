import { existsSync } from "node:fs";
import { join } from "node:path";
import { WorkspaceImportService } from "@postrider/contracts/accounts/v1/workspace_import_service_pb";
import { RowImportService } from "@postrider/contracts/operations/v1/row_import_service_pb";
import { WorkspaceExportService } from "@postrider/contracts/operations/v1/workspace_export_service_pb";
import {
  type Arguments,
  type Command,
  getPositional,
  type Result,
  type Terminal,
} from "#src/command.ts";
import { type ServiceName, SERVICES } from "#src/config.ts";
import {
  checkFolder,
  isMediaFile,
  type Manifest,
  MEDIA_FILE,
  readLines,
  rowsFileOf,
  tableOf,
  WORKSPACE_FILE,
} from "#src/export-folder.ts";
import { CommandFailure } from "#src/failures.ts";
import { findWorkspace } from "#src/find-workspace.ts";
import { importMedia } from "#src/import-media.ts";
import { importTable } from "#src/import-rows.ts";
import type { Services } from "#src/services.ts";
import { formatRecord } from "#src/table.ts";

type Listed = readonly (readonly [ServiceName, string])[];

/** @throws CommandFailure when the export has a table that this installation does not know. */
async function listTables(services: Services, { files }: Manifest): Promise<Listed> {
  const tables: [ServiceName, string][] = [];
  for (const service of SERVICES) {
    const listed = await services.client(service, WorkspaceExportService).listExportedTables({});
    tables.push(...listed.tables.map((table) => [service, table] as (typeof tables)[number]));
  }
  const known = new Set(tables.map(([service, table]) => rowsFileOf(service, table)));
  const given = Object.keys(files).filter((name) => !isMediaFile(name));
  const differing = [...known.symmetricDifference(new Set(given))];
  if (differing.length === 0) return tables;
  throw new CommandFailure(
    "invalid_export",
    `the export is of another version of Postrider: ${differing.join(", ")}`,
  );
}

async function readWorkspace(folder: string): Promise<string> {
  for await (const line of readLines(join(folder, WORKSPACE_FILE))) return line;
  throw new CommandFailure("invalid_export", `${WORKSPACE_FILE} is empty`);
}

function describeFiles({ files }: Manifest): Record<string, string> {
  const names = Object.keys(files);
  const media = names.filter(isMediaFile);
  const bytes = media.reduce((sum, name) => sum + (files[name]?.bytes ?? 0), 0);
  const rows = names
    .filter((name) => !isMediaFile(name))
    .map((name) => [(tableOf(name) ?? []).join("."), `${files[name]?.rows} rows`]);
  return { ...Object.fromEntries(rows), "media files": `${media.length}, ${bytes} bytes` };
}

const COPY =
  "The workspace was not stopped while it was exported: what was scheduled or in progress arrives cancelled.";
const NEXT = [
  "Accounts have to be connected again (`postrider account connect`).",
  "API keys are not in an export (`postrider key create`).",
  "Webhooks and automation rules arrive paused; webhooks have new secrets: rotate each secret before it is started.",
];

async function dryRun(services: Services, folder: string, manifest: Manifest): Promise<Result> {
  const { workspaceId, isStopped } = manifest;
  const row = JSON.parse(await readWorkspace(folder)) as Record<
    string,
    string | number | boolean | null
  >;
  const shown = ["name", "verified", "requests_per_minute", "monthly_quota", "daily_quota"];
  const workspace = Object.fromEntries(shown.map((name) => [name, String(row[name] ?? "default")]));
  const exists = (await findWorkspace(services, workspaceId)) !== undefined;
  const text = formatRecord({
    id: workspaceId,
    ...workspace,
    "exists here": exists ? "yes; only its own interrupted import continues" : "no",
    ...describeFiles(manifest),
  });
  return {
    json: { workspaceId, exists, isStopped, files: manifest.files },
    text: [text, "", ...(isStopped ? [] : [COPY]), "Nothing was imported."].join("\n"),
  };
}

async function begin(
  services: Services,
  folder: string,
  manifest: Manifest,
  { sha256, cell }: { readonly sha256: string; readonly cell: string },
) {
  const { workspaceId } = manifest;
  const row = await readWorkspace(folder);
  const client = services.client("accounts", WorkspaceImportService);
  const handoverHash = Buffer.from(manifest.handoverHash, "hex");
  const what = { workspaceId, row, manifestSha256: sha256, handoverHash, cell };
  const { rows } = await client.beginWorkspaceImport(what);
  // Delivery stops the workspace before anything of it is there.
  for (const service of SERVICES)
    await services.client(service, RowImportService).prepareRowImport({ workspaceId });
  return { services, folder, workspaceId, done: rows };
}

/**
 * In this order: delivery searches for posts with an unknown outcome as soon as it is released, and
 * asks posts whether they are still wanted. The workspace works last.
 */
export async function finishImport(
  services: Services,
  { workspaceId, isStopped }: Pick<Manifest, "workspaceId" | "isStopped">,
  handover: Uint8Array = new Uint8Array(),
): Promise<void> {
  for (const service of ["media", "posts", "delivery"] as const)
    await services
      .client(service, RowImportService)
      .releaseRowImport({ workspaceId, isCopy: !isStopped });
  const client = services.client("accounts", WorkspaceImportService);
  await client.finishWorkspaceImport({ workspaceId, handover });
}

/**
 * Imports all rows and files, and leaves the workspace stopped.
 *
 * @param cell The cell to which the workspace is moved; "" for an import that is not part of a
 *   move.
 * @returns The number of rows that were left out.
 */
export async function importHeld(
  services: Services,
  { folder, manifest, sha256, cell }: CheckedFolder & { readonly cell: string },
  { note }: Pick<Terminal, "note">,
): Promise<number> {
  const tables = await listTables(services, manifest);
  const given = await begin(services, folder, manifest, { sha256, cell });
  let leftOut = 0;
  for (const [service, table] of tables) {
    const file = rowsFileOf(service, table);
    if (file === WORKSPACE_FILE) continue;
    const left =
      file === MEDIA_FILE
        ? await importMedia(given, manifest)
        : await importTable(given, service, table);
    leftOut += left;
    const rows = manifest.files[file]?.rows ?? 0;
    note({
      json: { service, table, rows, leftOut: left },
      text: `${service}.${table}: ${rows} rows${left === 0 ? "" : `, ${left} left out`}`,
    });
  }
  return leftOut;
}

interface CheckedFolder {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly sha256: string;
}

async function importWorkspace(
  services: Services,
  args: Arguments,
  terminal: Terminal,
): Promise<Result> {
  const folder = getPositional(args);
  if (!existsSync(folder)) throw new CommandFailure("not_found", `${folder} does not exist`);
  const checked = await checkFolder(folder);
  const { manifest } = checked;
  if (args.values["dry-run"] === true) {
    await listTables(services, manifest);
    return await dryRun(services, folder, manifest);
  }
  if (manifest.handoverHash !== "")
    throw new CommandFailure(
      "part_of_move",
      "the export is a part of a move, which imports it itself: run `postrider workspace move`",
    );
  const leftOut = await importHeld(services, { folder, ...checked, cell: "" }, terminal);
  const isHeld = args.values.hold === true;
  if (!isHeld) await finishImport(services, manifest);
  return toResult(manifest, { leftOut, isHeld });
}

function toResult(
  { workspaceId, isStopped }: Manifest,
  { leftOut, isHeld }: { readonly leftOut: number; readonly isHeld: boolean },
): Result {
  const text = formatRecord({
    id: workspaceId,
    status: isHeld ? "imported and stopped; the same command without --hold starts it" : "imported",
    "rows left out": String(leftOut),
  });
  return {
    json: { workspaceId, isHeld, isCopy: !isStopped, leftOut },
    text: [text, "", ...(isStopped ? [] : [COPY]), ...NEXT].join("\n"),
  };
}

export const workspaceImportCommands: readonly Command[] = [
  {
    words: "workspace import",
    synopsis: "FOLDER [--dry-run] [--hold]",
    summary:
      "create a workspace from an export; a stopped import continues; --dry-run only checks the folder and says what it contains; --hold leaves the workspace stopped, so that its accounts can be connected first",
    run: importWorkspace,
  },
];
