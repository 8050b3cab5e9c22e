import { existsSync } from "node:fs";
import { join } from "node:path";
import { migrateDatabase } from "@postrider/shared/postgres/migrate-command";
import { provisionDatabase, serviceDatabaseUrl } from "@postrider/shared/postgres/provision";
import { root } from "#src/layout.ts";
import type { Secrets } from "#src/secrets.ts";
import { databaseServices } from "#src/services.ts";

/**
 * Makes roles and schemas, and brings every schema up to date. Repeating it changes nothing.
 *
 * @throws Error in one line when the database does not answer or a migration fails.
 */
export async function prepareDatabase(ownerUrl: string, secrets: Secrets): Promise<void> {
  const roles = databaseServices.map((service) => ({
    service,
    password: secrets.rolePasswords[service],
  }));
  try {
    await provisionDatabase(ownerUrl, roles);
  } catch (error) {
    throw new Error(`the database ${withoutPassword(ownerUrl)}: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  await Promise.all(
    roles.map(async (role) => {
      const folder = join(root, "services", role.service, "migrations");
      if (existsSync(folder)) {
        await migrateDatabase(serviceDatabaseUrl(ownerUrl, role), folder);
      }
    }),
  );
}

/** A connection string that may be shown. */
export function withoutPassword(url: string): string {
  const shown = new URL(url);
  shown.password = "";
  return shown.toString();
}

/** What went wrong, in words; errors of the network often carry only a code. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  if (error.message !== "") {
    return error.message;
  }
  return "code" in error ? String(error.code) : error.name;
}
