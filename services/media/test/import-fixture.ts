import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseAllowedAddress } from "@postrider/shared/http/addresses";
import { OutboundClient } from "@postrider/shared/http/outbound-client";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { createTestDatabase } from "@postrider/shared/testing/database";
import { listen } from "@postrider/shared/testing/listen";
import { MIGRATIONS } from "#src/config.ts";
import { insertDeployment } from "#src/db/deployment.ts";
import type { InspectFile } from "#src/domain/inspected-media.ts";
import { removeOrphans } from "#src/jobs/remove-orphans.ts";
import { Imports } from "#src/operations/imports.ts";
import { StoreGuard } from "#src/operations/store-guard.ts";
import { openDiskStore } from "#src/storage/disk.ts";
import type { ObjectStore } from "#src/storage/object-store.ts";
import { TempSpace } from "#src/storage/temp-space.ts";
import { inspectFake, LIMITS } from "./fake-inspection.ts";
import { createImportClient } from "./import-client.ts";

const logger = createLogger({ service: "test", level: "silent" });

/** In the import tests 127.0.0.1 counts as a public address and 127.0.0.2 as a private address. */
const PUBLIC = "127.0.0.1";
const ALLOW = [parseAllowedAddress(`${PUBLIC}:1-65535`)].filter((entry) => entry !== undefined);

const NAMES: Readonly<Record<string, readonly string[]>> = {
  "files.example.com": [PUBLIC],
  "private.example.com": ["127.0.0.2"],
  "mixed.example.com": [PUBLIC, "127.0.0.2"],
};

async function resolve(hostname: string): Promise<readonly string[]> {
  const addresses = NAMES[hostname];
  if (addresses === undefined)
    throw Object.assign(new Error("queryA ENOTFOUND"), { code: "ENOTFOUND", syscall: "queryA" });
  return await Promise.resolve(addresses);
}

export interface ImporterOptions {
  readonly inspect?: InspectFile;
  readonly totalMs?: number;
  /** Maximum number of bytes that imports use in the temporary folder. */
  readonly tempBytes?: number;
  readonly space?: TempSpace;
  readonly storageBytes?: number;
  readonly store?: ObjectStore;
  /** Certificate authority in PEM that the importer trusts instead of the public ones. */
  readonly ca?: string;
}

/** Starts a server for ImportMedia with its own database and folder. */
export async function startImporter(options: ImporterOptions = {}) {
  const database = await createTestDatabase({
    service: "media",
    migrationsFolder: MIGRATIONS,
    poolSize: 10,
  });
  const folder = await mkdtemp(join(tmpdir(), "import-test-"));
  const [objects, tempDir] = [join(folder, "objects"), join(folder, "temp")];
  const { sql } = database;
  const store = options.store ?? (await openDiskStore(objects));
  const guard = new StoreGuard({ sql, store, deploymentId: "test", logger });
  await insertDeployment(sql, "test");
  const openSpace = () =>
    new TempSpace({ folder: tempDir, bytes: options.tempBytes ?? 4 * LIMITS.maxVideoBytes });
  const started: AsyncDisposable[] = [];
  const startReplica = (change: ImporterOptions = {}) => {
    const { totalMs = 10_000, inspect = inspectFake } = { ...options, ...change };
    const trust = change.ca === undefined ? {} : { ca: change.ca };
    const client = new OutboundClient({ allow: ALLOW, resolve, ...trust });
    const space = change.space ?? openSpace();
    const imports = new Imports({ client, inspect, limits: LIMITS, totalMs, space, logger });
    started.push(imports);
    const { storageBytes = 1_000_000 } = change;
    return { imports, media: createImportClient({ sql, store, imports, storageBytes }) };
  };
  return {
    ...startReplica(),
    startReplica,
    database,
    sql,
    store,
    objects,
    tempDir,
    removeOrphans: () => removeOrphans({ sql, store, logger, guard, orphanMs: 0 }),
    /**
     * Deletes the temporary files of killed processes, as a process of the media service does when
     * it starts.
     */
    removeAbandoned: () => openSpace().removeAbandoned(new Date(0)),
    /**
     * Counts what an import leaves behind: the rows of the workspace, the stored objects and the
     * temporary folders.
     */
    async remains(workspaceId: string) {
      const rows = await sql`select id from media where workspace_id = ${workspaceId}`;
      const keys: string[] = [];
      const before = new Date(Date.now() + 60_000);
      for await (const key of store.list("objects/", before)) keys.push(key);
      const files = await readdir(tempDir).catch(() => []);
      return { rows: rows.length, objects: keys.length, files: files.length };
    },
    async [Symbol.asyncDispose]() {
      for (const imports of started) await imports[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}

/** Starts an HTTP server with a public host name, from which tests import files. */
export async function startHost(listener: RequestListener) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? "");
    listener(request, response);
  });
  const listening = await listen(server, 0, PUBLIC);
  return { ...listening, requests, url: `http://files.example.com:${listening.port}` };
}

/** Starts a TCP server with a public host name, for responses that an HTTP server cannot send. */
export async function startRawHost(talk: (socket: Socket) => void) {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).once("data", () => talk(socket));
  });
  const listening = await listen(server, 0, PUBLIC);
  return {
    ...listening,
    url: `http://files.example.com:${listening.port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await listening[Symbol.asyncDispose]();
    },
  };
}
