import { migrateDatabase } from "@postrider/shared/postgres/migrate-command";
import { MIGRATIONS, readMigrationConfig } from "#src/config.ts";

await migrateDatabase(readMigrationConfig().databaseUrl, MIGRATIONS);
