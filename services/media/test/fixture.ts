import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromJsonString } from "@bufbuild/protobuf";
import type { ConnectRouter } from "@connectrpc/connect";
import {
  MediaDeletedSchema,
  MediaReadySchema,
} from "@postrider/contracts/media/v1/media_events_pb";
import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { MediaUseService } from "@postrider/contracts/posts/v1/media_use_service_pb";
import { addPlainRoutes } from "@postrider/shared/connect/plain-routes";
import { createServiceServer } from "@postrider/shared/connect/server";
import { disposeInOrder } from "@postrider/shared/lifecycle";
import { createLogger } from "@postrider/shared/logger";
import type { Sql } from "@postrider/shared/postgres";
import { createTestDatabase } from "@postrider/shared/testing/database";
import { createTestPeer } from "@postrider/shared/testing/router";
import { MIGRATIONS } from "#src/config.ts";
import type { CheckMedia } from "#src/domain/checked-media.ts";
import { OBJECT_PREFIXES } from "#src/domain/object-keys.ts";
import { removeForgottenUploads } from "#src/jobs/remove-forgotten-uploads.ts";
import { removeObjects } from "#src/jobs/remove-objects.ts";
import { removeOrphans } from "#src/jobs/remove-orphans.ts";
import { createPlainRoutes } from "#src/routes/plain-routes.ts";
import { createRoutes } from "#src/rpc/routes.ts";
import { openDiskStore } from "#src/storage/disk.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";
import { UploadChecks } from "#src/upload-checks.ts";

export const SECRET = "s".repeat(32);
const logger = createLogger({ service: "test", level: "silent" });

export interface ReplicaOptions {
  readonly check?: CheckMedia;
  readonly store?: ObjectStore;
  readonly grantMs?: number;
  readonly completeMs?: number;
  /** What posts answers. */
  readonly posts?: (router: ConnectRouter) => void;
}

const standIn: CheckMedia = async (path, declared) => {
  const content = await readFile(path);
  if (content.subarray(0, 3).toString() === "BAD")
    return { kind: "rejected", violation: { code: "media_unreadable", message: "bad" } };
  return {
    kind: "checked",
    media: {
      kind: "image",
      contentType: declared?.contentType ?? "image/png",
      bytes: content.length,
      sha256: createHash("sha256").update(content).digest("hex"),
      width: 1,
      height: 2,
      durationMs: null,
      delivery: { kind: "same" },
    },
  };
};

/** The media service on a database and a folder of its own, with a real HTTP server in front of the bytes. */
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
    /** Another process on the same database and the same objects. */
    startReplica: startOne,
    removeObjects: (leaseMs = 60_000) => removeObjects({ sql, store, logger, leaseMs }),
    removeForgottenUploads: (pendingMs: number) =>
      removeForgottenUploads({ sql, store, logger, pendingMs }),
    removeOrphans: (orphanMs = 0) => removeOrphans({ sql, store, tempDir, logger, orphanMs }),
    /** Everything that is stored, parts of objects and files of checks as well. */
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
  const { sql, store, check = standIn, tempDir } = options;
  const nudgeRelay = (): void => {};
  const checks = new UploadChecks({ sql, store, check, tempDir, logger, nudgeRelay });
  const routes = createRoutes({
    sql,
    store,
    checks,
    posts: createTestPeer(options.posts ?? (() => {})).client(MediaUseService),
    limits: { maxImageBytes: 20_000_000, maxVideoBytes: 1_000_000_000 },
    grantMs: options.grantMs ?? 900_000,
    completeMs: options.completeMs ?? 20_000,
    nudgeRelay,
  });
  const server = await createServiceServer({ routes, internalSecret: SECRET, logger });
  const stopping = new AbortController();
  await addPlainRoutes(server, {
    routes: createPlainRoutes({ sql, store, logger, stopping: stopping.signal }),
    internalSecret: SECRET,
    logger,
  });
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  return {
    media: createTestPeer(routes).client(MediaService),
    url,
    [Symbol.asyncDispose]: async () => {
      stopping.abort();
      await disposeInOrder([checks, { [Symbol.asyncDispose]: () => server.close() }]);
    },
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

const EVENTS = [MediaReadySchema, MediaDeletedSchema];

/** The events in the outbox, oldest first, as `[name, media id, version]`. */
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

/** Bytes that nothing compresses or recognizes. */
export const noise = (length: number): Buffer => randomBytes(length);
