import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isId, newId } from "@postrider/shared/ids";

/** Prefix of the temporary folders of the media service, because their parent folder may contain other files. */
const PREFIX = "media-check-";

/** Creates a temporary folder below `root`, runs `work` with it, and then deletes the folder with its content. */
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
 * Deletes the temporary folders below `root` that killed processes left behind, and returns their number.
 *
 * @param before Folders that were created after this time are kept: a running process may still use them.
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
