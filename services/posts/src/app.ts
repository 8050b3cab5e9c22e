import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { PlatformService } from "@postrider/contracts/accounts/v1/platform_service_pb";
import { WorkspaceRemovalService } from "@postrider/contracts/accounts/v1/workspace_removal_service_pb";
import { WorkspaceService } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { TaskService } from "@postrider/contracts/delivery/v1/task_service_pb";
import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { RPC_CALLERS } from "@postrider/contracts/rpc-callers";
import type { Bus } from "@postrider/shared/bus";
import { type EventHandler, startConsumers } from "@postrider/shared/bus/consumer";
import { createParkedEventService } from "@postrider/shared/bus/parked";
import { connectPeer, type Peer } from "@postrider/shared/connect/client";
import {
  DeploymentGuard,
  describeHold,
  startDeploymentWatch,
} from "@postrider/shared/deployment/guard";
import { readOwnership } from "@postrider/shared/deployment/table";
import { withDiagnostics } from "@postrider/shared/diagnostics/service";
import { createServiceChecks } from "@postrider/shared/diagnostics/service-checks";
import { createOutboxCapacityCheck } from "@postrider/shared/outbox";
import { startEvents } from "@postrider/shared/outbox/start-events";
import type { Sql } from "@postrider/shared/postgres";
import { createDatabaseClock } from "@postrider/shared/postgres/clock";
import { waitForDatabase } from "@postrider/shared/postgres/readiness";
import { type App, disposeInOrder, together } from "@postrider/shared/process/lifecycle";
import { createLateNudge } from "@postrider/shared/process/loop";
import { listenService, openDatabaseProcess } from "@postrider/shared/process/service";
import { cursorKeysOf } from "@postrider/shared/secrets/list-cursor";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createGauge } from "@postrider/shared/telemetry/metrics";
import { startRemovingWorkspaces } from "@postrider/shared/workspaces/removal-loop";
import { toRemovalPeer } from "@postrider/shared/workspaces/removal-peer";
import {
  createAccountDirectory,
  createPlatformDirectory,
  createWorkspaceDirectory,
} from "#src/clients/accounts.ts";
import { type Config, MIGRATIONS } from "#src/config.ts";
import { eventHandlers } from "#src/consumers/index.ts";
import { startCleaningOldRows } from "#src/jobs/clean-old-rows.ts";
import { startRemovingOldPosts } from "#src/jobs/remove-old-posts.ts";
import { type Scheduler, startScheduler } from "#src/jobs/start-due-posts.ts";
import { startSweep } from "#src/jobs/sweep.ts";
import { createPostInserts } from "#src/operations/post-inserts.ts";
import { createRoutes } from "#src/rpc/routes.ts";

export async function startApp(config: Config): Promise<App> {
  const base = openDatabaseProcess(config, MIGRATIONS);
  const { sql, logger, health } = base;
  const guard = createEventGuard(config, sql, logger);
  health.notes.set("deployment", () => describeHold(guard));
  const peers = connectPeers(config);
  const started: { bus?: Bus; scheduler?: Scheduler } = {};
  const lateRelay = createLateNudge();
  const nudgeRelay = lateRelay.nudge;
  const nudgeScheduler = (at: Date): void => started.scheduler?.nudge(at);
  const routes = withDiagnostics(
    createAppRoutes({ config, sql, peers, nudgeRelay, nudgeScheduler }),
    { checks: createServiceChecks({ sql, guard, migrations: MIGRATIONS, bus: () => started.bus }) },
  );
  const server = await listenService({ config, callers: RPC_CALLERS, health, logger, routes });
  await waitForDatabase(sql, MIGRATIONS, logger);
  const { bus, relay } = await startEvents(config, { sql, guard, logger });
  const consumers = await startConsumers(
    { bus, sql, logger, group: "posts", onCommitted: relay.nudge },
    eventHandlers,
  );
  started.bus = bus;
  lateRelay.attach(relay);
  const jobs = startJobs({ config, sql, guard, peers, logger, nudgeRelay });
  started.scheduler = jobs.scheduler;
  return {
    logger,
    [Symbol.asyncDispose]: async () => {
      health.drain();
      const { accounts, media, delivery } = peers;
      await disposeInOrder([
        together([...jobs.all, ...consumers, server]),
        relay,
        bus,
        accounts,
        media,
        delivery,
        base,
      ]);
    },
  };
}

function startJobs(options: {
  readonly config: Config;
  readonly sql: Sql;
  readonly guard: DeploymentGuard;
  readonly peers: Peers;
  readonly logger: Logger;
  readonly nudgeRelay: () => void;
}) {
  const { config, sql, guard, peers, logger, nudgeRelay } = options;
  const { missedAfterMs, sweepMs, sweepAfterMs, retentionDays, auditDays } = config;
  const tasks = peers.delivery.client(TaskService);
  const scheduler = startScheduler({ sql, logger, nudgeRelay, missedAfterMs });
  const sweep = startSweep({ sql, logger, nudgeRelay, tasks, everyMs: sweepMs, sweepAfterMs });
  const cleanings = startCleaningOldRows(sql, logger, auditDays);
  const media = peers.media.client(MediaService);
  const removal = startRemovingOldPosts({ sql, media, logger, retentionDays });
  const workspaces = startRemoval(peers, { sql, logger });
  const watch = startDeploymentWatch(guard, logger);
  return {
    scheduler,
    all: [scheduler, sweep, ...cleanings, removal, workspaces, watch],
  };
}

/** Posts removes what it stores of deleted workspaces. */
function startRemoval(
  { accounts }: Peers,
  deps: { readonly sql: Sql; readonly logger: Logger },
): AsyncDisposable {
  const client = accounts.client(WorkspaceRemovalService);
  const peer = toRemovalPeer("posts", {
    list: () => client.listWorkspaceRemovals({}),
    report: (report) => client.reportWorkspaceRemoval(report),
  });
  return startRemovingWorkspaces({ ...deps, ...peer });
}

type Peers = Record<"accounts" | "media" | "delivery", Peer>;

function connectPeers({ identity, ...config }: Config): Peers {
  return {
    accounts: connectPeer({ service: "accounts", baseUrl: config.accountsUrl, identity }),
    media: connectPeer({ service: "media", baseUrl: config.mediaServiceUrl, identity }),
    delivery: connectPeer({ service: "delivery", baseUrl: config.deliveryUrl, identity }),
  };
}

function createAppRoutes(options: {
  readonly config: Config;
  readonly sql: Sql;
  readonly peers: Peers;
  readonly nudgeRelay: () => void;
  readonly nudgeScheduler: (at: Date) => void;
}) {
  const { config, sql, peers, nudgeRelay, nudgeScheduler } = options;
  return createRoutes({
    sql,
    inserts: createPostInserts(sql),
    nudgeRelay,
    nudgeScheduler,
    clock: createDatabaseClock(sql),
    accounts: createAccountDirectory(peers.accounts.client(AccountService)),
    platforms: createPlatformDirectory(peers.accounts.client(PlatformService)),
    accountService: peers.accounts.client(AccountService),
    workspaces: createWorkspaceDirectory(peers.accounts.client(WorkspaceService)),
    media: peers.media.client(MediaService),
    tasks: peers.delivery.client(TaskService),
    assertRoom: createOutboxCapacityCheck(sql),
    missedAfterMs: config.missedAfterMs,
    retentionDays: config.retentionDays,
    deploymentId: config.deploymentId,
    cursorKeys: cursorKeysOf("posts", config.identity),
    parkedEvents: createParkedEventService({ sql, handlers: listHandlers() }),
  });
}

/** Once: they also handle parked events that an operator delivers again. */
function listHandlers(): readonly EventHandler[] {
  return [...new Set(Object.values(eventHandlers).flat())];
}

const heldGauge = createGauge(
  "posts_events_held",
  "1 while events stay in the outbox on Kafka because the data belongs to another database or deployment.",
);

/** On Kafka, data that is a copy exchanges no events. */
function createEventGuard({ deploymentId }: Config, sql: Sql, logger: Logger): DeploymentGuard {
  return new DeploymentGuard({
    activity: "the exchange of events, if they are on Kafka,",
    heldGauge,
    readOwnership: () => readOwnership(sql, deploymentId),
    logger,
  });
}
