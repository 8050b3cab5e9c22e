import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import type { ConnectRouter } from "@connectrpc/connect";
import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import { afterAll, expect, test } from "vitest";
import { connectPeer } from "#src/connect/client.ts";
import { withAdmission } from "#src/connect/methods.ts";
import { openSql } from "#src/postgres.ts";
import { PoolWait } from "#src/postgres/pool-wait.ts";
import { listenService, openDatabaseProcess } from "#src/process/service.ts";
import { runInContext } from "#src/telemetry/request-context.ts";
import { holdTransaction } from "#src/testing/database.ts";
import { createTestIdentities } from "#src/testing/identities.ts";
import { eventually } from "#src/testing/poll.ts";
import { createTestPeer } from "#src/testing/router.ts";
import { createDatabase, logger } from "./test-service.ts";

const database = await createDatabase();
const sql = openSql({ url: database.url, poolSize: 1, applicationName: "admission" });

afterAll(async () => {
  await sql.end({ timeout: 1 });
  await database[Symbol.asyncDispose]();
});

/**
 * Starts a service whose handler reads the database, and which refuses RPCs while its pool is
 * overloaded.
 */
function startService() {
  const wait = new PoolWait(() => sql`select 1`);
  let served = 0;
  const routes = (router: ConnectRouter): void => {
    router.service(PostService, {
      getPost: async ({ id }) => {
        await sql`select 1`;
        served += 1;
        return { post: { id } };
      },
    });
  };
  const client = createTestPeer(withAdmission(routes, () => wait.state())).client(PostService);
  return { client, served: () => served };
}

test("a service refuses an RPC immediately while statements wait too long for a database connection, and accepts RPCs again afterwards", async () => {
  const { client, served } = startService();
  const release = await holdTransaction(sql, (tx) => tx`select 1`);

  const accepted: Promise<unknown>[] = [];
  const refusals: unknown[] = [];
  await eventually(async () => {
    const call = client.getPost({ id: "p" });
    const early = await Promise.race([
      call.then(
        () => undefined,
        (error: unknown) => error,
      ),
      new Promise((resolve) => setTimeout(resolve, 20, "waits")),
    ]);
    if (early === "waits") accepted.push(call);
    else refusals.push(early);
    expect(refusals).toHaveLength(1);
  });
  expect(refusals).toMatchObject([{ kind: "unavailable", retryAfterMs: 1000 }]);
  expect(served()).toBe(0);

  await release();
  await Promise.all(accepted);
  expect(served()).toBe(accepted.length);
  await eventually(() => client.getPost({ id: "p" }));
});

test("a service whose statements wait for those of one workspace refuses the RPCs of that workspace, and serves another", async () => {
  const mayEnd = Promise.withResolvers<void>();
  const routes = (router: ConnectRouter): void => {
    router.service(PostService, {
      getPost: async ({ workspaceId, id }) => {
        if (workspaceId === "large") await mayEnd.promise;
        return { post: { id } };
      },
    });
  };
  const client = createTestPeer(withAdmission(routes, () => "busy")).client(PostService);
  const read = (workspaceId: string) =>
    runInContext({ requestId: "r", workspaceId }, () => client.getPost({ workspaceId, id: "p" }));
  const first = read("large");
  await expect(read("large")).rejects.toMatchObject({ kind: "unavailable" });
  expect(await read("other")).toMatchObject({ post: { id: "p" } });
  mayEnd.resolve();
  await first;
  expect(await read("large")).toMatchObject({ post: { id: "p" } });
});

test("a service does not begin an RPC whose caller has stopped waiting for the answer", async () => {
  const { client, served } = startService();
  const late = { requestId: "r", deadlineAt: performance.now() - 1 };

  await expect(runInContext(late, () => client.getPost({ id: "p" }))).rejects.toMatchObject({
    kind: "timeout",
  });
  expect(served()).toBe(0);
});

/**
 * Starts a database server that accepts connections and never answers, until `stop` breaks all
 * connections.
 */
async function startSilentDatabase() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgres://sample:sample@127.0.0.1:${port}/sample`,
    stop: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

test("the process of a service refuses RPCs while its database does not answer", async () => {
  const silent = await startSilentDatabase();
  const identities = createTestIdentities();
  const config = {
    service: "posts",
    host: "127.0.0.1",
    port: 0,
    metricsPort: 0,
    identity: identities.of("posts"),
    ...identities.trust,
    logLevel: "silent",
    failpointsDir: undefined,
    databaseUrl: silent.url,
    databasePoolSize: 1,
    databasePrepare: true,
  };
  const migrations = new URL("./migrations", import.meta.url).pathname;
  await using base = openDatabaseProcess(config, migrations);
  let baseUrl = "";
  const listening = { ...logger, info: ({ url }: { url?: string }) => (baseUrl = url ?? baseUrl) };
  await using _server = await listenService({
    config,
    callers: { "postrider.posts.v1.PostService/GetPost": ["gateway"] },
    health: base.health,
    logger: listening as typeof logger,
    routes: (router) => router.service(PostService, { getPost: ({ id }) => ({ post: { id } }) }),
  });
  await using peer = connectPeer({
    baseUrl,
    service: "posts",
    identity: identities.of("gateway"),
  });
  const client = peer.client(PostService);

  await eventually(async () => {
    await expect(client.getPost({ id: "p" })).rejects.toMatchObject({ kind: "unavailable" });
  });
  silent.stop();
});
