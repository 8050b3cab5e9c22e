import { connect, createServer, type AddressInfo } from "node:net";
import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import { afterEach, expect, test } from "vitest";
import { connectPeer } from "#src/connect/client.ts";
import { createServiceServer } from "#src/connect/server.ts";
import { createTestIdentities } from "#src/testing/identities.ts";
import { logger } from "./test-logger.ts";

const identities = createTestIdentities();
const identity = identities.of("gateway");
const opened: AsyncDisposable[] = [];

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

/** Starts a replica that counts the RPCs that it receives. */
async function startReplica(): Promise<{ readonly port: number; calls: number }> {
  const replica = { port: 0, calls: 0 };
  const app = await createServiceServer({
    access: identities.accessOf("posts"),
    logger,
    routes: (router) => {
      router.service(PostService, {
        getPost: async ({ id }) => {
          replica.calls += 1;
          await new Promise((resolve) => setImmediate(resolve));
          return { post: { id } };
        },
      });
    },
  });
  opened.push({ [Symbol.asyncDispose]: () => app.close() });
  await app.listen({ host: "127.0.0.1", port: 0 });
  replica.port = (app.server.address() as AddressInfo).port;
  return replica;
}

/**
 * Starts a proxy that works like a ClusterIP: each connection is assigned to one of the replicas
 * that exist when it is opened.
 */
async function startClusterIp(replicas: readonly { readonly port: number }[]): Promise<string> {
  let connections = 0;
  const server = createServer({ noDelay: true }, (client) => {
    const { port = 0 } = replicas[connections++ % replicas.length] ?? {};
    const backend = connect({ host: "127.0.0.1", port, noDelay: true });
    client.on("error", () => backend.destroy()).on("close", () => backend.destroy());
    backend.on("error", () => client.destroy()).on("close", () => client.destroy());
    client.pipe(backend).pipe(client);
  });
  opened.push({
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/**
 * Returns a function that makes `count` RPCs, `inFlight` of them at the same time, and throws if
 * one fails.
 */
async function startCaller(baseUrl: string, timing: { readonly connectionMs?: number } = {}) {
  const peer = connectPeer({ service: "posts", baseUrl, identity, ...timing });
  opened.push(peer);
  const client = peer.client(PostService);
  return async (count: number, inFlight: number): Promise<void> => {
    let left = count;
    const work = async (): Promise<void> => {
      while (left-- > 0) await client.getPost({ id: "p" });
    };
    await Promise.all(Array.from({ length: inFlight }, work));
  };
}

test("a server replica that joins under load receives its share of the RPCs, and no RPC fails", async () => {
  const replicas = [await startReplica()];
  // The connections of this test do not expire: the server closes each of them after 1,000 RPCs.
  const never = { connectionMs: 3_600_000 };
  const call = await startCaller(await startClusterIp(replicas), never);
  await call(50, 2);
  const joined = await startReplica();
  replicas.push(joined);
  const callsOf200 = async (): Promise<number> => {
    joined.calls = 0;
    await call(200, 2);
    return joined.calls;
  };
  await expect.poll(callsOf200).toBeGreaterThanOrEqual(50);
});

test("a server replica that joins under light load receives RPCs as the connections of the callers expire", async () => {
  const replicas = [await startReplica()];
  const call = await startCaller(await startClusterIp(replicas), { connectionMs: 100 });
  await call(20, 1);
  const joined = await startReplica();
  replicas.push(joined);
  const callOnce = async (): Promise<number> => {
    await call(1, 1);
    return joined.calls;
  };
  await expect.poll(callOnce).toBeGreaterThan(1);
});

test("no RPC fails when connections expire under load", async () => {
  const replicas = [await startReplica(), await startReplica()];
  const call = await startCaller(await startClusterIp(replicas), { connectionMs: 5 });
  await call(600, 16);
  expect(replicas.map(({ calls }) => calls >= 200)).toEqual([true, true]);
});
