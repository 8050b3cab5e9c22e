import { migrateDatabase } from "@postrider/shared/postgres/migrate-command";
import { MIGRATIONS, readConfig } from "#src/config.ts";

await migrateDatabase(readConfig().databaseUrl, MIGRATIONS);
