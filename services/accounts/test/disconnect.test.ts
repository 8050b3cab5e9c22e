import { createSecretKey } from "node:crypto";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import type { AccountsApp } from "./accounts-app.ts";
import { setUpAccounts, type AccountRef } from "./accounts-fixture.ts";

const fixture = setUpAccounts();

async function disconnect(ref: AccountRef, from: AccountsApp = fixture.app) {
  const { revocation, reason } = await from.accounts.disconnectAccount({ ref });
  return [revocation, reason];
}

async function tokensOf({ accountId }: AccountRef) {
  const rows = await fixture.sql`
    select access_token, refresh_token, attributes, expires_at, renew_at
    from credentials where account_id = ${accountId}`;
  return rows[0];
}

const NO_TOKENS = {
  accessToken: null,
  refreshToken: null,
  attributes: {},
  expiresAt: null,
  renewAt: null,
};

test.each([
  ["x", 2, "unconfirmed", undefined],
  ["tiktok", 1, "unconfirmed", undefined],
  ["youtube", 1, "unconfirmed", undefined],
  ["bluesky", 1, "unconfirmed", undefined],
  ["instagram", 0, "not_attempted", "app_wide_grant"],
  ["facebook", 0, "not_attempted", "app_wide_grant"],
  ["telegram", 0, "not_attempted", "not_verified"],
])(
  "disconnecting an account of %s deletes its tokens and sends the platform %i revocation requests",
  async (platform, calls, outcome, why) => {
    const ref = await fixture.connect(platform);
    expect(await disconnect(ref)).toEqual([outcome, why]);
    expect(await tokensOf(ref)).toEqual(NO_TOKENS);
    expect(await fixture.control.countCalls(platform, "revoke")).toBe(calls);
    expect(
      (await fixture.app.accounts.listAccounts({ workspaceId: fixture.workspaceId })).accounts,
    ).toEqual([]);
    expect(await fixture.credentialOf(ref)).toMatchObject({
      accountStatus: "disconnected",
      accessToken: "",
    });
    const events = await fixture.sql`
    select type, payload::jsonb ->> 'version' as version from outbox
    where key = ${ref.accountId} order by id`;
    expect(events).toEqual([
      { type: "postrider.accounts.v1.AccountConnected", version: "1" },
      { type: "postrider.accounts.v1.AccountDisconnected", version: "2" },
    ]);
    expect(await disconnect(ref)).toEqual(["not_attempted", "already_disconnected"]);
  },
);

test.each(["x", "tiktok", "youtube", "bluesky"])(
  "the simulated %s accepts every revocation request for the tokens of a disconnected account",
  async (platform) => {
    await disconnect(await fixture.connect(platform));
    expect(new Set(await fixture.control.outcomes(platform, "revoke"))).toEqual(new Set(["done"]));
  },
);

test.each([
  ["answers 500", { mode: "status", status: 500 }],
  ["closes the connection", { mode: "drop_before" }],
  ["answers with a page instead of JSON", { mode: "garbage_body" }],
  ["refuses the request", { mode: "refuse" }],
])("an account of X is disconnected even when X's revocation endpoint %s", async (_name, fault) => {
  const ref = await fixture.connect("x");
  await fixture.control.fault({ platform: "x", operation: "revoke", times: 2, ...fault });
  expect(await disconnect(ref)).toEqual(["unconfirmed", undefined]);
  expect(await tokensOf(ref)).toEqual(NO_TOKENS);
});

test("disconnecting an account deletes its tokens before the platform answers the revocation", async () => {
  const ref = await fixture.connect("x");
  await fixture.control.fault({ platform: "x", operation: "revoke", mode: "delay", delayMs: 500 });
  const disconnected = disconnect(ref);
  await eventually(async () => (await fixture.control.countCalls("x", "revoke")) === 1);
  expect(await tokensOf(ref)).toEqual(NO_TOKENS);
  expect(await disconnect(ref)).toEqual(["not_attempted", "already_disconnected"]);
  expect(await disconnected).toEqual(["unconfirmed", undefined]);
});

test("disconnecting an account deletes its tokens without a platform call when their encryption key or our app's credentials are not configured", async () => {
  const [first, second] = [await fixture.connect("x"), await fixture.connect("x")];
  await using unconfigured = fixture.createReplica({ isXConfigured: false });
  expect(await disconnect(first, unconfigured)).toEqual(["not_attempted", "not_configured"]);
  await using keyless = fixture.createReplica({
    keys: [{ id: "other", secret: createSecretKey(Buffer.alloc(32)) }],
  });
  expect(await disconnect(second, keyless)).toEqual(["not_attempted", "not_configured"]);
  expect([await tokensOf(first), await tokensOf(second)]).toEqual([NO_TOKENS, NO_TOKENS]);
  expect(await fixture.control.countCalls("x", "revoke")).toBe(0);
});

test("disconnecting an account does not revoke the person's grant when another workspace also uses this grant", async () => {
  const other = await fixture.connect("youtube", "shared", await fixture.createWorkspace());
  const ref = await fixture.connect("youtube", "shared");
  expect(await disconnect(ref)).toEqual(["not_attempted", "app_wide_grant"]);
  expect(await disconnect(other)).toEqual(["unconfirmed", undefined]);
});

test.each([
  ["tiktok", ["not_attempted", "app_wide_grant"], 0],
  ["bluesky", ["unconfirmed", undefined], 1],
])(
  "in an installation with other cells, disconnecting an account of %s does not revoke a grant that another cell may use",
  async (platform, outcome, calls) => {
    await using cell = fixture.createReplica({ cell: "eu1" });
    const ref = await fixture.connect(platform);
    expect(await disconnect(ref, cell)).toEqual(outcome);
    expect(await fixture.control.countCalls(platform, "revoke")).toBe(calls);
    expect(await tokensOf(ref)).toEqual(NO_TOKENS);
  },
);

test("an imported account that was never connected here does not keep the grant of another workspace from being revoked", async () => {
  const ref = await fixture.connect("youtube");
  await fixture.sql`
    insert into accounts (id, workspace_id, platform, external_id, username, display_name, permissions, status)
    select gen_random_uuid(), ${await fixture.createWorkspace()}, platform, external_id, username, display_name,
      permissions, 'reconnect_required'
    from accounts
    where id = ${ref.accountId}`;
  expect(await disconnect(ref)).toEqual(["unconfirmed", undefined]);
});

test("DisconnectAccount returns `not_found` for an account of another workspace and leaves the account active", async () => {
  const ref = await fixture.connect("x");
  const foreign = { ...ref, workspaceId: await fixture.createWorkspace() };
  await expect(disconnect(foreign)).rejects.toMatchObject({ reason: "not_found" });
  await expect(disconnect({ ...ref, accountId: "x" })).rejects.toMatchObject({
    reason: "not_found",
  });
  const { credentials } = await fixture.app.credentials.batchGetCredentials({ refs: [ref] });
  expect(credentials[0]?.accountStatus).toBe("active");
});

test("ten concurrent disconnects of an account revoke its tokens once", async () => {
  const ref = await fixture.connect("bluesky");
  const answers = await Promise.all(Array.from({ length: 10 }, () => disconnect(ref)));
  expect(answers.filter(([outcome]) => outcome === "unconfirmed")).toHaveLength(1);
  expect(await fixture.control.countCalls("bluesky", "revoke")).toBe(1);
});

test("an account that is disconnected during a token refresh stays disconnected, and the tokens of the refresh are revoked", async () => {
  const ref = await fixture.connect("x");
  await fixture.control.fault({ platform: "x", operation: "refresh", mode: "delay", delayMs: 500 });
  const refresh = fixture.app.credentials.refreshCredential({ ref, refusedVersion: 1n });
  await eventually(async () => (await fixture.control.countCalls("x", "refresh")) === 1);
  expect(await disconnect(ref)).toEqual(["unconfirmed", undefined]);
  expect((await refresh).credential).toMatchObject({
    accountStatus: "disconnected",
    accessToken: "",
  });
  await fixture.app.refresher.settled();
  expect(await tokensOf(ref)).toEqual(NO_TOKENS);
  expect(await fixture.control.countCalls("x", "revoke")).toBe(4);
});

test("a refresh that began before a disconnect does not overwrite the tokens of a later reconnect", async () => {
  const ref = await fixture.connect("x", "again");
  await fixture.control.fault({ platform: "x", operation: "refresh", mode: "delay", delayMs: 500 });
  const refresh = fixture.app.credentials.refreshCredential({ ref, refusedVersion: 1n });
  await eventually(async () => (await fixture.control.countCalls("x", "refresh")) === 1);
  await disconnect(ref);
  expect(await fixture.connect("x", "again")).toEqual(ref);
  const { credentials: before } = await fixture.app.credentials.batchGetCredentials({
    refs: [ref],
  });
  expect((await refresh).credential).toEqual(before[0]);
  await fixture.app.refresher.settled();
  const { credentials: after } = await fixture.app.credentials.batchGetCredentials({ refs: [ref] });
  expect(after[0]).toEqual(before[0]);
  expect(after[0]).toMatchObject({ accountStatus: "active", version: 3n });
});
