import { createTestDatabase, type TestDatabase } from "#src/testing/database.ts";

export { logger } from "./test-logger.ts";

/**
 * Folder of the database migrations of a service for these tests: an outbox, parked events, and a
 * table that handlers write to.
 */
const migrationsFolder = new URL("./migrations", import.meta.url).pathname;

/** Creates a database for one test file. */
export async function createDatabase(poolSize = 8): Promise<TestDatabase> {
  return await createTestDatabase({ service: "sample", migrationsFolder, poolSize });
}

/** Settings of a Kafka bus whose data belongs to its deployment. */
export const OWN_DATA = {
  deploymentId: "test",
  guard: { isHeld: () => Promise.resolve(false) },
} as const;
