import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { eventually } from "@postrider/shared/testing/poll";
import type { System } from "../system/system.ts";
import type { ReadyMedia } from "./media.ts";

/**
 * Lists every file in the media service's folders of stored files and of files that are being
 * checked, unfinished files included.
 */
async function listFiles(system: System): Promise<readonly string[]> {
  const dataDir = dirname(system.local().logs);
  const lists = await Promise.all(
    ["media", "media-temp"].map((folder) =>
      // The media service creates this folder when it checks a file for the first time.
      readdir(join(dataDir, folder), { recursive: true, withFileTypes: true }).catch(() => []),
    ),
  );
  // The marker of the object store is not a file of media.
  const names = lists.flat().flatMap((entry) => (entry.isFile() ? [entry.name] : []));
  return names.filter((name) => name !== "owner.json");
}

/**
 * Lists the file name of each media file that the database knows: the last path segment of its
 * object key.
 */
async function listNamed({ sql }: System): Promise<readonly string[]> {
  const rows = await sql<{ keys: string[] }[]>`
    select array_remove(array[object_key, delivery_key], null) as keys from media.media`;
  return rows.flatMap(({ keys }) => keys.map((key) => key.split("/")[1] ?? ""));
}

/**
 * Lists media files without a database row: files of work in progress, and files that a killed
 * process left behind.
 */
export async function listUnnamed(system: System): Promise<readonly string[]> {
  const [files, named] = [await listFiles(system), await listNamed(system)];
  return files.filter((name) => !named.includes(name));
}

/**
 * Waits until each media file has a database row, each row has its file, and no media are being
 * deleted.
 */
export async function whenTidy(system: System): Promise<void> {
  await eventually(async () => {
    const [orphans, files] = [await listUnnamed(system), await listFiles(system)];
    const named = await listNamed(system);
    const missing = named.filter((name) => !files.includes(name));
    const [open] = await system.sql<{ count: number }[]>`
      select count(*)::int from media.media where status = 'deleting'`;
    if (orphans.length + missing.length + (open?.count ?? 0) > 0)
      throw new Error(JSON.stringify({ orphans, missing, deleting: open?.count }));
  });
}

/**
 * Downloads a media file and returns `whole` if all bytes arrive, otherwise the HTTP status.
 * Repeats the request while no process answers.
 */
export async function fetchMedia({ url, sha256 }: ReadyMedia): Promise<string | number> {
  return await eventually(async () => {
    const answer = await fetch(url);
    if (answer.status >= 500) return false;
    // Reading the body throws an error if the connection closes before all bytes have arrived.
    const bytes = Buffer.from(await answer.arrayBuffer());
    if (answer.status !== 200) return answer.status;
    return createHash("sha256").update(bytes).digest("hex") === sha256 ? "whole" : "broken";
  });
}
