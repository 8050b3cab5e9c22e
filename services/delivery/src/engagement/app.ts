import type { ConnectRouter } from "@connectrpc/connect";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { PROCESS_CLOCKS } from "@postrider/platforms/http/send-once";
import { createConnectors } from "@postrider/platforms/platforms";
import type { Bus } from "@postrider/shared/bus";
import { startConsumers, type EventHandler } from "@postrider/shared/bus/consumer";
import type { Peer } from "@postrider/shared/connect/client";
import { withAdmission } from "@postrider/shared/connect/methods";
import type { DeploymentGuard } from "@postrider/shared/deployment/guard";
import { newId } from "@postrider/shared/ids";
import { openSql, type Sql } from "@postrider/shared/postgres";
import { PoolWait } from "@postrider/shared/postgres/pool-wait";
import { watchPool } from "@postrider/shared/postgres/watch";
import { createLookCheck, type Check } from "@postrider/shared/process/health";
import { disposeInOrder, together } from "@postrider/shared/process/lifecycle";
import type { Logger } from "@postrider/shared/telemetry/logger";
import type { Config } from "#src/config.ts";
import { createEngagementHandlers, ENGAGEMENT_GROUP } from "#src/engagement/consumers/index.ts";
import {
  startClaimCommentActions,
  type ActionClaims,
} from "#src/engagement/jobs/claim-comment-actions/claim-comment-actions.ts";
import {
  startCleaningOldRows,
  startThinMetricsHistory,
} from "#src/engagement/jobs/clean-old-rows.ts";
import { startCountBacklogs, startCountMetrics } from "#src/engagement/jobs/count-backlogs.ts";
import {
  startEndBlockedReplies,
  startSkipStoppedRuns,
} from "#src/engagement/jobs/end-waiting-runs.ts";
import { startPollComments } from "#src/engagement/jobs/poll-comments/poll-comments.ts";
import { startRefreshMetrics } from "#src/engagement/jobs/refresh-metrics.ts";
import { startRemovingOldRows } from "#src/engagement/jobs/remove-old-rows.ts";
import type {
  AutomationRpcDeps,
  CommentRpcDeps,
  EngagementDeps,
  ReportCaveats,
} from "#src/engagement/operations/dependencies.ts";
import { finishRuns } from "#src/engagement/operations/finish-runs.ts";
import { createAutomationRoutes } from "#src/engagement/rpc/automation-service.ts";
import { createCommentRoutes } from "#src/engagement/rpc/comment-service.ts";
import { createInboxRoutes } from "#src/engagement/rpc/inbox-service.ts";
import { createMetricsRoutes, RefreshesByHand } from "#src/engagement/rpc/refresh-metrics.ts";

/**
 * Connections to Postgres that only engagement uses, for its jobs and its RPCs, so that it never
 * delays publishing.
 */
const POOL_SIZE = 6;

/** How long in milliseconds a caller's request for comments may wait for the platform. */
const READ_TIMEOUT_MS = 10_000;

interface EngagementOptions {
  readonly config: Config;
  /** The pool of `openEngagementPool`. */
  readonly sql: Sql;
  readonly logger: Logger;
  readonly peers: { readonly accounts: Peer };
  /** A process on a copy of the data must not send anything. */
  readonly guard: DeploymentGuard;
  /** Called when this process has appended events to the outbox. */
  readonly onEvents: () => void;
  readonly reportCaveats: ReportCaveats;
}

export interface Engagement extends AsyncDisposable {
  /** Makes this process look at once for due actions on comments and due private replies. */
  readonly nudgeActions: () => void;
  /** Makes this process look at once for accounts that are due for a poll. */
  readonly nudgePolls: () => void;
  /** Fails when a process that should run has not looked for actions or accounts for over 10 s. */
  readonly check: Check;
}

/** Disposing of the result waits for open platform calls. */
export async function startEngagement(
  deps: EngagementDeps,
  { bus, config }: { readonly bus: Bus; readonly config: Config },
): Promise<Engagement> {
  const actions = startActions(deps);
  const nudgeActions = actions.nudge;
  const polls = startPollComments({ ...deps, onActions: nudgeActions });
  const jobs = together([
    polls,
    actions,
    startSkipStoppedRuns(deps),
    startEndBlockedReplies(deps),
    ...startCountBacklogs(deps),
    startRemovingOldRows(deps),
    ...startCleaningOldRows(deps, config),
    ...startMetricsJobs(deps),
    ...(await startConsumers(
      { bus, sql: deps.sql, logger: deps.logger, group: ENGAGEMENT_GROUP },
      createEngagementHandlers(Object.keys(deps.connectors.metrics)),
    )),
  ]);
  const watch = watchPool(deps.sql, "engagement", POOL_SIZE);
  return {
    nudgeActions,
    nudgePolls: polls.nudge,
    check: createLookCheck("comments and actions on them", () =>
      Math.max(actions.claimAgeMs(), polls.claimAgeMs()),
    ),
    [Symbol.asyncDispose]: () => disposeInOrder([jobs, watch]),
  };
}

function startActions(deps: EngagementDeps): ActionClaims {
  return startClaimCommentActions({
    ...deps,
    owner: newId(),
    finishRuns,
    clocks: PROCESS_CLOCKS,
    random: Math.random,
  });
}

function startMetricsJobs(deps: EngagementDeps): readonly AsyncDisposable[] {
  const thinning = startThinMetricsHistory(deps);
  if (!deps.settings.isMetricsRefreshOn) return [thinning];
  return [thinning, startCountMetrics(deps), startRefreshMetrics(deps)];
}

export function createEngagementDeps(options: EngagementOptions): EngagementDeps {
  const { config, sql, logger, peers, guard, onEvents, reportCaveats } = options;
  return {
    sql,
    logger,
    guard,
    onEvents,
    reportCaveats,
    accounts: {
      credentials: peers.accounts.client(CredentialService),
      accounts: peers.accounts.client(AccountService),
    },
    connectors: {
      comments: createConnectors("comments", config.platforms),
      privateReplies: createConnectors("privateReplies", config.platforms),
      metrics: createConnectors("metrics", config.platforms),
    },
    settings: config.engagement,
  };
}

/** The RPCs of engagement, which every delivery process serves, whatever else it runs. */
export interface EngagementRpc extends AsyncDisposable {
  readonly routes: (router: ConnectRouter) => void;
  /** Process parked events again when an operator redrives them. */
  readonly handlers: readonly EventHandler[];
}

/** Disposing of them aborts calls whose callers no longer wait, and records their results. */
export function createEngagementRpc(
  deps: EngagementDeps,
  more: Pick<AutomationRpcDeps, "cursorKeys" | "nudgePolls"> & Pick<CommentRpcDeps, "nudgeActions">,
): EngagementRpc {
  const { sql, connectors } = deps;
  const byHand = new RefreshesByHand(deps);
  const all = [
    createAutomationRoutes({ ...deps, ...more }),
    createCommentRoutes({ ...deps, ...more, readTimeoutMs: READ_TIMEOUT_MS }),
    createInboxRoutes({ ...deps, ...more }),
    createMetricsRoutes({ sql, connectors, byHand }),
  ];
  const wait = new PoolWait(() => sql`select 1`);
  const routes = (router: ConnectRouter): void => {
    for (const each of all) each(router);
  };
  return {
    // The server looks at the other pool. These RPCs share theirs with the jobs of all workspaces.
    routes: withAdmission(routes, () => wait.state()),
    handlers: Object.values(createEngagementHandlers(Object.keys(connectors.metrics))).flat(),
    [Symbol.asyncDispose]: () => byHand[Symbol.asyncDispose](),
  };
}

/** Connects when it is first used. Disposing waits 5 s for running statements. */
export function openEngagementPool({
  databaseUrl,
  databasePrepare,
  service,
}: Config): AsyncDisposable & { readonly sql: Sql } {
  const sql = openSql({
    url: databaseUrl,
    poolSize: POOL_SIZE,
    applicationName: `${service}-engagement`,
    prepare: databasePrepare,
  });
  return { sql, [Symbol.asyncDispose]: () => sql.end({ timeout: 5 }) };
}
