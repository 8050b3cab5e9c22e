import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase, type TestDatabase } from "#src/testing/database.ts";

/** Returns the migration that creates the audit log of a service. */
export async function findAuditMigration(service: string): Promise<string> {
  const folder = new URL(`../../../services/${service}/migrations`, import.meta.url).pathname;
  const files = await readdir(folder);
  const file = files.find((each) => each.endsWith("_create_audit_log.sql"));
  if (file === undefined) throw new Error(`${service} has no migration that creates its audit log`);
  return join(folder, file);
}

/** Creates a database with the tables of `createDatabase` and the audit log that all services have. */
export async function createAuditedDatabase(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "audited-migrations-"));
  try {
    const base = new URL("./migrations/0001_create_outbox.sql", import.meta.url).pathname;
    await copyFile(base, join(folder, "0001_create_outbox.sql"));
    await copyFile(await findAuditMigration("posts"), join(folder, "0002_create_audit_log.sql"));
    return await createTestDatabase({ service: "sample", migrationsFolder: folder, poolSize: 8 });
  } finally {
    await rm(folder, { recursive: true });
  }
}
