import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isId, newId } from "@postrider/shared/ids";

/** Tells our folders from whatever else is there. */
const PREFIX = "media-check-";

/** Runs `work` with a folder of its own below `root`, which is gone afterwards with all that is in it. */
export async function withTempFolder<T>(
  root: string,
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = join(root, PREFIX + newId());
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Removes the folders below `root` that processes left when they were killed, and returns how many.
 *
 * @param before Later than any folder that is still worked in was made.
 */
export async function removeAbandonedFolders(root: string, before: Date): Promise<number> {
  let count = 0;
  for (const name of await readdir(root).catch(() => [])) {
    if (!name.startsWith(PREFIX) || !isId(name.slice(PREFIX.length))) continue;
    const folder = join(root, name);
    const found = await stat(folder).catch(() => undefined);
    if (found === undefined || found.birthtimeMs >= before.getTime()) continue;
    await rm(folder, { recursive: true, force: true });
    count += 1;
  }
  return count;
}
