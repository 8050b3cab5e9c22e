import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startEmbeddedPostgres } from "#src/embedded-postgres.ts";
import { identifyProcess } from "#src/process-identity.ts";

declare module "vitest" {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- only an interface can be merged
  interface ProvidedContext {
    /** The owner's URL of the Postgres that all integration tests share. */
    postgresUrl: string;
  }
}

const folderPrefix = "postrider-test-postgres-";
const enoughBytes = 2_000_000_000;

/**
 * vitest's globalSetup: starts one Postgres in a temporary folder and provides its URL as `postgresUrl`.
 * Durability stays on, for the services refuse to run without it; the data lies in memory where that is possible.
 *
 * @returns The teardown, which stops it and removes the folder.
 */
export async function setup(project: Pick<TestProject, "provide">): Promise<() => Promise<void>> {
  const base = temporaryBase();
  removeLeftovers(base);
  const folder = mkdtempSync(join(base, `${folderPrefix}${ownerTag()}-`));
  // As root the database runs as `nobody`, who has to pass through here.
  chmodSync(folder, 0o711);
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, "data"),
    settings: { max_connections: "200", max_wal_size: "512MB" },
  });
  project.provide("postgresUrl", postgres.url);
  return async () => {
    await postgres[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  };
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

// A run that was killed could not tidy up; its folder names the process that made it.
function removeLeftovers(base: string): void {
  for (const name of readdirSync(base).filter((entry) => entry.startsWith(folderPrefix))) {
    const [pid, startTicks] = name.slice(folderPrefix.length).split("-").map(Number);
    const owner = identifyProcess(pid ?? 0);
    if (owner === undefined || owner.startTicks !== startTicks) {
      rmSync(join(base, name), { recursive: true, force: true });
    }
  }
}
