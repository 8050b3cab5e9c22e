import { eventually } from "@postrider/shared/testing/poll";
import { countFailures, renameDatabase } from "@postrider/shared/testing/rename-database";
import { expect, test } from "vitest";
import { claimRefresh, giveUpCredential, pauseRefresh } from "#src/db/credential-refreshes.ts";
import { DEPLOYMENT, type AccountsApp } from "./accounts-app.ts";
import { setUpAccounts, type AccountRef } from "./accounts-fixture.ts";

const fixture = setUpAccounts();

/**
 * A replica of the accounts service that cannot store refreshed tokens until its database
 * connection is repaired.
 */
interface BrokenReplica extends AsyncDisposable {
  readonly app: AccountsApp;
  repair(): void;
}

function createBrokenReplica(): BrokenReplica {
  let isBroken = true;
  const sql = new Proxy(fixture.sql, {
    get: (target, name): unknown => {
      // Tokens are stored in a transaction, but a refresh lease is claimed without one.
      if (!isBroken || name !== "begin") return Reflect.get(target, name);
      const error = new Error("the connection was closed");
      return () => Promise.reject(Object.assign(error, { code: "CONNECTION_CLOSED" }));
    },
  });
  const app = fixture.createReplica({ sql });
  const repair = (): void => {
    isBroken = false;
  };
  return {
    app,
    repair,
    [Symbol.asyncDispose]: async () => {
      repair();
      await app[Symbol.asyncDispose]();
    },
  };
}

/** Makes the refresh lease of a credential end the given number of seconds earlier. */
async function ageLease({ accountId }: AccountRef, seconds: number): Promise<void> {
  await fixture.sql`
    update credentials
    set refresh_lease_until = refresh_lease_until - ${seconds}::int * interval '1 second'
    where account_id = ${accountId}`;
}

const refresh = (app: AccountsApp, ref: AccountRef) =>
  app.credentials.refreshCredential({ ref, refusedVersion: 1n });

async function statusOf(ref: AccountRef) {
  const { accounts } = await fixture.app.accounts.batchGetAccounts({ refs: [ref] });
  return accounts[0]?.status;
}

async function eventsOf({ accountId }: AccountRef): Promise<readonly string[]> {
  const rows = await fixture.sql<{ type: string }[]>`
    select type
    from outbox
    where key = ${accountId}
    order by id`;
  return rows.map(({ type }) => type.split(".").at(-1) ?? "");
}

/**
 * Connects an account and lets the broken replica refresh the account's tokens, which the replica
 * cannot store. The platform then accepts only the new refresh token. Returns once the refresh
 * lease of this replica has expired.
 */
async function loseRefresh(broken: BrokenReplica) {
  const ref = await fixture.connect("x");
  await fixture.expireTokens([ref]);
  const answer = refresh(broken.app, ref);
  answer.catch(() => undefined);
  await eventually(async () => (await fixture.control.countCalls("x", "refresh")) === 1);
  await ageLease(ref, 31);
  return { ref, answer };
}

test("new tokens stored after the end of a refresh lease are kept, although the platform has refused the old refresh token to another replica", async () => {
  await using broken = createBrokenReplica();
  const { ref, answer } = await loseRefresh(broken);

  await expect(refresh(fixture.app, ref)).rejects.toMatchObject({ reason: "unavailable" });
  expect(await fixture.control.countCalls("x", "refresh")).toBe(2);
  expect(await statusOf(ref)).toBe("active");
  // For a minute after the first refusal, the account stays active so that another replica can
  // store newer tokens, and no replica calls the platform.
  await ageLease(ref, 55);
  await fixture.credentialsOf([ref]);
  await fixture.app.refresher.settled();
  expect(await fixture.control.countCalls("x", "refresh")).toBe(2);

  broken.repair();
  const { credential } = await answer;
  expect(credential?.version).toBe(2n);
  expect(await fixture.isTokenAcceptedByX(credential?.accessToken)).toBe(true);
  expect(await statusOf(ref)).toBe("active");
  expect(await eventsOf(ref)).toEqual(["AccountConnected"]);
});

test("new tokens stored after the end of the refresh lease are kept, although another replica got no answer and then a refusal for the old one", async () => {
  await using broken = createBrokenReplica();
  const { ref, answer } = await loseRefresh(broken);
  const fault = { platform: "x", operation: "refresh", mode: "status", status: 503, times: 1 };
  await fixture.control.fault(fault);

  await expect(refresh(fixture.app, ref)).rejects.toMatchObject({ reason: "unavailable" });
  await ageLease(ref, 6);
  await expect(refresh(fixture.app, ref)).rejects.toMatchObject({ reason: "unavailable" });
  expect(await fixture.control.countCalls("x", "refresh")).toBe(3);
  expect(await statusOf(ref)).toBe("active");

  broken.repair();
  const { credential } = await answer;
  expect(credential?.version).toBe(2n);
  expect(await fixture.isTokenAcceptedByX(credential?.accessToken)).toBe(true);
  expect(await eventsOf(ref)).toEqual(["AccountConnected"]);
});

test("an account needs a reconnect when the platform refuses its refresh token a second time, a minute after the first refusal", async () => {
  await using broken = createBrokenReplica();
  const { ref } = await loseRefresh(broken);
  await expect(refresh(fixture.app, ref)).rejects.toMatchObject({ reason: "unavailable" });

  await ageLease(ref, 61);
  const { credential } = await refresh(fixture.app, ref);

  expect(credential).toMatchObject({ accountStatus: "reconnect_required" });
  expect(await statusOf(ref)).toBe("reconnect_required");
});

test("new tokens make an account active again when they are stored after a refused refresh token required a reconnect", async () => {
  await using broken = createBrokenReplica();
  const { ref, answer } = await loseRefresh(broken);
  await expect(refresh(fixture.app, ref)).rejects.toMatchObject({ reason: "unavailable" });
  await ageLease(ref, 61);
  await refresh(fixture.app, ref);
  expect(await statusOf(ref)).toBe("reconnect_required");

  broken.repair();
  await answer;

  const credential = await fixture.credentialOf(ref);
  expect(credential).toMatchObject({ accountStatus: "active", version: 3n });
  expect(await fixture.isTokenAcceptedByX(credential?.accessToken)).toBe(true);
  expect(await eventsOf(ref)).toEqual([
    "AccountConnected",
    "AccountReconnectRequired",
    "AccountConnected",
  ]);
});

test.each([
  ["was disconnected", "disconnected"],
  ["was marked for a reconnect by the delivery service", "reconnect_required"],
])("new tokens are not stored after their account %s", async (_what, status) => {
  await using broken = createBrokenReplica();
  const { ref, answer } = await loseRefresh(broken);
  if (status === "disconnected") await fixture.app.accounts.disconnectAccount({ ref });
  else await fixture.app.accounts.requireReconnect({ ref, credentialVersion: 1n });

  broken.repair();
  await answer.catch(() => undefined);
  await broken.app.refresher.settled();

  expect(await statusOf(ref)).toBe(status);
  const [row] = await fixture.sql<{ version: string }[]>`
      select version from credentials where account_id = ${ref.accountId}`;
  expect(Number(row?.version)).toBe(2);
});

test("a replica whose refresh lease was taken over by another replica can neither end that lease nor require a reconnect of the account", async () => {
  const ref = await fixture.connect("x");
  const claim = () => claimRefresh(fixture.sql, ref, { version: 1, deploymentId: DEPLOYMENT });
  const first = await claim();
  expect(first?.isTakenOver).toBe(false);
  expect(await claim()).toBeUndefined();
  await ageLease(ref, 31);
  const second = await claim();
  expect(second?.isTakenOver).toBe(true);
  if (first === undefined || second === undefined) throw new Error("the lease was not claimed");

  await pauseRefresh(fixture.sql, ref, first, { seconds: 0, isEnded: true });
  expect(await claim()).toBeUndefined();
  expect(await fixture.sql.begin((tx) => giveUpCredential(tx, ref, first))).toBe(false);

  await pauseRefresh(fixture.sql, ref, second, { seconds: 0, isEnded: true });
  expect((await claim())?.isTakenOver).toBe(false);
});

test("new tokens are stored, and their account stays active, although the database is renamed after the platform replaced the refresh token", async () => {
  const ref = await fixture.connect("x");
  await fixture.expireTokens([ref]);
  const renamed = Promise.withResolvers<AsyncDisposable>();
  const pool = countFailures(fixture.sql);
  let isFirst = true;
  const sql = new Proxy(pool.sql, {
    get: (target, name): unknown => {
      // Only the new tokens are stored in a transaction, so the database is renamed after the
      // platform's answer.
      if (name !== "begin" || !isFirst) return Reflect.get(target, name);
      isFirst = false;
      return async (work: Parameters<typeof target.begin>[1]) => {
        renamed.resolve(await renameDatabase(fixture.database));
        return await target.begin(work);
      };
    },
  });
  await using replica = fixture.createReplica({ sql });
  const answer = refresh(replica, ref);
  answer.catch(() => undefined);
  {
    await using _ = await renamed.promise;
    await eventually(() => pool.failures() >= 3);
  }
  const { credential } = await answer;
  expect(credential).toMatchObject({ accountStatus: "active", version: 2n });
  expect(await fixture.isTokenAcceptedByX(credential?.accessToken)).toBe(true);
  expect(await fixture.control.countCalls("x", "refresh")).toBe(1);
});
