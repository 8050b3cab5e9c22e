import { createLogger } from "@postrider/shared/telemetry/logger";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { refreshIdleBatch } from "#src/jobs/refresh-idle-credentials.ts";
import { DEPLOYMENT, type AccountsApp } from "./accounts-app.ts";
import { setUpAccounts, type AccountRef } from "./accounts-fixture.ts";

const COPY = "copy";
const logger = createLogger({ service: "test", level: "silent" });

const fixture = setUpAccounts();
/** A replica of the accounts service of another deployment, which works on a copy of the data. */
let copy: AccountsApp;

beforeAll(() => {
  copy = fixture.createReplica({ deploymentId: COPY });
});
beforeEach(async () => {
  await fixture.sql`update deployment set deployment_id = ${DEPLOYMENT}`;
});
afterAll(() => copy[Symbol.asyncDispose]());

/**
 * Makes the access token of an account due for a refresh on its next use, and the refresh token due
 * for a refresh by the job that refreshes unused tokens.
 */
async function makeDue({ accountId }: AccountRef): Promise<void> {
  await fixture.sql`
    update credentials
    set issued_at = now() - interval '1 year',
      expires_at = now() + interval '1 hour',
      renew_at = now() - interval '1 second'
    where account_id = ${accountId}`;
}

async function refreshIdle(app: AccountsApp, deploymentId: string): Promise<void> {
  const refreshTokens = app.refresher.refresh.bind(app.refresher);
  await refreshIdleBatch({ sql: fixture.sql, logger, deploymentId, refreshTokens });
}

async function credentialOf(from: AccountsApp, ref: AccountRef) {
  const credential = await fixture.credentialOf(ref, from);
  await from.refresher.settled();
  return credential;
}

test.each(["x", "tiktok", "youtube", "bluesky"])(
  "a deployment that runs on a copy of another deployment's data does not refresh tokens of %s until an operator adopts the copy",
  async (platform) => {
    const ref = await fixture.connect(platform);
    await makeDue(ref);

    await refreshIdle(copy, COPY);
    const held = await credentialOf(copy, ref);
    expect(held).toMatchObject({ accountStatus: "active", version: 1n });
    expect(held?.accessToken).not.toBe("");
    expect(await copy.refresher.refresh({ ...ref, platform, version: 1 })).toBe("busy");
    expect(await fixture.control.countCalls(platform, "refresh")).toBe(0);
    // The original deployment can still refresh the tokens.
    await refreshIdle(fixture.app, DEPLOYMENT);
    expect(await fixture.control.outcomes(platform, "refresh")).toEqual(["done"]);
    await makeDue(ref);

    expect(await copy.recovery.adoptData({})).toMatchObject({ adopted: true });
    await refreshIdle(fixture.app, DEPLOYMENT);
    await refreshIdle(copy, COPY);
    expect(await fixture.control.outcomes(platform, "refresh")).toEqual(["done", "done"]);
    expect(await credentialOf(copy, ref)).toMatchObject({ accountStatus: "active", version: 3n });
  },
);

test.each(["x", "tiktok", "youtube", "bluesky"])(
  "disconnecting an account of %s in a copy of another deployment's data does not revoke the tokens of the original deployment",
  async (platform) => {
    const ref = await fixture.connect(platform);
    const { revocation, reason } = await copy.accounts.disconnectAccount({ ref });
    expect([revocation, reason]).toEqual(["not_attempted", "app_wide_grant"]);
    expect(await fixture.control.countCalls(platform, "revoke")).toBe(0);
    // The account is disconnected in the copy of the data.
    expect(await credentialOf(copy, ref)).toMatchObject({ accountStatus: "disconnected" });
  },
);

test.each([
  ["cluster", "system_identifier", { system_identifier: "1" }],
  ["database", "database", { database_oid: 1 }],
  ["deployment", "deployment", { deployment_id: "production" }],
])(
  "tokens in a copy from another %s are not refreshed before AdoptData, and only one of three concurrent AdoptData calls takes effect",
  async (_name, reason, change) => {
    await fixture.sql`update deployment set ${fixture.sql(change)}`;
    const ref = await fixture.connect("x");
    await makeDue(ref);
    await credentialOf(fixture.app, ref);
    expect(await fixture.control.countCalls("x", "refresh")).toBe(0);
    expect(await fixture.app.recovery.getRecovery({})).toMatchObject({ heldBecause: reason });

    const adoptions = await Promise.all([1, 2, 3].map(() => fixture.app.recovery.adoptData({})));
    expect(adoptions.filter(({ adopted }) => adopted)).toHaveLength(1);
    expect(await fixture.app.recovery.getRecovery({})).toMatchObject({ heldBecause: "" });
    await credentialOf(fixture.app, ref);
    expect(await fixture.control.countCalls("x", "refresh")).toBe(1);
  },
);

test("the accounts service refreshes no tokens before the database contains the name of the deployment that the data belongs to", async () => {
  const ref = await fixture.connect("x");
  await makeDue(ref);
  await fixture.sql`delete from deployment`;
  await credentialOf(fixture.app, ref);
  expect(await fixture.control.countCalls("x", "refresh")).toBe(0);
  expect(await fixture.app.recovery.getRecovery({})).toMatchObject({ heldBecause: "" });
  await credentialOf(fixture.app, ref);
  expect(await fixture.control.countCalls("x", "refresh")).toBe(1);
});
