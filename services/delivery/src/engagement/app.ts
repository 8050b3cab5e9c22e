import type { ConnectRouter } from "@connectrpc/connect";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { createCommentsConnectors } from "@postrider/platforms/comments/registry";
import { createMetricsConnectors } from "@postrider/platforms/metrics/registry";
import { createPrivateRepliesConnectors } from "@postrider/platforms/private-replies/registry";
import type { Bus } from "@postrider/shared/bus";
import { startConsumer, type EventHandler } from "@postrider/shared/bus/consumer";
import type { Peer } from "@postrider/shared/connect/client";
import type { DeploymentGuard } from "@postrider/shared/deployment/guard";
import { openSql, type Sql } from "@postrider/shared/postgres";
import { disposeInOrder, together } from "@postrider/shared/process/lifecycle";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { Config } from "#src/config.ts";
import { createEngagementHandlers, ENGAGEMENT_GROUP } from "#src/engagement/consumers/index.ts";
import { startCountMetrics } from "#src/engagement/jobs/count-metrics.ts";
import { startRefreshMetrics } from "#src/engagement/jobs/refresh-metrics.ts";
import { startThinMetricsHistory } from "#src/engagement/jobs/thin-metrics-history.ts";
import type { EngagementDeps } from "#src/engagement/operations/dependencies.ts";
import { RefreshesByHand } from "#src/engagement/operations/refreshes-by-hand.ts";
import { createEngagementRoutes } from "#src/engagement/rpc/routes.ts";

/** Connections to Postgres that engagement has for itself, so that it never delays publishing. */
const POOL_SIZE = 6;

interface EngagementOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly bus: Bus;
  readonly peers: { readonly accounts: Peer };
  /** Says whether this process may act on its data; a copy of the data must not send anything. */
  readonly guard: DeploymentGuard;
  /** Called when this process has appended events to the outbox. */
  readonly onEvents: () => void;
}

/** The consumers and the jobs for comments, automations and metrics. */
export type Engagement = AsyncDisposable;

/** Starts the work on comments, automations and metrics. Disposing of it waits for the open platform calls. */
export async function startEngagement(options: EngagementOptions): Promise<Engagement> {
  const sql = openPool(options.config);
  const jobs = together(await startJobs(createEngagementDeps({ ...options, sql }), options));
  const pool = { [Symbol.asyncDispose]: () => sql.end({ timeout: 5 }) };
  return { [Symbol.asyncDispose]: () => disposeInOrder([jobs, pool]) };
}

async function startJobs(
  deps: EngagementDeps,
  options: EngagementOptions,
): Promise<readonly AsyncDisposable[]> {
  const jobs = startMetricsJobs(deps);
  return [...jobs, ...(await startConsumers(deps, options))];
}

function startMetricsJobs(deps: EngagementDeps): readonly AsyncDisposable[] {
  const thinning = startThinMetricsHistory(deps);
  if (!deps.settings.isMetricsRefreshOn) return [thinning];
  return [thinning, startCountMetrics(deps), startRefreshMetrics(deps)];
}

async function startConsumers(
  { sql, logger, connectors }: EngagementDeps,
  { bus }: EngagementOptions,
): Promise<readonly AsyncDisposable[]> {
  const handlers = createEngagementHandlers(Object.keys(connectors.metrics));
  return await Promise.all(
    Object.entries(handlers).map(([topic, own]) =>
      startConsumer({ bus, sql, logger, group: ENGAGEMENT_GROUP, topic, handlers: own }),
    ),
  );
}

/** Returns what the jobs and the RPCs of engagement need. */
export function createEngagementDeps(
  options: Pick<EngagementOptions, "config" | "logger" | "peers" | "guard" | "onEvents"> & {
    readonly sql: Sql;
  },
): EngagementDeps {
  const { config, sql, logger, peers, guard, onEvents } = options;
  return {
    sql,
    logger,
    guard,
    onEvents,
    accounts: {
      credentials: peers.accounts.client(CredentialService),
      accounts: peers.accounts.client(AccountService),
    },
    connectors: {
      comments: createCommentsConnectors(config.platforms),
      privateReplies: createPrivateRepliesConnectors(config.platforms),
      metrics: createMetricsConnectors(config.platforms),
    },
    settings: config.engagement,
  };
}

/** The RPCs of engagement, which every process serves, whatever part of the service it works for. */
export interface EngagementRpc extends AsyncDisposable {
  readonly routes: (router: ConnectRouter) => void;
  /** The handlers of the consumers, for events that failed, were parked and are delivered again. */
  readonly handlers: readonly EventHandler[];
}

/** Creates the RPCs of engagement. Disposing of them ends what callers no longer wait for, and records it. */
export function createEngagementRpc(deps: EngagementDeps): EngagementRpc {
  const { sql, connectors } = deps;
  const byHand = new RefreshesByHand(deps);
  return {
    routes: createEngagementRoutes({ sql, connectors, byHand }),
    handlers: Object.values(createEngagementHandlers(Object.keys(connectors.metrics))).flat(),
    [Symbol.asyncDispose]: () => byHand[Symbol.asyncDispose](),
  };
}

function openPool({ databaseUrl, databasePrepare, service }: Config): Sql {
  return openSql({
    url: databaseUrl,
    poolSize: POOL_SIZE,
    applicationName: `${service}-engagement`,
    prepare: databasePrepare,
  });
}
