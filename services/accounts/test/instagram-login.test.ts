import { createInstagramConnector } from "@postrider/platforms/instagram/authorization";
import { createLogger } from "@postrider/shared/telemetry/logger";
import type { TestDatabase } from "@postrider/shared/testing/database";
import type { Simulator } from "@postrider/simulator/simulator";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { renewIdleBatch } from "#src/jobs/renew-idle-credentials.ts";
import {
  createApp,
  createDatabase,
  createSimulator,
  DEPLOYMENT,
  type AccountsApp,
} from "./accounts-app.ts";
import { createSimulatorControl, type SimulatorControl } from "./simulator-control.ts";

const DAY_MS = 86_400_000;
const signal = AbortSignal.timeout(120_000);
const logger = createLogger({ service: "test", level: "silent" });
const REDIRECT = "https://postrider.example/connect/callback";

let database: TestDatabase;
let simulator: Simulator;
let control: SimulatorControl;
let app: AccountsApp;

beforeAll(async () => {
  [database, simulator] = await Promise.all([createDatabase(), createSimulator()]);
  control = createSimulatorControl(simulator.url);
  app = createApp(database, { simulatorUrl: simulator.url, instagramLogin: "instagram" });
});
beforeEach(() => control.reset());
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await Promise.all([database[Symbol.asyncDispose](), simulator[Symbol.asyncDispose]()]);
});

const base = () => `${simulator.url}/instagram/login`;
const createConnector = () =>
  createInstagramConnector(
    {
      baseUrl: `${simulator.url}/instagram`,
      version: "v25.0",
      authorizeUrl: `${simulator.url}/instagram/v25.0/dialog/oauth`,
      clientId: "app",
      clientSecret: "secret",
    },
    "instagram",
    { baseUrl: base(), oauthBaseUrl: base(), authorizeUrl: `${base()}/oauth/authorize` },
  );

async function advance(advanceMs: number): Promise<void> {
  await fetch(`${simulator.url}/_control/clock`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ advanceMs }),
  });
}

/** The code with which the platform sends a person back who approved. */
async function approve(): Promise<string> {
  await control.settings({ authorize: "approve" });
  const authorization = createConnector().authorization;
  const page = authorization?.authorizeUrl({
    redirectUri: REDIRECT,
    state: "s".repeat(32),
    codeChallenge: "unused",
  });
  const answer = await fetch(page ?? "", { redirect: "manual" });
  return new URL(answer.headers.get("location") ?? "").searchParams.get("code") ?? "";
}

async function exchange(code: string, redirectUri = REDIRECT) {
  const grant = { code, redirectUri, codeVerifier: "unused" };
  return await createConnector().authorization?.exchange(grant, signal);
}

test("a code brings the account itself and a token of 60 days, once", async () => {
  const code = await approve();
  // As it stands in the address that Instagram sends people back to.
  const granted = await exchange(`${code}#_`);
  expect(granted).toMatchObject({
    kind: "granted",
    connections: [
      {
        externalId: expect.stringMatching(/^\d+$/) as string,
        attributes: { login: "instagram" },
        tokens: { lifetimeMs: 60 * DAY_MS, refreshLifetimeMs: 60 * DAY_MS },
      },
    ],
  });
  if (granted?.kind !== "granted") throw new Error("nothing was granted");
  const [{ tokens } = { tokens: undefined }] = granted.connections;
  expect(tokens?.accessToken).toMatch(/^IGAA/);
  expect(tokens?.refreshToken).toBe(tokens?.accessToken);
  expect(await exchange(code)).toMatchObject({ kind: "refused" });
  expect(await exchange(await approve(), "https://elsewhere.example/")).toMatchObject({
    kind: "refused",
  });
});

test("a token endpoint that does not answer disconnects nobody", async () => {
  for (const fault of [
    { mode: "drop_before" },
    { mode: "garbage_body" },
    { mode: "status", status: 503 },
  ]) {
    const code = await approve();
    await control.fault({ platform: "instagram", operation: "POST /login/oauth/*", ...fault });
    expect(await exchange(code)).toMatchObject({ kind: "unavailable" });
  }
});

test("a token is renewed when it is a day old, and never when it has ended", async () => {
  const granted = await exchange(await approve());
  if (granted?.kind !== "granted") throw new Error("nothing was granted");
  const first = granted.connections[0]?.tokens.accessToken ?? "";
  const refresh = (refreshToken: string) =>
    createConnector().refresh?.({ refreshToken, attributes: {} }, signal);
  // Too young is no reason to give the account up.
  expect(await refresh(first)).toMatchObject({ kind: "unavailable" });
  await advance(DAY_MS);
  const renewed = await refresh(first);
  expect(renewed).toMatchObject({ kind: "renewed", tokens: { lifetimeMs: 60 * DAY_MS } });
  if (renewed?.kind !== "renewed") throw new Error("it was not renewed");
  await advance(60 * DAY_MS);
  expect(await refresh(first)).toMatchObject({ kind: "refused" });
  expect(await refresh(renewed.tokens.accessToken)).toMatchObject({ kind: "refused" });
});

test("the tokens of an account that nobody uses are renewed after 30 days, whichever login is set up", async () => {
  const workspaceId = (await app.workspaces.createWorkspace({ name: "Test" })).workspace?.id ?? "";
  const request = { workspaceId, platform: "instagram", count: 1 };
  const [account] = (await app.accounts.connectSimulatedAccounts(request)).accounts;
  const ref = { workspaceId, accountId: account?.id ?? "" };
  const read = async () =>
    (await app.credentials.batchGetCredentials({ refs: [ref] })).credentials[0];
  const before = await read();
  expect(before).toMatchObject({ attributes: { login: "instagram" }, version: 1n });
  const [row] = await database.sql<{ days: number }[]>`
    select round(extract(epoch from renew_at - now()) / 86400)::int as days
    from credentials where account_id = ${ref.accountId}`;
  expect(row).toEqual({ days: 30 });
  await advance(30 * DAY_MS);
  await database.sql`update credentials set renew_at = now() where account_id = ${ref.accountId}`;
  await using later = createApp(database, { simulatorUrl: simulator.url });
  const renew = later.refresher.refresh.bind(later.refresher);
  await renewIdleBatch({ sql: database.sql, logger, deploymentId: DEPLOYMENT, refresh: renew });
  const after = await read();
  expect(after).toMatchObject({ attributes: { login: "instagram" }, version: 2n });
  expect(after?.accessToken).not.toBe(before?.accessToken);
});
