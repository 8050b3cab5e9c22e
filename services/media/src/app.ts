import { MediaUseService } from "@postrider/contracts/posts/v1/media_use_service_pb";
import { openBus } from "@postrider/shared/bus/open";
import { connectPeer } from "@postrider/shared/connect/client";
import { configureFailpoints } from "@postrider/shared/failpoints";
import { createDatabaseCheck, createHealth } from "@postrider/shared/health";
import { disposeInOrder, type App } from "@postrider/shared/lifecycle";
import { createLogger } from "@postrider/shared/logger";
import type { Loop } from "@postrider/shared/loop";
import { startRelay } from "@postrider/shared/outbox/relay";
import { openSql } from "@postrider/shared/postgres";
import { waitForDatabase } from "@postrider/shared/postgres/readiness";
import { listenService } from "@postrider/shared/service";
import { MIGRATIONS, type Config } from "#src/config.ts";
import { TOPIC } from "#src/events.ts";
import { createRoutes } from "#src/rpc/routes.ts";

/** Builds the media service and starts it; disposing stops it in the order that loses nothing. */
export async function startApp(config: Config): Promise<App> {
  configureFailpoints(config.failpointsDir);
  const { service } = config;
  const logger = createLogger({ service, level: config.logLevel });
  const sql = openSql({
    url: config.databaseUrl,
    poolSize: config.databasePoolSize,
    applicationName: service,
    prepare: config.databasePrepare,
  });
  const health = createHealth();
  health.checks.set("database", createDatabaseCheck(sql, MIGRATIONS));
  const { internalSecret } = config;
  const posts = connectPeer({ baseUrl: config.postsUrl, internalSecret });
  const started: { relay?: Loop } = {};
  const nudgeRelay = (): void => started.relay?.nudge();
  const server = await listenService({
    config,
    health,
    logger,
    routes: createRoutes({ sql, posts: posts.client(MediaUseService), nudgeRelay }),
  });
  await waitForDatabase(sql, MIGRATIONS, logger);
  const bus = await openBus({ ...config, brokers: config.kafkaBrokers, sql, logger });
  const relay = startRelay({ sql, bus, topic: TOPIC, source: `/postrider/${service}`, logger });
  started.relay = relay;
  const pool = { [Symbol.asyncDispose]: () => sql.end({ timeout: 5 }) };
  return {
    logger,
    [Symbol.asyncDispose]: async () => {
      health.drain();
      await disposeInOrder([server, relay, bus, posts, pool]);
    },
  };
}
