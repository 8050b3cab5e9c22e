import { createConnectors } from "@postrider/platforms/authorization/registry";
import { openBus } from "@postrider/shared/bus/open";
import { startRelay } from "@postrider/shared/outbox/relay";
import { waitForDatabase } from "@postrider/shared/postgres/readiness";
import { disposeInOrder, together, type App } from "@postrider/shared/process/lifecycle";
import { listenService, openDatabaseProcess } from "@postrider/shared/process/service";
import { requireSealingKeys } from "@postrider/shared/secrets/sealing-keys";
import { MIGRATIONS, type Config } from "#src/config.ts";
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
  const used = (await countSealingKeys(sql)).map(({ keyId }) => keyId);
  requireSealingKeys("CREDENTIAL_KEYS", credentialKeys, { what: "tokens", used });
  await insertDeployment(sql, deploymentId);
  const bus = await openBus({ ...config, sql, logger });
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
      const edges = together([server, renewing, resealing]);
      const jobs = [counting, watching, keyUse];
      await disposeInOrder([edges, refresher, ...jobs, relay, bus, base]);
    },
  };
}
