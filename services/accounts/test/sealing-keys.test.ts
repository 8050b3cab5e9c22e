import { createSecretKey, randomBytes, randomUUID } from "node:crypto";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { eventually } from "@postrider/shared/testing/poll";
import { beforeEach, expect, test } from "vitest";
import { startResealCredentials } from "#src/jobs/reseal-credentials.ts";
import { KEY, type AccountsApp } from "./accounts-app.ts";
import { setUpAccounts } from "./accounts-fixture.ts";

const NEW_KEY = { id: "k2", secret: createSecretKey(randomBytes(32)) };

const logger = createLogger({ service: "test", level: "silent" });
const fixture = setUpAccounts();

// Encryption keys are counted over the whole database, so each test begins without credentials.
beforeEach(async () => {
  await fixture.sql`delete from credentials`;
});

async function listKeys(from: AccountsApp) {
  const { keys } = await from.credentials.listSealingKeys({});
  return keys.map(({ id, configured, newest, credentialCount }) => ({
    id,
    configured,
    newest,
    isNeeded: credentialCount > 0n,
  }));
}

test("a replica of the accounts service that lacks the encryption key of a token says so for its account alone, and leaves the account active", async () => {
  const ref = await fixture.connect("x");
  await using outdated = fixture.createReplica({ keys: [NEW_KEY] });
  const unknown = { ...ref, accountId: randomUUID() };
  expect(await fixture.credentialsOf([ref, unknown], outdated)).toMatchObject([
    { accountStatus: "unreadable", accessToken: "" },
    { accountStatus: "unknown" },
  ]);
  expect(await fixture.credentialOf(ref)).toMatchObject({ accountStatus: "active" });
});

test("tokens that are used and refreshed while they are encrypted with a newer key stay readable without the old key", async () => {
  const refs = [
    ...(await fixture.connectMany("x", 250)),
    ...(await fixture.connectMany("telegram", 5)),
  ];
  const before = await fixture.credentialsOf(refs.slice(0, 10));
  const credentialKeys = [NEW_KEY, KEY];
  await using rotated = fixture.createReplica({ keys: credentialKeys });
  expect(await listKeys(rotated)).toEqual([
    { id: "k2", configured: true, newest: true, isNeeded: false },
    { id: "k1", configured: true, newest: false, isNeeded: true },
  ]);
  const used = refs.slice(240, 250);
  await fixture.expireTokens(used);
  const { sql } = fixture;
  const jobs = [1, 2].map(() => startResealCredentials({ sql, logger, credentialKeys }));
  const refreshed = await fixture.credentialsOf(used, rotated);
  await eventually(async () => {
    const keys = await listKeys(rotated);
    expect(keys[1]).toMatchObject({ id: "k1", isNeeded: false });
  });
  await Promise.all(jobs.map((job) => job[Symbol.asyncDispose]()));
  await using later = fixture.createReplica({ keys: [NEW_KEY] });
  expect(await fixture.credentialsOf(refs.slice(0, 10), later)).toEqual(before);
  expect(await fixture.credentialsOf(used, later)).toEqual(refreshed);
  expect(refreshed.every(({ version }) => version === 2n)).toBe(true);
  // The refresh token was also encrypted with the newest key.
  const [ref] = refs;
  if (ref === undefined) throw new Error("no account was connected");
  const { credential } = await later.credentials.refreshCredential({ ref, refusedVersion: 1n });
  expect(credential).toMatchObject({ accountStatus: "active", version: 2n });
});

test("stopping the job that encrypts credentials with a newer key loses no credential, and the next job encrypts the rest", async () => {
  const refs = await fixture.connectMany("x", 450);
  const credentialKeys = [NEW_KEY, KEY];
  const deps = { sql: fixture.sql, logger, credentialKeys };
  await using reader = fixture.createReplica({ keys: credentialKeys });
  const before = await fixture.credentialsOf(refs);
  await startResealCredentials(deps)[Symbol.asyncDispose]();
  const half = await listKeys(reader);
  expect(half.filter(({ isNeeded }) => isNeeded).length).toBeGreaterThan(1);
  expect(await fixture.credentialsOf(refs, reader)).toEqual(before);
  await using job = startResealCredentials(deps);
  await eventually(async () => {
    job.nudge();
    const needed = (await listKeys(reader)).filter(({ isNeeded }) => isNeeded);
    expect(needed).toMatchObject([{ id: "k2" }]);
  });
  expect(await fixture.credentialsOf(refs, reader)).toEqual(before);
});

test("one credential that cannot be decrypted does not prevent other credentials from being encrypted with a newer key", async () => {
  const refs = await fixture.connectMany("telegram", 3);
  const [broken] = refs;
  await fixture.sql`
    update credentials set access_token = 'v1.k1.AAAA.AAAA.AAAA'
    where account_id = ${broken?.accountId ?? ""}`;
  const credentialKeys = [NEW_KEY, KEY];
  await using job = startResealCredentials({ sql: fixture.sql, logger, credentialKeys });
  await eventually(async () => {
    job.nudge();
    const rows = await fixture.sql<{ keyId: string }[]>`
      select split_part(access_token, '.', 2) as key_id from credentials order by 1`;
    expect(rows.map(({ keyId }) => keyId)).toEqual(["k1", "k2+bound", "k2+bound"]);
  });
});
