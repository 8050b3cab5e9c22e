import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { OpenDashboardSessionRequest } from "@postrider/contracts/accounts/v1/dashboard_service_pb";
import { notFound } from "@postrider/shared/errors";
import { formatApiKey, hashApiKey } from "@postrider/shared/secrets/api-keys";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { findContext } from "@postrider/shared/telemetry/request-context";
import { afterEach, expect, test } from "vitest";
import { admitted, createTestServer, PUBLIC_URL, type Peers, WORKSPACE_ID } from "./fixture.ts";

const SESSION_ID = "01936a5e-7d2b-7000-8000-0000000000f2";
const OTHER_ID = "01936a5e-7d2b-7000-8000-0000000000f3";
const KEY_ID = "01936a5e-7d2b-7000-8000-0000000000f4";
const TOKEN = formatApiKey(new Uint8Array(32).fill(7), "session");
const KEY = formatApiKey(new Uint8Array(32).fill(8));
const LINK = "t".repeat(43);
const DAY_MS = 86_400_000;
const SECURE_URL = "https://posts.example.com";

const at = (ms: number) => timestampFromDate(new Date(ms));
const NOW = Date.parse("2026-11-29T09:00:00.000Z");
const SESSION = {
  id: SESSION_ID,
  workspaceId: WORKSPACE_ID,
  scopes: ["posts:read"],
  userAgent: "Firefox on Linux",
  createdAt: at(NOW),
  lastSeenAt: at(NOW),
  expiresAt: at(NOW + 30 * DAY_MS),
};
const OTHER = { ...SESSION, id: OTHER_ID, scopes: ["posts:write"] };
const API_KEY = {
  id: KEY_ID,
  name: "CI",
  prefix: "pr_live_abcd",
  scopes: ["posts:read"],
  workspaceIds: [WORKSPACE_ID],
  createdAt: at(NOW),
  sessionCount: 2,
};
const WORKSPACE = { id: WORKSPACE_ID, name: "Acme", verified: true };

let app: Awaited<ReturnType<typeof createTestServer>>;
let login: OpenDashboardSessionRequest | undefined;
const calls: unknown[] = [];
const lines: string[] = [];
afterEach(() => app.close());

const DASHBOARD = {
  openDashboardSession: (request: OpenDashboardSessionRequest) => {
    login = request;
    calls.push(findContext()?.createdVia);
    const session = { ...SESSION, expiresAt: at(Date.now() + 30 * DAY_MS) };
    return { outcome: "opened", token: TOKEN, session, workspace: WORKSPACE };
  },
  getDashboardSession: ({ id }) => {
    const session = [SESSION, OTHER].find((each) => each.id === id);
    if (session === undefined) throw notFound();
    return { session, workspace: WORKSPACE };
  },
  listDashboardSessions: () => ({ sessions: [OTHER, SESSION] }),
  revokeDashboardSessions: ({ id, workspaceId }) => {
    calls.push([id, workspaceId]);
    return { count: 1 };
  },
} satisfies Peers["dashboard"];

async function open(peers: Peers = {}, scopes = ["posts:read"]) {
  [calls.length, lines.length, login] = [0, 0, undefined];
  const destination = { write: (line: string) => void lines.push(line) };
  app = await createTestServer(
    { dashboard: DASHBOARD, ...peers },
    ({ key }) => {
      if (key === undefined) return { kind: "unavailable", retryAfterSeconds: 1 };
      return admitted({ keyId: undefined, sessionId: SESSION_ID, scopes: new Set(scopes) });
    },
    createLogger({ service: "gateway", level: "info", destination }),
  );
  return app;
}

type Sent = { readonly headers?: Record<string, string>; readonly payload?: object };

async function logIn({ headers = { origin: PUBLIC_URL }, payload = { token: LINK } }: Sent = {}) {
  return await app.inject({ method: "POST", url: "/app/api/session", headers, payload });
}

async function send(method: "GET" | "POST" | "DELETE", path: string, payload?: object) {
  const headers = { cookie: `postrider=${TOKEN}`, "sec-fetch-site": "same-origin" };
  const url = `/app/api${path}`;
  return await app.inject({ method, url, headers, ...(payload && { payload }) });
}

const codeOf = (answer: Awaited<ReturnType<typeof send>>) =>
  answer.json<{ error: { code: string } }>().error.code;

test("a login link is exchanged for a cookie: only hashes leave the gateway, and no answer shows the token", async () => {
  await open();
  const headers = { origin: PUBLIC_URL, "user-agent": "curl/8 (private build)" };
  const answer = await logIn({ headers });
  expect(answer.statusCode).toBe(201);
  expect(answer.json()).toMatchObject({
    id: SESSION_ID,
    openedWith: "link",
    key: null,
    isCurrent: true,
    workspace: WORKSPACE,
    version: expect.stringMatching(/^\d/) as string,
  });
  expect(answer.body).not.toContain(TOKEN);
  expect(login?.login).toEqual({ case: "linkHash", value: new Uint8Array(hashApiKey(LINK)) });
  expect(login?.userAgent).toBe("curl");
  expect(calls).toEqual(["dashboard"]);
});

test.each([
  [SECURE_URL, `__Host-postrider=${TOKEN}`, "; Secure"],
  [PUBLIC_URL, `postrider=${TOKEN}`, ""],
])("at %s the cookie is %s, with the flags that keep it there", async (publicUrl, pair, secure) => {
  await open({ publicUrl });
  const answer = await logIn({ headers: { origin: publicUrl } });
  const maxAge = /Max-Age=(\d+)/.exec(String(answer.headers["set-cookie"]))?.[1];
  expect(Number(maxAge)).toBeGreaterThan(2_591_900);
  expect(String(answer.headers["set-cookie"]).replace(/Max-Age=\d+/, "Max-Age=N")).toBe(
    `${pair}; Path=/; Max-Age=N; HttpOnly; SameSite=Lax${secure}`,
  );
});

test("an API key is exchanged once, without the white space around it, and names the workspace that is meant", async () => {
  await open();
  await logIn({ payload: { apiKey: ` ${KEY}\n`, workspaceId: WORKSPACE_ID } });
  expect(login).toMatchObject({
    login: { case: "keyHash", value: new Uint8Array(hashApiKey(KEY)) },
    workspaceId: WORKSPACE_ID,
  });
});

test("a login in a browser with a session replaces it", async () => {
  await open();
  await logIn({ headers: { origin: PUBLIC_URL, cookie: `postrider=${TOKEN}` } });
  expect(login?.replacedHash).toEqual(new Uint8Array(hashApiKey(TOKEN)));
});

test.each([
  ["https://evil.example", "cross-site"],
  ["http://127.0.0.1:9999", "same-site"],
  ["null", "cross-site"],
  [undefined, undefined],
])("a page at %s cannot log its visitor in (Sec-Fetch-Site: %s)", async (origin, site) => {
  await open();
  const headers = { ...(origin && { origin }), ...(site && { "sec-fetch-site": site }) };
  const answer = await logIn({ headers });
  expect([answer.statusCode, codeOf(answer)]).toEqual([403, "origin_not_allowed"]);
  expect([login, answer.headers["set-cookie"]]).toEqual([undefined, undefined]);
});

test.each([
  ["http://192.168.1.20:8080", "http://192.168.1.20:8080"],
  [SECURE_URL, "http://posts.example.com"],
  [SECURE_URL, "http://localhost:8080"],
  [PUBLIC_URL, "http://192.168.1.20:8080"],
])(
  "with the public address %s, logging in at %s is refused, because the cookie would be lost or read",
  async (publicUrl, origin) => {
    await open({ publicUrl });
    const answer = await logIn({ headers: { origin } });
    expect([answer.statusCode, codeOf(answer)]).toEqual([403, "https_required"]);
    expect(answer.body).toContain("PUBLIC_URL");
    expect([login, answer.headers["set-cookie"]]).toEqual([undefined, undefined]);
  },
);

test("a link or key that does not work is refused without a cookie, and a key of several workspaces has to name one", async () => {
  let outcome = "refused";
  const openDashboardSession = () => ({ outcome, workspaceIds: [WORKSPACE_ID] });
  await open({ dashboard: { ...DASHBOARD, openDashboardSession } });
  const refused = await logIn();
  expect([refused.statusCode, codeOf(refused)]).toEqual([401, "login_failed"]);
  expect(refused.headers["set-cookie"]).toBeUndefined();
  outcome = "workspace_required";
  const several = await logIn({ payload: { apiKey: KEY } });
  expect(several.json()).toMatchObject({
    error: { code: "workspace_required", details: [{ allowed: [WORKSPACE_ID] }] },
  });
});

test.each([[{}], [{ token: LINK, apiKey: KEY }], [{ token: 1 }], [{ password: "p" }]])(
  "the login %j is refused as invalid",
  async (payload) => {
    await open();
    const answer = await logIn({ payload });
    expect([answer.statusCode, codeOf(answer)]).toEqual([400, "invalid_request"]);
    expect(answer.body).not.toContain(LINK);
  },
);

test("a key of another cell opens no session here: the answer names the address of its cell", async () => {
  const own = "https://eu1.example.com";
  const addresses = new Map([["eu1", own]]).set("us1", "https://us1.example.com");
  const keyOf = (cell: string) => formatApiKey(new Uint8Array(32), "key", cell);
  const refused = [keyOf("us1"), keyOf("ap1")].map((key) => hashApiKey(key).toString("hex"));
  const openDashboardSession = (request: OpenDashboardSessionRequest) =>
    refused.includes(Buffer.from(request.login.value ?? []).toString("hex"))
      ? { outcome: "refused" }
      : DASHBOARD.openDashboardSession(request);
  const dashboard = { ...DASHBOARD, openDashboardSession };
  await open({ dashboard, cells: { own: "eu1", addresses } });
  const answer = await logIn({ payload: { apiKey: ` ${keyOf("us1")}` } });
  expect([answer.statusCode, codeOf(answer)]).toEqual([421, "wrong_cell"]);
  expect(answer.headers["x-postrider-cell-address"]).toBe("https://us1.example.com");
  expect(answer.headers["set-cookie"]).toBeUndefined();
  expect(codeOf(await logIn({ payload: { apiKey: keyOf("ap1") } }))).toBe("login_failed");
  expect(login).toBeUndefined();
  expect((await logIn({ payload: { apiKey: keyOf("eu1") } })).statusCode).toBe(201);
});

test("a key whose workspace was moved opens no session here: the answer names the address of the new cell", async () => {
  const addresses = new Map([["us1", "https://us1.example.com"]]);
  const openDashboardSession = () => ({ outcome: "refused", movedTo: "us1" });
  const dashboard = { ...DASHBOARD, openDashboardSession };
  await open({ dashboard, cells: { own: "eu1", addresses } });
  const apiKey = formatApiKey(new Uint8Array(32), "key", "eu1");
  const answer = await logIn({ payload: { apiKey } });
  expect([answer.statusCode, codeOf(answer)]).toEqual([421, "wrong_cell"]);
  expect(answer.headers["x-postrider-cell-address"]).toBe("https://us1.example.com");
});

test("attempts to log in are limited per address", async () => {
  await open();
  // On a slow machine the address gets new requests while it uses up the old ones.
  let accepted = 0;
  while ((await logIn()).statusCode !== 429) accepted += 1;
  expect(accepted).toBeGreaterThanOrEqual(300);
});

test("a session shows itself, lists the others, and ends itself with its cookie", async () => {
  await open();
  expect((await send("GET", "/session")).json()).toMatchObject({ id: SESSION_ID });
  const { sessions } = (await send("GET", "/sessions")).json<{ sessions: unknown[] }>();
  expect(sessions).toMatchObject([
    { id: OTHER_ID, isCurrent: false },
    { id: SESSION_ID, isCurrent: true, userAgent: "Firefox on Linux" },
  ]);
  const answer = await send("DELETE", "/session");
  expect([answer.statusCode, calls]).toEqual([204, [[SESSION_ID, WORKSPACE_ID]]]);
  expect(answer.headers["set-cookie"]).toMatch(/^postrider=; Path=\/; Max-Age=0; HttpOnly/);
});

test("logging out succeeds when the session has ended meanwhile", async () => {
  const revokeDashboardSessions = () => {
    throw notFound();
  };
  await open({ dashboard: { ...DASHBOARD, revokeDashboardSessions } });
  expect((await send("DELETE", "/session")).statusCode).toBe(204);
});

test("a session ends another one only if it has all scopes of the other one", async () => {
  await open();
  const refused = await send("DELETE", `/sessions/${OTHER_ID}`);
  expect(refused.json()).toMatchObject({
    error: { code: "insufficient_scope", details: [{ code: "posts:write" }] },
  });
  expect(codeOf(await send("DELETE", `/sessions/${KEY_ID}`))).toBe("not_found");
  expect(codeOf(await send("DELETE", "/sessions/x"))).toBe("not_found");
  expect(calls).toEqual([]);
  await app.close();
  await open({}, ["posts:read", "posts:write"]);
  expect((await send("DELETE", `/sessions/${OTHER_ID}`)).statusCode).toBe(204);
  expect(calls).toEqual([[OTHER_ID, WORKSPACE_ID]]);
});

test("a session makes API keys of its workspace with at most its own scopes", async () => {
  const createApiKey = (request: { name: string; scopes: string[]; workspaceIds: string[] }) => {
    calls.push(request);
    return { key: KEY, apiKey: { ...API_KEY, ...request } };
  };
  await open({ apiKeys: { createApiKey } });
  const created = await send("POST", "/keys", { name: "CI", scopes: ["posts:read"] });
  expect([created.statusCode, created.json()]).toEqual([
    201,
    {
      secret: KEY,
      key: {
        id: KEY_ID,
        name: "CI",
        prefix: "pr_live_abcd",
        scopes: ["posts:read"],
        createdAt: "2026-11-29T09:00:00.000Z",
        expiresAt: null,
        lastUsedAt: null,
        sessionCount: 2,
        isShared: false,
        isRevocable: true,
      },
    },
  ]);
  expect(calls).toMatchObject([{ workspaceIds: [WORKSPACE_ID] }]);
  for (const scopes of [["posts:write"], ["all"], ["posts:read", "webhooks:read"]])
    expect(codeOf(await send("POST", "/keys", { name: "CI", scopes }))).toBe("insufficient_scope");
  expect(calls).toHaveLength(1);
});

test("a session revokes an API key for its workspace, and neither one with more scopes nor that of another workspace", async () => {
  const strong = { ...API_KEY, id: OTHER_ID, scopes: ["posts:write"], workspaceIds: ["a", "b"] };
  const listApiKeys = () => ({ apiKeys: [strong, API_KEY] });
  const revokeApiKey = (request: unknown) => (calls.push(request), {});
  await open({ apiKeys: { listApiKeys, revokeApiKey } });
  const { keys } = (await send("GET", "/keys")).json<{ keys: unknown[] }>();
  expect(keys).toMatchObject([
    { id: OTHER_ID, isShared: true, isRevocable: false },
    { id: KEY_ID, isShared: false, isRevocable: true },
  ]);
  expect(codeOf(await send("DELETE", `/keys/${OTHER_ID}`))).toBe("insufficient_scope");
  expect(codeOf(await send("DELETE", `/keys/${SESSION_ID}`))).toBe("not_found");
  expect(calls).toEqual([]);
  expect((await send("DELETE", `/keys/${KEY_ID}`)).statusCode).toBe(204);
  expect(calls).toMatchObject([{ id: KEY_ID, workspaceId: WORKSPACE_ID }]);
});

test("the session of an agent's key neither makes nor ends keys and sessions", async () => {
  const listApiKeys = () => ({ apiKeys: [API_KEY] });
  await open({ apiKeys: { listApiKeys } }, ["posts:read", "posts:write", "mcp:drafts"]);
  const answers = [
    await send("POST", "/keys", { name: "CI", scopes: ["posts:read"] }),
    await send("DELETE", `/keys/${KEY_ID}`),
    await send("DELETE", `/sessions/${OTHER_ID}`),
  ];
  expect(answers.map(codeOf)).toEqual(answers.map(() => "insufficient_scope"));
  expect((await send("DELETE", "/session")).statusCode).toBe(204);
});

test("no answer lets pages of other origins send cookies, also where they may upload", async () => {
  const origin = "https://app.example.com";
  await open({ uploadOrigins: [origin] });
  const preflight = { "access-control-request-method": "PUT", origin };
  for (const url of ["/uploads/x", "/app/api/session", "/api/v1/posts", "/app"])
    for (const method of ["OPTIONS", "GET", "PUT"] as const) {
      const { headers } = await app.inject({ method, url, headers: preflight });
      expect(headers["access-control-allow-credentials"], `${method} ${url}`).toBeUndefined();
    }
});

test("no log line contains a token, a key or a cookie, wherever a client writes it", async () => {
  await open();
  await logIn();
  await logIn({ payload: { apiKey: KEY } });
  await logIn({ payload: { token: LINK, apiKey: KEY } });
  await send("GET", `/session?token=${LINK}`);
  await app.inject({ url: `/app/login?token=${LINK}` });
  await app.inject({ url: `/app/${TOKEN}`, headers: { cookie: `postrider=${TOKEN}` } });
  expect(lines.length).toBeGreaterThan(5);
  for (const secret of [LINK, TOKEN, KEY]) expect(lines.join("")).not.toContain(secret);
});
