import { beforeEach, expect, test } from "vitest";
import { PLATFORM_FEATURES, type PlatformFeature } from "#src/authorization/permissions.ts";
import { createFacebookAuthorizationConnector } from "#src/facebook/authorization.ts";
import { startTestPlatform } from "../test-platform.ts";

const platform = await startTestPlatform("facebook");
beforeEach(() => platform.control("POST", "settings", { facebookApp: "publishing" }));

/** Opens the dialog of Facebook in which a person connects Pages, and returns its HTTP status. */
async function openDialog(features: readonly PlatformFeature[]): Promise<number> {
  const app = {
    baseUrl: platform.url,
    version: "v25.0",
    authorizeUrl: `${platform.url}/v25.0/dialog/oauth`,
    clientId: "app",
    clientSecret: "secret",
  };
  const { codeFlow } = createFacebookAuthorizationConnector(app, features);
  const url = codeFlow?.authorizeUrl({
    redirectUri: "http://127.0.0.1:3000/connect/facebook/callback",
    state: "s".repeat(43),
    codeChallenge: "",
  });
  return (await fetch(url ?? "")).status;
}

test("a Facebook app that has only the permissions for publishing can connect Pages", async () => {
  expect(await openDialog([])).toBe(200);
});

test.each(PLATFORM_FEATURES)(
  "Facebook refuses the whole dialog when Postrider asks for the permissions of %s and the app has only the permissions for publishing",
  async (feature) => {
    expect(await openDialog([feature])).toBe(400);
  },
);
