import { createInstagramAuthorizationConnector } from "@postrider/platforms/instagram/authorization";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { expect, test } from "vitest";
import { refreshIdleBatch } from "#src/jobs/refresh-idle-credentials.ts";
import { DEPLOYMENT } from "./accounts-app.ts";
import { setUpAccounts } from "./accounts-fixture.ts";

const DAY_MS = 86_400_000;
const signal = AbortSignal.timeout(120_000);
const logger = createLogger({ service: "test", level: "silent" });
const REDIRECT = "https://postrider.example/connect/callback";

const fixture = setUpAccounts({ instagramLogin: "instagram" });

const base = () => `${fixture.simulatorUrl}/instagram/login`;
const createConnector = () =>
  createInstagramAuthorizationConnector({
    baseUrl: `${fixture.simulatorUrl}/instagram`,
    version: "v25.0",
    authorizeUrl: `${fixture.simulatorUrl}/instagram/v25.0/dialog/oauth`,
    clientId: "app",
    clientSecret: "secret",
    login: "instagram",
    instagramLogin: {
      baseUrl: base(),
      oauthBaseUrl: base(),
      authorizeUrl: `${base()}/oauth/authorize`,
    },
  });

async function advance(advanceMs: number): Promise<void> {
  await fetch(`${fixture.simulatorUrl}/_control/clock`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ advanceMs }),
  });
}

/**
 * Approves on Instagram's authorization page and returns the code with which the browser is sent
 * back.
 */
async function approve(): Promise<string> {
  await fixture.control.settings({ authorize: "approve" });
  const authorization = createConnector().codeFlow;
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
  return await createConnector().codeFlow?.exchange(grant, signal);
}

test("an authorization code of Instagram Login is exchanged once, for the account and a token of 60 days", async () => {
  const code = await approve();
  // Instagram appends #_ to the address to which it sends the browser back.
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

test("a code exchange of Instagram Login is reported as unavailable when the token endpoint fails", async () => {
  for (const fault of [
    { mode: "drop_before" },
    { mode: "garbage_body" },
    { mode: "status", status: 503 },
  ]) {
    const code = await approve();
    await fixture.control.fault({
      platform: "instagram",
      operation: "POST /login/oauth/*",
      ...fault,
    });
    expect(await exchange(code)).toMatchObject({ kind: "unavailable" });
  }
});

test("a token of Instagram Login can be refreshed when it is at least a day old, and not after it has expired", async () => {
  const granted = await exchange(await approve());
  if (granted?.kind !== "granted") throw new Error("nothing was granted");
  const first = granted.connections[0]?.tokens.accessToken ?? "";
  const refresh = (refreshToken: string) =>
    createConnector().refresh?.({ refreshToken, attributes: {} }, signal);
  // Instagram refuses to refresh a token that is less than a day old; the account stays connected.
  expect(await refresh(first)).toMatchObject({ kind: "unavailable" });
  await advance(DAY_MS);
  const renewed = await refresh(first);
  expect(renewed).toMatchObject({ kind: "renewed", tokens: { lifetimeMs: 60 * DAY_MS } });
  if (renewed?.kind !== "renewed") throw new Error("it was not renewed");
  await advance(60 * DAY_MS);
  expect(await refresh(first)).toMatchObject({ kind: "refused" });
  expect(await refresh(renewed.tokens.accessToken)).toMatchObject({ kind: "refused" });
});

test("unused tokens of Instagram Login are refreshed after 30 days, even when the service is configured for Facebook Login", async () => {
  const ref = await fixture.connect("instagram");
  const before = await fixture.credentialOf(ref);
  expect(before).toMatchObject({ attributes: { login: "instagram" }, version: 1n });
  const [row] = await fixture.sql<{ days: number }[]>`
    select round(extract(epoch from renew_at - now()) / 86400)::int as days
    from credentials where account_id = ${ref.accountId}`;
  expect(row).toEqual({ days: 30 });
  await advance(30 * DAY_MS);
  await fixture.sql`update credentials set renew_at = now() where account_id = ${ref.accountId}`;
  await using later = fixture.createReplica();
  const refreshTokens = later.refresher.refresh.bind(later.refresher);
  await refreshIdleBatch({ sql: fixture.sql, logger, deploymentId: DEPLOYMENT, refreshTokens });
  const after = await fixture.credentialOf(ref);
  expect(after).toMatchObject({ attributes: { login: "instagram" }, version: 2n });
  expect(after?.accessToken).not.toBe(before?.accessToken);
});
