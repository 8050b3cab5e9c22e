import { RPC_CALLERS } from "@postrider/contracts/rpc-callers";
import {
  createAuthorizationConnectors,
  createAvailableReaders,
} from "@postrider/platforms/authorizations";
import { limitForeignHosts } from "@postrider/platforms/http/foreign-hosts";
import { auditCleanings } from "@postrider/shared/audit/retention";
import type { Bus } from "@postrider/shared/bus";
import {
  describeHold,
  startDeploymentWatch,
  DeploymentGuard,
} from "@postrider/shared/deployment/guard";
import { insertDeployment, readOwnership } from "@postrider/shared/deployment/table";
import { withDiagnostics, type DiagnosticsOptions } from "@postrider/shared/diagnostics/service";
import {
  createServiceChecks,
  type ServiceCheckOptions,
} from "@postrider/shared/diagnostics/service-checks";
import { startEvents } from "@postrider/shared/outbox/start-events";
import type { Sql } from "@postrider/shared/postgres";
import { type RowCleaning, startCleaningRows } from "@postrider/shared/postgres/clean-rows";
import { waitForDatabase } from "@postrider/shared/postgres/readiness";
import { disposeInOrder, together, type App } from "@postrider/shared/process/lifecycle";
import { createLateNudge } from "@postrider/shared/process/loop";
import { listenService, openDatabaseProcess } from "@postrider/shared/process/service";
import { requireSealingKeys } from "@postrider/shared/secrets/sealing";
import { createGauge } from "@postrider/shared/telemetry/metrics";
import { MIGRATIONS, type Config } from "#src/config.ts";
import { deleteOldKeys } from "#src/db/api-keys.ts";
import { deleteEndedSessions } from "#src/db/dashboard-sessions.ts";
import { listSealingKeyUses } from "#src/db/sealing-keys.ts";
import { startCountAccounts } from "#src/jobs/count-accounts.ts";
import { startRefreshIdleCredentials } from "#src/jobs/refresh-idle-credentials.ts";
import { startRemovingOwnWorkspaces } from "#src/jobs/remove-workspaces.ts";
import { startResealCredentials } from "#src/jobs/reseal-credentials.ts";
import { startWriteApiKeyUse } from "#src/jobs/write-api-key-use.ts";
import { AvailableSettings } from "#src/operations/available-settings.ts";
import { CredentialRefresher } from "#src/operations/credential-refresher.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { createCellChecks, createInstallationChecks } from "#src/operations/installation-checks.ts";
import { createRoutes } from "#src/rpc/routes.ts";

const heldGauge = createGauge(
  "accounts_tokens_held",
  "1 while tokens are neither refreshed nor revoked because the data belongs to another database or deployment.",
);

/**
 * Creates the guard that reports in a metric and in the log whether the database is a copy of
 * another deployment's database. Token refreshes do not depend on it: their SQL statements check
 * the deployment themselves.
 */
function createTokenGuard({
  sql,
  logger,
  deploymentId,
}: Pick<Dependencies, "sql" | "logger" | "deploymentId">): DeploymentGuard {
  return new DeploymentGuard({
    activity: "token refresh",
    heldGauge,
    readOwnership: () => readOwnership(sql, deploymentId),
    logger,
  });
}

/** Starts the service. Disposing of the returned app stops it without losing accepted work. */
export async function startApp(config: Config): Promise<App> {
  const { simulatorUrl, publicUrl, credentialKeys, deploymentId } = config;
  const base = openDatabaseProcess(config, MIGRATIONS);
  const { sql, logger, health } = base;
  const started: { bus?: Bus } = {};
  const lateRelay = createLateNudge();
  limitForeignHosts(config.outbound);
  const connectors = createAuthorizationConnectors(config.platforms, simulatorUrl);
  const apiKeyUse = startWriteApiKeyUse({ sql, logger });
  const guard = createTokenGuard({ sql, logger, deploymentId });
  health.notes.set("deployment", () => describeHold(guard));
  const otherCells = new Set(config.cells.addresses.keys()).difference(new Set([config.cells.own]));
  const { nudge } = lateRelay;
  const own = { sql, logger, connectors, credentialKeys, deploymentId, otherCells, nudge };
  const refresher = new CredentialRefresher(own);
  const refreshTokens: Dependencies["refreshTokens"] = (current) => refresher.refresh(current);
  const readers = createAvailableReaders(config.platforms);
  const available = new AvailableSettings({ ...own, refreshTokens }, readers);
  const deps: Dependencies = {
    ...own,
    features: config.platforms.features,
    simulatorUrl,
    publicUrl,
    cell: config.cells.own,
    sessionLimits: config.sessionLimits,
    settleMs: config.settleMs,
    noteKeyUse: (id) => apiKeyUse.note(id),
    refreshTokens,
    readAvailable: (key, platform) => available.read(key, platform),
  };
  const diagnostics = createDiagnostics(config, connectors, { sql, guard, bus: () => started.bus });
  const routes = withDiagnostics(createRoutes(deps), diagnostics);
  const server = await listenService({ config, callers: RPC_CALLERS, health, logger, routes });
  await waitForDatabase(sql, MIGRATIONS, logger);
  await requireKeys(config, sql);
  await insertDeployment(sql, deploymentId);
  const { bus, relay } = await startEvents(config, { sql, guard, logger });
  started.bus = bus;
  lateRelay.attach(relay);
  const jobs = [...startJobs(config, { ...deps, guard }), apiKeyUse];
  const loops = [startRefreshIdleCredentials(deps), startResealCredentials(deps)];
  // No refresh begins once the last request is answered, however slow those in progress are.
  const answering = { [Symbol.asyncDispose]: () => disposeInOrder([server, refresher]) };
  return {
    logger,
    [Symbol.asyncDispose]: async () => {
      health.drain();
      await disposeInOrder([together([answering, ...loops]), ...jobs, relay, bus, base]);
    },
  };
}

/** An ended session or login link works no longer, whether or not its row is still there. */
function endedSessions(limits: Dependencies["sessionLimits"]): RowCleaning {
  return {
    job: "clean-dashboard-sessions",
    rows: "ended sessions of the dashboard",
    idleMs: 10 * 60_000,
    pageRows: 1000,
    deleteRows: (sql, limit) => deleteEndedSessions(sql, limits, limit),
  };
}

const OLD_KEYS: RowCleaning = {
  job: "clean-api-keys",
  rows: "API keys that were revoked or expired over 30 days ago",
  idleMs: 6 * 3_600_000,
  pageRows: 1000,
  deleteRows: deleteOldKeys,
};

function startJobs(
  config: Config,
  deps: Dependencies & { readonly guard: DeploymentGuard },
): readonly AsyncDisposable[] {
  const { sql, logger, guard } = deps;
  return [
    startCountAccounts(sql, logger),
    startDeploymentWatch(guard, logger),
    startRemovingOwnWorkspaces(deps),
    ...startCleaningRows(sql, logger, [
      ...auditCleanings(config.auditDays),
      endedSessions(deps.sessionLimits),
      OLD_KEYS,
    ]),
  ];
}

function createDiagnostics(
  config: Config,
  connectors: Dependencies["connectors"],
  deps: Omit<ServiceCheckOptions, "migrations">,
): DiagnosticsOptions {
  return {
    publicUrl: config.publicUrl,
    checks: [
      ...createServiceChecks({ ...deps, migrations: MIGRATIONS }),
      ...createCellChecks(config.cells, config.publicUrl),
      ...createInstallationChecks(config, connectors),
    ],
  };
}

async function requireKeys({ credentialKeys }: Config, sql: Sql): Promise<void> {
  const used = [...new Set((await listSealingKeyUses(sql)).map(({ keyId }) => keyId))];
  requireSealingKeys("CREDENTIAL_KEYS", credentialKeys, { what: "tokens", used });
}
