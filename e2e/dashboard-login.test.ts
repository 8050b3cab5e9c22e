import { sampleJpeg } from "@postrider/local/demo/sample-media";
import { eventually } from "@postrider/shared/testing/poll";
import type { Page } from "playwright-core";
import { afterAll, expect, test } from "vitest";
import { launchBrowser } from "./support/observers/browser.ts";
import {
  findAccessibilityFaults,
  openBrowser,
  readWhatIsKept,
} from "./support/observers/dashboard.ts";
import { upload } from "./support/requests/media.ts";
import { createKey, openTenant, type Tenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

const [system, browser] = await Promise.all([useSharedSystem(), launchBrowser()]);
const tenant = await openTenant(system);
afterAll(() => browser.close());

const JPEG = { contentType: "image/jpeg", bytes: sampleJpeg() };

/** Within which a revoked key or session stops working. */
const REVOKED_MS = 5_000;

interface Answer<T = { readonly error?: { readonly code: string } }> {
  readonly status: number;
  readonly body: T;
}

/** A program that behaves like the dashboard's page in a browser with one session. */
class Dashboard {
  cookie = "";

  async call<T = Answer["body"]>(
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = { "sec-fetch-site": "same-origin" },
  ): Promise<Answer<T>> {
    const answer = await fetch(`${system.local().baseUrl}${path}`, {
      method,
      headers: {
        ...(this.cookie === "" ? {} : { cookie: this.cookie }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const [set] = answer.headers.getSetCookie();
    if (set !== undefined) this.cookie = set.split(";")[0] ?? "";
    return { status: answer.status, body: (text === "" ? {} : JSON.parse(text)) as T };
  }

  async logIn(body: object): Promise<Answer<{ id: string }>> {
    return await this.call("POST", "/app/api/session", body);
  }
}

async function issueLink({ id }: Tenant): Promise<string> {
  const { url } = await system.operate<{ url: string }>("dashboard", "link", "--workspace", id);
  return url;
}

const tokenOf = (link: string) => new URL(link).hash.slice(1);

async function openDashboard(by: Tenant): Promise<Dashboard> {
  const dashboard = new Dashboard();
  expect((await dashboard.logIn({ token: tokenOf(await issueLink(by)) })).status).toBe(201);
  return dashboard;
}

/**
 * Waits until requests of the session are refused, and checks that this took no longer than 5 s.
 */
async function waitForEnd(dashboard: Dashboard, since: number): Promise<void> {
  await eventually(async () =>
    expect((await dashboard.call("GET", "/api/v1/accounts")).status).toBe(401),
  );
  expect(performance.now() - since).toBeLessThan(REVOKED_MS);
}

test("a post that is made in the dashboard says so, and the audit log names its session", async () => {
  const dashboard = await openDashboard(tenant);
  const account = await tenant.connect("x");
  const post = { content: "From the dashboard", accountIds: [account], isDraft: true };
  const made = await dashboard.call<{ id: string; createdVia: string }>(
    "POST",
    "/api/v1/posts",
    post,
  );
  expect([made.status, made.body.createdVia]).toEqual([202, "dashboard"]);
  const { body: session } = await dashboard.call<{ id: string }>("GET", "/app/api/session");
  const { entries } = await system.operate<{ entries: Record<string, unknown>[] }>(
    "audit",
    "list",
    "--key",
    session.id,
  );
  expect(entries.map(({ action, via }) => [action, via])).toEqual(
    expect.arrayContaining([
      ["session.open", "dashboard"],
      ["post.create", "dashboard"],
    ]),
  );
});

test("of two browsers that use one login link at once, one is logged in", async () => {
  const token = tokenOf(await issueLink(tenant));
  const answers = await Promise.all([1, 2, 3].map(() => new Dashboard().logIn({ token })));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
});

test("logging in again always makes a new session, and ends the one before", async () => {
  const dashboard = await openDashboard(tenant);
  const before = new Dashboard();
  before.cookie = dashboard.cookie;
  const first = await dashboard.call<{ id: string }>("GET", "/app/api/session");
  const since = performance.now();
  const second = await dashboard.logIn({ token: tokenOf(await issueLink(tenant)) });
  expect(second.body.id).not.toBe(first.body.id);
  expect(dashboard.cookie).not.toBe(before.cookie);
  await waitForEnd(before, since);
});

test("a session ends within 5 s after its API key was revoked in the dashboard", async () => {
  const owner = await openDashboard(tenant);
  const created = await owner.call<{ secret: string; key: { id: string } }>(
    "POST",
    "/app/api/keys",
    {
      name: "CI",
      scopes: ["accounts:read", "posts:read"],
    },
  );
  const { secret, key } = created.body;
  const guest = new Dashboard();
  expect((await guest.logIn({ apiKey: secret })).status).toBe(201);
  expect((await guest.call("GET", "/api/v1/accounts")).status).toBe(200);
  const { keys } = (
    await owner.call<{ keys: { id: string; sessionCount: number }[] }>("GET", "/app/api/keys")
  ).body;
  expect(keys.find(({ id }) => id === key.id)).toMatchObject({ sessionCount: 1 });
  const since = performance.now();
  expect((await owner.call("DELETE", `/app/api/keys/${key.id}`)).status).toBe(204);
  await waitForEnd(guest, since);
  expect((await guest.logIn({ apiKey: secret })).status).toBe(401);
});

test("a session ends within 5 s after it was revoked by another session or by the operator", async () => {
  const [owner, guest, other] = [
    await openDashboard(tenant),
    await openDashboard(tenant),
    await openDashboard(tenant),
  ];
  const { body: session } = await guest.call<{ id: string }>("GET", "/app/api/session");
  const since = performance.now();
  expect((await owner.call("DELETE", `/app/api/sessions/${session.id}`)).status).toBe(204);
  await waitForEnd(guest, since);
  const later = performance.now();
  await system.operate("dashboard", "revoke", "--workspace", tenant.id);
  await Promise.all([waitForEnd(owner, later), waitForEnd(other, later)]);
});

test("a session sees neither sessions nor API keys of another workspace, and its scopes are those of its key", async () => {
  const stranger = await openTenant(system);
  const [dashboard, foreign] = [await openDashboard(tenant), await openDashboard(stranger)];
  const { body: session } = await dashboard.call<{ id: string }>("GET", "/app/api/session");
  const { keys } = (await dashboard.call<{ keys: { id: string }[] }>("GET", "/app/api/keys")).body;
  for (const path of [`sessions/${session.id}`, `keys/${keys[0]?.id}`]) {
    const { status, body } = await foreign.call("DELETE", `/app/api/${path}`);
    expect([status, body.error?.code]).toEqual([404, "not_found"]);
  }
  expect((await dashboard.call("GET", "/app/api/session")).status).toBe(200);

  const reader = new Dashboard();
  await reader.logIn({ apiKey: await createKey(system, tenant.id, "posts:read") });
  const refusals = [
    await reader.call("POST", "/api/v1/posts", { content: "No", accountIds: [] }),
    await reader.call("POST", "/app/api/keys", { name: "More", scopes: ["posts:write"] }),
    await reader.call("DELETE", `/app/api/sessions/${session.id}`),
  ];
  expect(refusals.map(({ body }) => body.error?.code)).toEqual(
    refusals.map(() => "insufficient_scope"),
  );
});

/** Approves an account on the page of a simulated platform. */
async function approve(page: Page, username: string): Promise<void> {
  await page.waitForURL(/\/connect\//);
  await page.getByRole("button").click();
  await page.getByLabel("Username").fill(username);
  await page.getByRole("button", { name: "Approve" }).click();
}

test("a person logs in with a link, connects two accounts and publishes the first post, and the browser keeps and requests no secret", async () => {
  const owner = await openTenant(system);
  const link = await issueLink(owner);
  const { credentials } = await system.simulator.issueAccount("bluesky");
  const { identifier = "", appPassword = "" } = credentials;
  await using opened = await openBrowser(browser);
  const { page, complaints } = opened;
  const requests: string[] = [];
  page.on("request", (request) =>
    requests.push(request.url(), request.headers()["referer"] ?? "", request.postData() ?? ""),
  );

  await page.goto(link);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL(/\/app\/start$/);
  await page.getByRole("button", { name: /^X / }).click();
  await approve(page, "first_run");
  await page.waitForURL(/\/app\/start$/);
  await page.getByText("Connected: first_run").waitFor();
  await page.getByText("Connect another one").click();
  await page.getByRole("button", { name: /^Bluesky/ }).click();
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await page.getByText("This is needed.").first().waitFor();
  await page.getByLabel("Handle").fill(identifier);
  await page.getByLabel("App password").fill(appPassword);
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  await page.getByText(/^Connected: .*, /).waitFor();

  await page.getByRole("link", { name: "Write it" }).click();
  await page.getByRole("button", { name: "Choose all" }).click();
  await page.getByLabel("Text for all accounts").fill("The first post");
  await page.getByRole("button", { name: "Publish to 2 accounts now" }).click();
  await page.getByRole("heading", { name: "2 accounts" }).waitFor();
  await page.getByRole("button", { name: "Delete from 2 accounts…" }).waitFor();
  expect(await owner.countVisible("The first post")).toBe(2);

  const [cookie] = await page.context().cookies();
  const secrets = [tokenOf(link), cookie?.value ?? "", appPassword];
  expect(secrets.every((secret) => secret.length > 10)).toBe(true);
  const kept = await readWhatIsKept(page);
  expect(secrets.filter((secret) => kept.includes(secret))).toEqual([]);
  // Two requests carry a secret, both in their body: the login and the connection.
  const carriers = requests.filter((text) => secrets.some((secret) => text.includes(secret)));
  expect(carriers.map((text) => Object.keys(JSON.parse(text) as object))).toEqual([
    ["token"],
    ["platform", "login"],
  ]);
  const logs = system.logs();
  expect(secrets.filter((secret) => logs.includes(secret))).toEqual([]);
  expect(complaints).toEqual([]);
});

test("a second link that is opened in the tab of a spent one logs in", async () => {
  const spent = await issueLink(tenant);
  await new Dashboard().logIn({ token: tokenOf(spent) });
  await using opened = await openBrowser(browser);
  const { page } = opened;
  await page.goto(spent);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByText("This link has been used or is older than 10 minutes.").waitFor();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    expect(await findAccessibilityFaults(page)).toEqual([]);
  }
  await page.goto(await issueLink(tenant));
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL(/\/app\/(?!login)/);
});

test("the login leads on to the address that was asked for, with its query", async () => {
  await using opened = await openBrowser(browser);
  const { page } = opened;
  await page.goto(`${system.local().baseUrl}/app/posts?tab=scheduled`);
  await page.getByLabel("API key").fill(tenant.key);
  await page.getByRole("button", { name: "Log in with the key" }).click();
  await page.waitForURL(/\/app\/posts\?tab=scheduled$/);
});

test("what only the dashboard needs finds nothing of another workspace", async () => {
  const owner = await openTenant(system);
  const account = await owner.connect("x");
  const post = { content: "Not yours", accountIds: [account], isDraft: true };
  const { id } = (await owner.api.call<{ id: string }>("POST", "/posts", { body: post })).body;
  const own = await openDashboard(owner);
  const link = { accountId: account, returnTo: "/app/accounts" };
  const { body } = await own.call<{ id: string }>("POST", "/app/api/connect-links", link);
  const foreign = await openDashboard(tenant);
  const media = await upload(owner.api, { fileName: "a.jpg", ...JPEG });
  const calls = [
    ["GET", `posts/${id}/targets`],
    ["GET", `posts/${id}/metrics/history`],
    ["POST", `posts/${id}/targets/${account}/resolve`, { published: false }],
    ["POST", `accounts/${account}/retry`, { postId: id }],
    ["POST", "connect-links", { accountId: account }],
    ["GET", `connect-links/${body.id}`],
    ["GET", `media/${media.id}/preview`],
    ["PUT", `inbox/${id}`, { state: "done" }],
  ] as const;
  const codes = await Promise.all(
    calls.map(async ([method, path, given]) => {
      const answer = await foreign.call(method, `/app/api/${path}`, given);
      return [path, answer.status, answer.body.error?.code];
    }),
  );
  expect(codes).toEqual(calls.map(([, path]) => [path, 404, "not_found"]));
  const words = await foreign.call("GET", `/app/api/posts/words?ids=${id}`);
  expect(words.body).toEqual({ posts: [] });
});

test("in a browser, scripts cannot read the cookie of a session, and a page of another site reads and changes nothing with it", async () => {
  const base = system.local().baseUrl;
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${base}/app`);
  const request = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token: tokenOf(await issueLink(tenant)) }),
  };
  const status = await page.evaluate(
    async (init) => (await fetch("/app/api/session", init)).status,
    request,
  );
  expect([status, await page.evaluate("document.cookie")]).toEqual([201, ""]);
  const [cookie] = await context.cookies();
  expect(cookie).toMatchObject({ name: "postrider", httpOnly: true, sameSite: "Lax", path: "/" });

  const html = `<a href="${base}/app/api/keys">prize</a><form method="post" action="${base}/api/v1/posts"><button>prize</button></form>`;
  await context.route("http://evil.example/", (route) =>
    route.fulfill({ contentType: "text/html", body: html }),
  );
  for (const [element, path, refusal] of [
    ["a", "/app/api/keys", 403],
    ["button", "/api/v1/posts", 401],
  ] as const) {
    await page.goto("http://evil.example/");
    const answer = page.waitForResponse(`${base}${path}`);
    await page.click(element);
    expect((await answer).status()).toBe(refusal);
  }
  expect((await context.request.get(`${base}/app/api/session`)).status()).toBe(200);
  await context.close();
});
