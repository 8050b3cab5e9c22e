import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase, type TestDatabase } from "#src/testing/database.ts";

/** Returns the migrations that create the audit log of a service and its deeds. */
export async function findAuditMigrations(service: string): Promise<readonly [string, string]> {
  const folder = new URL(`../../../services/${service}/migrations`, import.meta.url).pathname;
  const files = await readdir(folder);
  const log = files.find((each) => each.endsWith("_create_audit_log.sql"));
  const deeds = files.find((each) => each.endsWith("_record_deeds.sql"));
  if (log === undefined || deeds === undefined)
    throw new Error(`${service} lacks a migration that creates its audit log`);
  return [join(folder, log), join(folder, deeds)];
}

/** Creates a database with the tables of `createDatabase` and the audit log that all services have. */
export async function createAuditedDatabase(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "audited-migrations-"));
  try {
    const base = new URL("./migrations/0001_create_outbox.sql", import.meta.url).pathname;
    await copyFile(base, join(folder, "0001_create_outbox.sql"));
    const [log, deeds] = await findAuditMigrations("posts");
    await copyFile(log, join(folder, "0002_create_audit_log.sql"));
    await copyFile(deeds, join(folder, "0003_record_deeds.sql"));
    return await createTestDatabase({ service: "sample", migrationsFolder: folder, poolSize: 8 });
  } finally {
    await rm(folder, { recursive: true });
  }
}
