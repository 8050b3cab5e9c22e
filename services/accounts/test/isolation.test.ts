import { newId } from "@postrider/shared/ids";
import type { TestDatabase } from "@postrider/shared/testing/database";
import type { Simulator } from "@postrider/simulator/simulator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createApp, createDatabase, createSimulator, type AccountsApp } from "./accounts-app.ts";

let database: TestDatabase;
let simulator: Simulator;
let app: AccountsApp;
let mine: string;
let theirs: string;

beforeAll(async () => {
  [database, simulator] = await Promise.all([createDatabase(), createSimulator()]);
  app = createApp(database, { simulatorUrl: simulator.url });
  mine = await createWorkspaceId();
  theirs = await createWorkspaceId();
});

afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await Promise.all([database[Symbol.asyncDispose](), simulator[Symbol.asyncDispose]()]);
});

async function createWorkspaceId(): Promise<string> {
  return (await app.workspaces.createWorkspace({ name: "Test" })).workspace?.id ?? "";
}

async function connect(workspaceId: string, platform: string, username?: string, count = 1) {
  const { accounts } = await app.accounts.connectSimulatedAccounts({
    workspaceId,
    platform,
    count,
    ...(username === undefined ? {} : { username }),
  });
  return accounts;
}

test("accounts are listed in their own workspace only, newest first", async () => {
  const workspaceId = await createWorkspaceId();
  const many = await connect(workspaceId, "bluesky", undefined, 12);
  const [last] = await connect(workspaceId, "telegram");
  await connect(await createWorkspaceId(), "x");
  const { accounts } = await app.accounts.listAccounts({ workspaceId });
  expect(accounts).toHaveLength(13);
  expect(accounts[0]).toEqual(last);
  expect(new Set(accounts.map((account) => account.id))).toEqual(
    new Set([last, ...many].map((account) => account?.id)),
  );
  expect((await app.accounts.listAccounts({ workspaceId: newId() })).accounts).toEqual([]);
});

test("the same external account in two workspaces is two accounts", async () => {
  const [one] = await connect(mine, "x", "shared");
  const [other] = await connect(theirs, "x", "shared");
  expect(other?.externalId).toBe(one?.externalId);
  expect(other?.id).not.toBe(one?.id);
});

test("an account of another workspace looks like one that does not exist", async () => {
  const [account] = await connect(theirs, "x");
  const foreign = { workspaceId: mine, accountId: account?.id ?? "" };
  const unknown = { workspaceId: mine, accountId: newId() };
  const malformed = { workspaceId: "mine", accountId: "account" };
  const refs = [foreign, unknown, malformed];

  expect((await app.accounts.batchGetAccounts({ refs })).accounts).toEqual([]);
  const { credentials } = await app.credentials.batchGetCredentials({ refs });
  expect(credentials).toHaveLength(3);
  credentials.forEach((credential, index) => {
    expect(credential).toMatchObject({
      ref: refs[index],
      accountStatus: "unknown",
      accessToken: "",
      externalId: "",
      version: 0n,
    });
  });
  for (const ref of refs) {
    const { credential } = await app.credentials.refreshCredential({ ref, refusedVersion: 9n });
    expect(credential).toMatchObject({ accountStatus: "unknown", accessToken: "" });
    await expect(
      app.accounts.requireReconnect({ ref, credentialVersion: 9n }),
    ).rejects.toMatchObject({ reason: "not_found" });
  }
  const own = { workspaceId: theirs, accountId: account?.id ?? "" };
  const { accounts } = await app.accounts.batchGetAccounts({ refs: [own, own, foreign] });
  expect(accounts).toHaveLength(1);
  expect(accounts[0]).toMatchObject({ id: own.accountId, status: "active" });
});

test("simulated accounts are connected only to a workspace that exists and a platform that is simulated", async () => {
  const request = { workspaceId: mine, platform: "x", count: 1 };
  await using real = createApp(database);
  await using mixed = createApp(database, {
    simulatorUrl: simulator.url,
    telegramUrl: "https://api.telegram.org",
  });
  const invalid = { reason: "invalid_request" };
  const { accounts } = app;
  await expect(
    accounts.connectSimulatedAccounts({ ...request, workspaceId: newId() }),
  ).rejects.toMatchObject({ reason: "not_found" });
  for (const change of [{ platform: "myspace" }, { count: 0 }]) {
    await expect(
      accounts.connectSimulatedAccounts({ ...request, ...change }),
    ).rejects.toMatchObject(invalid);
  }
  await expect(
    accounts.connectSimulatedAccounts({ ...request, username: "not a name" }),
  ).rejects.toMatchObject(invalid);
  await expect(real.accounts.connectSimulatedAccounts(request)).rejects.toMatchObject(invalid);
  await expect(
    mixed.accounts.connectSimulatedAccounts({ ...request, platform: "telegram" }),
  ).rejects.toMatchObject(invalid);
});

test("all platforms are listed in the contract's order, those that are configured as available", async () => {
  const { platforms } = await app.platforms.listPlatforms({});
  expect(platforms.map((each) => [each.platform, each.available, each.unavailableReason])).toEqual([
    ["instagram", true, undefined],
    ["x", true, undefined],
    ["facebook", true, undefined],
    ["tiktok", true, undefined],
    ["youtube", true, undefined],
    ["telegram", true, undefined],
    ["bluesky", true, undefined],
  ]);
  await using real = createApp(database);
  const found = (await real.platforms.listPlatforms({})).platforms;
  expect(found.find((each) => each.platform === "telegram")).toMatchObject({
    available: false,
    unavailableReason: "not_configured",
  });
});

test("a workspace's limits are set one by one and stay apart from another's", async () => {
  const id = await createWorkspaceId();
  const set = async (limits: object) =>
    (await app.workspaces.setWorkspaceLimits({ id, limits })).workspace?.limits;
  expect(await set({ monthlyQuota: 0 })).toMatchObject({ monthlyQuota: 0 });
  expect(await set({ requestsPerMinute: 60, dailyQuota: 7 })).toMatchObject({
    requestsPerMinute: 60,
    monthlyQuota: 0,
    dailyQuota: 7,
  });
  await expect(set({ requestsPerMinute: 0, dailyQuota: -1 })).rejects.toMatchObject({
    reason: "invalid_request",
    violations: [{ path: "/limits/requestsPerMinute" }, { path: "/limits/dailyQuota" }],
  });
  await expect(
    app.workspaces.setWorkspaceLimits({ id: newId(), limits: {} }),
  ).rejects.toMatchObject({ reason: "not_found" });
  const { workspaces } = await app.workspaces.batchGetWorkspaces({ ids: [id, mine, newId(), "?"] });
  expect(workspaces).toHaveLength(2);
  expect(workspaces.find((each) => each.id === mine)?.limits?.dailyQuota).toBeUndefined();
});

test("a workspace is made unverified, verified once and for all, and needs a name", async () => {
  const id = await createWorkspaceId();
  const find = async () =>
    (await app.workspaces.listWorkspaces({})).workspaces.find((each) => each.id === id);
  expect((await find())?.verified).toBe(false);
  await app.workspaces.verifyWorkspace({ id });
  expect((await app.workspaces.verifyWorkspace({ id })).workspace?.verified).toBe(true);
  expect((await find())?.verified).toBe(true);
  for (const name of ["", "  ", "x".repeat(201)]) {
    await expect(app.workspaces.createWorkspace({ name })).rejects.toMatchObject({
      reason: "invalid_request",
    });
  }
  for (const unknown of [newId(), "?"]) {
    await expect(app.workspaces.verifyWorkspace({ id: unknown })).rejects.toMatchObject({
      reason: "not_found",
    });
  }
});
