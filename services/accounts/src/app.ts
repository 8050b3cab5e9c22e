import { openBus } from "@postrider/shared/bus/open";
import { disposeInOrder, type App } from "@postrider/shared/lifecycle";
import { startRelay } from "@postrider/shared/outbox/relay";
import type { Sql } from "@postrider/shared/postgres";
import { waitForDatabase } from "@postrider/shared/postgres/readiness";
import { listenService, openDatabaseProcess } from "@postrider/shared/service";
import { MIGRATIONS, type Config } from "#src/config.ts";
import { createConnectors } from "#src/connectors/registry.ts";
import { insertDeployment } from "#src/db/deployment.ts";
import { countSealingKeys } from "#src/db/sealing-keys.ts";
import { TOPIC } from "#src/events.ts";
import { startCountAccounts } from "#src/jobs/count-accounts.ts";
import { startRenewingIdle } from "#src/jobs/renew-idle-credentials.ts";
import { startResealing } from "#src/jobs/reseal-credentials.ts";
import { startWatchDeployment } from "#src/jobs/watch-deployment.ts";
import { startKeyUse } from "#src/jobs/write-key-use.ts";
import { CredentialRefresher } from "#src/rpc/credential-refresher.ts";
import { createRoutes } from "#src/rpc/routes.ts";

/** A key that was taken out of the configuration too early would make publishing fail later, account by account. */
async function assertKeysConfigured(sql: Sql, keys: Config["credentialKeys"]): Promise<void> {
  const known = new Set(keys.map((key) => key.id));
  const used = (await countSealingKeys(sql)).map(({ keyId }) => keyId);
  const missing = used.filter((id) => !known.has(id));
  if (missing.length > 0)
    throw new Error(
      `tokens are sealed with keys that CREDENTIAL_KEYS has not: ${missing.join(", ")}`,
    );
}

/** Builds the accounts service and starts it; disposing stops it in the order that loses nothing. */
export async function startApp(config: Config): Promise<App> {
  const { service, simulatorUrl, publicUrl, credentialKeys, deploymentId } = config;
  const base = openDatabaseProcess(config, MIGRATIONS);
  const { sql, logger, health } = base;
  let nudge = (): void => undefined;
  const keyUse = startKeyUse({ sql, logger });
  const deps = {
    sql,
    logger,
    connectors: createConnectors(config.platforms, simulatorUrl),
    simulatorUrl,
    publicUrl,
    credentialKeys,
    deploymentId,
    nudge: () => nudge(),
    noteKeyUse: (keyId: string) => keyUse.note(keyId),
  };
  const refresher = new CredentialRefresher(deps);
  const server = await listenService({
    config,
    health,
    logger,
    routes: createRoutes(deps, refresher),
  });
  await waitForDatabase(sql, MIGRATIONS, logger);
  await assertKeysConfigured(sql, credentialKeys);
  await insertDeployment(sql, deploymentId);
  const bus = await openBus({ ...config, brokers: config.kafkaBrokers, sql, logger });
  const relay = startRelay({ sql, bus, topic: TOPIC, source: `/postrider/${service}`, logger });
  nudge = () => relay.nudge();
  const watching = startWatchDeployment(deps);
  const counting = startCountAccounts(sql, logger);
  const resealing = startResealing(deps);
  const renewing = startRenewingIdle({
    ...deps,
    refresh: (credential) => refresher.refresh(credential),
  });
  return {
    logger,
    [Symbol.asyncDispose]: async () => {
      health.drain();
      const jobs = [renewing, resealing, counting, watching, keyUse];
      await disposeInOrder([server, refresher, ...jobs, relay, bus, base]);
    },
  };
}
