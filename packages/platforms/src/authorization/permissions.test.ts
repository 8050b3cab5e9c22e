import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createAuthorizationConnectors } from "#src/authorizations.ts";
import { PLATFORM_FEATURES, type PlatformFeature } from "./permissions.ts";

const app = { clientId: "app", clientSecret: "secret" };
const addresses = { baseUrl: "https://api.example", authorizeUrl: "https://example/authorize" };

function createConnectors(features: readonly PlatformFeature[], login: "facebook" | "instagram") {
  const instagramLogin = { ...addresses, oauthBaseUrl: addresses.baseUrl };
  const settings = {
    features,
    instagram: { ...app, ...addresses, version: "v25.0", login, instagramLogin },
    x: { ...app, ...addresses },
    facebook: { ...app, ...addresses, version: "v25.0" },
    tiktok: { clientKey: "app", clientSecret: "secret", ...addresses },
    youtube: { ...app, ...addresses, oauthBaseUrl: addresses.baseUrl },
    telegram: { baseUrl: addresses.baseUrl, botToken: undefined },
    bluesky: { baseUrl: addresses.baseUrl, plcUrl: addresses.baseUrl },
  };
  return createAuthorizationConnectors(settings, undefined);
}

const APPS = [
  ["Facebook", "facebook", "facebook"],
  ["Instagram with Facebook Login", "instagram", "facebook"],
  ["Instagram with Instagram Login", "instagram", "instagram"],
  ["X", "x", "facebook"],
  ["YouTube", "youtube", "facebook"],
] as const;

/**
 * The permissions that a link to the platform's authorization page asks for, without Google's URL
 * prefix.
 */
function readAsked(
  platform: (typeof APPS)[number][1],
  login: "facebook" | "instagram",
  features: readonly PlatformFeature[],
): readonly string[] {
  const connector = createConnectors(features, login)[platform]?.connector;
  const link = connector?.codeFlow?.authorizeUrl({
    redirectUri: "https://postrider.example/connect/callback",
    state: "state",
    codeChallenge: "challenge",
  });
  const asked = new URL(link ?? "").searchParams.get("scope")?.split(/[ ,]/) ?? [];
  expect(asked).toEqual(connector?.permissions);
  return asked.map((each) => each.replace("https://www.googleapis.com/auth/", ""));
}

/**
 * Reads the permissions of an app from the table in deploy/README.md: those of publishing, and
 * those that each feature adds.
 */
function readDocumented(name: string): readonly (readonly string[])[] {
  const readme = readFileSync(join(import.meta.dirname, "../../../../deploy/README.md"), "utf8");
  const row = readme.split("\n").find((line) => line.startsWith(`| ${name} | \``)) ?? "";
  return row
    .split("|")
    .slice(2, -1)
    .map((cell) => [...cell.matchAll(/`(.+?)`/g)].map(([, permission = ""]) => permission));
}

test.each(APPS)(
  "people who connect %s accounts are asked for exactly the permissions that deploy/README.md lists for the features that are turned on",
  (name, platform, login) => {
    const [publishing = [], ...byFeature] = readDocumented(name);
    expect(byFeature).toHaveLength(PLATFORM_FEATURES.length);
    expect(readAsked(platform, login, [])).toEqual(publishing);
    for (const [index, feature] of PLATFORM_FEATURES.entries()) {
      const expected = [...publishing, ...(byFeature[index] ?? [])];
      expect(readAsked(platform, login, [feature])).toEqual(expected);
    }
    const all = new Set([...publishing, ...byFeature.flat()]);
    expect(readAsked(platform, login, PLATFORM_FEATURES)).toEqual([...all]);
  },
);

test("people who connect Facebook accounts are asked only for the permissions of publishing while no feature is turned on", () => {
  expect(readAsked("facebook", "facebook", [])).toEqual([
    "pages_show_list",
    "pages_read_engagement",
    "pages_manage_posts",
    "business_management",
  ]);
});
