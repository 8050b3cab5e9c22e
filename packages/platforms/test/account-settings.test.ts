import { describe, expect, test } from "vitest";
import { createBlueskyPublishingConnector } from "#src/bluesky/publishing/connector.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { createTelegramPublishingConnector } from "#src/telegram/publishing/connector.ts";
import { createTiktokPublishingConnector } from "#src/tiktok/publishing/connector.ts";
import { createXPublishingConnector } from "#src/x/publishing/connector.ts";
import { createYoutubePublishingConnector } from "#src/youtube/publishing/connector.ts";
import { instagramAt } from "./instagram/instagram-at.ts";
import { jpegMedia, startMediaServer } from "./media-server.ts";
import { PRESENT, PUBLISHED, refused, UNKNOWN } from "./results.ts";
import { mp4Media, pngMedia } from "./test-media.ts";
import { guard, signal, startTestPlatform, type TestPlatform } from "./test-platform.ts";
import { unknownCall } from "./unknown-call.ts";

const files = await startMediaServer();

/**
 * Publishes a post with settings of its account, and returns what readers see and the options that
 * the connector chose.
 */
async function publish(
  platform: TestPlatform,
  connector: PublishingConnector,
  publication: Publication,
) {
  const outcome = await platform.publish(connector, publication);
  const [entry] = await platform.visible();
  return { outcome, text: entry?.text, options: entry?.options };
}

describe("settings of X accounts", async () => {
  const platform = await startTestPlatform("x");
  const x = createXPublishingConnector({ baseUrl: platform.url, mayResend: true });

  test.each([
    [{}, undefined],
    [{ replySettings: "everyone" }, undefined],
    [{ replySettings: "following" }, { reply_settings: "following" }],
    [{ replySettings: "mentioned" }, { reply_settings: "mentionedUsers" }],
  ])(
    "a post of an X account with the settings %j is published with the options %j",
    async (settings, options) => {
      const made = await platform.createPublication([], "Ahoy");
      const shown = await publish(platform, x, { ...made, settings });
      expect(shown).toMatchObject({ outcome: { kind: "published" }, text: "Ahoy" });
      expect(shown.options).toEqual(options);
    },
  );
});

describe("settings of Bluesky accounts", async () => {
  const platform = await startTestPlatform("bluesky");
  const bluesky = createBlueskyPublishingConnector({
    baseUrl: platform.url,
    videoBaseUrl: platform.url,
  });

  test.each([
    [{}, undefined],
    [{ languages: ["en", "pt-BR"] }, { langs: ["en", "pt-BR"] }],
  ])(
    "a post of a Bluesky account with the settings %j is published with the options %j",
    async (settings, options) => {
      const made = await platform.createPublication([], "Ahoy");
      const publication = { ...made, settings };
      const { handles } = await platform.prepare(bluesky, publication);
      expect((await publish(platform, bluesky, publication)).options).toEqual(options);
      const verdict = await bluesky.findMatchingPost?.(publication, handles, unknownCall(), signal);
      expect(verdict).toMatchObject(PRESENT);
    },
  );
});

describe("settings of Instagram accounts", async () => {
  const platform = await startTestPlatform("instagram");
  const instagram = instagramAt(platform.url);

  test.each([
    [{}, { share_to_feed: true }],
    [{ shareToFeed: false }, { share_to_feed: false }],
  ])(
    "a reel of an Instagram account with the settings %j is published with the options %j",
    async (settings, options) => {
      const media = [files.serve(mp4Media(300_000))];
      const made = await platform.createPublication(media, "Ahoy");
      expect((await publish(platform, instagram, { ...made, settings })).options).toEqual(options);
    },
  );
});

describe("settings of Telegram chats", async () => {
  const platform = await startTestPlatform("telegram");
  const telegram = createTelegramPublishingConnector({ baseUrl: platform.url });
  const ALL = { format: "html", silent: true, linkPreview: false };
  const create = async (media: Publication["media"], text: string, settings: object) => {
    const made = await platform.createPublication(media, text);
    return { ...made, settings: { ...settings } };
  };

  test.each([
    [
      "a text",
      [],
      {
        parse_mode: "HTML",
        disable_notification: true,
        link_preview_options: { is_disabled: true },
      },
    ],
    ["a photo", [pngMedia(1)], { parse_mode: "HTML", disable_notification: true }],
    ["an album", [pngMedia(1), pngMedia(2)], { parse_mode: "HTML", disable_notification: true }],
  ])(
    "when all settings of a Telegram chat are set, %s is published silently, with its markup and without a link preview",
    async (_what, media, options) => {
      const publication = await create(media, "<b>Ships</b> &amp; sails", ALL);
      expect(await publish(platform, telegram, publication)).toMatchObject({
        outcome: { kind: "published" },
        text: "Ships & sails",
        options,
      });
    },
  );

  test("without settings of the Telegram chat, a text is published on Telegram unchanged", async () => {
    const publication = await create([], "<b>Ships</b> &amp; sails", {});
    expect(await publish(platform, telegram, publication)).toEqual({
      outcome: expect.objectContaining({ kind: "published" }) as object,
      text: "<b>Ships</b> &amp; sails",
      options: undefined,
    });
  });

  test("files without a text are published on Telegram although the account's text format is HTML", async () => {
    const { outcome } = await publish(platform, telegram, await create([pngMedia(1)], "", ALL));
    expect(outcome).toMatchObject(PUBLISHED);
  });

  test("Telegram's refusal of markup is reported as `content_rejected`", async () => {
    const { outcome } = await publish(platform, telegram, await create([], "<b>Ships", ALL));
    expect(outcome).toMatchObject(refused("content_rejected"));
  });
});

describe("settings of TikTok accounts", async () => {
  const platform = await startTestPlatform("tiktok");
  const tiktok = createTiktokPublishingConnector({ baseUrl: platform.url });
  const OFF = {
    disable_comment: true,
    disable_duet: true,
    disable_stitch: true,
    brand_content_toggle: false,
    brand_organic_toggle: false,
    privacy_level: "PUBLIC_TO_EVERYONE",
  };
  const create = async (settings: object, part: Partial<Publication> = {}) => {
    const media = part.media ?? [mp4Media(300_000)];
    const made = await platform.createPublication(media, "Ahoy");
    return { ...made, privacy: "public", settings: { ...settings }, ...part };
  };

  test.each([
    [{}, OFF],
    [
      { allowComment: true, allowDuet: true },
      { ...OFF, disable_comment: false, disable_duet: false },
    ],
    // The simulated creator has turned stitches off.
    [{ allowStitch: true }, OFF],
    [{ disclosure: "own_brand" }, { ...OFF, brand_organic_toggle: true }],
    [{ disclosure: "paid" }, { ...OFF, brand_content_toggle: true }],
  ])(
    "a video of a TikTok account with the settings %j is published with the options %j",
    async (settings, options) => {
      expect((await publish(platform, tiktok, await create(settings))).options).toEqual(options);
    },
  );

  test.each([false, true])(
    "photos of a TikTok account are published with autoAddMusic %s",
    async (autoAddMusic) => {
      const media = [files.serve(jpegMedia(1))];
      const { options } = await publish(
        platform,
        tiktok,
        await create({ autoAddMusic }, { media }),
      );
      expect(options).toEqual({
        disable_comment: true,
        brand_content_toggle: false,
        brand_organic_toggle: false,
        auto_add_music: autoAddMusic,
        privacy_level: "PUBLIC_TO_EVERYONE",
      });
    },
  );

  test("an unlisted TikTok post is shown to the audience that the account's setting names, by default to its creator only", async () => {
    const unlisted = { privacy: "unlisted" };
    const alone = await publish(platform, tiktok, await create({}, unlisted));
    expect(alone).toMatchObject({ outcome: { kind: "pending" }, options: undefined });
    const friends = await create({ unlistedAs: "friends" }, unlisted);
    expect((await publish(platform, tiktok, friends)).options).toMatchObject({
      privacy_level: "MUTUAL_FOLLOW_FRIENDS",
    });
  });

  test("an unlisted TikTok post fails when TikTok does not offer the account this audience", async () => {
    const publication = await create({ unlistedAs: "followers" }, { privacy: "unlisted" });
    expect((await publish(platform, tiktok, publication)).outcome).toMatchObject({
      kind: "refused",
      code: "content_rejected",
      message: expect.stringContaining("MUTUAL_FOLLOW_FRIENDS") as string,
    });
  });

  test("TikTok refuses a paid post that only its creator sees", async () => {
    const publication = await create({ disclosure: "paid" }, { privacy: "private" });
    expect((await publish(platform, tiktok, publication)).outcome).toMatchObject(
      refused("content_rejected"),
    );
  });
});

describe("settings of YouTube channels", async () => {
  const platform = await startTestPlatform("youtube");
  const youtube = createYoutubePublishingConnector({ baseUrl: platform.url });
  const create = async (settings: object): Promise<Publication> => {
    const made = await platform.createPublication([mp4Media(1000)], "Ahoy");
    return { ...made, title: "A video", settings: { ...settings } };
  };
  const playlistOf = ({ externalId }: Publication) => externalId.replace(/^UC/, "PL");

  async function listVideos(publication: Publication): Promise<readonly string[]> {
    const query = `part=contentDetails&playlistId=${playlistOf(publication)}`;
    const answer = await fetch(`${platform.url}/youtube/v3/playlistItems?${query}`, {
      headers: { authorization: `Bearer ${publication.accessToken}` },
    });
    const { items } = (await answer.json()) as { items: { contentDetails: { videoId: string } }[] };
    return items.map(({ contentDetails }) => contentDetails.videoId);
  }

  test.each([
    [{}, undefined],
    [
      { categoryId: "28", license: "creative_commons" },
      { categoryId: "28", license: "creativeCommon" },
    ],
    [
      { madeForKids: true, notifySubscribers: false },
      { madeForKids: true, notifySubscribers: false },
    ],
  ])(
    "a video of a YouTube channel with the settings %j is published with the options %j",
    async (settings, options) => {
      expect((await publish(platform, youtube, await create(settings))).options).toEqual(options);
    },
  );

  test("YouTube's refusal of an unknown category is reported as `content_rejected`", async () => {
    const { outcome } = await publish(platform, youtube, await create({ categoryId: "999" }));
    expect(outcome).toMatchObject(refused("content_rejected"));
  });

  test("a published YouTube video is added once to the playlist that the settings name, even if Postrider repeats the call", async () => {
    const made = await create({});
    const publication = { ...made, settings: { playlistId: playlistOf(made) } };
    const { outcome } = await publish(platform, youtube, publication);
    if (outcome.kind !== "published" || outcome.askLater === undefined)
      throw new Error("the playlist is not asked for");
    const { askLater: handles, externalId } = outcome;
    expect(await listVideos(publication)).toEqual([]);
    for (let times = 0; times < 2; times += 1) {
      const details = await youtube.findDetails?.(publication, handles, signal);
      expect(details).toEqual({ kind: "not_yet", handles: { isInPlaylist: "yes" } });
    }
    expect(await listVideos(publication)).toEqual([externalId]);
  });

  test("a YouTube video that Postrider finds by a search, because the answer to the publishing call was lost, is added to the playlist, too", async () => {
    const made = await create({});
    const publication = { ...made, settings: { playlistId: playlistOf(made) } };
    const { handles } = await platform.prepare(youtube, publication);
    await platform.addFault("publish", "drop_after_commit");
    expect(await youtube.publish(publication, handles, guard)).toMatchObject(UNKNOWN);
    const { playlistId } = publication.settings;
    const verdict = await youtube.reconcile(publication, handles, unknownCall(), signal);
    expect(verdict).toMatchObject({ kind: "present", askLater: { playlistId } });
  });

  test("a failure of YouTube delays adding a video to a playlist, and a definite refusal is reported on the published post", async () => {
    const made = await create({});
    const own = playlistOf(made);
    const { externalId } = await platform.createAccount();
    const ask = async (playlistId: string) => {
      const publication = { ...made, settings: { playlistId } };
      const { outcome } = await publish(platform, youtube, publication);
      const handles = outcome.kind === "published" ? (outcome.askLater ?? {}) : {};
      return await youtube.findDetails?.(publication, handles, signal);
    };
    await platform.addFault("other", "status", { status: 503 });
    expect(await ask(own)).toEqual({ kind: "not_yet" });
    for (const [playlistId, code] of [
      ["PL1", "content_rejected"],
      [externalId.replace(/^UC/, "PL"), "permission_missing"],
    ] as const)
      expect(await ask(playlistId)).toEqual({
        kind: "not_yet",
        handles: { isInPlaylist: "no" },
        caveat: { code, message: expect.stringContaining(playlistId) as string },
      });
  });
});
