import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import type { Simulator } from "@postrider/simulator/simulator";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createApp, createDatabase, createSimulator, type AccountsApp } from "./accounts-app.ts";
import { createSimulatorControl, type SimulatorControl } from "./simulator-control.ts";

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
  workspaceId = await createWorkspace();
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await Promise.all([database[Symbol.asyncDispose](), simulator[Symbol.asyncDispose]()]);
});

async function createWorkspace(): Promise<string> {
  return (await app.workspaces.createWorkspace({ name: "Test" })).workspace?.id ?? "";
}

async function connect(platform: string, username?: string, workspace = workspaceId) {
  const { accounts } = await app.accounts.connectSimulatedAccounts({
    workspaceId: workspace,
    platform,
    count: 1,
    ...(username === undefined ? {} : { username }),
  });
  return { workspaceId: workspace, accountId: accounts[0]?.id ?? "" };
}

type Ref = Awaited<ReturnType<typeof connect>>;

async function disconnect(ref: Ref, from: AccountsApp = app) {
  const { revocation, reason } = await from.accounts.disconnectAccount({ ref });
  return [revocation, reason];
}

async function tokensOf({ accountId }: Ref) {
  const rows = await database.sql`
    select access_token, refresh_token, attributes, expires_at, renew_at
    from credentials where account_id = ${accountId}`;
  return rows[0];
}

const NOTHING = {
  accessToken: null,
  refreshToken: null,
  attributes: {},
  expiresAt: null,
  renewAt: null,
};

test.each([
  ["x", "unconfirmed", undefined],
  ["tiktok", "unconfirmed", undefined],
  ["youtube", "unconfirmed", undefined],
  ["bluesky", "unconfirmed", undefined],
  ["instagram", "not_attempted", "app_wide_grant"],
  ["facebook", "not_attempted", "app_wide_grant"],
  ["telegram", "not_attempted", "not_verified"],
])("%s: the tokens are gone here, and the platform was %s, %s", async (platform, outcome, why) => {
  const ref = await connect(platform);
  expect(await disconnect(ref)).toEqual([outcome, why]);
  expect(await tokensOf(ref)).toEqual(NOTHING);
  expect(await control.countCalls(platform, "revoke")).toBe(
    outcome === "unconfirmed" ? (platform === "x" ? 2 : 1) : 0,
  );
  expect((await app.accounts.listAccounts({ workspaceId })).accounts).toEqual([]);
  const { credentials } = await app.credentials.batchGetCredentials({ refs: [ref] });
  expect(credentials[0]).toMatchObject({ accountStatus: "disconnected", accessToken: "" });
  const events = await database.sql`
    select type, payload::jsonb ->> 'version' as version from outbox
    where key = ${ref.accountId} order by id`;
  expect(events).toEqual([
    { type: "postrider.accounts.v1.AccountConnected", version: "1" },
    { type: "postrider.accounts.v1.AccountDisconnected", version: "2" },
  ]);
  expect(await disconnect(ref)).toEqual(["not_attempted", "already_disconnected"]);
});

test.each(["x", "tiktok", "youtube", "bluesky"])(
  "%s accepts every call of the revocation",
  async (platform) => {
    await disconnect(await connect(platform));
    expect(new Set(await control.outcomes(platform, "revoke"))).toEqual(new Set(["done"]));
  },
);

test.each([
  { mode: "status", status: 500 },
  { mode: "drop_before" },
  { mode: "garbage_body" },
  { mode: "refuse" },
])("a platform in trouble ($mode) does not keep an account connected", async (fault) => {
  const ref = await connect("x");
  await control.fault({ platform: "x", operation: "revoke", times: 2, ...fault });
  expect(await disconnect(ref)).toEqual(["unconfirmed", undefined]);
  expect(await tokensOf(ref)).toEqual(NOTHING);
});

test("tokens are gone before the platform is asked", async () => {
  const ref = await connect("x");
  await control.fault({ platform: "x", operation: "revoke", mode: "delay", delayMs: 1500 });
  const disconnected = disconnect(ref);
  await eventually(async () => (await control.countCalls("x", "revoke")) === 1);
  expect(await tokensOf(ref)).toEqual(NOTHING);
  expect(await disconnect(ref)).toEqual(["not_attempted", "already_disconnected"]);
  expect(await disconnected).toEqual(["unconfirmed", undefined]);
});

test("without the app's credentials, or the key of the tokens, nobody is asked", async () => {
  const [first, second] = [await connect("x"), await connect("x")];
  await using unconfigured = createApp(database, {
    simulatorUrl: simulator.url,
    configured: false,
  });
  expect(await disconnect(first, unconfigured)).toEqual(["not_attempted", "not_configured"]);
  await using keyless = createApp(database, {
    simulatorUrl: simulator.url,
    keys: [{ id: "other", secret: Buffer.alloc(32) }],
  });
  expect(await disconnect(second, keyless)).toEqual(["not_attempted", "not_configured"]);
  expect([await tokensOf(first), await tokensOf(second)]).toEqual([NOTHING, NOTHING]);
  expect(await control.countCalls("x", "revoke")).toBe(0);
});

test("a grant on which another workspace's connection stands is not taken away", async () => {
  const other = await connect("youtube", "shared", await createWorkspace());
  const ref = await connect("youtube", "shared");
  expect(await disconnect(ref)).toEqual(["not_attempted", "app_wide_grant"]);
  expect(await disconnect(other)).toEqual(["unconfirmed", undefined]);
});

test("of a foreign workspace's account nobody learns anything", async () => {
  const ref = await connect("x");
  const foreign = { ...ref, workspaceId: await createWorkspace() };
  await expect(disconnect(foreign)).rejects.toMatchObject({ reason: "not_found" });
  await expect(disconnect({ ...ref, accountId: "x" })).rejects.toMatchObject({
    reason: "not_found",
  });
  const { credentials } = await app.credentials.batchGetCredentials({ refs: [ref] });
  expect(credentials[0]?.accountStatus).toBe("active");
});

test("ten disconnects at once are one", async () => {
  const ref = await connect("bluesky");
  const answers = await Promise.all(Array.from({ length: 10 }, () => disconnect(ref)));
  expect(answers.filter(([outcome]) => outcome === "unconfirmed")).toHaveLength(1);
  expect(await control.countCalls("bluesky", "revoke")).toBe(1);
});

test("a disconnect wins over a refresh that is under way, and what it still brings is revoked", async () => {
  const ref = await connect("x");
  await control.fault({ platform: "x", operation: "refresh", mode: "delay", delayMs: 800 });
  const refresh = app.credentials.refreshCredential({ ref, refusedVersion: 1n });
  await eventually(async () => (await control.countCalls("x", "refresh")) === 1);
  expect(await disconnect(ref)).toEqual(["unconfirmed", undefined]);
  expect((await refresh).credential).toMatchObject({
    accountStatus: "disconnected",
    accessToken: "",
  });
  await app.refresher.settled();
  expect(await tokensOf(ref)).toEqual(NOTHING);
  expect(await control.countCalls("x", "revoke")).toBe(4);
});

test("tokens of a refresh that began before a disconnect are never written over those of a reconnect", async () => {
  const ref = await connect("x", "again");
  await control.fault({ platform: "x", operation: "refresh", mode: "delay", delayMs: 800 });
  const refresh = app.credentials.refreshCredential({ ref, refusedVersion: 1n });
  await eventually(async () => (await control.countCalls("x", "refresh")) === 1);
  await disconnect(ref);
  expect(await connect("x", "again")).toEqual(ref);
  const { credentials: before } = await app.credentials.batchGetCredentials({ refs: [ref] });
  expect((await refresh).credential).toEqual(before[0]);
  await app.refresher.settled();
  const { credentials: after } = await app.credentials.batchGetCredentials({ refs: [ref] });
  expect(after[0]).toEqual(before[0]);
  expect(after[0]).toMatchObject({ accountStatus: "active", version: 3n });
});
