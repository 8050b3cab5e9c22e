import { expect, test } from "vitest";
import { createInstagramAuthorizationConnector } from "#src/instagram/authorization.ts";
import { signal, startTestPlatform } from "../test-platform.ts";

const platform = await startTestPlatform("instagram");
const REDIRECT = "http://127.0.0.1:3000/connect/instagram/callback";
const loginUrl = `${platform.url}/login`;
const { codeFlow } = createInstagramAuthorizationConnector({
  baseUrl: platform.url,
  version: "v25.0",
  authorizeUrl: `${platform.url}/v25.0/dialog/oauth`,
  clientId: "app",
  clientSecret: "secret",
  login: "facebook",
  instagramLogin: {
    baseUrl: loginUrl,
    oauthBaseUrl: loginUrl,
    authorizeUrl: `${loginUrl}/oauth/authorize`,
  },
});

test("Instagram accounts of Pages on which a person has a role through a Business portfolio are connected, each once", async () => {
  const usernames = ["own.account", "portfolio.account", "client.account"];
  const state = "s".repeat(43);
  const url = codeFlow?.authorizeUrl({ redirectUri: REDIRECT, state, codeChallenge: "" }) ?? "";
  const body = new URLSearchParams({ decision: "approve", username: usernames.join(",") });
  const answer = await fetch(url, { method: "POST", body, redirect: "manual" });
  const code = new URL(answer.headers.get("location") ?? "").searchParams.get("code") ?? "";
  const grant = { code, redirectUri: REDIRECT, codeVerifier: "" };
  const result = await codeFlow?.exchange(grant, signal);
  if (result?.kind !== "granted") throw new Error(`the exchange ended as ${result?.kind ?? ""}`);
  expect(result.connections.map(({ username }) => username)).toEqual(usernames);
});
