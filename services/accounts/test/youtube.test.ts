import { createHash } from "node:crypto";
import type { Connector, LoginValues, Tokens } from "@postrider/platforms/authorization/connector";
import { createYoutubeConnector } from "@postrider/platforms/youtube/authorization";
import type { Simulator } from "@postrider/simulator/simulator";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createSimulator } from "./accounts-app.ts";
import { createSimulatorControl, type SimulatorControl } from "./simulator-control.ts";

const signal = new AbortController().signal;

let simulator: Simulator;
let control: SimulatorControl;
let youtube: Connector;

beforeAll(async () => {
  simulator = await createSimulator();
  control = createSimulatorControl(simulator.url);
  const baseUrl = `${simulator.url}/youtube`;
  youtube = createYoutubeConnector({
    baseUrl,
    oauthBaseUrl: baseUrl,
    authorizeUrl: `${baseUrl}/o/oauth2/v2/auth`,
    clientId: "app",
    clientSecret: "secret",
  });
});
afterAll(() => simulator[Symbol.asyncDispose]());
beforeEach(() => control.reset());

async function createLogin(): Promise<LoginValues> {
  const answer = await fetch(`${simulator.url}/_control/accounts`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ platform: "youtube" }),
  });
  const { accounts } = (await answer.json()) as { accounts: { credentials: LoginValues }[] };
  return accounts[0]?.credentials ?? {};
}

async function connect(): Promise<Tokens> {
  const result = await youtube.connect(await createLogin(), signal);
  if (result.kind !== "connected") throw new Error(result.message);
  return result.connection.tokens;
}

const refresh = ({ refreshToken = "" }: Tokens) =>
  youtube.refresh?.({ refreshToken, attributes: {} }, signal);
const revoke = ({ accessToken, refreshToken }: Tokens) =>
  youtube.revoke?.({ accessToken, refreshToken, attributes: {} }, signal);

describe("connecting a channel", () => {
  test("names it by its handle and shows its picture", async () => {
    const result = await youtube.connect(await createLogin(), signal);
    expect(result).toMatchObject({
      kind: "connected",
      connection: {
        externalId: expect.stringMatching(/^UC[\w-]{22}$/) as string,
        username: expect.stringMatching(/^[a-z]+\d+$/) as string,
        avatarUrl: expect.stringMatching(/^https:/) as string,
        tokens: { lifetimeMs: 3_600_000 },
      },
    });
  });

  test("with a token that is worth nothing is refused", async () => {
    const login = { ...(await createLogin()), accessToken: "nonsense" };
    expect(await youtube.connect(login, signal)).toMatchObject({ kind: "refused" });
    expect(await youtube.connect({}, signal)).toMatchObject({ kind: "refused" });
  });

  test.each([403, 429, 500, 503])(
    "answered with %i says nothing about the channel",
    async (status) => {
      await control.fault({ platform: "youtube", operation: "account", mode: "status", status });
      expect(await youtube.connect(await createLogin(), signal)).toMatchObject({
        kind: "unavailable",
      });
    },
  );
});

describe("renewing tokens", () => {
  test("keeps the refresh token, which works again", async () => {
    const tokens = await connect();
    const renewed = await refresh(tokens);
    expect(renewed).toMatchObject({
      kind: "renewed",
      tokens: { refreshToken: tokens.refreshToken, lifetimeMs: 3_600_000 },
    });
    expect(await refresh(tokens)).toMatchObject({ kind: "renewed" });
  });

  test("is refused for good when the grant has ended", async () => {
    const tokens = await connect();
    expect(await revoke(tokens)).toEqual({ kind: "confirmed" });
    expect(await refresh(tokens)).toMatchObject({ kind: "refused" });
    expect(await revoke(tokens)).toMatchObject({ kind: "refused" });
  });

  test.each(["drop_before", "garbage_body"])("after %s is tried again later", async (mode) => {
    const tokens = await connect();
    await control.fault({ platform: "youtube", operation: "refresh", mode });
    expect(await refresh(tokens)).toMatchObject({ kind: "unavailable" });
    expect(await refresh(tokens)).toMatchObject({ kind: "renewed" });
  });

  test.each([400, 401, 429, 503])(
    "answered with %i says nothing about the account",
    async (status) => {
      const tokens = await connect();
      await control.fault({ platform: "youtube", operation: "refresh", mode: "status", status });
      expect(await refresh(tokens)).toMatchObject({ kind: "unavailable" });
    },
  );
});

test("the link to Google's page asks for a token that can be renewed, and for PKCE", () => {
  const url = new URL(
    youtube.authorization?.authorizeUrl({
      redirectUri: "https://postrider.example/connect",
      state: "state",
      codeChallenge: "challenge",
    }) ?? "",
  );
  expect(Object.fromEntries(url.searchParams)).toMatchObject({
    response_type: "code",
    access_type: "offline",
    prompt: "consent",
    state: "state",
    code_challenge: "challenge",
    code_challenge_method: "S256",
  });
});

describe("Google's page", () => {
  const redirectUri = "https://postrider.example/connect";
  const state = "s".repeat(43);
  const codeVerifier = "v".repeat(43);
  const codeChallenge = createHash("sha256").update(codeVerifier).digest("base64url");

  async function approve(): Promise<string> {
    await fetch(`${simulator.url}/_control/settings`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ authorize: "approve" }),
    });
    const request = { redirectUri, state, codeChallenge };
    const url = youtube.authorization?.authorizeUrl(request) ?? "";
    const answer = await fetch(url, { redirect: "manual" });
    const back = new URL(answer.headers.get("location") ?? "");
    expect(back.searchParams.get("state")).toBe(state);
    return back.searchParams.get("code") ?? "";
  }

  test("sends back with a code that gives tokens, once", async () => {
    const grant = { code: await approve(), redirectUri, codeVerifier };
    const exchange = () => youtube.authorization?.exchange(grant, signal);
    expect(await exchange()).toMatchObject({
      kind: "granted",
      connections: [{ tokens: { refreshToken: expect.any(String) as string } }],
    });
    expect(await exchange()).toMatchObject({ kind: "refused" });
  });

  test("gives nothing for a code to who cannot show the verifier", async () => {
    const grant = { code: await approve(), redirectUri, codeVerifier: "w".repeat(43) };
    expect(await youtube.authorization?.exchange(grant, signal)).toMatchObject({ kind: "refused" });
  });
});
