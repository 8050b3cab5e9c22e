import { openSql } from "#src/postgres.ts";
import { migrate } from "#src/postgres/migrations.ts";

/** Returns the applied versions. */
export async function migrateDatabase(
  databaseUrl: string,
  folder: string,
): Promise<readonly number[]> {
  const sql = openSql({ url: databaseUrl, poolSize: 1, applicationName: "postrider-migrate" });
  try {
    return await migrate(sql, folder);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
