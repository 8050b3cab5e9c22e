import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { WorkspaceService } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import { pino } from "pino";
import { Agent, type Dispatcher } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createIdentitySource } from "#src/identity/token-source.ts";
import { findContext, runInContext } from "#src/telemetry/request-context.ts";
import { createTestIdentities } from "#src/testing/identities.ts";
import { conflict, notFound, ServiceError, unprocessable } from "../errors.ts";
import { connectPeer } from "./client.ts";
import { createLeanTransport } from "./lean-transport.ts";
import { createServiceServer } from "./server.ts";

const identities = createTestIdentities();
const identity = identities.of("gateway");
const identitySource = createIdentitySource(identity, "posts");
let baseUrl = "";
let close: () => Promise<void>;
const seen: string[] = [];

beforeAll(async () => {
  const app = await createServiceServer({
    access: identities.accessOf("posts"),
    logger: pino({ level: "silent" }),
    routes: (router) => {
      router.service(PostService, {
        getPost: async ({ id }) => {
          const context = findContext();
          seen.push(`${context?.requestId ?? "-"}/${context?.workspaceId ?? "-"}`);
          if (id === "missing") throw notFound();
          if (id === "conflict")
            throw conflict("post_publishing", [{ code: "x", accountId: "a" }], {
              retryAfterMs: 1500,
            });
          if (id === "invalid")
            throw unprocessable("validation_failed", [
              { code: "content_too_long", limit: 280, actual: 281 },
            ]);
          if (id === "crash") throw new Error("secret text of a library");
          if (id === "slow") await new Promise((resolve) => setTimeout(resolve, 2000));
          if (id === "long") return { post: { id, json: "j".repeat(17 * 1024 * 1024) } };
          return { post: { id, json: "héllo 🎉", version: 7n } };
        },
      });
      router.service(WorkspaceService, {});
    },
  });
  baseUrl = await app.listen({ host: "127.0.0.1", port: 0 });
  close = () => app.close();
});
afterAll(() => close());

async function outcome(transport: Transport, id: string, timeoutMs = 1000): Promise<unknown> {
  try {
    return await createClient(PostService, transport).getPost(
      { id },
      { timeoutMs, headers: await identitySource() },
    );
  } catch (error) {
    const { code, rawMessage, details } = ConnectError.from(error);
    return {
      code: Code[code],
      // The size of the same message differs between protobuf and JSON.
      rawMessage:
        code === Code.DeadlineExceeded ? "" : rawMessage.replace(/^message size \d+/, "too long"),
      details: details.length,
    };
  }
}

const agent = new Agent();
afterAll(() => agent.close());
const startLean = () =>
  createLeanTransport({ baseUrl, dispatcher: agent, timeoutMs: 1000, identity: identitySource });

test.each(["p1", "missing", "conflict", "invalid", "crash", "long"])(
  "Postrider's own RPC transport returns the same result or error as Connect's client for the server's answer to the post id %s",
  async (id) => {
    const stock = createConnectTransport({ baseUrl, httpVersion: "1.1" });
    expect(await outcome(startLean(), id)).toEqual(await outcome(stock, id));
  },
);

test("the lean RPC transport fails with the same error as Connect's client when the deadline passes", async () => {
  expect(await outcome(startLean(), "slow", 50)).toMatchObject({ code: "DeadlineExceeded" });
});

test("the lean RPC transport fails with the same error as Connect's client when the server does not have the RPC", async () => {
  const stock = createConnectTransport({ baseUrl, httpVersion: "1.1" });
  const call = async (transport: Transport) =>
    await createClient(WorkspaceService, transport).listWorkspaces(
      {},
      { headers: await identitySource() },
    );
  const code = async (transport: Transport) =>
    await call(transport).then(
      () => "ok",
      (error: unknown) => ConnectError.from(error).code,
    );
  expect(await code(startLean())).toBe(await code(stock));
});

// An RPC in JSON is not answered by the lean server but by Connect's plugin.
test.each(["p1", "missing", "conflict", "invalid", "crash", "long"])(
  "for the post id %s, which selects the answer, Postrider's lean RPC server returns the same result or error as Connect's server plugin",
  async (id) => {
    const binary = createConnectTransport({ baseUrl, httpVersion: "1.1" });
    const json = createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false });
    expect(await outcome(binary, id)).toEqual(await outcome(json, id));
  },
);

test("the lean RPC server returns the same answer as Connect's server plugin for a message that is not protobuf", async () => {
  const answer = await fetch(`${baseUrl}/postrider.posts.v1.PostService/GetPost`, {
    method: "POST",
    headers: { "content-type": "application/proto", ...(await identitySource()) },
    body: new Uint8Array([255, 255, 255]),
  });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(await answer.text()).not.toContain("stack");
});

test("an RPC forwards the ids of the request for which it is made, and the caller receives errors with their type and all details", async () => {
  await using peer = connectPeer({ service: "posts", baseUrl, identity });
  const posts = peer.client(PostService);
  await runInContext({ requestId: "r-1", workspaceId: "w-1" }, () => posts.getPost({ id: "p1" }));
  expect(seen.at(-1)).toBe("r-1/w-1");
  const error = await posts.getPost({ id: "conflict" }).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({
    kind: "conflict",
    reason: "post_publishing",
    retryAfterMs: 1500,
    violations: [{ code: "x", accountId: "a" }],
  });
});

test("an RPC error never contains the message of an unexpected exception", async () => {
  await using peer = connectPeer({ service: "posts", baseUrl, identity });
  const error = await peer
    .client(PostService)
    .getPost({ id: "crash" })
    .catch((caught: unknown) => caught);
  expect(error).toMatchObject({ kind: "internal", reason: "internal" });
  expect(JSON.stringify(error)).not.toContain("secret text");
});

test("an RPC is refused when the service does not know the key of the calling process", async () => {
  const stranger = createTestIdentities().of("gateway");
  await using peer = connectPeer({ service: "posts", baseUrl, identity: stranger });
  await expect(peer.client(PostService).getPost({ id: "p1" })).rejects.toMatchObject({
    name: "ServiceError",
  });
});

test("an RPC to an unreachable service fails as unavailable, and an RPC times out at the deadline of the request for which it is made", async () => {
  await using down = connectPeer({ service: "posts", baseUrl: "http://127.0.0.1:1", identity });
  await expect(down.client(PostService).getPost({ id: "p1" })).rejects.toMatchObject({
    kind: "unavailable",
  });
  await using peer = connectPeer({ service: "posts", baseUrl, identity });
  const context = { requestId: "r", deadlineAt: performance.now() + 50 };
  await expect(
    runInContext(context, () => peer.client(PostService).getPost({ id: "slow" })),
  ).rejects.toMatchObject({ kind: "timeout" });
});

/**
 * Creates an undici dispatcher whose first calls fail with this error code; later calls succeed.
 */
function breaking(code: string, times = 1): Dispatcher {
  let failures = 0;
  return agent.compose((dispatch) => (options, handler) => {
    if (failures++ >= times) return dispatch(options, handler);
    const error = Object.assign(new Error(code), { code });
    handler.onResponseError?.({} as Dispatcher.DispatchController, error);
    return true;
  });
}

/**
 * The server of these tests does not have the RPC `deletePost`. So an error that says so was sent
 * by the server.
 */
const outcomeOf = (error: unknown) =>
  ConnectError.from(error).code === Code.Unavailable ? "failed" : "answered";

test.each([
  { code: "ECONNREFUSED", reads: "answered", writes: "answered" },
  { code: "UND_ERR_CONNECT_TIMEOUT", reads: "answered", writes: "answered" },
  { code: "ECONNRESET", reads: "answered", writes: "failed" },
  { code: "UND_ERR_SOCKET", reads: "answered", writes: "failed" },
])(
  "when a connection fails with $code, an RPC that reads is $reads and an RPC that writes is $writes, because only safe RPCs are repeated",
  async ({ code, reads, writes }) => {
    const transport = () =>
      createLeanTransport({
        baseUrl,
        dispatcher: breaking(code),
        timeoutMs: 1000,
        identity: identitySource,
      });
    const client = () => createClient(PostService, transport());
    expect(
      await client()
        .getPost({ id: "p1" })
        .then(() => "answered", outcomeOf),
    ).toBe(reads);
    expect(await client().deletePost({ id: "p1" }).catch(outcomeOf)).toBe(writes);
  },
);

test.each([
  { code: "ECONNREFUSED", reads: "answered", writes: "answered" },
  { code: "UND_ERR_CONNECT_TIMEOUT", reads: "answered", writes: "answered" },
  { code: "ECONNRESET", reads: "failed", writes: "failed" },
])(
  "when four connections in succession fail with $code, as those to a replica that has gone do, an RPC that reads is $reads and an RPC that writes is $writes by the replica that is left",
  async ({ code, reads, writes }) => {
    const client = () => {
      const dispatcher = breaking(code, 4);
      const options = { baseUrl, dispatcher, timeoutMs: 5000, identity: identitySource };
      return createClient(PostService, createLeanTransport(options));
    };
    expect(
      await client()
        .getPost({ id: "p1" })
        .then(() => "answered", outcomeOf),
    ).toBe(reads);
    expect(await client().deletePost({ id: "p1" }).catch(outcomeOf)).toBe(writes);
  },
);

test("an RPC that needs another connection gives the service only the time that is left", async () => {
  const sent: { readonly headers: Record<string, string>; readonly timeoutMs: number }[] = [];
  const dispatcher = agent.compose((dispatch) => (options, handler) => {
    const { headers, headersTimeout } = options;
    sent.push({ headers: headers as Record<string, string>, timeoutMs: headersTimeout ?? 0 });
    if (sent.length > 1) return dispatch(options, handler);
    const error = Object.assign(new Error(), { code: "UND_ERR_CONNECT_TIMEOUT" });
    setTimeout(() => handler.onResponseError?.({} as Dispatcher.DispatchController, error), 200);
    return true;
  });
  const options = { baseUrl, dispatcher, timeoutMs: 5000, identity: identitySource };
  await createClient(PostService, createLeanTransport(options)).getPost({ id: "p1" });
  const [first, second] = sent;
  expect(first).toMatchObject({ headers: { "connect-timeout-ms": "5000" }, timeoutMs: 5000 });
  expect(second?.timeoutMs).toBeLessThanOrEqual(4801);
  expect(second?.headers["connect-timeout-ms"]).toBe(String(second?.timeoutMs));
});
