import { expect, test } from "vitest";
import { createFacebookAuthorizationConnector } from "#src/facebook/authorization.ts";
import { signal, startTestPlatform } from "../test-platform.ts";

const platform = await startTestPlatform("facebook");
const REDIRECT = "http://127.0.0.1:3000/connect/facebook/callback";
const { codeFlow } = createFacebookAuthorizationConnector({
  baseUrl: platform.url,
  version: "v25.0",
  authorizeUrl: `${platform.url}/v25.0/dialog/oauth`,
  clientId: "app",
  clientSecret: "secret",
});

/**
 * Approves the authorization for these Pages, as the person does in Facebook's dialog, and returns
 * the code.
 */
async function approve(usernames: readonly string[], withoutScope?: string): Promise<string> {
  const url = codeFlow?.authorizeUrl({
    redirectUri: REDIRECT,
    state: "s".repeat(43),
    codeChallenge: "",
  });
  const address = new URL(url ?? "");
  const scopes = (address.searchParams.get("scope") ?? "").split(",");
  const granted = scopes.filter((scope) => scope !== withoutScope);
  address.searchParams.set("scope", granted.join(","));
  const body = new URLSearchParams({ decision: "approve", username: usernames.join(",") });
  const answer = await fetch(address, { method: "POST", body, redirect: "manual" });
  return new URL(answer.headers.get("location") ?? "").searchParams.get("code") ?? "";
}

async function connectAll(code: string): Promise<readonly string[]> {
  const grant = { code, redirectUri: REDIRECT, codeVerifier: "" };
  const result = await codeFlow?.exchange(grant, signal);
  if (result?.kind !== "granted") throw new Error(`the exchange ended as ${result?.kind ?? ""}`);
  return result.connections.map(({ username }) => username);
}

test("Facebook Pages on which a person has a role through a Business portfolio are connected, each once", async () => {
  const usernames = ["own.page", "portfolio.page", "client.page"];
  expect(await connectAll(await approve(usernames))).toEqual(usernames);
});

test("a person who does not grant access to Business portfolios still connects their own Facebook Pages", async () => {
  const code = await approve(["own.page", "portfolio.page"], "business_management");
  expect(await connectAll(code)).toEqual(["own.page"]);
});
