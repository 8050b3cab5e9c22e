import { rmSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { startEmbeddedPostgres } from "#src/postgres/embedded-postgres.ts";
import { makeTestFolder } from "#src/stack/test-folder.ts";

declare module "vitest" {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- only an interface can be merged
  interface ProvidedContext {
    /** As the database owner; all integration tests share this Postgres. */
    postgresUrl: string;
  }
}

/**
 * vitest's globalSetup, called once per project; the first call starts Postgres for all. Durability
 * stays on, because the services refuse to run without it; the data is in memory if possible.
 */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  // vitest makes a value that its root project provides available to the tests of every project.
  const everyProject = project.vitest.getRootProject();
  if ("postgresUrl" in everyProject.getProvidedContext()) return undefined;
  const folder = makeTestFolder("postgres");
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, "data"),
    settings: {
      max_connections: "450",
      max_wal_size: "512MB",
      // A worker for each of the many small databases of tests is of no use to them.
      autovacuum: "off",
      // Of the services' passwords: each of thousands of connections would compute 4096.
      scram_iterations: "1",
    },
  });
  everyProject.provide("postgresUrl", postgres.url);
  return async () => {
    await postgres[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  };
}
