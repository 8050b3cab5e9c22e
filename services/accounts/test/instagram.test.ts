import { createInstagramConnector } from "@postrider/platforms/instagram/authorization";
import type { Simulator } from "@postrider/simulator/simulator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSimulator } from "./accounts-app.ts";

let simulator: Simulator;

beforeAll(async () => {
  simulator = await createSimulator();
});
afterAll(() => simulator[Symbol.asyncDispose]());

const signal = AbortSignal.timeout(60_000);
const app = () => ({
  baseUrl: `${simulator.url}/instagram`,
  version: "v25.0",
  authorizeUrl: `${simulator.url}/instagram/v25.0/dialog/oauth`,
  clientId: "app",
  clientSecret: "secret",
});

const urls = () => ({
  baseUrl: `${simulator.url}/instagram/login`,
  oauthBaseUrl: `${simulator.url}/instagram/login`,
  authorizeUrl: `${simulator.url}/instagram/login/oauth/authorize`,
});
const createConnector = () => createInstagramConnector(app(), "facebook", urls());

async function control(path: string, body: unknown): Promise<unknown> {
  const answer = await fetch(`${simulator.url}/_control/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return await answer.json();
}

async function login(): Promise<Readonly<Record<string, string>>> {
  const { accounts } = (await control("accounts", {
    platform: "instagram",
    username: "quiet.harbour",
  })) as { accounts: { credentials: Record<string, string> }[] };
  return accounts[0]?.credentials ?? {};
}

test("an account is the one behind the Page whose token it is, and the token does not end", async () => {
  const credentials = await login();
  const result = await createConnector().connect(credentials, signal);
  const tokens = result.kind === "connected" ? result.connection.tokens : undefined;
  expect(tokens).toEqual({ accessToken: credentials.accessToken });
  expect(result).toMatchObject({
    kind: "connected",
    connection: {
      externalId: expect.stringMatching(/^\d+$/) as string,
      username: "quiet.harbour",
      attributes: { pageId: expect.stringMatching(/^\d+$/) as string },
    },
  });
});

test("a token that does not work is refused, a platform that does not answer proves nothing", async () => {
  const instagram = createConnector();
  expect(await instagram.connect({ accessToken: "EAAnonsense" }, signal)).toMatchObject({
    kind: "refused",
  });
  expect(await instagram.connect({}, signal)).toMatchObject({ kind: "refused" });
  const credentials = await login();
  for (const mode of ["drop_before", "garbage_body"]) {
    await control("faults", { platform: "instagram", operation: "account", mode });
    expect(await instagram.connect(credentials, signal)).toMatchObject({ kind: "unavailable" });
  }
});
