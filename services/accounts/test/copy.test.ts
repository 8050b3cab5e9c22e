import { createLogger } from "@postrider/shared/telemetry/logger";
import type { TestDatabase } from "@postrider/shared/testing/database";
import type { Simulator } from "@postrider/simulator/simulator";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { insertDeployment } from "#src/db/deployment.ts";
import { renewIdleBatch } from "#src/jobs/renew-idle-credentials.ts";
import {
  createApp,
  createDatabase,
  createSimulator,
  DEPLOYMENT,
  type AccountsApp,
} from "./accounts-app.ts";
import { createSimulatorControl, type SimulatorControl } from "./simulator-control.ts";

/** Whose tokens these are, and a copy of its data under the name of another deployment. */
const COPY = "copy";
const logger = createLogger({ service: "test", level: "silent" });

let database: TestDatabase;
let simulator: Simulator;
let control: SimulatorControl;
let original: AccountsApp;
let copy: AccountsApp;
let workspaceId: string;

beforeAll(async () => {
  [database, simulator] = await Promise.all([createDatabase(), createSimulator()]);
  control = createSimulatorControl(simulator.url);
  original = createApp(database, { simulatorUrl: simulator.url });
  copy = createApp(database, { simulatorUrl: simulator.url, deploymentId: COPY });
});
beforeEach(async () => {
  await control.reset();
  await database.sql`update deployment set deployment_id = ${DEPLOYMENT}`;
  workspaceId = (await original.workspaces.createWorkspace({ name: "Test" })).workspace?.id ?? "";
});
afterAll(async () => {
  await original[Symbol.asyncDispose]();
  await copy[Symbol.asyncDispose]();
  await Promise.all([database[Symbol.asyncDispose](), simulator[Symbol.asyncDispose]()]);
});

async function connect(platform: string) {
  const request = { workspaceId, platform, count: 1 };
  const { accounts } = await original.accounts.connectSimulatedAccounts(request);
  return { workspaceId, accountId: accounts[0]?.id ?? "" };
}

type Ref = Awaited<ReturnType<typeof connect>>;

/** More than half of its life is over, and the time has come to renew it though nobody uses it. */
async function age({ accountId }: Ref): Promise<void> {
  await database.sql`
    update credentials
    set issued_at = now() - interval '1 year',
      expires_at = now() + interval '1 hour',
      renew_at = now() - interval '1 second'
    where account_id = ${accountId}`;
}

async function renewIdle(app: AccountsApp, deploymentId: string): Promise<void> {
  const refresh = app.refresher.refresh.bind(app.refresher);
  await renewIdleBatch({ sql: database.sql, logger, deploymentId, refresh });
}

async function credentialOf(app: AccountsApp, ref: Ref) {
  const { credentials } = await app.credentials.batchGetCredentials({ refs: [ref] });
  await app.refresher.settled();
  return credentials[0];
}

test.each(["x", "tiktok", "youtube", "bluesky"])(
  "%s: a copy uses up no token of the original, until it is adopted",
  async (platform) => {
    const ref = await connect(platform);
    await age(ref);

    await renewIdle(copy, COPY);
    const held = await credentialOf(copy, ref);
    expect(held).toMatchObject({ accountStatus: "active", version: 1n });
    expect(held?.accessToken).not.toBe("");
    expect(await copy.refresher.refresh({ ...ref, platform, version: 1 })).toBe("busy");
    expect(await control.countCalls(platform, "refresh")).toBe(0);
    // What is due stays due for whom it belongs to.
    await renewIdle(original, DEPLOYMENT);
    expect(await control.outcomes(platform, "refresh")).toEqual(["done"]);
    await age(ref);

    expect(await copy.recovery.adoptData({})).toMatchObject({ adopted: true });
    await renewIdle(original, DEPLOYMENT);
    await renewIdle(copy, COPY);
    expect(await control.outcomes(platform, "refresh")).toEqual(["done", "done"]);
    expect(await credentialOf(copy, ref)).toMatchObject({ accountStatus: "active", version: 3n });
  },
);

test.each(["x", "tiktok", "youtube", "bluesky"])(
  "%s: a disconnect in a copy takes nothing away from the original",
  async (platform) => {
    const ref = await connect(platform);
    const { revocation, reason } = await copy.accounts.disconnectAccount({ ref });
    expect([revocation, reason]).toEqual(["not_attempted", "app_wide_grant"]);
    expect(await control.countCalls(platform, "revoke")).toBe(0);
    // Here it is gone all the same.
    expect(await credentialOf(copy, ref)).toMatchObject({ accountStatus: "disconnected" });
  },
);

test.each([
  ["system_identifier", { system_identifier: "1" }],
  ["database", { database_oid: 1 }],
  ["deployment", { deployment_id: "production" }],
])("data of another %s is held and says so, and is adopted once", async (reason, change) => {
  await database.sql`update deployment set ${database.sql(change)}`;
  const ref = await connect("x");
  await age(ref);
  await credentialOf(original, ref);
  expect(await control.countCalls("x", "refresh")).toBe(0);
  expect(await original.recovery.getRecovery({})).toMatchObject({ heldBecause: reason });

  const adoptions = await Promise.all([1, 2, 3].map(() => original.recovery.adoptData({})));
  expect(adoptions.filter(({ adopted }) => adopted)).toHaveLength(1);
  expect(await original.recovery.getRecovery({})).toMatchObject({ heldBecause: "" });
  await credentialOf(original, ref);
  expect(await control.countCalls("x", "refresh")).toBe(1);
});

test("of data that nobody has looked at yet nothing is said and nothing is used", async () => {
  const ref = await connect("x");
  await age(ref);
  const [row] = await database.sql<{ deploymentId: string }[]>`delete from deployment returning *`;
  await credentialOf(original, ref);
  expect(await control.countCalls("x", "refresh")).toBe(0);
  await expect(original.recovery.getRecovery({})).rejects.toMatchObject({ reason: "unavailable" });
  await expect(original.recovery.adoptData({})).rejects.toMatchObject({ reason: "unavailable" });
  expect(row?.deploymentId).toBe(DEPLOYMENT);
  await insertDeployment(database.sql, DEPLOYMENT);
  expect(await original.recovery.getRecovery({})).toMatchObject({ heldBecause: "" });
});
