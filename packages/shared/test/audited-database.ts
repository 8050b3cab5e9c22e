import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase, type TestDatabase } from "#src/testing/database.ts";

/** The line with which a migration creates the audit log. */
export const INCLUDE_AUDIT_LOG = "-- include audit-log.sql\n";

/**
 * Creates a database with the tables of `createDatabase` and the audit log that all services have.
 */
export async function createAuditedDatabase(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "audited-migrations-"));
  try {
    const base = new URL("./migrations/0001_create_outbox.sql", import.meta.url).pathname;
    await copyFile(base, join(folder, "0001_create_outbox.sql"));
    await writeFile(join(folder, "0002_create_audit_log.sql"), INCLUDE_AUDIT_LOG);
    return await createTestDatabase({ service: "sample", migrationsFolder: folder, poolSize: 8 });
  } finally {
    await rm(folder, { recursive: true });
  }
}
