import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isId } from "@postrider/shared/ids";
import { CommandFailure } from "#src/failures.ts";

interface ManifestFile {
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

/** Written last: a folder with a manifest is complete. */
export interface Manifest {
  readonly version: 1;
  readonly workspaceId: string;
  /**
   * Whether the workspace was stopped, and nothing of it in work, from the first row to the last.
   */
  readonly isStopped: boolean;
  /**
   * SHA-256 of the handover secret of the move that the export is a part of, in hexadecimal digits;
   * "" for any other export.
   */
  readonly handoverHash: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly files: Record<string, ManifestFile>;
}

const ROWS = /^(accounts|media|posts|delivery)\.([a-z_]+)\.jsonl$/;
export const WORKSPACE_FILE = rowsFileOf("accounts", "workspaces");
export const MEDIA_FILE = rowsFileOf("media", "media");
/** No row of a workspace is longer. */
const MAX_LINE = 8 * 1024 * 1024;

function refuse(message: string): CommandFailure {
  return new CommandFailure("invalid_export", message);
}

/** A line at a time, so that memory does not grow with the file. */
export async function* readLines(path: string): AsyncGenerator<string, undefined> {
  let rest = "";
  for await (const chunk of createReadStream(path, { encoding: "utf8" })) {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_LINE) throw refuse(`${path} has a line that is too long`);
    yield* lines;
  }
  return undefined;
}

export async function hashOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

function isFile(value: unknown): value is ManifestFile {
  const { rows, bytes, sha256 } = (value ?? {}) as Partial<Record<keyof ManifestFile, unknown>>;
  return Number.isSafeInteger(rows) && Number.isSafeInteger(bytes) && typeof sha256 === "string";
}

function isManifest(value: unknown): value is Manifest {
  const { version, workspaceId, isStopped, handoverHash, files } = (value ?? {}) as Partial<
    Record<keyof Manifest, unknown>
  >;
  if (version !== 1 || typeof workspaceId !== "string" || !isId(workspaceId)) return false;
  if (typeof isStopped !== "boolean" || typeof handoverHash !== "string") return false;
  if (typeof files !== "object" || files === null) return false;
  return Object.entries(files).every(
    ([name, file]) => (ROWS.test(name) || isMediaFile(name)) && isFile(file),
  );
}

export function isMediaFile(name: string): boolean {
  return name.startsWith("media/") && isId(name.slice("media/".length));
}

export function rowsFileOf(service: string, table: string): string {
  return `${service}.${table}.jsonl`;
}

/** The service and the table of a file of rows. */
export function tableOf(name: string): readonly [string, string] | undefined {
  const [, service, table] = ROWS.exec(name) ?? [];
  return service === undefined || table === undefined ? undefined : [service, table];
}

/** Only files that lie in the folder: a link could name any file of this computer. */
async function checkFile(folder: string, name: string, file: ManifestFile): Promise<void> {
  const path = join(folder, name);
  const found = await lstat(path).catch(() => undefined);
  if (found?.isFile() !== true || found.size !== file.bytes)
    throw refuse(`${name} is missing or has another length than the manifest says`);
  if ((await hashOf(path)) !== file.sha256)
    throw refuse(`${name} has another SHA-256 than the manifest says`);
}

async function checkRows(folder: string, name: string, workspaceId: string): Promise<number> {
  const owner = name === WORKSPACE_FILE ? "id" : "workspace_id";
  let rows = 0;
  for await (const line of readLines(join(folder, name))) {
    rows += 1;
    let row: Record<string, unknown>;
    try {
      row = JSON.parse(line) as Record<string, unknown>;
    } catch {
      throw refuse(`line ${rows} of ${name} is not JSON`);
    }
    if (row[owner] !== workspaceId) throw refuse(`line ${rows} of ${name} is of another workspace`);
  }
  return rows;
}

/**
 * Reads the manifest of an export and compares every file with it.
 *
 * @returns The manifest, and its own SHA-256, which identifies the export.
 * @throws CommandFailure `invalid_export`
 */
export async function checkFolder(
  folder: string,
): Promise<{ readonly manifest: Manifest; readonly sha256: string }> {
  const text = await readFile(join(folder, "manifest.json"), "utf8").catch(() => {
    throw refuse(`${folder} has no manifest.json; finish the export with the same command`);
  });
  let manifest: unknown;
  try {
    manifest = JSON.parse(text);
  } catch {
    throw refuse("manifest.json is not JSON");
  }
  if (!isManifest(manifest)) throw refuse("manifest.json is not one of this version of Postrider");
  for (const [name, file] of Object.entries(manifest.files)) {
    await checkFile(folder, name, file);
    if (isMediaFile(name)) continue;
    if ((await checkRows(folder, name, manifest.workspaceId)) !== file.rows)
      throw refuse(`${name} has another number of rows than the manifest says`);
  }
  return { manifest, sha256: createHash("sha256").update(text).digest("hex") };
}
