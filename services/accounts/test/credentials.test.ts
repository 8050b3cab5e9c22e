import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { setUpAccounts, type AccountRef } from "./accounts-fixture.ts";

const fixture = setUpAccounts();

async function eventsOf(ref: AccountRef): Promise<readonly string[]> {
  const rows = await fixture.sql<{ type: string }[]>`
    select type from outbox where key = ${ref.accountId} order by id`;
  return rows.map((row) => row.type.replace("postrider.accounts.v1.", ""));
}

test.each(["x", "tiktok", "youtube", "telegram", "bluesky"])(
  "a newly connected account of %s has a working access token, and one AccountConnected event is published",
  async (platform) => {
    const ref = await fixture.connect(platform);
    const credential = await fixture.credentialOf(ref);
    expect(credential).toMatchObject({ ref, accountStatus: "active", version: 1n, attributes: {} });
    expect(await fixture.control.secrets()).toContain(credential?.accessToken);
    expect(credential?.expiresAt === undefined).toBe(platform === "telegram");
    const { accounts } = await fixture.app.accounts.listAccounts({
      workspaceId: fixture.workspaceId,
    });
    expect(accounts).toHaveLength(1);
    expect(accounts[0]).toMatchObject({
      id: ref.accountId,
      externalId: credential?.externalId,
      username: credential?.username,
      status: "active",
      version: 1n,
    });
    expect(accounts[0]?.tokenExpiresAt).toEqual(credential?.expiresAt);
    expect(await eventsOf(ref)).toEqual(["AccountConnected"]);
  },
);

test("the database contains no token of a platform in plain text", async () => {
  const x = await fixture.connect("x");
  const refs = [x, await fixture.connect("telegram"), await fixture.connect("bluesky")];
  await fixture.ageTokens([x], 119);
  await fixture.app.credentials.batchGetCredentials({ refs });
  const [row] = await fixture.sql<{ everything: string }[]>`
    select concat(
      (select json_agg(a) from accounts a), (select json_agg(c) from credentials c), (select json_agg(o) from outbox o)
    ) as everything`;
  const secrets = await fixture.control.secrets();
  expect(secrets.length).toBeGreaterThan(6);
  expect(secrets.filter((secret) => row?.everything.includes(secret))).toEqual([]);
});

test("an external account that is connected again keeps its id, gets new tokens and is active again", async () => {
  const ref = await fixture.connect("x", "returning");
  const before = await fixture.credentialOf(ref);
  await fixture.app.accounts.requireReconnect({ ref, credentialVersion: 1n });
  expect(await fixture.connect("x", "returning")).toEqual(ref);
  const after = await fixture.credentialOf(ref);
  expect(after).toMatchObject({ accountStatus: "active", externalId: before?.externalId });
  expect(after?.version).toBeGreaterThan(before?.version ?? 0n);
  expect(after?.accessToken).not.toBe(before?.accessToken);
  const { accounts } = await fixture.app.accounts.batchGetAccounts({ refs: [ref] });
  expect(accounts[0]).toMatchObject({ status: "active", version: 3n });
  expect(await eventsOf(ref)).toEqual([
    "AccountConnected",
    "AccountReconnectRequired",
    "AccountConnected",
  ]);
});

test("an access token past half of its lifetime is refreshed in the background while callers receive the old token", async () => {
  const ref = await fixture.connect("x");
  const old = await fixture.credentialOf(ref);
  await fixture.ageTokens([ref], 61);
  await fixture.control.fault({ platform: "x", operation: "refresh", mode: "delay", delayMs: 500 });
  // While the platform delays its answer to the refresh, the caller gets the old access token.
  expect((await fixture.credentialOf(ref))?.accessToken).toBe(old?.accessToken);
  const refreshed = await eventually(async () => {
    const credential = await fixture.credentialOf(ref);
    return credential?.version === 2n && credential;
  });
  expect(await fixture.isTokenAcceptedByX(refreshed.accessToken)).toBe(true);
  expect(await fixture.control.countCalls("x", "refresh")).toBe(1);
});

test("an access token in the first half of its lifetime is not refreshed", async () => {
  const ref = await fixture.connect("bluesky");
  await fixture.ageTokens([ref], 59);
  await fixture.credentialOf(ref);
  await fixture.app.refresher.settled();
  expect(await fixture.control.countCalls("bluesky", "refresh")).toBe(0);
});

test.each(["x", "tiktok", "youtube", "bluesky"])(
  "an expired access token of %s is refreshed before it is returned",
  async (platform) => {
    const ref = await fixture.connect(platform);
    const old = await fixture.credentialOf(ref);
    await fixture.expireTokens([ref]);
    const refreshed = await fixture.credentialOf(ref);
    expect(refreshed).toMatchObject({ accountStatus: "active", version: 2n });
    expect(refreshed?.accessToken).not.toBe(old?.accessToken);
    expect(Number(refreshed?.expiresAt?.seconds)).toBeGreaterThan(Date.now() / 1000 + 3500);
  },
);

test("twelve concurrent RefreshCredential calls to six replicas refresh an access token once", async () => {
  const ref = await fixture.connect("x");
  await fixture.expireTokens([ref]);
  await fixture.control.fault({ platform: "x", operation: "refresh", mode: "delay", delayMs: 300 });
  const replicas = Array.from({ length: 6 }, () => fixture.createReplica());
  const answers = await Promise.all(
    [...replicas, ...replicas].map((replica) =>
      replica.credentials.refreshCredential({ ref, refusedVersion: 1n }),
    ),
  );
  const [first] = answers;
  expect(first?.credential?.version).toBe(2n);
  for (const answer of answers) expect(answer).toEqual(first);
  expect(await fixture.control.countCalls("x", "refresh")).toBe(1);
  await Promise.all(replicas.map((replica) => replica[Symbol.asyncDispose]()));
});

test("RefreshCredential calls no token endpoint when the stored access token is newer than the token that the platform refused", async () => {
  const ref = await fixture.connect("x");
  const { credential } = await fixture.app.credentials.refreshCredential({
    ref,
    refusedVersion: 0n,
  });
  expect(credential?.version).toBe(1n);
  expect(await fixture.control.countCalls("x", "refresh")).toBe(0);
});

test.each([
  ["answers 500", { mode: "status", status: 500 }],
  ["answers 503", { mode: "status", status: 503 }],
  ["answers 429", { mode: "status", status: 429 }],
  ["answers 401", { mode: "status", status: 401 }],
  ["closes the connection", { mode: "drop_before" }],
  ["answers with a page instead of JSON", { mode: "garbage_body" }],
])(
  "an account of X stays active when X's token endpoint %s during a refresh",
  async (_name, fault) => {
    const ref = await fixture.connect("x");
    await fixture.control.fault({ platform: "x", operation: "refresh", ...fault });
    await expect(
      fixture.app.credentials.refreshCredential({ ref, refusedVersion: 1n }),
    ).rejects.toMatchObject({ reason: "unavailable" });
    expect(await fixture.credentialOf(ref)).toMatchObject({ accountStatus: "active", version: 1n });
    expect(await eventsOf(ref)).toEqual(["AccountConnected"]);
  },
);

test("BatchGetCredentials waits at most 3 s for a slow token endpoint, and then returns the credentials of the other accounts of the batch", async () => {
  const [slow, fast] = [await fixture.connect("x"), await fixture.connect("bluesky")];
  await fixture.expireTokens([slow]);
  await fixture.control.fault({
    platform: "x",
    operation: "refresh",
    mode: "delay",
    delayMs: 5000,
  });
  const startedAt = performance.now();
  const { credentials } = await fixture.app.credentials.batchGetCredentials({ refs: [slow, fast] });
  expect(performance.now() - startedAt).toBeLessThan(4500);
  expect(credentials.map((credential) => credential.ref?.accountId)).toEqual([
    slow.accountId,
    fast.accountId,
  ]);
  expect(credentials[1]?.accessToken).not.toBe("");
});

test.each(["x", "tiktok", "youtube", "bluesky"])(
  "an account of %s needs a reconnect when the platform refuses its refresh token",
  async (platform) => {
    const ref = await fixture.connect(platform);
    const row = await fixture.credentialOf(ref);
    await fixture.control.fault({ platform, operation: "refresh", mode: "refuse" });
    const { credential } = await fixture.app.credentials.refreshCredential({
      ref,
      refusedVersion: 1n,
    });
    expect(credential).toMatchObject({ accountStatus: "reconnect_required", accessToken: "" });
    expect(credential?.externalId).toBe(row?.externalId);
    expect(await eventsOf(ref)).toEqual(["AccountConnected", "AccountReconnectRequired"]);
    expect((await fixture.credentialOf(ref))?.accessToken).toBe("");
    const { accounts } = await fixture.app.accounts.listAccounts({
      workspaceId: fixture.workspaceId,
    });
    expect(accounts[0]).toMatchObject({ status: "reconnect_required", version: 2n });
  },
);

test("an account needs a reconnect when the platform refuses a token that cannot be refreshed", async () => {
  const ref = await fixture.connect("telegram");
  const { credential } = await fixture.app.credentials.refreshCredential({
    ref,
    refusedVersion: 1n,
  });
  expect(credential).toMatchObject({ accountStatus: "reconnect_required", accessToken: "" });
});

test("RequireReconnect publishes one event when called twice for an access token, and changes nothing if that token was replaced", async () => {
  const ref = await fixture.connect("x");
  await fixture.app.accounts.requireReconnect({ ref, credentialVersion: 0n });
  expect((await fixture.credentialOf(ref))?.accountStatus).toBe("active");
  await fixture.app.accounts.requireReconnect({ ref, credentialVersion: 1n });
  await fixture.app.accounts.requireReconnect({ ref, credentialVersion: 1n });
  expect((await fixture.credentialOf(ref))?.accountStatus).toBe("reconnect_required");
  expect(await eventsOf(ref)).toEqual(["AccountConnected", "AccountReconnectRequired"]);
});

test("the tokens of an account that is connected again are not overwritten by a refresh in progress", async () => {
  const ref = await fixture.connect("bluesky", "winner.sim.example");
  await fixture.control.fault({
    platform: "bluesky",
    operation: "refresh",
    mode: "delay",
    delayMs: 500,
  });
  const refresh = fixture.app.credentials.refreshCredential({ ref, refusedVersion: 1n });
  await eventually(async () => (await fixture.control.countCalls("bluesky", "refresh")) === 1);
  await fixture.connect("bluesky", "winner.sim.example");
  const reconnected = await fixture.credentialOf(ref);
  expect(reconnected?.version).toBe(2n);
  expect((await refresh).credential).toEqual(reconnected);
  await fixture.app.refresher.settled();
  expect(await fixture.credentialOf(ref)).toEqual(reconnected);
});

test("an account for which RequireReconnect is called during a token refresh still needs a reconnect after the refresh", async () => {
  const ref = await fixture.connect("x");
  await fixture.control.fault({ platform: "x", operation: "refresh", mode: "delay", delayMs: 500 });
  const refresh = fixture.app.credentials.refreshCredential({ ref, refusedVersion: 1n });
  await eventually(async () => (await fixture.control.countCalls("x", "refresh")) === 1);
  await fixture.app.accounts.requireReconnect({ ref, credentialVersion: 1n });
  expect((await refresh).credential?.accountStatus).toBe("reconnect_required");
  expect((await fixture.credentialOf(ref))?.version).toBe(2n);
});

test("refreshed tokens are stored although the database connection breaks during the write", async () => {
  const ref = await fixture.connect("x");
  const { ownerSql } = fixture.database;
  // Every write of refreshed tokens waits for the advisory lock that the transaction of this test
  // holds.
  await ownerSql.unsafe(`
    create function accounts.wait_for_lock() returns trigger language plpgsql as
      'begin perform pg_advisory_xact_lock(1); return new; end';
    create trigger wait_for_lock before update on accounts.credentials for each row
      when (new.version > old.version) execute function accounts.wait_for_lock()`);
  const refresh = await ownerSql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(1)`;
    const answer = fixture.app.credentials.refreshCredential({ ref, refusedVersion: 1n });
    await eventually(async () => {
      const killed = await tx`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      expect(killed.length).toBeGreaterThan(0);
    });
    return { answer };
  });
  const { credential } = await refresh.answer;
  await ownerSql`drop function accounts.wait_for_lock() cascade`;
  expect(credential).toMatchObject({ accountStatus: "active", version: 2n });
  expect(await fixture.isTokenAcceptedByX(credential?.accessToken)).toBe(true);
});
