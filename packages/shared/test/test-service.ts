import { createLogger } from "#src/logger.ts";
import { createTestDatabase, type TestDatabase } from "#src/testing/database.ts";

/** A service that exists in these tests only: an outbox, parked events, and a table that handlers write to. */
export const MIGRATIONS = new URL("./migrations", import.meta.url).pathname;

export const logger = createLogger({ service: "test", level: "silent" });

export async function createDatabase(poolSize = 8): Promise<TestDatabase> {
  return await createTestDatabase({ service: "sample", migrationsFolder: MIGRATIONS, poolSize });
}
