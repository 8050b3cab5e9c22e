import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import type { Simulator } from "@postrider/simulator/simulator";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createApp, createDatabase, createSimulator, type AccountsApp } from "./accounts-app.ts";
import { createSimulatorControl, type SimulatorControl } from "./simulator-control.ts";

interface Ref {
  readonly workspaceId: string;
  readonly accountId: string;
}

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

afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await Promise.all([database[Symbol.asyncDispose](), simulator[Symbol.asyncDispose]()]);
});

beforeEach(async () => {
  await control.reset();
  workspaceId = (await app.workspaces.createWorkspace({ name: "Test" })).workspace?.id ?? "";
});

async function connect(platform: string, username?: string): Promise<Ref> {
  const { accounts } = await app.accounts.connectSimulatedAccounts({
    workspaceId,
    platform,
    count: 1,
    ...(username === undefined ? {} : { username }),
  });
  return { workspaceId, accountId: accounts[0]?.id ?? "" };
}

async function credentialOf(ref: Ref, from: AccountsApp = app) {
  const { credentials } = await from.credentials.batchGetCredentials({ refs: [ref] });
  return credentials[0];
}

/** As if the tokens had been made so long ago, of a life of two hours. */
async function age(ref: Ref, minutes: number): Promise<void> {
  await database.sql`
    update credentials
    set issued_at = now() - ${minutes}::int * interval '1 minute',
      expires_at = now() + ${120 - minutes}::int * interval '1 minute'
    where account_id = ${ref.accountId}`;
}

async function eventsOf(ref: Ref): Promise<readonly string[]> {
  const rows = await database.sql<{ type: string }[]>`
    select type from outbox where key = ${ref.accountId} order by id`;
  return rows.map((row) => row.type.replace("postrider.accounts.v1.", ""));
}

async function isAcceptedByX(accessToken: string | undefined): Promise<boolean> {
  const headers = { authorization: `Bearer ${accessToken}` };
  return (await fetch(`${simulator.url}/x/2/users/me`, { headers })).status === 200;
}

test.each(["x", "tiktok", "youtube", "telegram", "bluesky"])(
  "an account of %s is connected with a token that delivery can use",
  async (platform) => {
    const ref = await connect(platform);
    const credential = await credentialOf(ref);
    expect(credential).toMatchObject({ ref, accountStatus: "active", version: 1n, attributes: {} });
    expect(await control.secrets()).toContain(credential?.accessToken);
    expect(credential?.expiresAt === undefined).toBe(platform === "telegram");
    const { accounts } = await app.accounts.listAccounts({ workspaceId });
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

test("no secret of a platform is anywhere in the database", async () => {
  const refs = [await connect("x"), await connect("telegram"), await connect("bluesky")];
  await age(refs[0] ?? { workspaceId, accountId: "" }, 119);
  await app.credentials.batchGetCredentials({ refs });
  const [row] = await database.sql<{ everything: string }[]>`
    select concat(
      (select json_agg(a) from accounts a), (select json_agg(c) from credentials c), (select json_agg(o) from outbox o)
    ) as everything`;
  const secrets = await control.secrets();
  expect(secrets.length).toBeGreaterThan(6);
  expect(secrets.filter((secret) => row?.everything.includes(secret))).toEqual([]);
});

test("the same external account connected again keeps its id, gets new tokens and works again", async () => {
  const ref = await connect("x", "returning");
  const before = await credentialOf(ref);
  await app.accounts.requireReconnect({ ref, credentialVersion: 1n });
  expect(await connect("x", "returning")).toEqual(ref);
  const after = await credentialOf(ref);
  expect(after).toMatchObject({ accountStatus: "active", externalId: before?.externalId });
  expect(after?.version).toBeGreaterThan(before?.version ?? 0n);
  expect(after?.accessToken).not.toBe(before?.accessToken);
  const { accounts } = await app.accounts.batchGetAccounts({ refs: [ref] });
  expect(accounts[0]).toMatchObject({ status: "active", version: 3n });
  expect(await eventsOf(ref)).toEqual([
    "AccountConnected",
    "AccountReconnectRequired",
    "AccountConnected",
  ]);
});

test("a token past half of its life is renewed without anybody waiting for it", async () => {
  const ref = await connect("x");
  const old = await credentialOf(ref);
  await age(ref, 61);
  await control.fault({ platform: "x", operation: "refresh", mode: "delay", delayMs: 1500 });
  const startedAt = performance.now();
  expect((await credentialOf(ref))?.accessToken).toBe(old?.accessToken);
  expect(performance.now() - startedAt).toBeLessThan(1000);
  const renewed = await eventually(async () => {
    const credential = await credentialOf(ref);
    return credential?.version === 2n && credential;
  });
  expect(await isAcceptedByX(renewed.accessToken)).toBe(true);
  expect(await control.countCalls("x", "refresh")).toBe(1);
});

test("a token in the first half of its life is left alone", async () => {
  const ref = await connect("bluesky");
  await age(ref, 59);
  await credentialOf(ref);
  await app.refresher.settled();
  expect(await control.countCalls("bluesky", "refresh")).toBe(0);
});

test.each(["x", "tiktok", "youtube", "bluesky"])(
  "a token of %s that has ended is renewed first",
  async (platform) => {
    const ref = await connect(platform);
    const old = await credentialOf(ref);
    await age(ref, 121);
    const renewed = await credentialOf(ref);
    expect(renewed).toMatchObject({ accountStatus: "active", version: 2n });
    expect(renewed?.accessToken).not.toBe(old?.accessToken);
    expect(Number(renewed?.expiresAt?.seconds)).toBeGreaterThan(Date.now() / 1000 + 3500);
  },
);

test("many replicas asking at once renew a token once", async () => {
  const ref = await connect("x");
  await age(ref, 121);
  await control.fault({ platform: "x", operation: "refresh", mode: "delay", delayMs: 300 });
  const replicas = Array.from({ length: 6 }, () =>
    createApp(database, { simulatorUrl: simulator.url }),
  );
  const answers = await Promise.all(
    [...replicas, ...replicas].map((replica) =>
      replica.credentials.refreshCredential({ ref, refusedVersion: 1n }),
    ),
  );
  const [first] = answers;
  expect(first?.credential?.version).toBe(2n);
  for (const answer of answers) expect(answer).toEqual(first);
  expect(await control.countCalls("x", "refresh")).toBe(1);
  await Promise.all(replicas.map((replica) => replica[Symbol.asyncDispose]()));
});

test("a token newer than the refused one is returned as it is", async () => {
  const ref = await connect("x");
  const { credential } = await app.credentials.refreshCredential({ ref, refusedVersion: 0n });
  expect(credential?.version).toBe(1n);
  expect(await control.countCalls("x", "refresh")).toBe(0);
});

test.each([
  { mode: "status", status: 500 },
  { mode: "status", status: 503 },
  { mode: "status", status: 429 },
  { mode: "status", status: 401 },
  { mode: "drop_before" },
  { mode: "garbage_body" },
])("a token endpoint in trouble ($mode $status) never disconnects an account", async (fault) => {
  const ref = await connect("x");
  await control.fault({ platform: "x", operation: "refresh", ...fault });
  await expect(
    app.credentials.refreshCredential({ ref, refusedVersion: 1n }),
  ).rejects.toMatchObject({ reason: "unavailable" });
  expect(await credentialOf(ref)).toMatchObject({ accountStatus: "active", version: 1n });
  expect(await eventsOf(ref)).toEqual(["AccountConnected"]);
});

test("an account with a failing token endpoint does not hold up the others of a batch", async () => {
  const [slow, fast] = [await connect("x"), await connect("bluesky")];
  await age(slow, 121);
  await control.fault({ platform: "x", operation: "refresh", mode: "delay", delayMs: 5000 });
  const startedAt = performance.now();
  const { credentials } = await app.credentials.batchGetCredentials({ refs: [slow, fast] });
  expect(performance.now() - startedAt).toBeLessThan(4500);
  expect(credentials.map((credential) => credential.ref?.accountId)).toEqual([
    slow.accountId,
    fast.accountId,
  ]);
  expect(credentials[1]?.accessToken).not.toBe("");
});

test.each(["x", "tiktok", "youtube", "bluesky"])(
  "a refresh token that %s refuses for good means reconnecting",
  async (platform) => {
    const ref = await connect(platform);
    const row = await credentialOf(ref);
    await control.fault({ platform, operation: "refresh", mode: "refuse" });
    const { credential } = await app.credentials.refreshCredential({ ref, refusedVersion: 1n });
    expect(credential).toMatchObject({ accountStatus: "reconnect_required", accessToken: "" });
    expect(credential?.externalId).toBe(row?.externalId);
    expect(await eventsOf(ref)).toEqual(["AccountConnected", "AccountReconnectRequired"]);
    expect((await credentialOf(ref))?.accessToken).toBe("");
    const { accounts } = await app.accounts.listAccounts({ workspaceId });
    expect(accounts[0]).toMatchObject({ status: "reconnect_required", version: 2n });
  },
);

test("a refused token that nothing can renew means reconnecting", async () => {
  const ref = await connect("telegram");
  const { credential } = await app.credentials.refreshCredential({ ref, refusedVersion: 1n });
  expect(credential).toMatchObject({ accountStatus: "reconnect_required", accessToken: "" });
});

test("requiring a reconnect twice says so once, and never for a token that was renewed since", async () => {
  const ref = await connect("x");
  await app.accounts.requireReconnect({ ref, credentialVersion: 0n });
  expect((await credentialOf(ref))?.accountStatus).toBe("active");
  await app.accounts.requireReconnect({ ref, credentialVersion: 1n });
  await app.accounts.requireReconnect({ ref, credentialVersion: 1n });
  expect((await credentialOf(ref))?.accountStatus).toBe("reconnect_required");
  expect(await eventsOf(ref)).toEqual(["AccountConnected", "AccountReconnectRequired"]);
});

test("connecting again wins over a refresh that was under way", async () => {
  const ref = await connect("bluesky", "winner.sim.example");
  await control.fault({ platform: "bluesky", operation: "refresh", mode: "delay", delayMs: 800 });
  const refresh = app.credentials.refreshCredential({ ref, refusedVersion: 1n });
  await eventually(async () => (await control.countCalls("bluesky", "refresh")) === 1);
  await connect("bluesky", "winner.sim.example");
  const reconnected = await credentialOf(ref);
  expect(reconnected?.version).toBe(2n);
  expect((await refresh).credential).toEqual(reconnected);
  await app.refresher.settled();
  expect(await credentialOf(ref)).toEqual(reconnected);
});

test("giving an account up wins over a refresh that was under way", async () => {
  const ref = await connect("x");
  await control.fault({ platform: "x", operation: "refresh", mode: "delay", delayMs: 500 });
  const refresh = app.credentials.refreshCredential({ ref, refusedVersion: 1n });
  await eventually(async () => (await control.countCalls("x", "refresh")) === 1);
  await app.accounts.requireReconnect({ ref, credentialVersion: 1n });
  expect((await refresh).credential?.accountStatus).toBe("reconnect_required");
  expect((await credentialOf(ref))?.version).toBe(2n);
});

test("new tokens are written even if the database connection breaks just then", async () => {
  const ref = await connect("x");
  // Long enough for the lock below to be there before the answer, on a slow machine too.
  await control.fault({ platform: "x", operation: "refresh", mode: "delay", delayMs: 3_000 });
  const refresh = app.credentials.refreshCredential({ ref, refusedVersion: 1n });
  await eventually(async () => (await control.countCalls("x", "refresh")) === 1);
  await database.ownerSql.begin(async (tx) => {
    await tx`select 1 from accounts.credentials where account_id = ${ref.accountId} for update`;
    await eventually(async () => {
      const killed = await tx`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`;
      expect(killed.length).toBeGreaterThan(0);
    });
  });
  const { credential } = await refresh;
  expect(credential).toMatchObject({ accountStatus: "active", version: 2n });
  expect(await isAcceptedByX(credential?.accessToken)).toBe(true);
});
