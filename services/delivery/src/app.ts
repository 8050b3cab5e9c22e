import { HintService } from "@postrider/contracts/delivery/v1/hint_service_pb";
import { RPC_CALLERS } from "@postrider/contracts/rpc-callers";
import { createHostChecks } from "@postrider/platforms/host-checks";
import { PLATFORM_IDS, type PlatformId } from "@postrider/platforms/platform-id";
import { createProbeUrl } from "@postrider/rest/media/links";
import type { Bus } from "@postrider/shared/bus";
import type { EventHandler } from "@postrider/shared/bus/consumer";
import { openBus } from "@postrider/shared/bus/open";
import { connectPeer } from "@postrider/shared/connect/client";
import { describeHold, type DeploymentGuard } from "@postrider/shared/deployment/guard";
import { withDiagnostics, type DiagnosticsOptions } from "@postrider/shared/diagnostics/service";
import { createServiceChecks } from "@postrider/shared/diagnostics/service-checks";
import { startEvents } from "@postrider/shared/outbox/start-events";
import type { Sql } from "@postrider/shared/postgres";
import { waitForDatabase } from "@postrider/shared/postgres/readiness";
import type { Check } from "@postrider/shared/process/health";
import { disposeInOrder, together, type App } from "@postrider/shared/process/lifecycle";
import { createLateNudge } from "@postrider/shared/process/loop";
import {
  listenService,
  openDatabaseProcess,
  type DatabaseProcess,
} from "@postrider/shared/process/service";
import { cursorKeysOf } from "@postrider/shared/secrets/list-cursor";
import { requireSealingKeys } from "@postrider/shared/secrets/sealing";
import { MIGRATIONS, type Config } from "#src/config.ts";
import {
  createEngagementDeps,
  createEngagementRpc,
  openEngagementPool,
  startEngagement,
  type Engagement,
  type EngagementRpc,
} from "#src/engagement/app.ts";
import { listAutomationRuns } from "#src/engagement/operations/list-automation-runs.ts";
import { listCommentActions } from "#src/engagement/operations/to-comment-action.ts";
import { createDoctor, startPublishing, type Publishing } from "#src/publishing/app.ts";
import { PUBLISHING_HANDLERS } from "#src/publishing/consumers/index.ts";
import { listHandleKeys } from "#src/publishing/db/handles.ts";
import { createPublishingGuard } from "#src/publishing/operations/publishing-guard.ts";
import { createCaveatReporter } from "#src/publishing/operations/report-caveats.ts";
import { createRoutes } from "#src/publishing/rpc/routes.ts";
import { addWorkspaceCopies } from "#src/rpc/workspace-copy-service.ts";
import { startWebhooks, type Webhooks } from "#src/webhooks/app.ts";
import { WEBHOOK_HANDLERS } from "#src/webhooks/consumers/index.ts";
import { listSecretKeys } from "#src/webhooks/db/secrets.ts";
import { Backlogs } from "#src/webhooks/operations/backlogs.ts";
import { HintFeed } from "#src/webhooks/operations/hint-feed.ts";
import { createHintService } from "#src/webhooks/rpc/hint-service.ts";
import { createWebhookRoutes } from "#src/webhooks/rpc/routes.ts";

/**
 * Functions of `engagement/` that `webhooks/` needs. This file passes them to `webhooks/`, because
 * the two folders must not import each other.
 */
const ENGAGEMENT_READER = { listAutomationRuns, listCommentActions };

/**
 * The parts of the delivery service for which this process works, once they have started:
 * publishing, webhooks, engagement.
 */
interface Parts {
  bus?: Bus;
  publishing?: Publishing;
  webhooks?: Webhooks;
  engagement?: Engagement;
}

/**
 * Builds and starts the delivery service. Disposing of it stops its parts in an order that loses no
 * outcome of a platform call and no event.
 */
export async function startApp(config: Config): Promise<App> {
  const base = openDatabaseProcess(config, MIGRATIONS);
  const { sql, logger, health } = base;
  const parts: Parts = {};
  for (const [name, check] of listChecks(config, parts)) health.checks.set(name, check);
  const peers = connectPeers(config);
  const guard = createGuard(config, base);
  health.notes.set("deployment", () => describeHold(guard));
  const lateRelay = createLateNudge();
  const onEvents = lateRelay.nudge;
  const pool = openEngagementPool(config);
  const own = { sql: pool.sql, config, logger, peers, guard, onEvents };
  const engagement = createEngagementDeps({ ...own, reportCaveats: createCaveatReporter(own) });
  const rpc = createEngagementRpc(engagement, {
    cursorKeys: cursorKeysOf("delivery", config.identity),
    nudgeActions: () => parts.engagement?.nudgeActions(),
    nudgePolls: () => parts.engagement?.nudgePolls(),
  });
  const backlogs = new Backlogs({ limits: config.webhooks.waiting, logger });
  const hints = new HintFeed({ bus: () => parts.bus, logger });
  const doctor = createDoctor({ config, sql, peers, guard });
  const all = createAllRoutes(config, base, parts, { rpc, doctor, backlogs, hints });
  const routes = withDiagnostics(all, createDiagnostics(config, { sql, guard }, parts));
  const server = await listenService({ config, callers: RPC_CALLERS, health, logger, routes });
  await waitForDatabase(sql, MIGRATIONS, logger);
  await requireKeys(config, sql);
  const { bus, relay } = await openEvents(config, { sql, guard, logger });
  parts.bus = bus;
  if (relay !== undefined) lateRelay.attach(relay);
  const common = { config, logger, bus, peers, guard, backlogs };
  const worksFor = (part: Exclude<keyof Parts, "bus">) =>
    config.role === "all" || config.role === part;
  if (worksFor("publishing"))
    parts.publishing = await startPublishing({ ...common, sql, onEvents });
  if (worksFor("webhooks"))
    parts.webhooks = await startWebhooks({ ...common, engagement: ENGAGEMENT_READER });
  if (worksFor("engagement")) parts.engagement = await startEngagement(engagement, { bus, config });
  return {
    logger,
    [Symbol.asyncDispose]: async () => {
      health.drain();
      // A stopping process first stops claiming tasks. Then its open platform calls end and their
      // outcomes are recorded. Then the events about these outcomes are published.
      const { publishing, webhooks, engagement: jobs } = parts;
      const started = [publishing, webhooks, jobs].filter((part) => part !== undefined);
      const edges = together([...started, server]);
      await disposeInOrder([hints, edges, rpc, pool, relay, bus, ...Object.values(peers), base]);
    },
  };
}

function listChecks({ role }: Config, parts: Parts): readonly (readonly [string, Check])[] {
  const isStarting = () => Promise.reject(new Error("the process is starting"));
  const checks = {
    publishing: ["claims", () => parts.publishing?.check() ?? isStarting()],
    webhooks: ["webhooks", () => parts.webhooks?.check() ?? isStarting()],
    engagement: ["engagement", () => parts.engagement?.check() ?? isStarting()],
  } as const;
  return role === "all" ? Object.values(checks) : [checks[role]];
}

/**
 * Returns the RPCs of all parts of the delivery service (publishing, webhooks, engagement). Each
 * process serves all of them, even if it works for one part only.
 */
function createAllRoutes(
  config: Config,
  { sql, logger }: Pick<DatabaseProcess, "sql" | "logger">,
  parts: Parts,
  {
    rpc: engagement,
    doctor,
    backlogs,
    hints,
  }: {
    readonly rpc: EngagementRpc;
    readonly doctor: ReturnType<typeof createDoctor>;
    readonly backlogs: Backlogs;
    readonly hints: HintFeed;
  },
) {
  const publishing = createRoutes({
    sql,
    deploymentId: config.deploymentId,
    nudgeClaims: () => parts.publishing?.nudge(),
    handlers: listHandlers(engagement),
  });
  const webhooks = createWebhookRoutes({
    sql,
    logger,
    outbound: config.outbound,
    sealingKeys: config.handleKeys,
    cursorKeys: cursorKeysOf("delivery", config.identity),
    backlogs,
    nudgeDispatcher: () => parts.webhooks?.nudgeDispatcher(),
  });
  return (router: Parameters<typeof publishing>[0]) => {
    publishing(router);
    webhooks(router);
    router.service(HintService, createHintService(hints));
    addWorkspaceCopies(router, { sql, sealingKeys: config.handleKeys });
    engagement.routes(router);
    doctor(router);
  };
}

/** What this process reports about the installation to `postrider doctor`. */
function createDiagnostics(
  { media, platforms }: Config,
  deps: { readonly sql: Sql; readonly guard: DeploymentGuard },
  parts: Parts,
): DiagnosticsOptions {
  const { publicUrl, mediaKey } = media;
  const hosts = PLATFORM_IDS.map((platform) => [platform, platforms[platform].baseUrl]);
  return {
    publicUrl,
    ...(mediaKey === undefined ? {} : { probeUrl: () => createProbeUrl(publicUrl, mediaKey) }),
    checks: [
      ...createServiceChecks({ ...deps, migrations: MIGRATIONS, bus: () => parts.bus }),
      ...createHostChecks(Object.fromEntries(hosts) as Record<PlatformId, string>),
    ],
  };
}

/**
 * The handlers of all consumers, each once. They process parked events again when an operator
 * redrives these events.
 */
function listHandlers(engagement: EngagementRpc): readonly EventHandler[] {
  const publishing = Object.values(PUBLISHING_HANDLERS).flat();
  const webhooks = Object.values(WEBHOOK_HANDLERS).flat();
  return [...new Set([...publishing, ...webhooks, ...engagement.handlers])];
}

/** The database role of a process that only sends webhooks may not record a restore. */
function createGuard(
  { deploymentId, role }: Config,
  { sql, logger }: Pick<DatabaseProcess, "sql" | "logger">,
): DeploymentGuard {
  return createPublishingGuard({ sql, logger, deploymentId, isReadOnly: role === "webhooks" });
}

/** A process that only sends webhooks publishes no events, and may not read those of others. */
async function openEvents(config: Config, deps: Parameters<typeof startEvents>[1]) {
  if (config.role !== "webhooks") return await startEvents(config, deps);
  return { bus: await openBus({ ...config, ...deps }), relay: undefined };
}

/** Fails unless the configuration has every key with which values that it reads are encrypted. */
async function requireKeys({ handleKeys, role }: Config, sql: Sql): Promise<void> {
  const handles = role === "webhooks" ? [] : await listHandleKeys(sql);
  const used = [...handles, ...(await listSecretKeys(sql))];
  requireSealingKeys("HANDLE_KEYS", handleKeys, { what: "handles and webhook secrets", used });
}

function connectPeers({ postsUrl, accountsUrl, media, identity }: Config) {
  return {
    posts: connectPeer({ service: "posts", baseUrl: postsUrl, identity }),
    accounts: connectPeer({ service: "accounts", baseUrl: accountsUrl, identity }),
    media: connectPeer({ service: "media", baseUrl: media.baseUrl, identity }),
  };
}
