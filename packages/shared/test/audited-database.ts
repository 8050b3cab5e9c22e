import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createTestDatabase, type TestDatabase } from "#src/testing/database.ts";

/**
 * Returns the part of a service's migrations that creates its audit log and its deeds: the last one
 * of the file.
 */
export async function readAuditMigration(service: string): Promise<string> {
  const file = `../../../services/${service}/migrations/0001_create_${service}_schema.sql`;
  const text = await readFile(new URL(file, import.meta.url), "utf8");
  const start = text.indexOf("-- The audit log: ");
  if (start < 0) throw new Error(`the migration of ${service} does not create an audit log`);
  return text.slice(start);
}

/**
 * Creates a database with the tables of `createDatabase` and the audit log that all services have.
 */
export async function createAuditedDatabase(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), "audited-migrations-"));
  try {
    const base = new URL("./migrations/0001_create_outbox.sql", import.meta.url).pathname;
    await copyFile(base, join(folder, "0001_create_outbox.sql"));
    await writeFile(join(folder, "0002_create_audit_log.sql"), await readAuditMigration("posts"));
    return await createTestDatabase({ service: "sample", migrationsFolder: folder, poolSize: 8 });
  } finally {
    await rm(folder, { recursive: true });
  }
}
