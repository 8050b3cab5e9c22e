import { newNonce, seal } from "@postrider/shared/secrets/sealing";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { beforeEach, expect, test } from "vitest";
import { hashSecret } from "#src/domain/connect-links.ts";
import { refreshIdleBatch } from "#src/jobs/refresh-idle-credentials.ts";
import { DEPLOYMENT, KEY } from "./accounts-app.ts";
import { setUpAccounts, type AccountRef } from "./accounts-fixture.ts";

const logger = createLogger({ service: "test", level: "silent" });
const fixture = setUpAccounts();

beforeEach(async () => {
  await fixture.sql`update credentials set renew_at = null`;
});

async function statusOf(ref: AccountRef) {
  const { accounts } = await fixture.app.accounts.batchGetAccounts({ refs: [ref] });
  return accounts[0]?.status;
}

/**
 * Changes rows of the database, as an attacker does who can write them, and returns the reference
 * of the changed account.
 */
type Attack = (own: AccountRef, other: AccountRef) => Promise<AccountRef>;

const moveToWorkspace: Attack = async ({ accountId }) => {
  const workspaceId = await fixture.createWorkspace();
  await fixture.sql`update accounts set workspace_id = ${workspaceId} where id = ${accountId}`;
  await fixture.sql`
    update credentials set workspace_id = ${workspaceId} where account_id = ${accountId}`;
  return { workspaceId, accountId };
};

const copyToAccount: Attack = async (own, other) => {
  await fixture.sql`
    update credentials c
    set access_token = o.access_token, refresh_token = o.refresh_token, attributes = o.attributes
    from credentials o
    where o.account_id = ${own.accountId} and c.account_id = ${other.accountId}`;
  return other;
};

const changePlatform: Attack = async (own) => {
  await fixture.sql`update accounts set platform = 'x' where id = ${own.accountId}`;
  return own;
};

const changeExternalId: Attack = async (own) => {
  await fixture.sql`update accounts set external_id = 'another' where id = ${own.accountId}`;
  return own;
};

const changeServer: Attack = async (own) => {
  await fixture.sql`
    update credentials
    set attributes = attributes || '{"pdsUrl": "https://attacker.example"}'
    where account_id = ${own.accountId}`;
  return own;
};

const changeTypes: Attack = async (own) => {
  await fixture.sql`
    update credentials set attributes = '{"pdsUrl": 1}' where account_id = ${own.accountId}`;
  return own;
};

const removeAttributes: Attack = async (own) => {
  await fixture.sql`update credentials set attributes = 'null' where account_id = ${own.accountId}`;
  return own;
};

const ATTACKS: readonly (readonly [string, string, Attack])[] = [
  ["its account is moved to another workspace", "bluesky", moveToWorkspace],
  ["it is copied to another account of the workspace", "bluesky", copyToAccount],
  ["its account is given another platform", "bluesky", changePlatform],
  ["its account is given another external id", "bluesky", changeExternalId],
  ["its account is given another server", "bluesky", changeServer],
  ["the type of its account's server is changed", "bluesky", changeTypes],
  ["its account's Facebook Page is removed", "instagram", removeAttributes],
];

async function attack(platform: string, change: Attack): Promise<AccountRef> {
  const [own, other] = [await fixture.connect(platform), await fixture.connect(platform)];
  expect(await fixture.credentialsOf([own, other])).toMatchObject([
    { accountStatus: "active" },
    { accountStatus: "active" },
  ]);
  return await change(own, other);
}

test.each(ATTACKS)(
  "an access token is not returned after %s, and the account needs a reconnect",
  async (_what, platform, change) => {
    const changed = await attack(platform, change);
    expect(await fixture.credentialOf(changed)).toMatchObject({
      accountStatus: "reconnect_required",
      accessToken: "",
    });
    expect(await statusOf(changed)).toBe("reconnect_required");
  },
);

test.each(ATTACKS.filter(([, platform]) => platform === "bluesky"))(
  "a refresh token is not sent to any platform after %s, and the account needs a reconnect",
  async (_what, platform, change) => {
    const changed = await attack(platform, change);
    const { credential } = await fixture.app.credentials.refreshCredential({
      ref: changed,
      refusedVersion: 1n,
    });
    expect(credential).toMatchObject({ accountStatus: "reconnect_required", accessToken: "" });
    expect(await statusOf(changed)).toBe("reconnect_required");
    for (const each of ["bluesky", "x"])
      expect(await fixture.control.countCalls(each, "refresh")).toBe(0);
  },
);

test("the job that refreshes unused tokens does not send the refresh token of an account whose server was changed in the database", async () => {
  const changed = await attack("bluesky", changeServer);
  await fixture.sql`
    update credentials set renew_at = now() - interval '1 second'
    where account_id = ${changed.accountId}`;
  const { sql, app } = fixture;
  const refreshTokens = app.refresher.refresh.bind(app.refresher);
  await refreshIdleBatch({ sql, logger, deploymentId: DEPLOYMENT, refreshTokens });
  expect(await fixture.control.countCalls("bluesky", "refresh")).toBe(0);
  expect(await statusOf(changed)).toBe("reconnect_required");
});

test("disconnecting an account whose server was changed in the database sends its tokens nowhere", async () => {
  const changed = await attack("bluesky", changeServer);
  expect(await fixture.app.accounts.disconnectAccount({ ref: changed })).toMatchObject({
    revocation: "not_attempted",
  });
  expect(await fixture.control.countCalls("bluesky", "revoke")).toBe(0);
});

test("an account whose server was changed in the database works again after it is connected again", async () => {
  const own = await fixture.connect("bluesky", "alice");
  await changeServer(own, own);
  await fixture.credentialOf(own);
  expect(await fixture.connect("bluesky", "alice")).toEqual(own);
  expect(await fixture.credentialOf(own)).toMatchObject({
    accountStatus: "active",
    attributes: {},
  });
});

test("refreshed tokens are bound to the same account and the same server as the tokens that they replace", async () => {
  const ref = await fixture.connect("bluesky");
  const before = await fixture.credentialOf(ref);
  const { credential } = await fixture.app.credentials.refreshCredential({
    ref,
    refusedVersion: 1n,
  });
  expect(credential).toMatchObject({ accountStatus: "active", version: 2n });
  expect(credential?.accessToken).not.toBe(before?.accessToken);
  await changeServer(ref, ref);
  expect(await fixture.credentialOf(ref)).toMatchObject({ accountStatus: "reconnect_required" });
});

test("a token that was encrypted without binding it to its account is refused, and the account needs a reconnect", async () => {
  const ref = await fixture.connect("x");
  const place = { table: "credentials", rowId: ref.accountId, column: "access_token" };
  const text = seal([KEY], place, "token", newNonce());
  await fixture.sql`update credentials set access_token = ${text} where account_id = ${ref.accountId}`;
  expect(await fixture.credentialOf(ref)).toMatchObject({
    accountStatus: "reconnect_required",
    accessToken: "",
  });
});

test.each(["workspace_id", "platform", "browser_hash"])(
  "an authorization cannot be finished after its `%s` was changed in the database",
  async (column) => {
    const { workspaceId } = fixture;
    const { authorizations } = fixture.app;
    await fixture.control.settings({ authorize: "approve" });
    const { url } = await authorizations.issueConnectLink({ workspaceId, platform: "x" });
    const [browser, attacker] = ["b".repeat(43), "a".repeat(43)];
    const linkSecret = url.split("/").at(-1) ?? "";
    const { authorizeUrl } = await authorizations.openConnectLink({ linkSecret, browser });
    const values = {
      workspace_id: await fixture.createWorkspace(),
      platform: "youtube",
      browser_hash: hashSecret(attacker),
    };
    const change = { [column]: values[column as keyof typeof values] };
    await fixture.sql`update authorizations set ${fixture.sql(change)}`;
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
