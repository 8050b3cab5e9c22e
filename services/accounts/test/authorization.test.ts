import { createHash, randomBytes } from "node:crypto";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import type { Simulator } from "@postrider/simulator/simulator";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createApp, createDatabase, createSimulator, type AccountsApp } from "./accounts-app.ts";
import { createSimulatorControl, type SimulatorControl } from "./simulator-control.ts";

const CALLBACK = "https://postrider.example/connect/callback";
const PLATFORMS = ["x", "facebook", "instagram", "tiktok", "youtube"] as const;

let database: TestDatabase;
let simulator: Simulator;
let control: SimulatorControl;
let app: AccountsApp;
let workspaceId: string;

beforeAll(async () => {
  [database, simulator] = await Promise.all([createDatabase(12), createSimulator()]);
  control = createSimulatorControl(simulator.url);
  app = createApp(database, { simulatorUrl: simulator.url });
});
beforeEach(async () => {
  await control.reset();
  workspaceId = (await app.workspaces.createWorkspace({ name: "Test" })).workspace?.id ?? "";
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await Promise.all([database[Symbol.asyncDispose](), simulator[Symbol.asyncDispose]()]);
});

const newBrowser = () => randomBytes(32).toString("base64url");

async function issue(platform: string) {
  const { id, url } = await app.authorizations.issueTicket({ workspaceId, platform });
  return { id, ticket: url.replace("https://postrider.example/connect/", "") };
}

/** Presses a button of the platform's page, and returns what the browser comes back with. */
async function press(authorizeUrl: string, decision: string, username = "") {
  const answer = await fetch(authorizeUrl, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ decision, username }),
  });
  const back = new URL(answer.headers.get("location") ?? "");
  expect(`${back.origin}${back.pathname}`).toBe(CALLBACK);
  const read = (name: string) => back.searchParams.get(name) ?? "";
  return { state: read("state"), code: read("code"), error: read("error") };
}

async function open(platform: string, browser = newBrowser()) {
  const { id, ticket } = await issue(platform);
  const { outcome, authorizeUrl } = await app.authorizations.openTicket({ ticket, browser });
  expect(outcome).toBe("opened");
  return { id, ticket, browser, authorizeUrl };
}

async function progress(id: string) {
  const { status, failure, accounts } = await app.authorizations.getTicket({ id });
  return { status, failure, usernames: accounts.map(({ username }) => username) };
}

test.each(PLATFORMS)("an account of %s is connected by its approval", async (platform) => {
  const { id, browser, authorizeUrl } = await open(platform);
  expect(await progress(id)).toEqual({ status: "waiting", failure: undefined, usernames: [] });
  const back = await press(authorizeUrl, "approve", "somebody");
  const { outcome, accounts } = await app.authorizations.finishAuthorization({ ...back, browser });
  expect(outcome).toBe("connected");
  const [account] = accounts;
  expect(account).toMatchObject({ platform, workspaceId, status: "active", username: "somebody" });
  expect(await progress(id)).toMatchObject({ status: "connected", usernames: [account?.username] });
  const ref = { workspaceId, accountId: account?.id ?? "" };
  const { credentials } = await app.credentials.batchGetCredentials({ refs: [ref] });
  expect(credentials[0]).toMatchObject({ accountStatus: "active" });
  expect(await control.secrets()).toContain(credentials[0]?.accessToken);
});

test.each(["facebook", "instagram"])(
  "one approval on %s connects every page that the person chose",
  async (platform) => {
    const { id, browser, authorizeUrl } = await open(platform);
    const back = await press(authorizeUrl, "approve", "one, two, three");
    const { accounts } = await app.authorizations.finishAuthorization({ ...back, browser });
    expect(accounts.map(({ username }) => username)).toEqual(["one", "two", "three"]);
    expect((await progress(id)).usernames.toSorted()).toEqual(["one", "three", "two"]);
  },
);

test.each(PLATFORMS)(
  "the tokens of %s that an approval brings are renewable as long as they last",
  async (platform) => {
    const { browser, authorizeUrl } = await open(platform);
    const back = await press(authorizeUrl, "approve");
    const { accounts } = await app.authorizations.finishAuthorization({ ...back, browser });
    const ref = { workspaceId, accountId: accounts[0]?.id ?? "" };
    const before = (await app.credentials.batchGetCredentials({ refs: [ref] })).credentials[0];
    const endsByTime = before?.expiresAt !== undefined;
    // A Page's token ends with the permission only.
    expect(endsByTime).toBe(platform !== "facebook" && platform !== "instagram");
    if (!endsByTime) return;
    const { credential } = await app.credentials.refreshCredential({ ref, refusedVersion: 1n });
    expect(credential).toMatchObject({ accountStatus: "active", version: 2n });
  },
);

test.each(PLATFORMS)(
  "a person who denies on %s connects nothing, and the link is spent",
  async (platform) => {
    const { id, ticket, browser, authorizeUrl } = await open(platform);
    const back = await press(authorizeUrl, "deny");
    const { outcome } = await app.authorizations.finishAuthorization({ ...back, browser });
    expect(outcome).toBe("denied");
    expect(await progress(id)).toMatchObject({ status: "failed", failure: "denied" });
    expect((await app.authorizations.findTicket({ ticket })).outcome).toBe("used");
    expect((await app.accounts.listAccounts({ workspaceId })).accounts).toEqual([]);
  },
);

test("looking at a link changes nothing; opening it works once, also for many at once", async () => {
  const { ticket } = await issue("x");
  for (let look = 0; look < 3; look += 1)
    expect(await app.authorizations.findTicket({ ticket })).toMatchObject({
      outcome: "open",
      platform: "x",
      workspaceName: "Test",
      authorizeOrigin: simulator.url,
    });
  const answers = await Promise.all(
    Array.from({ length: 8 }, () =>
      app.authorizations.openTicket({ ticket, browser: newBrowser() }),
    ),
  );
  expect(answers.map(({ outcome }) => outcome).toSorted()).toEqual([
    "opened",
    ...Array.from({ length: 7 }, () => "used"),
  ]);
  expect((await app.authorizations.findTicket({ ticket })).outcome).toBe("used");
});

test("a link nobody issued is unknown, and one is over after ten minutes, opened or not", async () => {
  const invented = newBrowser();
  expect((await app.authorizations.findTicket({ ticket: invented })).outcome).toBe("unknown");
  const fresh = await issue("x");
  const opened = await open("x");
  const back = await press(opened.authorizeUrl, "approve");
  await database.sql`
    update oauth_tickets set expires_at = expires_at - interval '10 minutes'
    where workspace_id = ${workspaceId}`;
  const { ticket } = fresh;
  expect((await app.authorizations.findTicket({ ticket })).outcome).toBe("expired");
  const late = await app.authorizations.openTicket({ ticket, browser: invented });
  expect(late.outcome).toBe("expired");
  const { browser } = opened;
  const finished = await app.authorizations.finishAuthorization({ ...back, browser });
  expect(finished.outcome).toBe("expired");
  expect(await progress(fresh.id)).toMatchObject({ status: "failed", failure: "expired" });
  expect(await progress(opened.id)).toMatchObject({ status: "failed", failure: "expired" });
});

test("another browser, or an invented state, ends nothing: the right one goes on", async () => {
  const { browser, authorizeUrl } = await open("x");
  const back = await press(authorizeUrl, "approve", "rightone");
  const finish = async (part: object) =>
    (await app.authorizations.finishAuthorization({ ...back, browser, ...part })).outcome;
  expect(await finish({ browser: newBrowser() })).toBe("other_browser");
  expect(await finish({ browser: "" })).toBe("other_browser");
  expect(await finish({ state: newBrowser() })).toBe("unknown_state");
  expect(await finish({ state: "" })).toBe("unknown_state");
  expect(await control.countCalls("x", "login")).toBe(1);
  expect(await finish({})).toBe("connected");
});

test("a code is exchanged once, however often the browser comes back with it", async () => {
  const { browser, authorizeUrl } = await open("x");
  const back = await press(authorizeUrl, "approve", "onceonly");
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => app.authorizations.finishAuthorization({ ...back, browser })),
  );
  expect(answers.filter(({ outcome }) => outcome === "connected")).toHaveLength(1);
  expect(answers.filter(({ outcome }) => outcome === "used")).toHaveLength(7);
  const calls = await control.outcomes("x", "login");
  // The page's button, and one exchange.
  expect(calls).toEqual(["done", "done"]);
});

test.each([
  ["an invented code", { code: "invented", error: "" }, "refused"],
  ["no code", { code: "", error: "" }, "denied"],
  ["trouble at the platform", { code: "", error: "server_error" }, "unavailable"],
])("%s fails the link with %s", async (_name, part, failure) => {
  const { id, browser, authorizeUrl } = await open("x");
  const { state } = await press(authorizeUrl, "approve");
  const back = { state, ...part };
  const { outcome } = await app.authorizations.finishAuthorization({ ...back, browser });
  expect(outcome).toBe(failure);
  expect(await progress(id)).toMatchObject({ status: "failed", failure });
});

test("a token endpoint that does not answer fails the link and connects nothing", async () => {
  const { id, browser, authorizeUrl } = await open("x");
  const back = await press(authorizeUrl, "approve");
  await control.fault({ platform: "x", operation: "login", mode: "status", status: 503 });
  const { outcome } = await app.authorizations.finishAuthorization({ ...back, browser });
  expect(outcome).toBe("unavailable");
  expect(await progress(id)).toMatchObject({ status: "failed", failure: "unavailable" });
});

test("an approval of an account that is connected already brings it back under its id", async () => {
  const connect = async () => {
    const { browser, authorizeUrl } = await open("tiktok");
    const back = await press(authorizeUrl, "approve", "returning");
    const { accounts } = await app.authorizations.finishAuthorization({ ...back, browser });
    return accounts[0]?.id ?? "";
  };
  const accountId = await connect();
  const ref = { workspaceId, accountId };
  await app.accounts.disconnectAccount({ ref });
  expect(await connect()).toBe(accountId);
  const { credentials } = await app.credentials.batchGetCredentials({ refs: [ref] });
  expect(credentials[0]?.accountStatus).toBe("active");
});

test("no secret of an authorization is in the database, and nothing is left of it at the end", async () => {
  const { ticket, browser, authorizeUrl } = await open("x");
  const state = new URL(authorizeUrl).searchParams.get("state") ?? "";
  const challenge = new URL(authorizeUrl).searchParams.get("code_challenge");
  const [row] = await database.sql<{ row: string; codeVerifier: string | null }[]>`
    select t::text as row, code_verifier from oauth_tickets t where workspace_id = ${workspaceId}`;
  for (const secret of [ticket, browser, state]) expect(row?.row).not.toContain(secret);
  // Sealed: not the verifier itself, whose hash the platform knows.
  const hash = createHash("sha256")
    .update(row?.codeVerifier ?? "")
    .digest("base64url");
  expect(hash).not.toBe(challenge);
  expect(row?.codeVerifier).toMatch(/^v1\.k1\./);
  const back = await press(authorizeUrl, "approve");
  await app.authorizations.finishAuthorization({ ...back, browser });
  const after = await database.sql`
    select code_verifier from oauth_tickets where workspace_id = ${workspaceId}`;
  expect(after).toEqual([{ codeVerifier: null }]);
});

test.each([
  ["bluesky", "not_available"],
  ["telegram", "not_available"],
  ["myspace", "not_configured"],
])("there is no link for %s", async (platform, code) => {
  await expect(issue(platform)).rejects.toMatchObject({
    reason: "invalid_request",
    violations: [{ code }],
  });
});

test("there is no link for a workspace or a ticket that nobody has", async () => {
  const nobody = "0198a6a4-0000-7000-8000-000000000001";
  for (const id of [nobody, "x"]) {
    await expect(
      app.authorizations.issueTicket({ workspaceId: id, platform: "x" }),
    ).rejects.toMatchObject({ reason: "not_found" });
    await expect(app.authorizations.getTicket({ id })).rejects.toMatchObject({
      reason: "not_found",
    });
  }
});

test("links of yesterday are forgotten when a new one is made", async () => {
  await issue("x");
  await database.sql`
    update oauth_tickets set expires_at = now() - interval '25 hours'
    where workspace_id = ${workspaceId}`;
  await issue("x");
  await eventually(async () => {
    const rows = await database.sql`
      select 1 from oauth_tickets where workspace_id = ${workspaceId}`;
    expect(rows).toHaveLength(1);
  });
});
