import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { identifyProcess } from "#src/processes/process-identity.ts";

const enoughBytes = 2_000_000_000;

/**
 * In memory if there is enough of it. Removes the folders of earlier runs that were killed. `kind`
 * is part of the name, for example `postgres`.
 */
export function makeTestFolder(kind: string, base = temporaryBase()): string {
  const prefix = `postrider-test-${kind}-`;
  removeLeftovers(base, prefix);
  const folder = mkdtempSync(join(base, `${prefix}${ownerTag()}-`));
  // If this process is root, Postgres runs as `nobody`, and this user has to be able to enter the
  // folder.
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
 * Of processes that have ended: their id follows the prefix. A folder without one is kept: the call
 * for `kafka` must not remove those of `kafka-recovery`.
 */
function removeLeftovers(base: string, prefix: string): void {
  for (const name of readdirSync(base).filter((entry) => entry.startsWith(prefix))) {
    const [, pid, startTicks] = /^(\d+)-(\d+)-[^-]+$/.exec(name.slice(prefix.length)) ?? [];
    if (pid !== undefined && identifyProcess(Number(pid))?.startTicks !== Number(startTicks))
      rmSync(join(base, name), { recursive: true, force: true });
  }
}
