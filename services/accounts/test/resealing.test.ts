import { randomBytes } from "node:crypto";
import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { insertDeployment } from "@postrider/shared/deployment/table";
import { migrate } from "@postrider/shared/postgres/migrations";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { createTestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { beforeEach, expect, test } from "vitest";
import { holdSealingStage } from "#src/db/sealing-stage.ts";
import { hashSecret } from "#src/domain/authorization-secrets.ts";
import { startResealCredentials } from "#src/jobs/reseal-credentials.ts";
import { KEY } from "./accounts-app.ts";
import { setUpAccounts, type AccountRef } from "./accounts-fixture.ts";
import { resealAll, sealAsBefore, setStage, stageOf, unsealAsBefore } from "./sealing-stages.ts";

const MIGRATIONS = new URL("../migrations", import.meta.url).pathname;
const NEW_KEY = { id: "k2", secret: randomBytes(32) };

const logger = createLogger({ service: "test", level: "silent" });
const fixture = setUpAccounts();

// Each test begins with a database that was just updated from the previous release.
beforeEach(async () => {
  await fixture.sql`delete from credentials`;
  await fixture.sql`delete from oauth_tickets`;
  await setStage(fixture.database.migrationSql, "unbound");
});

interface StoredTokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

async function storedOf({ accountId }: AccountRef): Promise<StoredTokens> {
  const [row] = await fixture.sql<StoredTokens[]>`
    select access_token, refresh_token from credentials where account_id = ${accountId}`;
  if (row === undefined) throw new Error("the account has no row in credentials");
  return row;
}

async function store({ accountId }: AccountRef, { accessToken, refreshToken }: StoredTokens) {
  await fixture.sql`
    update credentials
    set access_token = ${accessToken}, refresh_token = ${refreshToken}
    where account_id = ${accountId}`;
}

/**
 * Returns the key parts (the second of the parts between dots) of all stored access tokens, each distinct one once: the
 * id of the encryption key, and `+bound` if the token is bound.
 */
async function keyParts(): Promise<readonly string[]> {
  const rows = await fixture.sql<{ part: string }[]>`
    select distinct split_part(access_token, '.', 2) as part from credentials order by 1`;
  return rows.map(({ part }) => part);
}

const refresh = (ref: AccountRef, refusedVersion = 1n) =>
  fixture.app.credentials.refreshCredential({ ref, refusedVersion });

test("before the operator encrypts all tokens again, this release and the previous release can decrypt each other's tokens", async () => {
  const ref = await fixture.connect("x");
  const { accountId } = ref;
  const connected = await storedOf(ref);
  const place = { accountId, column: "access_token" } as const;
  expect(unsealAsBefore(KEY, place, connected.accessToken)).toBe(
    (await fixture.credentialOf(ref))?.accessToken,
  );
  const { credential } = await refresh(ref);
  expect(credential?.version).toBe(2n);
  const refreshed = await storedOf(ref);
  expect(unsealAsBefore(KEY, place, refreshed.accessToken)).toBe(credential?.accessToken);

  const { refreshToken } = refreshed;
  await store(ref, { accessToken: sealAsBefore(KEY, place, "from before"), refreshToken });
  expect(await fixture.credentialOf(ref)).toMatchObject({ accessToken: "from before" });
});

test("encrypting all tokens again keeps every token, and afterwards a copy of an earlier token that is not bound to its account is refused", async () => {
  const refs = [
    ...(await fixture.connectMany("x", 210)),
    ...(await fixture.connectMany("telegram", 5)),
  ];
  const before = await fixture.credentialsOf(refs);
  const [ref] = refs;
  if (ref === undefined) throw new Error("no account was connected");
  const unbound = await storedOf(ref);
  expect(await keyParts()).toEqual(["k1"]);

  const first = await fixture.app.credentials.resealCredentials({ after: "" });
  expect(first).toMatchObject({ remaining: 215n, resealed: 200, finished: false });
  expect(await stageOf(fixture.sql)).toBe("resealing");
  expect(await fixture.credentialsOf(refs)).toEqual(before);
  expect(await resealAll(fixture.app)).toMatchObject({ finished: true, damaged: 0, locked: 0 });

  expect(await stageOf(fixture.sql)).toBe("bound");
  expect(await keyParts()).toEqual(["k1+bound"]);
  expect(await fixture.credentialsOf(refs)).toEqual(before);
  await store(ref, unbound);
  expect(await fixture.credentialOf(ref)).toMatchObject({
    accountStatus: "reconnect_required",
    accessToken: "",
  });
});

test("a process of the previous release reports a token that is bound to its account as one with a missing key, not as a damaged one", async () => {
  await setStage(fixture.database.migrationSql, "bound");
  const ref = await fixture.connect("x");
  const { accessToken } = await storedOf(ref);
  const place = { accountId: ref.accountId, column: "access_token" } as const;
  expect(() => unsealAsBefore(KEY, place, accessToken)).toThrow("missing");
});

test("tokens that a refresh stores while the operator encrypts all tokens again are kept and are bound to their account", async () => {
  const ref = await fixture.connect("x");
  await fixture.expireTokens([ref]);
  await fixture.control.fault({ platform: "x", operation: "refresh", mode: "delay", delayMs: 300 });
  const answer = refresh(ref);
  await eventually(async () => (await fixture.control.countCalls("x", "refresh")) === 1);
  // The refresh has read a refresh token that is not bound to its account, and stores the new tokens after all tokens were
  // encrypted again.
  expect(await resealAll(fixture.app)).toMatchObject({ finished: true });
  const { credential } = await answer;

  expect(credential).toMatchObject({ accountStatus: "active", version: 2n });
  expect(await fixture.isTokenAcceptedByX(credential?.accessToken)).toBe(true);
  expect(await keyParts()).toEqual(["k1+bound"]);
  expect((await refresh(ref, 2n)).credential).toMatchObject({
    accountStatus: "active",
    version: 3n,
  });
});

test("encrypting all credentials again skips one that another transaction changes, and unbound tokens stay accepted until a later call has encrypted it", async () => {
  const [held, other] = [await fixture.connect("x"), await fixture.connect("x")];
  const before = await fixture.credentialsOf([held, other]);
  await fixture.sql.begin(async (tx) => {
    await tx`select 1 from credentials where account_id = ${held.accountId} for update`;
    expect(await resealAll(fixture.app)).toMatchObject({ resealed: 0, finished: false });
    expect(await keyParts()).toEqual(["k1", "k1+bound"]);
  });
  expect(await stageOf(fixture.sql)).toBe("resealing");
  expect(await fixture.credentialsOf([held, other])).toEqual(before);
  expect(await resealAll(fixture.app)).toMatchObject({ finished: true });
  expect(await fixture.credentialsOf([held, other])).toEqual(before);
});

test("tokens that are not bound to their account stay accepted while a transaction that began earlier may still store one", async () => {
  const ref = await fixture.connect("x");
  const unbound = await storedOf(ref);
  const stored = Promise.withResolvers<void>();
  const sealed = Promise.withResolvers<void>();
  const storing = fixture.sql.begin(async (tx) => {
    expect(await holdSealingStage(tx)).toBe("unbound");
    sealed.resolve();
    await stored.promise;
    await tx`
      update credentials set access_token = ${unbound.accessToken} where account_id = ${ref.accountId}`;
  });
  await sealed.promise;
  const resealing = resealAll(fixture.app);
  await eventually(async () => {
    const waiting = await fixture.database.ownerSql`
      select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    expect(waiting).toHaveLength(1);
  });
  expect(await stageOf(fixture.sql)).toBe("unbound");
  stored.resolve();
  await storing;
  expect(await resealing).toMatchObject({ finished: true });
  expect(await fixture.credentialOf(ref)).toMatchObject({ accountStatus: "active" });
});

test("after a process ends in the middle of encrypting all tokens again, the next call continues with the tokens that are left", async () => {
  const refs = await fixture.connectMany("x", 410);
  const before = await fixture.credentialsOf(refs);
  const { after } = await fixture.app.credentials.resealCredentials({ after: "" });
  expect(after).not.toBe("");
  await using next = fixture.createReplica();
  expect(await next.credentials.resealCredentials({ after: "" })).toMatchObject({
    remaining: 210n,
    resealed: 200,
  });
  expect(await resealAll(next)).toMatchObject({ finished: true });
  expect(await fixture.credentialsOf(refs, next)).toEqual(before);
});

test("after all tokens were encrypted again, damaged tokens do not prevent unbound tokens from being refused, but tokens with a missing key do", async () => {
  const [good, damaged, foreign] = [
    await fixture.connect("x"),
    await fixture.connect("x"),
    await fixture.connect("x"),
  ];
  await store(damaged, await storedOf(good));
  const place = { accountId: foreign.accountId, column: "access_token" } as const;
  const { refreshToken } = await storedOf(foreign);
  await store(foreign, { accessToken: sealAsBefore(NEW_KEY, place, "token"), refreshToken });
  expect(await resealAll(fixture.app)).toMatchObject({ finished: false, damaged: 1, locked: 1 });
  expect(await stageOf(fixture.sql)).toBe("resealing");

  await using complete = fixture.createReplica({ keys: [KEY, NEW_KEY] });
  expect(await resealAll(complete)).toMatchObject({ finished: true, damaged: 1, locked: 0 });
  expect(await fixture.credentialsOf([good, damaged, foreign])).toMatchObject([
    { accountStatus: "active" },
    { accountStatus: "reconnect_required", accessToken: "" },
    { accountStatus: "active", accessToken: "token" },
  ]);
});

test("a token that is bound to its account stays bound when the encryption stage is changed back in the database", async () => {
  await setStage(fixture.database.migrationSql, "bound");
  const ref = await fixture.connect("x");
  await setStage(fixture.database.migrationSql, "unbound");
  await refresh(ref);
  expect(await keyParts()).toEqual(["k1+bound"]);
  const { sql } = fixture;
  await using job = startResealCredentials({ sql, logger, credentialKeys: [NEW_KEY, KEY] });
  await eventually(async () => {
    job.nudge();
    expect(await keyParts()).toEqual(["k2+bound"]);
  });
});

test.each([
  ["changes the stage back to `unbound`", "update sealing set stage = 'unbound'"],
  ["changes the stage back to `resealing`", "update sealing set stage = 'resealing'"],
  ["deletes the stage", "delete from sealing"],
  [
    "hides the catalog behind a temporary table",
    `create temporary table pg_class as select 'sealing'::regclass::oid as oid, current_user::regrole::oid as relowner;
     update sealing set stage = 'unbound'`,
  ],
])(
  "tokens of newly connected accounts stay bound to their accounts when an attacker with the runtime role %s",
  async (_what, statements) => {
    await setStage(fixture.database.migrationSql, "bound");
    await expect(fixture.sql.begin((tx) => tx.unsafe(statements))).rejects.toMatchObject({
      code: "42501",
    });
    expect(await stageOf(fixture.sql)).toBe("bound");
    await fixture.connect("x");
    expect(await keyParts()).toEqual(["k1+bound"]);
  },
);

test("a credential whose attributes are not texts counts as damaged, and does not prevent unbound tokens from being refused", async () => {
  const [good, damaged] = [await fixture.connect("x"), await fixture.connect("x")];
  await fixture.sql`
    update credentials set attributes = '{"pdsUrl": 1}' where account_id = ${damaged.accountId}`;
  expect(await resealAll(fixture.app)).toMatchObject({ finished: true, damaged: 1, locked: 0 });
  expect(await fixture.credentialsOf([good, damaged])).toMatchObject([
    { accountStatus: "active" },
    { accountStatus: "reconnect_required", accessToken: "" },
  ]);
});

test("a person who is on the platform's page while unbound texts begin to be refused can still finish the authorization", async () => {
  const { workspaceId } = fixture;
  const { authorizations } = fixture.app;
  await fixture.control.settings({ authorize: "approve" });
  const { url } = await authorizations.issueTicket({ workspaceId, platform: "x" });
  const browser = "b".repeat(43);
  const ticket = url.split("/").at(-1) ?? "";
  const { authorizeUrl } = await authorizations.openTicket({ ticket, browser });
  expect(await resealAll(fixture.app)).toMatchObject({ finished: true });
  const answer = await fetch(authorizeUrl, { redirect: "manual" });
  const back = new URL(answer.headers.get("location") ?? "").searchParams;
  const [state, code] = [back.get("state") ?? "", back.get("code") ?? ""];
  const ended = await authorizations.finishAuthorization({ state, code, browser });
  expect(ended.outcome).toBe("connected");
});

test.each(["workspace_id", "platform", "browser_hash"])(
  "an authorization cannot be finished after its `%s` was changed in the database",
  async (column) => {
    await setStage(fixture.database.migrationSql, "bound");
    const { workspaceId } = fixture;
    const { authorizations } = fixture.app;
    await fixture.control.settings({ authorize: "approve" });
    const { url } = await authorizations.issueTicket({ workspaceId, platform: "x" });
    const [browser, attacker] = ["b".repeat(43), "a".repeat(43)];
    const ticket = url.split("/").at(-1) ?? "";
    const { authorizeUrl } = await authorizations.openTicket({ ticket, browser });
    const values = {
      workspace_id: await fixture.createWorkspace(),
      platform: "youtube",
      browser_hash: hashSecret(attacker),
    };
    const change = { [column]: values[column as keyof typeof values] };
    await fixture.sql`update oauth_tickets set ${fixture.sql(change)}`;
    const answer = await fetch(authorizeUrl, { redirect: "manual" });
    const back = new URL(answer.headers.get("location") ?? "").searchParams;
    const calls = async () =>
      await Promise.all(["x", "youtube"].map((each) => fixture.control.countCalls(each, "login")));
    const before = await calls();
    const ended = await authorizations.finishAuthorization({
      state: back.get("state") ?? "",
      code: back.get("code") ?? "",
      browser: column === "browser_hash" ? attacker : browser,
    });
    expect(ended.outcome).toBe("unavailable");
    expect(await calls()).toEqual(before);
  },
);

test.each([
  ["is new refuses unbound tokens from the start", false, "bound"],
  [
    "a process has used accepts unbound tokens until the operator encrypts all tokens again",
    true,
    "unbound",
  ],
])("a database of the accounts service that %s", async (_what, isUsed, stage) => {
  const folder = await mkdtemp(join(tmpdir(), "migrations-"));
  try {
    const names = (await readdir(MIGRATIONS)).filter((name) => name < "0005");
    for (const name of names) await copyFile(join(MIGRATIONS, name), join(folder, name));
    await using database = await createTestDatabase({
      service: "accounts",
      migrationsFolder: folder,
    });
    if (isUsed) await insertDeployment(database.sql, "default");
    await migrate(database.migrationSql, MIGRATIONS);
    expect(await stageOf(database.sql)).toBe(stage);
  } finally {
    await rm(folder, { recursive: true });
  }
});
