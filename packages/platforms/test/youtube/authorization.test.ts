import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type {
  AuthorizationConnector,
  EnteredCredentials,
  Tokens,
} from "#src/authorization/connector.ts";
import { createYoutubeAuthorizationConnector } from "#src/youtube/authorization.ts";
import { signal, startTestPlatform } from "../test-platform.ts";

const platform = await startTestPlatform("youtube");
const youtube: AuthorizationConnector = createYoutubeAuthorizationConnector({
  baseUrl: platform.url,
  oauthBaseUrl: platform.url,
  authorizeUrl: `${platform.url}/o/oauth2/v2/auth`,
  clientId: "app",
  clientSecret: "secret",
});

async function createCredentials(): Promise<EnteredCredentials> {
  return (await platform.createAccount()).credentials;
}

async function connect(): Promise<Tokens> {
  const result = await youtube.connect(await createCredentials(), signal);
  if (result.kind !== "connected") throw new Error(result.message);
  return result.connection.tokens;
}

const refresh = ({ refreshToken = "" }: Tokens) =>
  youtube.refresh?.({ refreshToken, attributes: {} }, signal);
const revoke = ({ accessToken, refreshToken }: Tokens) =>
  youtube.revoke?.({ accessToken, refreshToken, attributes: {} }, signal);

describe("connecting a YouTube channel", () => {
  test("the YouTube connector uses the handle of a channel as its name and returns the picture of the channel", async () => {
    const result = await youtube.connect(await createCredentials(), signal);
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

  test("the YouTube connector refuses an invalid token", async () => {
    const credentials = { ...(await createCredentials()), accessToken: "nonsense" };
    expect(await youtube.connect(credentials, signal)).toMatchObject({ kind: "refused" });
    expect(await youtube.connect({}, signal)).toMatchObject({ kind: "refused" });
  });

  test.each([403, 429, 500, 503])(
    "YouTube is reported as unavailable when it answers the request for a channel with HTTP %i",
    async (status) => {
      await platform.addFault("account", "status", { status });
      expect(await youtube.connect(await createCredentials(), signal)).toMatchObject({
        kind: "unavailable",
      });
    },
  );
});

describe("refreshing YouTube tokens", () => {
  test("a token refresh keeps YouTube's refresh token, which can be used again", async () => {
    const tokens = await connect();
    const renewed = await refresh(tokens);
    expect(renewed).toMatchObject({
      kind: "renewed",
      tokens: { refreshToken: tokens.refreshToken, lifetimeMs: 3_600_000 },
    });
    expect(await refresh(tokens)).toMatchObject({ kind: "renewed" });
  });

  test("a token refresh is refused when the YouTube grant was revoked", async () => {
    const tokens = await connect();
    expect(await revoke(tokens)).toEqual({ kind: "confirmed" });
    expect(await refresh(tokens)).toMatchObject({ kind: "refused" });
    expect(await revoke(tokens)).toMatchObject({ kind: "refused" });
  });

  test.each(["drop_before", "garbage_body"])(
    "a refresh of YouTube tokens that meets the simulated fault %s is reported as unavailable, and the next refresh succeeds",
    async (mode) => {
      const tokens = await connect();
      await platform.addFault("refresh", mode);
      expect(await refresh(tokens)).toMatchObject({ kind: "unavailable" });
      expect(await refresh(tokens)).toMatchObject({ kind: "renewed" });
    },
  );

  test.each([400, 401, 429, 503])(
    "a refresh of YouTube tokens that is answered with HTTP %i is reported as unavailable",
    async (status) => {
      const tokens = await connect();
      await platform.addFault("refresh", "status", { status });
      expect(await refresh(tokens)).toMatchObject({ kind: "unavailable" });
    },
  );
});

test("the link to Google's authorization page requests a refresh token and uses PKCE", () => {
  const url = new URL(
    youtube.codeFlow?.authorizeUrl({
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

describe("Google's authorization page", () => {
  const redirectUri = "https://postrider.example/connect";
  const state = "s".repeat(43);
  const codeVerifier = "v".repeat(43);
  const codeChallenge = createHash("sha256").update(codeVerifier).digest("base64url");

  async function approve(): Promise<string> {
    await platform.control("POST", "settings", { authorize: "approve" });
    const request = { redirectUri, state, codeChallenge };
    const url = youtube.codeFlow?.authorizeUrl(request) ?? "";
    const answer = await fetch(url, { redirect: "manual" });
    const back = new URL(answer.headers.get("location") ?? "");
    expect(back.searchParams.get("state")).toBe(state);
    return back.searchParams.get("code") ?? "";
  }

  test("an authorization code of Google can be exchanged for tokens only once", async () => {
    const grant = { code: await approve(), redirectUri, codeVerifier };
    const exchange = () => youtube.codeFlow?.exchange(grant, signal);
    expect(await exchange()).toMatchObject({
      kind: "granted",
      connections: [{ tokens: { refreshToken: expect.any(String) as string } }],
    });
    expect(await exchange()).toMatchObject({ kind: "refused" });
  });

  test("Google refuses an authorization code that is sent with the code verifier of another authorization", async () => {
    const grant = { code: await approve(), redirectUri, codeVerifier: "w".repeat(43) };
    expect(await youtube.codeFlow?.exchange(grant, signal)).toMatchObject({ kind: "refused" });
  });
});
