import { runChecks } from "@postrider/shared/diagnostics/finding";
import { describe, expect, test } from "vitest";
import { PLATFORM_IDS, type PlatformId } from "#src/platform-id.ts";
import { createConnectors } from "#src/platforms.ts";
import { startTestPlatform, type TestPlatform } from "./test-platform.ts";

const platforms = new Map<PlatformId, TestPlatform>();
for (const platform of PLATFORM_IDS) platforms.set(platform, await startTestPlatform(platform));

function platformOf(platform: PlatformId): TestPlatform {
  const found = platforms.get(platform);
  if (found === undefined) throw new Error("no such platform");
  return found;
}

function checksOf(platform: PlatformId) {
  const { url: baseUrl } = platformOf(platform);
  const at = { baseUrl };
  const graph = { ...at, uploadBaseUrl: baseUrl, version: "v25.0" };
  return createConnectors("diagnosis", {
    instagram: { ...graph, loginBaseUrl: `${baseUrl}/login` },
    x: at,
    facebook: graph,
    tiktok: at,
    youtube: at,
    telegram: at,
    bluesky: at,
  })[platform];
}

async function check(platform: PlatformId, accessToken?: string) {
  const account = await platformOf(platform).createPublication([], "");
  const access = accessToken === undefined ? account : { ...account, accessToken };
  return await runChecks(checksOf(platform)(access));
}

const FOUND = {
  instagram: /^Instagram accepts the token; 0 of \d+ posts were published in the last 24 hours$/,
  x: /^X accepts the token as @\S+; verified type none; \d+ further calls/,
  facebook: /^Facebook accepts the token of the Page .+; /,
  tiktok: /^TikTok accepts the token; privacy levels .*SELF_ONLY.*; videos of up to \d+ s; /,
  youtube: /^YouTube accepts the token; the channel is public; videos over 15 minutes: allowed/,
  telegram:
    /^Telegram accepts the token of @\S+; in .+ \(channel\) the bot is administrator and may post/,
  bluesky: /^127\.0\.0\.1:\d+ accepts the session of @\S+ \(did:/,
} satisfies Record<PlatformId, RegExp>;

describe.each(PLATFORM_IDS)("the check of an account of %s", (platform) => {
  test(`the check of an account shows the owner of the token, and the limits or rights that ${platform} states`, async () => {
    const [finding] = await check(platform);

    expect(finding).toMatchObject({ status: "ok", found: expect.stringMatching(FOUND[platform]) });
  });

  test(`the check of an account fails when ${platform} refuses the token, and does not show the token`, async () => {
    const token =
      platform === "telegram" ? "123456:a-wrong-token-of-a-bot" : "a-wrong-access-token";
    const [finding] = await check(platform, token);

    expect(finding?.status).toBe("failed");
    expect(JSON.stringify(finding)).not.toContain(token);
    expect(finding?.remedy).toMatch(/connect the account again/);
  });
});
