import type { AddressInfo } from "node:net";
import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import type { FastifyInstance } from "fastify";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createIdentitySource } from "#src/identity/token-source.ts";
import { findContext, runInContext, type RequestContext } from "#src/telemetry/request-context.ts";
import { createTestIdentities } from "#src/testing/identities.ts";
import { connectPeer } from "./client.ts";
import { createServiceServer } from "./server.ts";

const identities = createTestIdentities();
const KEY_ID = "01936a5e-7d2b-7000-8000-0000000000f1";
const SESSION_ID = "01936a5e-7d2b-7000-8000-0000000000f2";
const CLAIMS = {
  keyId: KEY_ID,
  sessionId: SESSION_ID,
  address: "198.51.100.9",
  person: "ana@laptop",
};

let app: FastifyInstance;
let url: string;
let seen: RequestContext | undefined;

beforeAll(async () => {
  const note = () => {
    seen = findContext();
    return {};
  };
  app = await createServiceServer({
    access: identities.accessOf("posts"),
    logger: pino({ level: "silent" }),
    routes: (router) => router.service(PostService, { deletePost: note, getPost: note }),
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
});
beforeEach(() => {
  seen = undefined;
});
afterAll(() => app.close());

async function call(name: string, context: RequestContext, method: "deletePost" | "getPost") {
  const identity = identities.of(name);
  await using peer = connectPeer({ baseUrl: url, service: "posts", identity });
  await runInContext(context, () => peer.client(PostService)[method]({}));
  return seen;
}

test.each([
  ["gateway", { keyId: KEY_ID, sessionId: SESSION_ID, address: "198.51.100.9" }],
  ["operator", { person: "ana@laptop", address: "127.0.0.1" }],
  ["media", { address: "127.0.0.1" }],
])(
  "a service accepts from the caller %s only those facts about the origin of a request that this caller may report",
  async (name, origin) => {
    const found = await call(name, { requestId: "r", origin: CLAIMS }, "deletePost");
    expect(found).toMatchObject({ requestId: "r", caller: name });
    expect(found?.origin).toEqual(origin);
  },
);

test("a service that handles a request and calls another service does not pass on the API key and the address of the client", async () => {
  const context = { requestId: "r", caller: "gateway", origin: CLAIMS };
  expect((await call("gateway", context, "deletePost"))?.origin).toEqual({});
});

test("an RPC that only reads data is sent without the API key and the address of the client", async () => {
  const found = await call("gateway", { requestId: "r", origin: CLAIMS }, "getPost");
  expect(found?.origin).toEqual({});
});

test.each([
  ["an address that is not one", { address: "evil, 10.0.0.1" }, {}],
  ["an IPv4 address inside of IPv6", { address: "::ffff:192.0.2.1" }, { address: "192.0.2.1" }],
  ["an IPv4 address with a port", { address: "192.0.2.1:51234" }, { address: "192.0.2.1" }],
  ["an IPv6 address with a port", { address: "[2001:db8::1]:443" }, { address: "2001:db8::1" }],
  ["an IPv6 address", { address: "2001:db8::1" }, { address: "2001:db8::1" }],
  ["a key id that is not one", { keyId: "k" }, {}],
  ["a session id that is not one", { sessionId: "s" }, {}],
])(
  "a service that receives %s from the gateway as the origin of a request keeps a valid value and drops any other",
  async (_, origin, expected) => {
    expect((await call("gateway", { requestId: "r", origin }, "deletePost"))?.origin).toEqual(
      expected,
    );
  },
);

test("a service replaces control characters in the name of an operator and keeps at most 128 of its characters", async () => {
  const person = `김\u0000\n\ud800${"x".repeat(200)}`;
  const found = await call("operator", { requestId: "r", origin: { person } }, "deletePost");
  expect(found?.origin?.person).toBe(`김  \ufffd${"x".repeat(124)}`);
});

test("a caller that sends an RPC as JSON cannot make the service record another address than that of its connection", async () => {
  const headers = {
    ...(await createIdentitySource(identities.of("operator"), "posts")()),
    "content-type": "application/json",
    "x-remote-address": "203.0.113.5",
    "x-api-key-id": KEY_ID,
    "x-client-address": "203.0.113.5",
  };
  const answer = await fetch(`${url}/${PostService.typeName}/DeletePost`, {
    method: "POST",
    headers,
    body: "{}",
  });
  expect(answer.status).toBe(200);
  expect(seen?.origin).toEqual({ address: "127.0.0.1" });
});
