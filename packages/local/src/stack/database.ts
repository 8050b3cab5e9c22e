import { existsSync } from "node:fs";
import { join } from "node:path";
import { migrateDatabase } from "@postrider/shared/postgres/migrations";
import { provisionDatabase } from "@postrider/shared/postgres/provision";
import { migrationDatabaseUrl } from "@postrider/shared/postgres/service-role";
import { root } from "#src/stack/layout.ts";
import type { Secrets } from "#src/stack/secrets.ts";
import { databaseServices } from "#src/stack/services.ts";

/** Repeating it changes nothing. Throws in one line. */
export async function prepareDatabase(ownerUrl: string, secrets: Secrets): Promise<void> {
  const roles = databaseServices.map((service) => ({
    service,
    password: secrets.rolePasswords[service],
    migrationPassword: secrets.migrationPasswords[service],
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
      if (existsSync(folder)) await migrateDatabase(migrationDatabaseUrl(ownerUrl, role), folder);
    }),
  );
}

export function withoutPassword(url: string): string {
  const shown = new URL(url);
  shown.password = "";
  return shown.toString();
}

/** Or its code, because network errors often have no message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);

  if (error.message !== "") return error.message;

  return "code" in error ? String(error.code) : error.name;
}
