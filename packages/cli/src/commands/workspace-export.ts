import { once } from "node:events";
import { createWriteStream, existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MediaFileService } from "@postrider/contracts/media/v1/media_file_service_pb";
import { WorkspaceExportService } from "@postrider/contracts/operations/v1/workspace_export_service_pb";
import { notFound, ServiceError } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import {
  type Arguments,
  type Command,
  getPositional,
  getText,
  type Result,
  type Terminal,
} from "#src/command.ts";
import { type ServiceName, SERVICES } from "#src/config.ts";
import { hashOf, type Manifest, MEDIA_FILE, readLines, rowsFileOf } from "#src/export-folder.ts";
import { CommandFailure } from "#src/failures.ts";
import { findStop } from "#src/find-stop.ts";
import type { Services } from "#src/services.ts";
import { formatRecord } from "#src/table.ts";

/** How far a file is: `after` is undefined when it is complete. */
interface FileState {
  readonly rows: number;
  readonly bytes: number;
  readonly after?: string;
}

/** Stored beside the files after each page, so that a stopped export continues. */
interface Progress {
  readonly workspaceId: string;
  readonly startedAt: string;
  /**
   * When the workspace was stopped; null when it worked, so that the export is not of one moment.
   */
  readonly stoppedAt: string | null;
  readonly files: Record<string, FileState>;
}

/** Replaces the file as a whole, so that a stop leaves the old or the new one. */
async function writeJson(path: string, value: unknown): Promise<void> {
  await writeFile(`${path}.new`, `${JSON.stringify(value, null, 2)}\n`);
  await rename(`${path}.new`, path);
}

async function writeProgress(folder: string, progress: Progress): Promise<void> {
  await writeJson(join(folder, "progress.json"), progress);
}

interface Export {
  readonly workspaceId: string;
  readonly folder: string;
  /** When a move stopped the workspace, of which nothing is in work since; see `findStop`. */
  readonly quietSince?: string;
}

async function readProgress(
  services: Services,
  { folder, workspaceId, quietSince }: Export,
): Promise<Progress> {
  const path = join(folder, "progress.json");
  if (!existsSync(path)) {
    const stoppedAt = (await findStop(services, workspaceId, quietSince))?.at ?? null;
    return { workspaceId, startedAt: new Date().toISOString(), stoppedAt, files: {} };
  }
  const progress = JSON.parse(await readFile(path, "utf8")) as Progress;
  if (progress.workspaceId !== workspaceId)
    throw new CommandFailure("other_workspace", `${folder} contains another workspace`);
  return progress;
}

/** Appends the pages of a table to its file, from the place at which an earlier run stopped. */
async function exportTable(
  services: Services,
  folder: string,
  progress: Progress,
  [service, table]: readonly [ServiceName, string],
): Promise<number> {
  const name = rowsFileOf(service, table);
  const path = join(folder, name);
  const client = services.client(service, WorkspaceExportService);
  const { workspaceId, files } = progress;
  let state = files[name] ?? { rows: 0, bytes: 0, after: "" };
  if (state.after === undefined) return state.rows;
  await writeFile(path, "", { flag: "a" });
  // What a stopped run wrote after it last stored its progress is written again.
  await truncate(path, state.bytes);
  for (let after: string | undefined = state.after; after !== undefined;) {
    const page = await client.listExportedRows({ workspaceId, table, after });
    const text = page.rows.map((row) => `${row}\n`).join("");
    await writeFile(path, text, { flag: "a" });
    after = page.next === "" ? undefined : page.next;
    const rows = state.rows + page.rows.length;
    const done = { rows, bytes: state.bytes + Buffer.byteLength(text) };
    state = after === undefined ? done : { ...done, after };
    files[name] = state;
    await writeProgress(folder, progress);
  }
  return state.rows;
}

async function exportFile(
  services: Services,
  path: string,
  ref: { readonly workspaceId: string; readonly id: string },
): Promise<void> {
  const client = services.client("media", MediaFileService);
  const file = createWriteStream(`${path}.new`);
  let bytes = 0;
  for (;;) {
    const { content } = await client.readMediaFile({ ...ref, offset: BigInt(bytes) });
    if (content.length === 0) break;
    if (!file.write(content)) await once(file, "drain");
    bytes += content.length;
  }
  file.end();
  await once(file, "finish");
  await rename(`${path}.new`, path);
}

/**
 * The uploaded files of ready media. One that is deleted meanwhile is left out. A file has its name
 * only when it is complete, so a continued export needs no other record of it.
 */
async function exportFiles(
  services: Services,
  folder: string,
  { workspaceId }: Progress,
): Promise<void> {
  await mkdir(join(folder, "media"), { recursive: true });
  for await (const line of readLines(join(folder, MEDIA_FILE))) {
    const { id, status } = JSON.parse(line) as { id: string; status: string };
    const path = join(folder, "media", id);
    if (status !== "ready" || existsSync(path)) continue;
    try {
      await exportFile(services, path, { workspaceId, id });
    } catch (error) {
      if (!(error instanceof ServiceError) || error.reason !== "not_found") throw error;
    }
  }
}

/** Written last: a folder with a manifest is complete. */
async function writeManifest(
  services: Services,
  { folder, quietSince }: Export,
  progress: Progress,
): Promise<Exported> {
  const { workspaceId, startedAt, stoppedAt } = progress;
  const files: Manifest["files"] = {};
  for (const [name, { rows, bytes }] of Object.entries(progress.files))
    files[name] = { rows, bytes, sha256: await hashOf(join(folder, name)) };
  const media = (await readdir(join(folder, "media"))).filter((name) => isId(name)).toSorted();
  for (const id of media) {
    const path = join(folder, "media", id);
    files[`media/${id}`] = { rows: 0, bytes: (await stat(path)).size, sha256: await hashOf(path) };
  }
  const stop = await findStop(services, workspaceId, quietSince);
  const isStopped = stoppedAt !== null && stop?.at === stoppedAt;
  const handoverHash = stop?.handoverHash ?? "";
  const finishedAt = new Date().toISOString();
  const about = {
    version: 1,
    workspaceId,
    isStopped,
    handoverHash,
    startedAt,
    finishedAt,
  } as const;
  await writeJson(join(folder, "manifest.json"), { ...about, files } satisfies Manifest);
  const rows = Object.values(progress.files).reduce((sum, file) => sum + file.rows, 0);
  return { workspaceId, folder, rows, mediaFiles: media.length, isStopped };
}

interface Exported {
  readonly workspaceId: string;
  readonly folder: string;
  readonly rows: number;
  readonly mediaFiles: number;
  readonly isStopped: boolean;
}

function toResult(json: Exported): Result {
  const { folder, rows, mediaFiles, isStopped } = json;
  const text = formatRecord({
    folder,
    rows: String(rows),
    "media files": String(mediaFiles),
    "of a stopped workspace": isStopped ? "yes" : "no; an import cancels what was not finished",
  });
  return { json, text };
}

/**
 * Continues the export in the folder, or begins one. A complete one is refused: its rows would not
 * be read again, and a new manifest would say that they are of today.
 */
export async function exportTo(
  services: Services,
  given: Export,
  { note }: Pick<Terminal, "note">,
): Promise<Exported> {
  const { workspaceId, folder } = given;
  if (!isId(workspaceId)) throw notFound();
  if (existsSync(join(folder, "manifest.json")))
    throw new CommandFailure(
      "already_exists",
      `${folder} has a complete export; name another folder`,
    );
  await mkdir(folder, { recursive: true });
  const progress = await readProgress(services, given);
  for (const service of SERVICES) {
    const client = services.client(service, WorkspaceExportService);
    const { tables } = await client.listExportedTables({});
    for (const table of tables) {
      const rows = await exportTable(services, folder, progress, [service, table]);
      if (table === "workspaces" && rows === 0) throw notFound();
      note({ json: { service, table, rows }, text: `${service}.${table}: ${rows} rows` });
    }
  }
  await exportFiles(services, folder, progress);
  return await writeManifest(services, given, progress);
}

async function exportWorkspace(
  services: Services,
  args: Arguments,
  terminal: Terminal,
): Promise<Result> {
  const given = { workspaceId: getPositional(args), folder: getText(args, "to") };
  return toResult(await exportTo(services, given, terminal));
}

export const workspaceExportCommands: readonly Command[] = [
  {
    words: "workspace export",
    synopsis: "ID --to FOLDER",
    summary:
      "write everything of a workspace but its secrets as JSON Lines and media files; a stopped export continues",
    run: exportWorkspace,
  },
];
