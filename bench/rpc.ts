/**
 * Compares one RPC call of the stock Connect client and server with one RPC call of `packages/shared/connect`, without tracing
 * and with spans that both sides record and export. Each case sends the same message, with 50 calls in flight. Prints a
 * Markdown table, and the cost of a span that is not recorded.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { createClient, type Client, type ConnectRouter } from "@connectrpc/connect";
import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import { createConnectTransport } from "@connectrpc/connect-node";
import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import { RPC_CALLERS } from "@postrider/contracts/rpc-callers";
import { connectPeer } from "@postrider/shared/connect/client";
import { createServiceServer } from "@postrider/shared/connect/server";
import { createAccess, type Access } from "@postrider/shared/identity/access";
import { parsePublicKey } from "@postrider/shared/identity/identity-keys";
import { toIdentity, type OwnIdentity } from "@postrider/shared/identity/settings";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { startExport } from "@postrider/shared/tracing/export";
import { openSpan } from "@postrider/shared/tracing/tracing";
import fastify from "fastify";
import { cpuSeconds } from "./measure.ts";

/**
 * The private key with which the caller proves its identity. It is fixed, because the client and the server are separate
 * processes.
 */
const KEY = Buffer.alloc(32, 7).toString("base64url");
const CALLS = 10_000;
const IN_FLIGHT = 50;

const now = timestampFromDate(new Date());
const target = {
  id: "t",
  accountId: "a",
  platform: "x",
  status: "published",
  externalId: "1",
  permalink: "https://x.com/i/1",
  publishedAt: now,
};
const post = {
  id: "p",
  workspaceId: "w",
  status: "published",
  content: "A post of ordinary length. ".repeat(4),
  createdAt: now,
  updatedAt: now,
  targets: [target, target, target],
};
const routes = (router: ConnectRouter) =>
  router.service(PostService, { getPost: () => ({ post }) });

const logger = createLogger({ service: "bench", level: "silent" });

/** Exports a span for every RPC (sampling ratio 1), which is the maximum cost of tracing. */
function record(endpoint: string): AsyncDisposable {
  return startExport({ endpoint, headers: {}, ratio: 1, service: "bench", logger });
}

/** Starts a server that accepts exported trace spans and discards them. */
function serveSink(): void {
  const sink = createServer((request, response) => {
    request.resume().on("end", () => response.end("{}"));
  });
  sink.listen(0, "127.0.0.1", () => process.send?.((sink.address() as AddressInfo).port));
}

async function serve(kind: string, endpoint: string | undefined): Promise<void> {
  if (endpoint !== undefined) record(endpoint);
  const app =
    kind === "stock"
      ? fastify()
      : await createServiceServer({ access: openAccess(), logger, routes });
  if (kind === "stock") await app.register(fastifyConnectPlugin, { routes });
  process.send?.(await app.listen({ host: "127.0.0.1", port: 0 }));
}

function getIdentity(): OwnIdentity {
  const identity = toIdentity("gateway", [KEY]);
  if (identity === undefined) throw new Error("the key of the benchmark is invalid");
  return identity;
}

/** Access rules that accept the identity of the benchmark. */
function openAccess(): Access {
  const { publicKey } = getIdentity().keys[0];
  const key = parsePublicKey(publicKey);
  if (key === undefined) throw new Error("the key of the benchmark is invalid");
  return createAccess({
    service: "posts",
    callers: RPC_CALLERS,
    logger,
    trustedKeys: [{ name: "gateway", publicKey, key }],
  });
}

function openClient(kind: string, baseUrl: string): Client<typeof PostService> {
  if (kind === "stock")
    return createClient(PostService, createConnectTransport({ baseUrl, httpVersion: "1.1" }));
  return connectPeer({ service: "posts", baseUrl, identity: getIdentity() }).client(PostService);
}

async function call(client: Client<typeof PostService>, calls: number): Promise<void> {
  let started = 0;
  const worker = async (): Promise<void> => {
    while (started++ < calls) await client.getPost({ workspaceId: "w", id: "p" });
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

/** Returns the line of the Markdown table for one kind of client and server. */
async function measurePair(kind: string, endpoint?: string): Promise<string> {
  await using _recording = endpoint === undefined ? undefined : record(endpoint);
  const server = fork(
    fileURLToPath(import.meta.url),
    endpoint === undefined ? [kind] : [kind, endpoint],
  );
  const [baseUrl] = (await once(server, "message")) as [string];
  const client = openClient(kind, baseUrl);
  await call(client, 2000);
  const pids = [process.pid, server.pid ?? 0];
  const before = pids.map(cpuSeconds);
  const startedAt = performance.now();
  await call(client, CALLS);
  const seconds = (performance.now() - startedAt) / 1000;
  const [clientUs = 0, serverUs = 0] = pids.map((pid, index) =>
    Math.round(((cpuSeconds(pid) - (before[index] ?? 0)) * 1e6) / CALLS),
  );
  server.kill();
  const name = endpoint === undefined ? kind : `${kind}, spans exported`;
  return `| ${name} | ${Math.round(CALLS / seconds)} | ${clientUs} | ${serverUs} |`;
}

/** Measures the cost of a trace span that is not recorded, in nanoseconds. */
function measureUnrecorded(): number {
  const spans = 1_000_000;
  const options = { kind: "client", attributes: { "rpc.system": "connect_rpc" } } as const;
  const startedAt = performance.now();
  for (let count = 0; count < spans; count += 1) {
    const span = openSpan("postrider.posts.v1.PostService/GetPost", options);
    span.set({ "rpc.connect_rpc.error_code": "ok" });
    span.end();
  }
  return ((performance.now() - startedAt) * 1e6) / spans;
}

const [, , kind, endpoint] = process.argv;
if (kind === undefined) {
  const sink = fork(fileURLToPath(import.meta.url), ["sink"]);
  const [port] = (await once(sink, "message")) as [number];
  const rows = [
    await measurePair("stock"),
    await measurePair("lean"),
    await measurePair("lean", `http://127.0.0.1:${port}`),
  ];
  sink.kill();
  process.stdout.write(
    `| client and server | calls/s | client CPU µs | server CPU µs |\n|---|---|---|---|\n${rows.join("\n")}\n`,
  );
  process.stdout.write(`A span that is not recorded: ${Math.round(measureUnrecorded())} ns\n`);
  process.exit(0);
} else if (kind === "sink") serveSink();
else await serve(kind, endpoint);
