import { createLogger } from "@postrider/shared/telemetry/logger";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import {
  refreshIdleBatch,
  startRefreshIdleCredentials,
} from "#src/jobs/refresh-idle-credentials.ts";
import type { RefreshOutcome } from "#src/operations/dependencies.ts";
import { DEPLOYMENT } from "./accounts-app.ts";
import { setUpAccounts, type AccountRef } from "./accounts-fixture.ts";

/** Platforms whose access tokens expire. */
const EXPIRING = ["x", "tiktok", "youtube", "bluesky"] as const;

const logger = createLogger({ service: "test", level: "silent" });
const fixture = setUpAccounts();

/** Makes every refresh lease end this many seconds earlier. */
async function ageLeases(seconds: number): Promise<void> {
  await fixture.sql`
    update credentials
    set refresh_lease_until = refresh_lease_until - ${seconds}::int * interval '1 second'`;
}

async function refreshIdle(): Promise<void> {
  const { sql, app } = fixture;
  const refreshTokens = app.refresher.refresh.bind(app.refresher);
  await refreshIdleBatch({ sql, logger, deploymentId: DEPLOYMENT, refreshTokens });
}

async function idleRefreshOf({ accountId }: AccountRef) {
  const [row] = await fixture.sql<{ days: number; version: string }[]>`
    select (extract(epoch from renew_at - now()) / 86400)::float8 as days, version
    from credentials where account_id = ${accountId}`;
  return row === undefined ? undefined : { ...row, days: Math.round(row.days) };
}

async function makeDue(refs: readonly AccountRef[]): Promise<void> {
  const ids = refs.map(({ accountId }) => accountId);
  await fixture.sql`
    update credentials set renew_at = now() - interval '1 second'
    where account_id = any(${ids}::uuid[])`;
}

test("accounts stay active while a token endpoint answers every refresh with HTTP 503, and are refreshed afterwards", async () => {
  const refs = await Promise.all(EXPIRING.map((platform) => fixture.connect(platform)));
  await fixture.expireTokens(refs);
  for (const platform of EXPIRING) {
    const fault = { platform, operation: "refresh", mode: "status", status: 503 };
    await fixture.control.fault({ ...fault, times: 1e6 });
  }
  // A failed token refresh is tried again after 5 s, so these twelve rounds stand for a minute.
  for (let round = 0; round < 12; round += 1) {
    await fixture.credentialsOf(refs);
    await fixture.app.refresher.settled();
    await ageLeases(5);
  }
  for (const platform of EXPIRING)
    expect(await fixture.control.countCalls(platform, "refresh")).toBeGreaterThanOrEqual(12);
  for (const ref of refs)
    await expect(
      fixture.app.credentials.refreshCredential({ ref, refusedVersion: 1n }),
    ).rejects.toMatchObject({ reason: "unavailable" });
  expect(await fixture.credentialsOf(refs)).toMatchObject(
    refs.map(() => ({ accountStatus: "active", version: 1n })),
  );
  await fixture.control.reset();
  await ageLeases(60);
  const refreshed = await fixture.credentialsOf(refs);
  expect(refreshed).toMatchObject(refs.map(() => ({ accountStatus: "active", version: 2n })));
});

test("fifty callers of two replicas refresh an expired token of X once", async () => {
  const ref = await fixture.connect("x");
  await fixture.expireTokens([ref]);
  const fault = { platform: "x", operation: "refresh", mode: "delay", delayMs: 300 };
  await fixture.control.fault(fault);
  await using second = fixture.createReplica();
  const tokens = await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      const replica = index % 2 === 0 ? fixture.app : second;
      const current = await fixture.credentialOf(ref, replica);
      if (current?.version !== 1n) return current?.accessToken;
      // The platform refuses the expired token, so the delivery service requests a newer token with
      // RefreshCredential.
      const answer = await replica.credentials.refreshCredential({ ref, refusedVersion: 1n });
      return answer.credential?.accessToken;
    }),
  );
  expect(new Set(tokens).size).toBe(1);
  expect(await fixture.control.countCalls("x", "refresh")).toBe(1);
  expect(await fixture.isTokenAcceptedByX(tokens[0])).toBe(true);
});

test("when a stored token cannot be decrypted, its account needs a reconnect, and the other accounts of the same batch stay active", async () => {
  const [moved, other] = [await fixture.connect("x"), await fixture.connect("x")];
  await fixture.sql`
    update credentials
    set access_token = (select access_token from credentials where account_id = ${other.accountId})
    where account_id = ${moved.accountId}`;
  expect(await fixture.credentialsOf([moved, other])).toMatchObject([
    { accountStatus: "reconnect_required", accessToken: "" },
    { accountStatus: "active" },
  ]);
  const { accounts } = await fixture.app.accounts.batchGetAccounts({ refs: [moved] });
  expect(accounts[0]?.status).toBe("reconnect_required");
});

test("a stopping service waits for a token refresh in progress and stores the new tokens", async () => {
  const ref = await fixture.connect("tiktok");
  await fixture.expireTokens([ref]);
  const fault = { platform: "tiktok", operation: "refresh", mode: "delay", delayMs: 400 };
  await fixture.control.fault(fault);
  const stopping = fixture.createReplica();
  const answer = stopping.credentials.refreshCredential({ ref, refusedVersion: 1n });
  await eventually(async () => (await fixture.control.countCalls("tiktok", "refresh")) === 1);
  await stopping[Symbol.asyncDispose]();
  expect(await fixture.credentialOf(ref)).toMatchObject({ version: 2n });
  expect(await fixture.control.countCalls("tiktok", "refresh")).toBe(1);
  await answer;
});

test.each([
  ["bluesky", 45],
  ["tiktok", 90],
  ["youtube", 90],
])("unused tokens of %s are refreshed every %i days", async (platform, days) => {
  const ref = await fixture.connect(platform);
  expect(await idleRefreshOf(ref)).toMatchObject({ days });
  expect(await fixture.control.countCalls(platform, "refresh")).toBe(0);
  await makeDue([ref]);
  await refreshIdle();
  expect(await fixture.control.countCalls(platform, "refresh")).toBe(1);
  expect(await idleRefreshOf(ref)).toMatchObject({ days, version: 2 });
});

test("a failed refresh of a token that nothing used for weeks is tried again after an hour, not immediately", async () => {
  const ref = await fixture.connect("bluesky");
  await makeDue([ref]);
  const fault = { platform: "bluesky", operation: "refresh", mode: "status", status: 503 };
  await fixture.control.fault({ ...fault, times: 5 });
  await refreshIdle();
  await refreshIdle();
  expect(await fixture.control.countCalls("bluesky", "refresh")).toBe(1);
  expect(await idleRefreshOf(ref)).toMatchObject({ days: 0, version: 1 });
});

test("an account whose tokens nothing used is refreshed with the first ones, however many accounts of another workspace are due before", async () => {
  const many = await fixture.connectMany("bluesky", 30);
  const other = await fixture.connect("bluesky", undefined, await fixture.createWorkspace());
  await makeDue([other]);
  await makeDue(many);
  await fixture.sql`
    update credentials set renew_at = renew_at - interval '1 day'
    where account_id <> ${other.accountId} and renew_at < now()`;
  await refreshIdle();
  expect(await idleRefreshOf(other)).toMatchObject({ version: 2 });
  expect(await fixture.control.countCalls("bluesky", "refresh")).toBe(20);
  await refreshIdle();
  expect(await fixture.control.countCalls("bluesky", "refresh")).toBe(31);
});

test("three replicas that search at the same time for accounts whose tokens nothing used for weeks refresh the tokens of each account once", async () => {
  await makeDue(await fixture.connectMany("bluesky", 30));
  await Promise.all([refreshIdle(), refreshIdle(), refreshIdle()]);
  await refreshIdle();
  expect(await fixture.control.countCalls("bluesky", "refresh")).toBe(30);
});

test("unused tokens of accounts that need a reconnect or are disconnected are not refreshed", async () => {
  const [first, second] = [await fixture.connect("bluesky"), await fixture.connect("bluesky")];
  await makeDue([first, second]);
  await fixture.app.accounts.requireReconnect({ ref: first, credentialVersion: 1n });
  await fixture.app.accounts.disconnectAccount({ ref: second });
  await refreshIdle();
  expect(await fixture.control.countCalls("bluesky", "refresh")).toBe(0);
});

test("a stopping service ends the refresh of idle tokens that has begun, and begins no other", async () => {
  const { sql } = fixture;
  await makeDue(await fixture.connectMany("tiktok", 3));
  const gate = Promise.withResolvers<RefreshOutcome>();
  const begun: string[] = [];
  const refreshTokens = async ({ workspaceId, accountId }: AccountRef) => {
    if (workspaceId === fixture.workspaceId) begun.push(accountId);
    return await gate.promise;
  };
  const job = startRefreshIdleCredentials({
    sql,
    logger,
    deploymentId: DEPLOYMENT,
    refreshTokens,
  });
  await eventually(() => begun.length > 0);
  const stopped = job[Symbol.asyncDispose]();
  gate.resolve("settled");
  await stopped;
  expect(begun).toHaveLength(1);
});
