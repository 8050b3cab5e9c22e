import { expect } from "vitest";
import { dumpSchema } from "#src/postgres/schema-dump.ts";
import type { TestDatabase } from "#src/testing/database.ts";

/**
 * Fails when the committed `schema.sql` differs from the result of the migrations. Running the test
 * with `vitest -u` updates the file, like every snapshot.
 *
 * @param file Absolute path of the service's `schema.sql`.
 */
export async function expectSchemaCurrent(
  database: TestDatabase,
  schema: string,
  file: string,
): Promise<void> {
  await expect(await dumpSchema(database.sql, schema)).toMatchFileSnapshot(file);
}
