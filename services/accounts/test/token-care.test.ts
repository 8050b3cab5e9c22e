import { randomBytes } from "node:crypto";
import { createLogger } from "@postrider/shared/telemetry/logger";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import type { Simulator } from "@postrider/simulator/simulator";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { renewIdleBatch } from "#src/jobs/renew-idle-credentials.ts";
import { startResealing } from "#src/jobs/reseal-credentials.ts";
import {
  createApp,
  createDatabase,
  createSimulator,
  DEPLOYMENT,
  KEY,
  type AccountsApp,
} from "./accounts-app.ts";
import { createSimulatorControl, type SimulatorControl } from "./simulator-control.ts";

interface Ref {
  readonly workspaceId: string;
  readonly accountId: string;
}

const logger = createLogger({ service: "test", level: "silent" });
const NEW_KEY = { id: "k2", secret: randomBytes(32) };
/** Platforms whose access tokens end. */
const RENEWING = ["x", "tiktok", "youtube", "bluesky"] as const;

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

async function connect(platform: string, count = 1): Promise<readonly Ref[]> {
  const { accounts } = await app.accounts.connectSimulatedAccounts({
    workspaceId,
    platform,
    count,
  });
  return accounts.map(({ id }) => ({ workspaceId, accountId: id }));
}

async function connectOne(platform: string): Promise<Ref> {
  const [ref] = await connect(platform);
  if (ref === undefined) throw new Error("nothing was connected");
  return ref;
}

async function credentialsOf(refs: readonly Ref[], from: AccountsApp = app) {
  return (await from.credentials.batchGetCredentials({ refs: [...refs] })).credentials;
}

async function expire(refs: readonly Ref[]): Promise<void> {
  const ids = refs.map(({ accountId }) => accountId);
  await database.sql`
    update credentials
    set issued_at = now() - interval '121 minutes', expires_at = now() - interval '1 minute'
    where account_id = any(${ids}::uuid[])`;
}

/** As if so many seconds had passed for the leases. */
async function letLeasesPass(seconds: number): Promise<void> {
  await database.sql`
    update credentials
    set refresh_lease_until = refresh_lease_until - ${seconds}::int * interval '1 second'`;
}

describe("refreshing", () => {
  test("a token endpoint that answers 503 for ten minutes disconnects nobody", async () => {
    const refs = await Promise.all(RENEWING.map(connectOne));
    await expire(refs);
    for (const platform of RENEWING)
      await control.fault({
        platform,
        operation: "refresh",
        mode: "status",
        status: 503,
        times: 1e6,
      });
    // Nobody asks again for five seconds after a failure, so ten minutes are 120 rounds.
    for (let round = 0; round < 120; round += 1) {
      await credentialsOf(refs);
      await app.refresher.settled();
      await letLeasesPass(5);
    }
    for (const platform of RENEWING)
      expect(await control.countCalls(platform, "refresh")).toBeGreaterThanOrEqual(120);
    for (const ref of refs)
      await expect(
        app.credentials.refreshCredential({ ref, refusedVersion: 1n }),
      ).rejects.toMatchObject({ reason: "unavailable" });
    expect(await credentialsOf(refs)).toMatchObject(
      refs.map(() => ({ accountStatus: "active", version: 1n })),
    );
    await control.reset();
    await letLeasesPass(60);
    const renewed = await credentialsOf(refs);
    expect(renewed).toMatchObject(refs.map(() => ({ accountStatus: "active", version: 2n })));
  });

  test("fifty publishes on an ended rotating token over two replicas make one refresh", async () => {
    const ref = await connectOne("x");
    await expire([ref]);
    await control.fault({ platform: "x", operation: "refresh", mode: "delay", delayMs: 500 });
    await using second = createApp(database, { simulatorUrl: simulator.url });
    const tokens = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const replica = index % 2 === 0 ? app : second;
        const [current] = await credentialsOf([ref], replica);
        if (current?.version !== 1n) return current?.accessToken;
        // The token that it got has ended: the platform refuses it, and delivery asks for a newer one.
        const answer = await replica.credentials.refreshCredential({ ref, refusedVersion: 1n });
        return answer.credential?.accessToken;
      }),
    );
    expect(new Set(tokens).size).toBe(1);
    expect(await control.countCalls("x", "refresh")).toBe(1);
    const headers = { authorization: `Bearer ${tokens[0]}` };
    expect((await fetch(`${simulator.url}/x/2/users/me`, { headers })).status).toBe(200);
  });

  test("one token that does not open is its account's trouble, and not that of its batch", async () => {
    const [moved, other] = [await connectOne("x"), await connectOne("x")];
    await database.sql`
      update credentials
      set access_token = (select access_token from credentials where account_id = ${other.accountId})
      where account_id = ${moved.accountId}`;
    expect(await credentialsOf([moved, other])).toMatchObject([
      { accountStatus: "reconnect_required", accessToken: "" },
      { accountStatus: "active" },
    ]);
    const { accounts } = await app.accounts.batchGetAccounts({ refs: [moved] });
    expect(accounts[0]?.status).toBe("reconnect_required");
  });

  test("a stop waits for the tokens that are on their way, and stores them", async () => {
    const ref = await connectOne("tiktok");
    await expire([ref]);
    await control.fault({ platform: "tiktok", operation: "refresh", mode: "delay", delayMs: 700 });
    const stopping = createApp(database, { simulatorUrl: simulator.url });
    const asked = stopping.credentials.refreshCredential({ ref, refusedVersion: 1n });
    await eventually(async () => (await control.countCalls("tiktok", "refresh")) === 1);
    await stopping[Symbol.asyncDispose]();
    expect(await credentialsOf([ref])).toMatchObject([{ version: 2n }]);
    expect(await control.countCalls("tiktok", "refresh")).toBe(1);
    await asked;
  });

  test("a key that only this replica lacks disconnects nobody", async () => {
    const ref = await connectOne("x");
    await using behind = createApp(database, { simulatorUrl: simulator.url, keys: [NEW_KEY] });
    await expect(credentialsOf([ref], behind)).rejects.toMatchObject({ reason: "unavailable" });
    expect(await credentialsOf([ref])).toMatchObject([{ accountStatus: "active" }]);
  });
});

describe("renewing what nobody uses", () => {
  const renewDue = () =>
    renewIdleBatch({
      sql: database.sql,
      logger,
      deploymentId: DEPLOYMENT,
      refresh: (row) => app.refresher.refresh(row),
    });

  async function renewAtOf({ accountId }: Ref) {
    const [row] = await database.sql<{ days: number; refreshes: string }[]>`
      select (extract(epoch from renew_at - now()) / 86400)::float8 as days, version as refreshes
      from credentials where account_id = ${accountId}`;
    return row === undefined ? undefined : { ...row, days: Math.round(row.days) };
  }

  async function makeDue({ accountId }: Ref): Promise<void> {
    await database.sql`
      update credentials set renew_at = now() - interval '1 second' where account_id = ${accountId}`;
  }

  test.each([
    ["bluesky", 45],
    ["tiktok", 90],
    ["youtube", 90],
  ])("tokens of %s are renewed after %i days, and then again", async (platform, days) => {
    const ref = await connectOne(platform);
    expect(await renewAtOf(ref)).toMatchObject({ days });
    expect(await control.countCalls(platform, "refresh")).toBe(0);
    await makeDue(ref);
    await renewDue();
    expect(await control.countCalls(platform, "refresh")).toBe(1);
    expect(await renewAtOf(ref)).toMatchObject({ days, refreshes: 2 });
  });

  test("a renewal that fails comes again an hour later, not at once", async () => {
    const ref = await connectOne("bluesky");
    await makeDue(ref);
    const fault = { platform: "bluesky", operation: "refresh", mode: "status", status: 503 };
    await control.fault({ ...fault, times: 5 });
    await renewDue();
    await renewDue();
    expect(await control.countCalls("bluesky", "refresh")).toBe(1);
    expect(await renewAtOf(ref)).toMatchObject({ days: 0, refreshes: 1 });
  });

  test("replicas that look at the same time renew each account once", async () => {
    const refs = await connect("bluesky", 30);
    await Promise.all(refs.map(makeDue));
    await Promise.all([renewDue(), renewDue(), renewDue()]);
    await renewDue();
    expect(await control.countCalls("bluesky", "refresh")).toBe(30);
  });

  test("accounts that were given up or disconnected are left alone", async () => {
    const [first, second] = [await connectOne("bluesky"), await connectOne("bluesky")];
    await Promise.all([makeDue(first), makeDue(second)]);
    await app.accounts.requireReconnect({ ref: first, credentialVersion: 1n });
    await app.accounts.disconnectAccount({ ref: second });
    await renewDue();
    expect(await control.countCalls("bluesky", "refresh")).toBe(0);
  });
});

describe("sealing again", () => {
  // Keys belong to the whole database, and tests above leave what does not open.
  beforeEach(async () => {
    await database.sql`delete from credentials`;
  });

  async function keysOf(from: AccountsApp) {
    const { keys } = await from.credentials.listSealingKeys({});
    return keys.map(({ id, configured, newest, credentialCount }) => ({
      id,
      configured,
      newest,
      needed: credentialCount > 0n,
    }));
  }

  test("a newer key takes over while tokens are used and renewed, and the old one can go", async () => {
    const refs = [...(await connect("x", 450)), ...(await connect("telegram", 5))];
    const before = await credentialsOf(refs.slice(0, 10));
    const credentialKeys = [NEW_KEY, KEY];
    await using rotated = createApp(database, {
      simulatorUrl: simulator.url,
      keys: credentialKeys,
    });
    expect(await keysOf(rotated)).toEqual([
      { id: "k2", configured: true, newest: true, needed: false },
      { id: "k1", configured: true, newest: false, needed: true },
    ]);
    const busy = refs.slice(440, 450);
    await expire(busy);
    const jobs = [1, 2].map(() => startResealing({ sql: database.sql, logger, credentialKeys }));
    const used = await credentialsOf(busy, rotated);
    await eventually(async () => {
      const keys = await keysOf(rotated);
      expect(keys[1]).toMatchObject({ id: "k1", needed: false });
    });
    await Promise.all(jobs.map((job) => job[Symbol.asyncDispose]()));
    await using later = createApp(database, { simulatorUrl: simulator.url, keys: [NEW_KEY] });
    expect(await credentialsOf(refs.slice(0, 10), later)).toEqual(before);
    expect(await credentialsOf(busy, later)).toEqual(used);
    expect(used.every(({ version }) => version === 2n)).toBe(true);
    // Its refresh token was sealed again too.
    const [ref] = refs;
    if (ref === undefined) throw new Error("nothing was connected");
    const { credential } = await later.credentials.refreshCredential({ ref, refusedVersion: 1n });
    expect(credential).toMatchObject({ accountStatus: "active", version: 2n });
  });

  test("a job that is stopped in the middle loses nothing, and the next one ends its work", async () => {
    const refs = await connect("x", 600);
    const credentialKeys = [{ id: "k3", secret: randomBytes(32) }, NEW_KEY, KEY];
    const deps = { sql: database.sql, logger, credentialKeys };
    await using reader = createApp(database, {
      simulatorUrl: simulator.url,
      keys: credentialKeys,
    });
    const before = await credentialsOf(refs.slice(0, 500));
    await startResealing(deps)[Symbol.asyncDispose]();
    const half = await keysOf(reader);
    expect(half.filter(({ needed }) => needed).length).toBeGreaterThan(1);
    expect(await credentialsOf(refs.slice(0, 500), reader)).toEqual(before);
    await using job = startResealing(deps);
    await eventually(async () => {
      job.nudge();
      const needed = (await keysOf(reader)).filter((key) => key.needed);
      expect(needed).toMatchObject([{ id: "k3" }]);
    });
    expect(await credentialsOf(refs.slice(0, 500), reader)).toEqual(before);
  });

  test("one credential that does not open does not keep the others from being sealed again", async () => {
    const refs = await connect("telegram", 3);
    const [broken] = refs;
    const newest = { id: "k4", secret: randomBytes(32) };
    await database.sql`
      update credentials set access_token = 'v1.k1.AAAA.AAAA.AAAA'
      where account_id = ${broken?.accountId ?? ""}`;
    const credentialKeys = [newest, { id: "k3", secret: randomBytes(32) }, NEW_KEY, KEY];
    await using job = startResealing({ sql: database.sql, logger, credentialKeys });
    await eventually(async () => {
      job.nudge();
      const rows = await database.sql<{ keyId: string }[]>`
        select split_part(access_token, '.', 2) as key_id from credentials
        where account_id = any(${refs.map(({ accountId }) => accountId)}::uuid[])
        order by 1`;
      expect(rows.map(({ keyId }) => keyId)).toEqual(["k1", "k4", "k4"]);
    });
  });
});
