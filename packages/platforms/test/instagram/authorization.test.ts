import { afterAll, expect, test } from "vitest";
import { createInstagramAuthorizationConnector } from "#src/instagram/authorization.ts";
import { signal, TestPlatform } from "../test-platform.ts";

const platform = await TestPlatform.start("instagram");
afterAll(() => platform[Symbol.asyncDispose]());

function createConnector() {
  const baseUrl = platform.url;
  const loginUrl = `${baseUrl}/login`;
  return createInstagramAuthorizationConnector({
    baseUrl,
    version: "v25.0",
    authorizeUrl: `${baseUrl}/v25.0/dialog/oauth`,
    clientId: "app",
    clientSecret: "secret",
    login: "facebook",
    instagramLogin: {
      baseUrl: loginUrl,
      oauthBaseUrl: loginUrl,
      authorizeUrl: `${loginUrl}/oauth/authorize`,
    },
  });
}

test("the Instagram connector connects the account of a Facebook Page with a token that does not expire", async () => {
  const { credentials } = await platform.createAccount({ username: "quiet.harbour" });
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

test("the Instagram connector refuses an invalid token, and reports Instagram as unavailable when it does not answer", async () => {
  const instagram = createConnector();
  expect(await instagram.connect({ accessToken: "EAAnonsense" }, signal)).toMatchObject({
    kind: "refused",
  });
  expect(await instagram.connect({}, signal)).toMatchObject({ kind: "refused" });
  const { credentials } = await platform.createAccount();
  for (const mode of ["drop_before", "garbage_body"]) {
    await platform.addFault("account", mode);
    expect(await instagram.connect(credentials, signal)).toMatchObject({ kind: "unavailable" });
  }
});
