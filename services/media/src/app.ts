import { WorkspaceRemovalService } from "@postrider/contracts/accounts/v1/workspace_removal_service_pb";
import { MediaUseService } from "@postrider/contracts/posts/v1/media_use_service_pb";
import { RPC_CALLERS } from "@postrider/contracts/rpc-callers";
import { createMediaLinks } from "@postrider/rest/media/links";
import { auditCleanings } from "@postrider/shared/audit/retention";
import type { Bus } from "@postrider/shared/bus";
import { connectPeer, type Peer } from "@postrider/shared/connect/client";
import { describeHold, startDeploymentWatch } from "@postrider/shared/deployment/guard";
import { withDiagnostics } from "@postrider/shared/diagnostics/service";
import {
  createServiceChecks,
  type ServiceCheckOptions,
} from "@postrider/shared/diagnostics/service-checks";
import { OutboundClient } from "@postrider/shared/http/outbound-client";
import { createOutboxCapacityCheck } from "@postrider/shared/outbox";
import { startEvents } from "@postrider/shared/outbox/start-events";
import type { Sql } from "@postrider/shared/postgres";
import { startCleaningRows } from "@postrider/shared/postgres/clean-rows";
import { waitForDatabase } from "@postrider/shared/postgres/readiness";
import { watchDisk } from "@postrider/shared/process/disk";
import { disposeInOrder, together, type App } from "@postrider/shared/process/lifecycle";
import { createLateNudge } from "@postrider/shared/process/loop";
import {
  listenService,
  openDatabaseProcess,
  type DatabaseProcess,
} from "@postrider/shared/process/service";
import { cursorKeysOf } from "@postrider/shared/secrets/list-cursor";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { MIGRATIONS, type Config } from "#src/config.ts";
import type { InspectFile } from "#src/domain/inspected-media.ts";
import { createFileInspector } from "#src/inspection/file-inspector.ts";
import { CLEANINGS } from "#src/jobs/clean-rows.ts";
import { startRemovingForgottenUploads } from "#src/jobs/remove-forgotten-uploads.ts";
import { startRemovingObjects } from "#src/jobs/remove-objects.ts";
import { startRemovingOldMedia } from "#src/jobs/remove-old-media.ts";
import { startRemovingOrphans } from "#src/jobs/remove-orphans.ts";
import { startRemovingWorkspaceMedia } from "#src/jobs/remove-workspaces.ts";
import { Imports } from "#src/operations/imports.ts";
import { createPreviews } from "#src/operations/previews.ts";
import { Renditions } from "#src/operations/renditions.ts";
import { createStorageTurns } from "#src/operations/storage-limit.ts";
import { createStoreCheck, createStoreOwnerCheck } from "#src/operations/store-check.ts";
import { StoreGuard } from "#src/operations/store-guard.ts";
import { UploadChecks } from "#src/operations/upload-checks.ts";
import { createPlainRoutes } from "#src/routes/plain-routes.ts";
import { createRoutes } from "#src/rpc/routes.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";
import { guardStore, openObjectStore } from "#src/storage/open-object-store.ts";
import { TempSpace } from "#src/storage/temp-space.ts";

/** How long CompleteUpload waits; the check continues afterwards. */
const COMPLETE_TIMEOUT_MS = 115_000;
/** How long PrepareMedia waits; the renditions are still made afterwards. */
const PREPARE_TIMEOUT_MS = 55_000;
const DOWNLOAD_TIMEOUT_MS = 60_000;
/** Gateways and clients repeat transfers that are interrupted after this time. */
const TRANSFER_GRACE_MS = 20_000;
/** After this time another process takes over the check of a process that has died. */
const MAX_CHECK_LEASE_MS = 30_000;

export async function startApp(config: Config): Promise<App> {
  const { identity } = config;
  const base = openDatabaseProcess(config, MIGRATIONS);
  const { sql, logger, health } = base;
  const { files, store, guard } = await openStore(config, base);
  watchDisk("temp", config.tempDir);
  if (config.storage.kind === "disk") watchDisk("media", config.storage.folder);
  const posts = connectPeer({ service: "posts", baseUrl: config.postsUrl, identity });
  const accounts = connectPeer({ service: "accounts", baseUrl: config.accountsUrl, identity });
  const started: { bus?: Bus } = {};
  const lateRelay = createLateNudge();
  const nudgeRelay = lateRelay.nudge;
  const work = await createFileWork(config, { sql, store, logger, nudgeRelay });
  const { inspector: _inspector, ...operations } = work;
  const findPreview = createPreviews({ sql, renditions: work.renditions });
  const stopping = new AbortController();
  const server = await listenService({
    config,
    callers: RPC_CALLERS,
    health,
    logger,
    routes: withDiagnostics(
      createAppRoutes({ config, sql, store, guard, posts, nudgeRelay, ...operations }),
      { checks: createDiagnosticChecks(config, { sql, files, guard, bus: () => started.bus }) },
    ),
    plainRoutes: createPlainRoutes({ sql, store, logger, stopping: stopping.signal, findPreview }),
  });
  await waitForDatabase(sql, MIGRATIONS, logger);
  const { bus, relay } = await startEvents(config, { sql, guard: guard.data, logger });
  started.bus = bus;
  lateRelay.attach(relay);
  const jobs = startJobs(config, { sql, store, logger, guard, accounts, posts });
  return {
    logger,
    [Symbol.asyncDispose]: async () => {
      health.drain();
      setTimeout(() => stopping.abort(), TRANSFER_GRACE_MS).unref();
      // The last requests are answered only when their checks and imports have ended, so all are
      // stopped together.
      const edges = together([...Object.values(work), server, ...jobs]);
      await disposeInOrder([edges, relay, bus, posts, accounts, store, base]);
    },
  };
}

/**
 * `store` deletes files only while the data and the store belong to this deployment; `files` is not
 * guarded.
 */
async function openStore(
  { storage, deploymentId }: Config,
  { sql, logger, health }: DatabaseProcess,
) {
  const files = await openObjectStore(storage);
  const guard = new StoreGuard({ sql, store: files, deploymentId, logger });
  health.notes.set("deployment", () => describeHold(guard.data));
  return { files, guard, store: guardStore(files, guard) };
}

async function createFileWork(
  config: Config,
  deps: {
    readonly sql: Sql;
    readonly store: ObjectStore;
    readonly logger: Logger;
    readonly nudgeRelay: () => void;
  },
) {
  const { logger } = deps;
  const { maxImageBytes, maxVideoBytes, tempDir, inspectorUrl } = config;
  const space = new TempSpace({ folder: tempDir, bytes: tempBytes(config) });
  await space.removeAbandoned(new Date(Date.now() - config.orphanMs));
  const limits = { maxImageBytes, maxVideoBytes };
  const inspector = createFileInspector({ limits, logger, inspectorUrl });
  const { inspect, render } = inspector;
  const leaseMs = Math.min(MAX_CHECK_LEASE_MS, config.leaseMs);
  return {
    inspector,
    imports: createImports(config, { inspect, space, logger }),
    checks: new UploadChecks({ ...deps, inspect, space, leaseMs }),
    renditions: new Renditions({ ...deps, render, leaseMs }),
  };
}

/**
 * Maximum bytes of large files in the temporary folder: as much as four files of the maximum size.
 */
function tempBytes({ maxImageBytes, maxVideoBytes }: Config): number {
  return 4 * Math.max(maxImageBytes, maxVideoBytes);
}

function createImports(
  config: Config,
  deps: {
    readonly inspect: InspectFile;
    readonly space: TempSpace;
    readonly logger: Logger;
  },
): Imports {
  const { outbound, maxImageBytes, maxVideoBytes } = config;
  const client = new OutboundClient(outbound);
  const limits = { maxImageBytes, maxVideoBytes };
  return new Imports({ ...deps, client, limits, totalMs: DOWNLOAD_TIMEOUT_MS });
}

function createDiagnosticChecks(
  { storage }: Config,
  {
    files,
    guard,
    ...deps
  }: Omit<ServiceCheckOptions, "migrations" | "guard"> & {
    readonly files: ObjectStore;
    readonly guard: StoreGuard;
  },
) {
  return [
    ...createServiceChecks({ ...deps, guard: guard.data, migrations: MIGRATIONS }),
    createStoreCheck(files, storage.kind),
    createStoreOwnerCheck(guard),
  ];
}

function createAppRoutes(options: {
  readonly config: Config;
  readonly sql: Sql;
  readonly store: ObjectStore;
  readonly guard: StoreGuard;
  readonly checks: UploadChecks;
  readonly imports: Imports;
  readonly renditions: Renditions;
  readonly posts: Peer;
  readonly nudgeRelay: () => void;
}) {
  const { config, posts, ...deps } = options;
  const { maxImageBytes, maxVideoBytes, grantMs, storageBytes, retentionDays, deploymentId } =
    config;
  const assertOutboxRoom = createOutboxCapacityCheck(deps.sql);
  return createRoutes({
    ...deps,
    deploymentId,
    posts: posts.client(MediaUseService),
    limits: { maxImageBytes, maxVideoBytes },
    links: createMediaLinks(config),
    grantMs,
    storageBytes,
    retentionDays,
    storageTurns: createStorageTurns(),
    cursorKeys: cursorKeysOf("media", config.identity),
    completeMs: COMPLETE_TIMEOUT_MS,
    prepareMs: PREPARE_TIMEOUT_MS,
    assertRoom: async () => {
      await Promise.all([assertOutboxRoom(), deps.guard.assertKeepsFiles()]);
    },
  });
}

function startJobs(
  { pendingMs, grantMs, orphanMs, leaseMs, auditDays, retentionDays }: Config,
  deps: {
    readonly sql: Sql;
    readonly store: ObjectStore;
    readonly logger: Logger;
    readonly guard: StoreGuard;
    readonly accounts: Peer;
    readonly posts: Peer;
  },
): AsyncDisposable[] {
  const removals = deps.accounts.client(WorkspaceRemovalService);
  return [
    // So a new store is marked before it is filled, and a copy is reported even while nothing has
    // to be deleted.
    startDeploymentWatch(deps.guard.data, deps.logger, async () => {
      await deps.guard.mayDelete();
    }),
    startRemovingObjects({ ...deps, leaseMs }),
    startRemovingForgottenUploads({ ...deps, pendingMs, grantMs }),
    startRemovingOrphans({ ...deps, orphanMs }),
    startRemovingOldMedia({ ...deps, posts: deps.posts.client(MediaUseService), retentionDays }),
    ...startCleaningRows(deps.sql, deps.logger, [...CLEANINGS, ...auditCleanings(auditDays)]),
    startRemovingWorkspaceMedia(deps, {
      list: () => removals.listWorkspaceRemovals({}),
      report: (report) => removals.reportWorkspaceRemoval(report),
    }),
  ];
}
