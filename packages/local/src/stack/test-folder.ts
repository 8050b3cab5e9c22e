import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { identifyProcess } from "#src/processes/process-identity.ts";

const enoughBytes = 2_000_000_000;

/**
 * Creates a folder for the data of a test server, in memory if there is enough of it.
 * It also removes the folders of earlier runs that were killed.
 *
 * @param kind Part of the name, for example `postgres`.
 * @param base Folder in which the folder is created.
 */
export function makeTestFolder(kind: string, base = temporaryBase()): string {
  const prefix = `postrider-test-${kind}-`;
  removeLeftovers(base, prefix);
  const folder = mkdtempSync(join(base, `${prefix}${ownerTag()}-`));
  // If this process is root, Postgres runs as `nobody`, and this user has to be able to enter the folder.
  chmodSync(folder, 0o711);
  return folder;
}

function temporaryBase(): string {
  const memory = "/dev/shm";
  if (!existsSync(memory)) return tmpdir();

  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > enoughBytes ? memory : tmpdir();
}

function ownerTag(): string {
  return `${process.pid}-${identifyProcess(process.pid)?.startTicks ?? 0}`;
}

/**
 * Removes the folders of test servers whose process has ended. Behind the prefix, the name of such a folder contains
 * the id of the process that created it. A folder whose name has no process id there is kept: the call for `kafka` must
 * not remove the folders of `kafka-recovery`.
 */
function removeLeftovers(base: string, prefix: string): void {
  for (const name of readdirSync(base).filter((entry) => entry.startsWith(prefix))) {
    const [, pid, startTicks] = /^(\d+)-(\d+)-[^-]+$/.exec(name.slice(prefix.length)) ?? [];
    if (pid !== undefined && identifyProcess(Number(pid))?.startTicks !== Number(startTicks))
      rmSync(join(base, name), { recursive: true, force: true });
  }
}
