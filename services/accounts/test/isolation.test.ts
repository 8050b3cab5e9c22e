import { newId } from "@postrider/shared/ids";
import { beforeAll, expect, test } from "vitest";
import { createApp } from "./accounts-app.ts";
import { setUpAccounts } from "./accounts-fixture.ts";

const fixture = setUpAccounts();
let mine: string;
let theirs: string;

beforeAll(async () => {
  mine = await fixture.createWorkspace();
  theirs = await fixture.createWorkspace();
});

async function connect(workspaceId: string, platform: string, username?: string, count = 1) {
  const { accounts } = await fixture.app.accounts.connectSimulatedAccounts({
    workspaceId,
    platform,
    count,
    ...(username === undefined ? {} : { username }),
  });
  return accounts;
}

test("ListAccounts lists the accounts of its workspace only, newest first", async () => {
  const workspaceId = await fixture.createWorkspace();
  const many = await connect(workspaceId, "bluesky", undefined, 12);
  const [last] = await connect(workspaceId, "telegram");
  await connect(await fixture.createWorkspace(), "x");
  const { accounts } = await fixture.app.accounts.listAccounts({ workspaceId });
  expect(accounts).toHaveLength(13);
  expect(accounts[0]).toEqual(last);
  expect(new Set(accounts.map((account) => account.id))).toEqual(
    new Set([last, ...many].map((account) => account?.id)),
  );
  expect((await fixture.app.accounts.listAccounts({ workspaceId: newId() })).accounts).toEqual([]);
});

test("an external account that is connected in two workspaces becomes two accounts", async () => {
  const [one] = await connect(mine, "x", "shared");
  const [other] = await connect(theirs, "x", "shared");
  expect(other?.externalId).toBe(one?.externalId);
  expect(other?.id).not.toBe(one?.id);
});

test("RPCs of the accounts service return the same answer for an account of another workspace, an unknown account and a malformed id", async () => {
  const [account] = await connect(theirs, "x");
  const foreign = { workspaceId: mine, accountId: account?.id ?? "" };
  const unknown = { workspaceId: mine, accountId: newId() };
  const malformed = { workspaceId: "mine", accountId: "account" };
  const refs = [foreign, unknown, malformed];

  expect((await fixture.app.accounts.batchGetAccounts({ refs })).accounts).toEqual([]);
  expect(await fixture.listPostingAccounts(refs)).toEqual([]);
  const { credentials } = await fixture.app.credentials.batchGetCredentials({ refs });
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
    const { credential } = await fixture.app.credentials.refreshCredential({
      ref,
      refusedVersion: 9n,
    });
    expect(credential).toMatchObject({ accountStatus: "unknown", accessToken: "" });
    await expect(
      fixture.app.accounts.requireReconnect({ ref, credentialVersion: 9n }),
    ).rejects.toMatchObject({ reason: "not_found" });
  }
  const own = { workspaceId: theirs, accountId: account?.id ?? "" };
  const { accounts } = await fixture.app.accounts.batchGetAccounts({ refs: [own, own, foreign] });
  expect(accounts).toHaveLength(1);
  expect(accounts[0]).toMatchObject({ id: own.accountId, status: "active" });
  expect(await fixture.listPostingAccounts([own, own, foreign])).toEqual([
    {
      workspaceId: theirs,
      id: own.accountId,
      platform: "x",
      username: account?.username,
      status: "active",
      traits: account?.traits,
      settings: null,
      available: null,
    },
  ]);
  await fixture.app.accounts.disconnectAccount({ ref: own });
  expect(await fixture.listPostingAccounts([own])).toEqual([]);
});

test("ConnectSimulatedAccounts rejects an unknown workspace, an unknown platform, a real platform and invalid values", async () => {
  const request = { workspaceId: mine, platform: "x", count: 1 };
  await using real = createApp(fixture.database);
  await using mixed = fixture.createReplica({ telegramUrl: "https://api.telegram.org" });
  const invalid = { reason: "invalid_request" };
  const { accounts } = fixture.app;
  await expect(
    accounts.connectSimulatedAccounts({ ...request, workspaceId: newId() }),
  ).rejects.toMatchObject({ reason: "not_found" });
  for (const change of [{ platform: "myspace" }, { count: 0 }])
    await expect(
      accounts.connectSimulatedAccounts({ ...request, ...change }),
    ).rejects.toMatchObject(invalid);

  await expect(
    accounts.connectSimulatedAccounts({ ...request, username: "not a name" }),
  ).rejects.toMatchObject(invalid);
  await expect(real.accounts.connectSimulatedAccounts(request)).rejects.toMatchObject(invalid);
  await expect(
    mixed.accounts.connectSimulatedAccounts({ ...request, platform: "telegram" }),
  ).rejects.toMatchObject(invalid);
});

test("ListPlatforms lists all platforms in the order of the REST contract, and reports which platforms are configured", async () => {
  const { platforms } = await fixture.app.platforms.listPlatforms({});
  expect(platforms.map((each) => [each.platform, each.available, each.unavailableReason])).toEqual([
    ["instagram", true, undefined],
    ["x", true, undefined],
    ["facebook", true, undefined],
    ["tiktok", true, undefined],
    ["youtube", true, undefined],
    ["telegram", true, undefined],
    ["bluesky", true, undefined],
  ]);
  await using real = createApp(fixture.database);
  const found = (await real.platforms.listPlatforms({})).platforms;
  expect(found.find((each) => each.platform === "telegram")).toMatchObject({
    available: false,
    unavailableReason: "not_configured",
  });
});

test("SetWorkspaceLimits changes only the given limits of one workspace and rejects limits out of range", async () => {
  const id = await fixture.createWorkspace();
  const set = async (limits: object) =>
    (await fixture.app.workspaces.setWorkspaceLimits({ id, limits })).workspace?.limits;
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
    fixture.app.workspaces.setWorkspaceLimits({ id: newId(), limits: {} }),
  ).rejects.toMatchObject({ reason: "not_found" });
  const { workspaces } = await fixture.app.workspaces.batchGetWorkspaces({
    ids: [id, mine, newId(), "?"],
  });
  expect(workspaces).toHaveLength(2);
  expect(workspaces.find((each) => each.id === mine)?.limits?.dailyQuota).toBeUndefined();
});

test("a workspace is created unverified, stays verified once it is verified, and needs a valid name", async () => {
  const id = await fixture.createWorkspace();
  const find = async () =>
    (await fixture.app.workspaces.listWorkspaces({})).workspaces.find((each) => each.id === id);
  expect((await find())?.verified).toBe(false);
  await fixture.app.workspaces.verifyWorkspace({ id });
  expect((await fixture.app.workspaces.verifyWorkspace({ id })).workspace?.verified).toBe(true);
  expect((await find())?.verified).toBe(true);
  for (const name of ["", "  ", "x".repeat(201)])
    await expect(fixture.app.workspaces.createWorkspace({ name })).rejects.toMatchObject({
      reason: "invalid_request",
    });

  for (const unknown of [newId(), "?"])
    await expect(fixture.app.workspaces.verifyWorkspace({ id: unknown })).rejects.toMatchObject({
      reason: "not_found",
    });
});
