import { configureFailpoints } from "@postrider/shared/failpoints";
import { createDatabaseCheck, createHealth } from "@postrider/shared/health";
import { disposeInOrder, type App } from "@postrider/shared/lifecycle";
import { createLogger } from "@postrider/shared/logger";
import { openSql } from "@postrider/shared/postgres";
import { waitForDatabase } from "@postrider/shared/postgres/readiness";
import { listenService } from "@postrider/shared/service";
import { MIGRATIONS, type Config } from "#src/config.ts";
import { createRoutes } from "#src/rpc/routes.ts";

/** Builds the media service and starts it; disposing stops it in the order that loses nothing. */
export async function startApp(config: Config): Promise<App> {
  configureFailpoints(config.failpointsDir);
  const logger = createLogger({ service: config.service, level: config.logLevel });
  const sql = openSql({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    applicationName: config.service,
    prepare: config.databasePrepare,
  });
  const health = createHealth();
  health.checks.set("database", createDatabaseCheck(sql, MIGRATIONS));
  const server = await listenService({ config, health, logger, routes: createRoutes({ sql }) });
  await waitForDatabase(sql, MIGRATIONS, logger);
  return {
    logger,
    [Symbol.asyncDispose]: async () => {
      health.drain();
      await disposeInOrder([server, { [Symbol.asyncDispose]: () => sql.end({ timeout: 5 }) }]);
    },
  };
}
