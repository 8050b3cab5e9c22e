import { formatApiKey } from "@postrider/shared/secrets/api-keys";
import { findContext } from "@postrider/shared/telemetry/request-context";
import { afterEach, expect, test } from "vitest";
import type { Admission } from "#src/admission/admission.ts";
import { ACCOUNT_ID, admitted, createTestServer, PUBLIC_URL } from "./fixture.ts";

const TOKEN = formatApiKey(new Uint8Array(32).fill(7), "session");
const KEY = formatApiKey(new Uint8Array(32).fill(8));
const SESSION_ID = "01936a5e-7d2b-7000-8000-0000000000f2";
const COOKIE = `theme=dark; postrider=${TOKEN}`;
const HOST_COOKIE = `__Host-postrider=${TOKEN}`;

let app: Awaited<ReturnType<typeof createTestServer>> | undefined;
let seen: Parameters<Admission["admit"]>[0] | undefined;
let context: ReturnType<typeof findContext>;
afterEach(() => app?.close());

async function open(publicUrl = PUBLIC_URL) {
  [seen, context] = [undefined, undefined];
  const note = () => {
    context = findContext();
    return { revocation: "unconfirmed" };
  };
  app = await createTestServer({ publicUrl, accounts: { disconnectAccount: note } }, (request) => {
    seen = request;
    if (request.key === undefined) return { kind: "unauthenticated", limit: LIMIT };
    return admitted(request.key === TOKEN ? { keyId: undefined, sessionId: SESSION_ID } : {});
  });
  return app;
}

const { limit: LIMIT } = admitted() as Extract<ReturnType<typeof admitted>, { kind: "admitted" }>;
const DISCONNECT = { method: "DELETE", url: `/api/v1/accounts/${ACCOUNT_ID}` } as const;

test("a request with a session cookie is the session's, in every service as `dashboard`", async () => {
  const server = await open();
  const headers = { cookie: COOKIE, "sec-fetch-site": "same-origin" };
  expect((await server.inject({ ...DISCONNECT, headers })).statusCode).toBe(204);
  expect(seen?.key).toBe(TOKEN);
  expect(context).toMatchObject({ createdVia: "dashboard", origin: { sessionId: SESSION_ID } });
});

test("a request with `Authorization` ignores cookies, whatever it contains", async () => {
  const server = await open();
  const send = async (authorization: string) =>
    await server.inject({ ...DISCONNECT, headers: { cookie: COOKIE, authorization } });
  expect((await send(`Bearer ${KEY}`)).statusCode).toBe(204);
  expect(seen?.key).toBe(KEY);
  expect(context).toMatchObject({ createdVia: "rest" });
  expect((await send("Basic YTpi")).statusCode).toBe(401);
});

test("the token of a session is not accepted as an API key, nor an API key as a session", async () => {
  const server = await open();
  const asKey = { authorization: `Bearer ${TOKEN}` };
  const asCookie = { cookie: `postrider=${KEY}`, origin: PUBLIC_URL };
  for (const headers of [asKey, asCookie])
    expect((await server.inject({ ...DISCONNECT, headers })).json()).toMatchObject({
      error: { code: "unauthenticated" },
    });
});

test("what only the dashboard needs takes a session and no API key, also at unknown paths", async () => {
  const server = await open();
  const send = async (headers: Record<string, string>, url = "/app/api/unknown") =>
    (await server.inject({ url, headers })).json<{ error: { code: string } }>().error.code;
  expect(await send({})).toBe("session_required");
  expect(await send({ authorization: `Bearer ${KEY}` })).toBe("session_required");
  expect(await send({ cookie: COOKIE })).toBe("not_found");
});

test("agents use an API key and no session", async () => {
  const server = await open();
  const headers = { cookie: COOKIE, origin: PUBLIC_URL };
  const answer = await server.inject({ method: "POST", url: "/mcp", headers, payload: {} });
  expect(answer.json()).toMatchObject({ error: { code: "unauthenticated" } });
});

test.each([
  ["another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
  ["a sibling of the host", { "sec-fetch-site": "same-site", origin: "http://127.0.0.1:9999" }],
  ["an origin that looks like ours", { origin: `${PUBLIC_URL}.evil.example` }],
  ["a page without an origin", { origin: "null" }],
  ["a browser that says nothing", {}],
])("a change with a session cookie is refused when it comes from %s", async (_, headers) => {
  const server = await open();
  const answer = await server.inject({ ...DISCONNECT, headers: { cookie: COOKIE, ...headers } });
  expect(answer.statusCode).toBe(403);
  expect(answer.json()).toMatchObject({ error: { code: "origin_not_allowed" } });
  expect(answer.body).toContain(`${PUBLIC_URL}/app`);
  expect([seen, context]).toEqual([undefined, undefined]);
});

test("a change with a session cookie is carried out when its origin is exactly that of PUBLIC_URL", async () => {
  const server = await open();
  const headers = { cookie: COOKIE, origin: PUBLIC_URL };
  expect((await server.inject({ ...DISCONNECT, headers })).statusCode).toBe(204);
});

test.each([
  ["cross-site", 403],
  ["same-site", 403],
  ["same-origin", 404],
  ["none", 404],
  [undefined, 404],
])(
  "reading with a session cookie and `Sec-Fetch-Site: %s` is answered %d",
  async (site, status) => {
    const server = await open();
    const headers = { cookie: COOKIE, ...(site === undefined ? {} : { "sec-fetch-site": site }) };
    expect((await server.inject({ url: "/api/v1/unknown", headers })).statusCode).toBe(status);
  },
);

test.each([
  ["https://posts.example.com", HOST_COOKIE, 204],
  ["https://posts.example.com", COOKIE, 401],
  ["http://localhost:8080", COOKIE, 204],
  ["http://localhost:8080", HOST_COOKIE, 401],
  ["http://192.168.1.20:8080", COOKIE, 401],
])("at %s, the cookie %s is answered %d", async (publicUrl, cookie, status) => {
  const server = await open(publicUrl);
  const headers = { cookie, origin: publicUrl };
  expect((await server.inject({ ...DISCONNECT, headers })).statusCode).toBe(status);
});
