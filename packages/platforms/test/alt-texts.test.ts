import { describe, expect, test } from "vitest";
import { createBlueskyPublishingConnector } from "#src/bluesky/publishing/connector.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import { createTelegramPublishingConnector } from "#src/telegram/publishing/connector.ts";
import { createTiktokPublishingConnector } from "#src/tiktok/publishing/connector.ts";
import { createXPublishingConnector } from "#src/x/publishing/connector.ts";
import { facebookAt } from "./facebook/facebook-at.ts";
import { instagramAt } from "./instagram/instagram-at.ts";
import { jpegMedia, startMediaServer } from "./media-server.ts";
import { PUBLISHED } from "./results.ts";
import { gifMedia, mp4Media, pngMedia, type TestMedia, toReel } from "./test-media.ts";
import { guard, startTestPlatform, type TestPlatform } from "./test-platform.ts";

const [x, instagram, facebook, bluesky, tiktok, telegram] = [
  await startTestPlatform("x"),
  await startTestPlatform("instagram"),
  await startTestPlatform("facebook"),
  await startTestPlatform("bluesky"),
  await startTestPlatform("tiktok"),
  await startTestPlatform("telegram"),
];
const files = await startMediaServer();

interface Site {
  readonly platform: TestPlatform;
  readonly connector: PublishingConnector;
}

const at = ({ url }: TestPlatform) => ({ baseUrl: url, videoBaseUrl: url });
const X: Site = {
  platform: x,
  connector: createXPublishingConnector({ ...at(x), mayResend: true }),
};
const INSTAGRAM: Site = { platform: instagram, connector: instagramAt(instagram.url) };
const FACEBOOK: Site = { platform: facebook, connector: facebookAt(facebook.url) };
const BLUESKY: Site = {
  platform: bluesky,
  connector: createBlueskyPublishingConnector(at(bluesky)),
};
const TIKTOK: Site = { platform: tiktok, connector: createTiktokPublishingConnector(at(tiktok)) };
const TELEGRAM: Site = {
  platform: telegram,
  connector: createTelegramPublishingConnector(at(telegram)),
};

async function createPublication({ platform }: Site, media: readonly TestMedia[]) {
  const served = media.map((file) => files.serve(file));
  const made = await platform.createPublication(served, "Ships");
  return { ...made, privacy: "public" };
}

async function publish(site: Site, media: readonly TestMedia[]) {
  return await site.platform.publish(site.connector, await createPublication(site, media));
}

/** Returns the descriptions and covers of the files that readers of the platform see. */
async function shown({ platform }: Site) {
  return (await platform.visible()).map(({ media }) =>
    media.map(({ kind: _kind, sha256: _sha256, ...description }) => description),
  );
}

function described<T extends TestMedia>(media: T, altText: string | null, coverMs?: number): T {
  media.altText = altText;
  media.coverMs = coverMs ?? null;
  return media;
}

describe("descriptions of media", () => {
  test.each<[string, Site, (nonce: number) => TestMedia]>([
    ["X", X, pngMedia],
    ["Instagram", INSTAGRAM, jpegMedia],
    ["Facebook", FACEBOOK, pngMedia],
    ["Bluesky", BLUESKY, pngMedia],
  ])(
    "readers of %s get the description of each image, and none for an image without one",
    async (_name, site, image) => {
      const media = [described(image(1), "A boat 🚤"), image(2), described(image(3), "A quay")];
      expect(await publish(site, media)).toMatchObject(PUBLISHED);
      expect(await shown(site)).toEqual([[{ altText: "A boat 🚤" }, {}, { altText: "A quay" }]]);
    },
  );

  test("X gets the description of a GIF, but no description of a video, because X would refuse it", async () => {
    expect(await publish(X, [described(gifMedia(), "A wave")])).toMatchObject(PUBLISHED);
    const video = described(mp4Media(300_000), "A video of a wave", 500);
    expect(await publish(X, [video])).toMatchObject(PUBLISHED);
    expect(await shown(X)).toEqual([[{ altText: "A wave" }], [{}]]);
  });

  test("readers of Bluesky get the description of a video", async () => {
    const video = described(mp4Media(300_000), "A wave", 500);
    expect(await publish(BLUESKY, [video])).toMatchObject(PUBLISHED);
    expect(await shown(BLUESKY)).toEqual([[{ altText: "A wave" }]]);
  });

  test("Instagram and TikTok get the cover of a video, and no description of it", async () => {
    for (const site of [INSTAGRAM, TIKTOK]) {
      const video = described(toReel(mp4Media(300_000)), "A wave", 700);
      expect(await publish(site, [video])).toMatchObject({
        kind: expect.stringMatching(/^(?:published|pending)$/) as string,
      });
      expect(await shown(site)).toEqual([[{ coverMs: 700 }]]);
    }
  });

  test("Instagram gets the cover of each video in a carousel", async () => {
    const video = described(mp4Media(300_000), null, 0);
    const media = [described(jpegMedia(1), "A boat"), video];
    expect(await publish(INSTAGRAM, media)).toMatchObject(PUBLISHED);
    expect(await shown(INSTAGRAM)).toEqual([[{ altText: "A boat" }, { coverMs: 0 }]]);
  });

  test("Telegram and Facebook publish a video that has a description and a cover, but show neither of the two", async () => {
    for (const site of [TELEGRAM, FACEBOOK]) {
      const video = described(mp4Media(300_000), "A wave", 700);
      expect(await publish(site, [video])).toMatchObject(PUBLISHED);
      expect(await shown(site)).toEqual([[{}]]);
    }
  });

  test.each<[string, Site, () => TestMedia]>([
    ["X", X, () => pngMedia(1)],
    ["Instagram", INSTAGRAM, () => jpegMedia(1)],
  ])(
    "a post on %s with a file whose description is longer than 1,000 characters is refused, and the description is not cut",
    async (_name, site, create) => {
      expect(await publish(site, [described(create(), "a".repeat(1001))])).toMatchObject({
        kind: "refused",
        code: "content_rejected",
        message: expect.stringContaining("1001 characters") as string,
      });
      expect(await shown(site)).toEqual([]);
      const longest = described(create(), "a".repeat(1000));
      expect(await publish(site, [longest])).toMatchObject(PUBLISHED);
    },
  );
});

test("Bluesky publishes a video with a description of 1,500 characters", async () => {
  const altText = "a".repeat(1500);
  const video = described(mp4Media(300_000), altText);
  expect(await publish(BLUESKY, [video])).toMatchObject(PUBLISHED);
  expect(await shown(BLUESKY)).toEqual([[{ altText }]]);
});

describe("descriptions of uploaded files on X", () => {
  const CALL = "POST /2/media/metadata";

  test.each(["drop_before", "drop_after_commit", "garbage_body", "status_after_commit"])(
    "the call that describes a file on X is repeated after the simulated fault %s, and the post is published once",
    async (mode) => {
      await x.addFault(CALL, mode);
      const publication = await createPublication(X, [described(pngMedia(1), "A boat")]);
      const interrupted = await x.prepare(X.connector, publication);
      expect(interrupted.failure?.kind ?? "retryable").toBe("retryable");
      expect(await x.visible()).toEqual([]);
      const ready = await x.prepare(X.connector, publication, { handles: interrupted.handles });
      expect(ready.failure).toBeUndefined();
      expect(await X.connector.publish(publication, ready.handles, guard)).toMatchObject(PUBLISHED);
      expect(await shown(X)).toEqual([[{ altText: "A boat" }]]);
      const calls = (await x.calls()).filter((call) => call === "POST upload");
      expect(calls).toHaveLength(1);
    },
  );

  test("a file that is uploaded to X again gets its description again", async () => {
    const publication = await createPublication(X, [described(pngMedia(1), "A boat")]);
    const { handles } = await x.prepare(X.connector, publication);
    const state = JSON.parse(handles.media0 ?? "") as object;
    const old = { ...handles, media0: JSON.stringify({ ...state, expiresAt: Date.now() }) };
    const { handles: fresh } = await x.prepare(X.connector, publication, { handles: old });
    expect(await X.connector.publish(publication, fresh, guard)).toMatchObject(PUBLISHED);
    expect(await shown(X)).toEqual([[{ altText: "A boat" }]]);
  });
});
