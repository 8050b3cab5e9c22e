import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MediaService } from "@postrider/contracts/media/v1/media_service_pb";
import { bundle } from "@postrider/local/processes/bundle";
import { NODE_FLAGS } from "@postrider/local/processes/node-process";
import { connectPeer } from "@postrider/shared/connect/client";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { compileCacheEnv } from "@postrider/shared/testing/compile-cache";
import { createTestDatabase } from "@postrider/shared/testing/database";
import { listen } from "@postrider/shared/testing/listen";
import { eventually } from "@postrider/shared/testing/poll";
import { MIGRATIONS } from "#src/config.ts";
import { removeForgottenUploads } from "#src/jobs/remove-forgotten-uploads.ts";
import { removeObjects } from "#src/jobs/remove-objects.ts";
import { removeOrphans } from "#src/jobs/remove-orphans.ts";
import { StoreGuard } from "#src/operations/store-guard.ts";
import { openDiskStore } from "#src/storage/disk.ts";
import { identities } from "./media-fixture.ts";

const MAIN = await bundle(fileURLToPath(new URL("..", import.meta.url)));
const logger = createLogger({ service: "test", level: "silent" });

async function freePort(): Promise<number> {
  await using listening = await listen(createServer());
  return listening.port;
}

/**
 * Runs the media service as a real process that tests kill and restart on one database and one
 * folder.
 */
export async function startStage(settings: Readonly<Record<string, string>> = {}) {
  const database = await createTestDatabase({ service: "media", migrationsFolder: MIGRATIONS });
  const folder = await mkdtemp(join(tmpdir(), "media-process-"));
  const [failpoints, tempDir] = [join(folder, "failpoints"), join(folder, "temp")];
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const peer = connectPeer({
    service: "media",
    baseUrl: url,
    identity: identities.of("gateway"),
    timeoutMs: 60_000,
  });
  const deliveryPeer = connectPeer({
    service: "media",
    baseUrl: url,
    identity: identities.of("delivery"),
    timeoutMs: 60_000,
  });
  const media = peer.client(MediaService);
  const store = await openDiskStore(join(folder, "objects"));
  const { sql } = database;
  const guard = new StoreGuard({ sql, store, deploymentId: "default", logger });
  let child: ChildProcess | undefined;

  const launch = (): void => {
    child = spawn(process.execPath, [...NODE_FLAGS, MAIN], {
      stdio: "ignore",
      env: {
        ...compileCacheEnv(),
        PORT: String(port),
        METRICS_PORT: "0",
        BUS: "postgres",
        LOG_LEVEL: "silent",
        ...identities.env("media"),
        DATABASE_URL: database.url,
        POSTS_URL: "http://127.0.0.1:9",
        ACCOUNTS_URL: "http://127.0.0.1:9",
        MEDIA_KEY: "k".repeat(32),
        MEDIA_DIR: join(folder, "objects"),
        MEDIA_TEMP_DIR: tempDir,
        FAILPOINTS_DIR: failpoints,
        ...settings,
      },
    });
  };
  const start = async (): Promise<void> => {
    launch();
    await eventually(async () => (await fetch(`${url}/readyz`)).ok);
  };
  const ended = async (): Promise<void> => {
    if (child?.exitCode === null && child.signalCode === null) await once(child, "exit");
  };
  return {
    media,
    /** A client that calls the media service in the name of the delivery service. */
    mediaForDelivery: deliveryPeer.client(MediaService),
    url,
    sql,
    store,
    /** Starts the process of the media service without waiting until it is ready. */
    launch,
    start,
    pid: () => child?.pid ?? 0,
    /** Kills the process of the media service when it reaches this failpoint. */
    killAt: async (name: string) => {
      await mkdir(failpoints, { recursive: true });
      await writeFile(join(failpoints, name), "kill");
    },
    /** Waits until the process of the media service is killed, and restarts it. */
    revive: async () => {
      await ended();
      await start();
    },
    kill: async () => {
      child?.kill("SIGKILL");
      await ended();
    },
    /** Runs every job of the media service once and treats every object as old enough. */
    runJobs: async (pendingMs = 86_400_000) => {
      await removeForgottenUploads({ sql, store, logger, guard, pendingMs, grantMs: 0 });
      await removeObjects({ sql, store, logger, guard, leaseMs: 0 });
      await removeOrphans({ sql, store, logger, guard, orphanMs: -60_000 });
    },
    /** Lists every file of the object store, and the temporary files of inspections. */
    listFiles: async () => await listFiles([join(folder, "objects"), tempDir]),
    [Symbol.asyncDispose]: async () => {
      child?.kill("SIGKILL");
      await ended();
      await peer[Symbol.asyncDispose]();
      await deliveryPeer[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}

async function listFiles(folders: readonly string[]): Promise<string[]> {
  const lists = await Promise.all(
    folders.map((folder) =>
      readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []),
    ),
  );
  return (
    lists
      .flat()
      .filter((entry) => entry.isFile())
      .map(({ name }) => name)
      // The marker of the object store is not a file of media.
      .filter((name) => name !== "owner.json")
      .toSorted()
  );
}
