import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { identifyProcess } from "#src/process-identity.ts";

const enoughBytes = 2_000_000_000;

/**
 * Makes a folder for the data of a test server, in memory where there is enough of it.
 * It also removes what earlier runs left: a run that was killed could not tidy up.
 *
 * @param kind Part of the name, for example `postgres`.
 */
export function makeTestFolder(kind: string): string {
  const base = temporaryBase();
  const prefix = `postrider-test-${kind}-`;
  removeLeftovers(base, prefix);
  const folder = mkdtempSync(join(base, `${prefix}${ownerTag()}-`));
  // As root the database runs as `nobody`, who has to pass through here.
  chmodSync(folder, 0o711);
  return folder;
}

function temporaryBase(): string {
  const memory = "/dev/shm";
  if (!existsSync(memory)) {
    return tmpdir();
  }
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > enoughBytes ? memory : tmpdir();
}

function ownerTag(): string {
  return `${process.pid}-${identifyProcess(process.pid)?.startTicks ?? 0}`;
}

// The name says which process made the folder.
function removeLeftovers(base: string, prefix: string): void {
  for (const name of readdirSync(base).filter((entry) => entry.startsWith(prefix))) {
    const [pid, startTicks] = name.slice(prefix.length).split("-").map(Number);
    const owner = identifyProcess(pid ?? 0);
    if (owner === undefined || owner.startTicks !== startTicks) {
      rmSync(join(base, name), { recursive: true, force: true });
    }
  }
}
