import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { CredentialService } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { TargetService } from "@postrider/contracts/posts/v1/target_service_pb";
import { RPC_CALLERS } from "@postrider/contracts/rpc-callers";
import { limitForeignHosts } from "@postrider/platforms/http/foreign-hosts";
import { createPublishingConnectors } from "@postrider/platforms/publishing/registry";
import { startConsumer } from "@postrider/shared/bus/consumer";
import { openBus } from "@postrider/shared/bus/open";
import { connectPeer, type Peer } from "@postrider/shared/connect/client";
import { newId } from "@postrider/shared/ids";
import { startRelay } from "@postrider/shared/outbox/relay";
import type { Sql } from "@postrider/shared/postgres";
import { waitForDatabase } from "@postrider/shared/postgres/readiness";
import { watchDisk } from "@postrider/shared/process/disk";
import type { Check } from "@postrider/shared/process/health";
import { disposeInOrder, together, type App } from "@postrider/shared/process/lifecycle";
import { listenService, openDatabaseProcess } from "@postrider/shared/process/service";
import { requireSealingKeys } from "@postrider/shared/secrets/sealing-keys";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { MIGRATIONS, type Config } from "#src/config.ts";
import { TOPIC } from "#src/events.ts";
import { createMediaSource, type MediaSource } from "#src/publishing/clients/media.ts";
import { POSTS_TOPIC, postsHandlers } from "#src/publishing/consumers/index.ts";
import { createHandleSealing, listHandleKeys } from "#src/publishing/db/handles.ts";
import { startAskForDetails } from "#src/publishing/jobs/ask-for-details.ts";
import { startClaimDeletions } from "#src/publishing/jobs/claim-deletions.ts";
import { startClaimTasks, type TaskClaims } from "#src/publishing/jobs/claim-tasks.ts";
import { startCountTasks } from "#src/publishing/jobs/count-tasks.ts";
import { startWatchDeployment } from "#src/publishing/jobs/watch-deployment.ts";
import { createPublishingGuard } from "#src/publishing/operations/publishing-guard.ts";
import { createRoutes } from "#src/publishing/rpc/routes.ts";
import { Spool } from "#src/publishing/storage/spool.ts";

const MAX_CLAIM_AGE_MS = 10_000;

/**
 * Builds and starts the delivery service. Disposing of it stops its parts in an order that loses no outcome of a platform call
 * and no event.
 */
export async function startApp(config: Config): Promise<App> {
  const base = openDatabaseProcess(config, MIGRATIONS);
  const { sql, logger, health } = base;
  const started: { claims?: TaskClaims } = {};
  const nudgeClaims = (): void => started.claims?.nudge();
  health.checks.set(
    "claims",
    createClaimCheck(() => started.claims),
  );
  const { deploymentId } = config;
  const routes = createRoutes({ sql, deploymentId, nudgeClaims, handlers: postsHandlers });
  const server = await listenService({ config, callers: RPC_CALLERS, health, logger, routes });
  await waitForDatabase(sql, MIGRATIONS, logger);
  const used = await listHandleKeys(sql);
  requireSealingKeys("HANDLE_KEYS", config.handleKeys, { what: "handles", used });
  const peers = connectPeers(config);
  const { bus, relay } = await startEvents(config, sql, logger);
  const claims = startClaims(config, { sql, logger, peers, onEvents: () => relay.nudge() });
  started.claims = claims;
  const consumer = await startConsumer({
    bus,
    sql,
    group: config.service,
    topic: POSTS_TOPIC,
    handlers: postsHandlers,
    logger,
    onCommitted: nudgeClaims,
  });
  return {
    logger,
    [Symbol.asyncDispose]: async () => {
      health.drain();
      // A stopping process first stops claiming tasks. Then its open platform calls end and their outcomes are
      // recorded. Then the events about these outcomes are published.
      const { posts, accounts, media } = peers;
      const edges = together([consumer, claims, server]);
      await disposeInOrder([edges, relay, bus, posts, accounts, media, base]);
    },
  };
}

/**
 * Creates a readiness check that fails when this process has not looked for publish tasks for over 10 s, although it
 * still runs. No other readiness check notices that.
 */
function createClaimCheck(find: () => TaskClaims | undefined): Check {
  return () => {
    const ageMs = find()?.claimAgeMs() ?? Number.POSITIVE_INFINITY;
    return ageMs < MAX_CLAIM_AGE_MS
      ? Promise.resolve()
      : Promise.reject(
          new Error(
            "this process has not looked for tasks for over 10 s; check its log for database errors",
          ),
        );
  };
}

interface Peers {
  readonly posts: Peer;
  readonly accounts: Peer;
  readonly media: MediaSource;
}

function connectPeers({ postsUrl, accountsUrl, media, identity }: Config): Peers {
  return {
    posts: connectPeer({ service: "posts", baseUrl: postsUrl, identity }),
    accounts: connectPeer({ service: "accounts", baseUrl: accountsUrl, identity }),
    media: createMediaSource({ ...media, identity }),
  };
}

async function startEvents(config: Config, sql: Sql, logger: Logger) {
  const bus = await openBus({ ...config, sql, logger });
  const relay = startRelay({ sql, bus, topic: TOPIC, source: "/postrider/delivery", logger });
  return { bus, relay };
}

function startClaims(
  config: Config,
  options: {
    readonly sql: Sql;
    readonly logger: Logger;
    readonly peers: Peers;
    readonly onEvents: () => void;
  },
): TaskClaims {
  const { sql, logger, peers, onEvents } = options;
  limitForeignHosts(config.platforms.bluesky.outbound);
  const guard = createPublishingGuard({ sql, logger, deploymentId: config.deploymentId });
  const deps = {
    sql,
    logger,
    guard,
    onEvents,
    owner: newId(),
    connectors: createPublishingConnectors(config.platforms),
    posts: peers.posts.client(TargetService),
    accounts: {
      credentials: peers.accounts.client(CredentialService),
      accounts: peers.accounts.client(AccountService),
    },
    media: peers.media,
    spool: new Spool(config.spool),
    sealing: createHandleSealing(config.handleKeys),
    settings: config.publishing,
    clocks: { monotonic: () => performance.now(), wall: () => Date.now() },
    random: Math.random,
  };
  const claims = startClaimTasks(deps);
  const deletions = startClaimDeletions(deps);
  const details = startAskForDetails(deps);
  const watch = startWatchDeployment({ guard, sql, logger, onEvents });
  const counts = startCountTasks(sql, logger);
  watchDisk("spool", config.spool.folder);
  return {
    nudge: () => {
      claims.nudge();
      deletions.nudge();
    },
    claimAgeMs: () => claims.claimAgeMs(),
    ...together([counts, watch, details, deletions, claims]),
  };
}
