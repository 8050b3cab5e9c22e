import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromJsonString } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import { MediaReadySchema } from "@postrider/contracts/media/v1/media_events_pb";
import { MediaFileService } from "@postrider/contracts/media/v1/media_file_service_pb";
import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { RecoveryService } from "@postrider/contracts/media/v1/recovery_service_pb";
import { RetentionService } from "@postrider/contracts/media/v1/retention_service_pb";
import { StorageService } from "@postrider/contracts/media/v1/storage_service_pb";
import { RowImportService } from "@postrider/contracts/operations/v1/row_import_service_pb";
import { MediaUseService } from "@postrider/contracts/posts/v1/media_use_service_pb";
import { RPC_CALLERS } from "@postrider/contracts/rpc-callers";
import { createMediaLinks } from "@postrider/rest/media/links";
import { addPlainRoutes } from "@postrider/shared/connect/plain-routes";
import { createServiceServer } from "@postrider/shared/connect/server";
import { OutboundClient } from "@postrider/shared/http/outbound-client";
import { createIdentitySource } from "@postrider/shared/identity/token-source";
import { NIL_ID } from "@postrider/shared/ids";
import { createOutboxCapacityCheck } from "@postrider/shared/outbox";
import type { Sql } from "@postrider/shared/postgres";
import { disposeInOrder } from "@postrider/shared/process/lifecycle";
import { deriveCursorKeys } from "@postrider/shared/secrets/list-cursor";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { createTestDatabase } from "@postrider/shared/testing/database";
import { createTestIdentities } from "@postrider/shared/testing/identities";
import { createTestPeer } from "@postrider/shared/testing/router";
import sharp from "sharp";
import { MIGRATIONS } from "#src/config.ts";
import type { InspectFile } from "#src/domain/inspected-media.ts";
import { OBJECT_PREFIXES } from "#src/domain/object-keys.ts";
import type { RenderImages } from "#src/domain/rendition-plan.ts";
import { createFileInspector } from "#src/inspection/file-inspector.ts";
import { removeForgottenUploads } from "#src/jobs/remove-forgotten-uploads.ts";
import { removeObjects, type RemovalTurn } from "#src/jobs/remove-objects.ts";
import { removeOldMediaPage } from "#src/jobs/remove-old-media.ts";
import { removeOrphans, removeOrphansWhenDue } from "#src/jobs/remove-orphans.ts";
import type { JobDependencies } from "#src/operations/dependencies.ts";
import { Imports } from "#src/operations/imports.ts";
import { createPreviews } from "#src/operations/previews.ts";
import { Renditions } from "#src/operations/renditions.ts";
import { createStorageTurns } from "#src/operations/storage-limit.ts";
import { StoreGuard } from "#src/operations/store-guard.ts";
import { UploadChecks } from "#src/operations/upload-checks.ts";
import { createPlainRoutes } from "#src/routes/plain-routes.ts";
import { createRoutes } from "#src/rpc/routes.ts";
import { openDiskStore } from "#src/storage/disk.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";
import { guardStore } from "#src/storage/open-object-store.ts";
import { TempSpace } from "#src/storage/temp-space.ts";

export const identities = createTestIdentities();
export const GATEWAY = await createIdentitySource(identities.of("gateway"), "media")();
/** The headers with which the delivery service calls the media service. */
export const DELIVERY = await createIdentitySource(identities.of("delivery"), "media")();
export const LINKS = createMediaLinks({
  publicUrl: "https://gateway.test",
  mediaKeys: ["k".repeat(32)],
  mediaUrlMs: 60_000,
});
const LIMITS = { maxImageBytes: 20_000_000, maxVideoBytes: 1_000_000_000 };
export const CURSOR_KEYS = deriveCursorKeys("media", ["test"]);
const logger = createLogger({ service: "test", level: "silent" });

export const DEPLOYMENT = "original";

export interface ReplicaOptions {
  /** The name of the replica's deployment. Default: `DEPLOYMENT`. */
  readonly deploymentId?: string;
  readonly maxOutboxRows?: number;
  /**
   * Returns the function that inspects media files in this test; `real` is the function that the
   * service would use.
   */
  readonly inspect?: (real: InspectFile) => InspectFile;
  readonly store?: ObjectStore;
  readonly grantMs?: number;
  readonly maxTransfers?: number;
  readonly storageBytes?: number;
  /** Maximum number of bytes that checks and imports use in the temporary folder. */
  readonly tempBytes?: number;
  readonly completeMs?: number;
  readonly prepareMs?: number;
  /**
   * Returns the function that makes renditions in this test; `real` is the function that the
   * service would use.
   */
  readonly render?: (real: RenderImages) => RenderImages;
  /** Registers the RPCs of the posts service that the test implements. */
  readonly posts?: (router: ConnectRouter) => void;
}

/**
 * Starts the media service with its own database and folder, and a real HTTP server for uploads and
 * downloads.
 */
export async function startMedia(options: ReplicaOptions = {}) {
  const database = await createTestDatabase({
    service: "media",
    migrationsFolder: MIGRATIONS,
    poolSize: 10,
  });
  const folder = await mkdtemp(join(tmpdir(), "media-test-"));
  const store = options.store ?? (await openDiskStore(join(folder, "objects")));
  const tempDir = join(folder, "temp");
  const { sql } = database;
  const startOne = async (change: Partial<ReplicaOptions> = {}) =>
    await startReplica({ sql, store, tempDir, ...options, ...change });
  const first = await startOne();
  return {
    ...first,
    database,
    sql,
    store,
    folder,
    /** Starts another replica of the media service on the same database and objects. */
    startReplica: startOne,
    listStored: async () => [...(await listKeys(store)), ...(await listFiles(tempDir))].toSorted(),
    events: () => readEvents(sql),
    [Symbol.asyncDispose]: async () => {
      await disposeInOrder([first, database]);
      await rm(folder, { recursive: true });
    },
  };
}

export type TestMedia = Awaited<ReturnType<typeof startMedia>>;

async function startReplica(
  options: ReplicaOptions & {
    readonly sql: Sql;
    readonly store: ObjectStore;
    readonly tempDir: string;
  },
) {
  const { sql, tempDir, tempBytes = 4 * LIMITS.maxVideoBytes } = options;
  const { deploymentId = DEPLOYMENT } = options;
  const guard = new StoreGuard({ sql, store: options.store, deploymentId, logger });
  const store = guardStore(options.store, guard);
  await guard.read();
  const assertOutboxRoom = createOutboxCapacityCheck(sql, options.maxOutboxRows);
  const space = new TempSpace({ folder: tempDir, bytes: tempBytes });
  const nudgeRelay = (): void => {};
  const inspector = createFileInspector({ limits: LIMITS, logger });
  const inspect = options.inspect?.(inspector.inspect) ?? inspector.inspect;
  const checks = new UploadChecks({
    sql,
    store,
    inspect,
    space,
    leaseMs: 30_000,
    logger,
    nudgeRelay,
  });
  const render = options.render?.(inspector.render) ?? inspector.render;
  const renditions = new Renditions({ sql, store, render, leaseMs: 30_000, logger });
  const client = new OutboundClient({ allow: [] });
  const imports = new Imports({ client, inspect, limits: LIMITS, totalMs: 10_000, space, logger });
  const posts = createTestPeer(options.posts ?? (() => {})).client(MediaUseService);
  const routes = createRoutes({
    sql,
    store,
    guard,
    deploymentId,
    checks,
    imports,
    renditions,
    posts,
    limits: LIMITS,
    links: LINKS,
    grantMs: options.grantMs ?? 900_000,
    storageBytes: options.storageBytes ?? 10_000_000_000,
    retentionDays: 30,
    storageTurns: createStorageTurns(),
    cursorKeys: CURSOR_KEYS,
    completeMs: options.completeMs ?? 20_000,
    prepareMs: options.prepareMs ?? 20_000,
    assertRoom: async () => {
      await Promise.all([assertOutboxRoom(), guard.assertKeepsFiles()]);
    },
    nudgeRelay,
  });
  const access = identities.accessOf("media", RPC_CALLERS);
  const server = await createServiceServer({ routes, access, logger });
  const stopping = new AbortController();
  await addPlainRoutes(server, {
    routes: createPlainRoutes(
      {
        sql,
        store,
        logger,
        stopping: stopping.signal,
        findPreview: createPreviews({ sql, renditions }),
      },
      options.maxTransfers,
    ),
    access,
    logger,
  });
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  const peer = createTestPeer(routes);
  const media = peer.client(MediaService);
  return {
    media,
    storage: peer.client(StorageService),
    recovery: peer.client(RecoveryService),
    files: peer.client(MediaFileService),
    rows: peer.client(RowImportService),
    guard,
    ...createJobs({ sql, store, logger, guard }),
    retention: peer.client(RetentionService),
    removeOldMedia: (retentionDays = 30) =>
      removeOldMediaPage({ sql, posts, logger, guard, retentionDays }, NIL_ID),
    /** Completes an upload and returns the ready media. */
    complete: async ({
      workspaceId,
      id,
    }: {
      readonly workspaceId: string;
      readonly id: string;
    }) => {
      const answer = await media.completeUpload({ workspaceId, id });
      if (answer.media === undefined) throw new Error("the response contains no media");
      return answer.media;
    },
    url,
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await disposeInOrder([
        checks,
        renditions,
        inspector,
        { [Symbol.asyncDispose]: () => server.close() },
      ]);
    },
  };
}

function createJobs(deps: JobDependencies) {
  return {
    removeObjects: (leaseMs = 60_000, turn?: RemovalTurn) =>
      removeObjects({ ...deps, leaseMs }, turn),
    removeForgottenUploads: (pendingMs: number) =>
      removeForgottenUploads({ ...deps, pendingMs, grantMs: 900_000 }),
    removeOrphansWhenDue: (intervalMs: number, orphanMs = 0) =>
      removeOrphansWhenDue({ ...deps, orphanMs }, intervalMs),
    removeOrphans: (orphanMs = 0) => removeOrphans({ ...deps, orphanMs }),
  };
}

async function listKeys(store: ObjectStore): Promise<string[]> {
  const found: string[] = [];
  const before = new Date(Date.now() + 60_000);
  for (const prefix of OBJECT_PREFIXES)
    for await (const key of store.list(prefix, before)) found.push(key);
  return found;
}

async function listFiles(folder: string): Promise<string[]> {
  return await readdir(folder, { recursive: true }).catch(() => []);
}

const EVENTS = [MediaReadySchema];

/** Returns the events in the outbox, oldest first, as `[name, media id, version]`. */
async function readEvents(sql: Sql): Promise<[string, string, bigint][]> {
  const rows = await sql<{ type: string; payload: string }[]>`
    select type, payload from outbox order by id`;
  return rows.map(({ type, payload }) => {
    const schema = EVENTS.find(({ typeName }) => typeName === type);
    if (schema === undefined) throw new Error(`unexpected event ${type}`);
    const { mediaId, version } = fromJsonString(schema, payload);
    return [schema.name, mediaId, version];
  });
}

/** Creates an image of one colour; the same colour gives the same bytes. */
export async function png(red = 0, size = 8): Promise<Buffer> {
  const background = { r: red, g: 1, b: 2 };
  return await sharp({ create: { width: size, height: size, channels: 3, background } })
    .png()
    .toBuffer();
}

/** Random bytes that match no known media type. */
export const noise = (length: number): Buffer => randomBytes(length);
