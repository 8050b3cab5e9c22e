import type { Sql } from "#src/postgres.ts";
import { currentSchemaVersion, neededSchemaVersion } from "#src/postgres/migrations.ts";
import type { Logger } from "#src/telemetry/logger.ts";

/** An accepted post must survive a power failure. */
async function assertDurable(sql: Sql): Promise<void> {
  const [settings] = await sql<{ fsync: string; commit: string }[]>`
    select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`;
  if (settings?.fsync !== "on" || settings.commit === "off")
    throw new Error(
      "the database runs with fsync or synchronous_commit off and would lose accepted posts; turn both on",
    );
}

export async function waitForDatabase(
  sql: Sql,
  migrationsFolder: string,
  logger: Logger,
): Promise<void> {
  const needed = neededSchemaVersion(migrationsFolder);
  for (let delayMs = 50; ; delayMs = Math.min(delayMs * 2, 2000)) {
    try {
      const version = await currentSchemaVersion(sql);
      if (version >= needed) return await assertDurable(sql);
      logger.info(
        { version, delayMs },
        "the database schema is older than this version of the service; the process waits until the schema is migrated",
      );
    } catch (error) {
      if (error instanceof Error && error.message.startsWith("the database runs")) throw error;
      logger.warn(
        { err: error, delayMs },
        "the database does not answer; the process waits until it does",
      );
    }
    await new Promise((resolve) => setTimeout(resolve, delayMs));
  }
}
