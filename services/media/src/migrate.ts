import { migrateDatabase } from "@postrider/shared/postgres/migrations";
import { MIGRATIONS, readMigrationConfig } from "#src/config.ts";

await migrateDatabase(readMigrationConfig().databaseUrl, MIGRATIONS);
