import { describe, expect, test } from "vitest";
import type { Publication } from "#src/publishing/publication.ts";
import { createTelegramPublishingConnector } from "#src/telegram/publishing/connector.ts";
import { PUBLISHED, refused, UNKNOWN } from "../results.ts";
import { gifMedia, mp4Media, pngMedia, TestMedia } from "../test-media.ts";
import { guard, signal, startTestPlatform } from "../test-platform.ts";

const platform = await startTestPlatform("telegram");
const telegram = createTelegramPublishingConnector({ baseUrl: platform.url });

const createPublication = (media: Publication["media"], text = "with media") =>
  platform.createPublication(media, text);
const publish = (publication: Publication) => telegram.publish(publication, {}, guard);
const shown = (media: TestMedia, kind: string) => ({ kind, sha256: media.sha256 });

async function listMethods(): Promise<readonly string[]> {
  return (await platform.calls()).map((call) => call.replace("POST ", ""));
}

describe("publishing media on Telegram", () => {
  test.each([
    ["sendPhoto", "image", pngMedia(1)],
    ["sendVideo", "video", mp4Media(300_000)],
    ["sendAnimation", "gif", gifMedia()],
  ])(
    "Telegram's method %s sends one %s with the text as its caption",
    async (method, kind, media) => {
      const publication = await createPublication([media], "Ships & <sails>\n#harbour");
      const outcome = await publish(publication);
      const [entry] = await platform.visible();
      expect(entry).toMatchObject({
        text: "Ships & <sails>\n#harbour",
        media: [shown(media, kind)],
      });
      expect(outcome).toEqual({
        kind: "published",
        externalId: entry?.id,
        permalink: `https://t.me/${publication.username}/${entry?.id ?? ""}`,
      });
      expect(await listMethods()).toEqual([method]);
    },
  );

  test("a Telegram album of photos and videos is sent with one call, and its external id contains all message ids", async () => {
    const media = [pngMedia(1), mp4Media(100_000), pngMedia(2)];
    const publication = await createPublication(media);
    const outcome = await publish(publication);
    const [entry, ...others] = await platform.visible();
    expect(others).toEqual([]);
    expect(entry?.media).toEqual([
      shown(media[0] ?? pngMedia(0), "image"),
      shown(media[1] ?? pngMedia(0), "video"),
      shown(media[2] ?? pngMedia(0), "image"),
    ]);
    expect(entry?.id).toMatch(/^\d+,\d+,\d+$/);
    expect(outcome).toEqual({
      kind: "published",
      externalId: entry?.id,
      permalink: `https://t.me/${publication.username}/${entry?.id.split(",")[0] ?? ""}`,
    });
    expect(await listMethods()).toEqual(["sendMediaGroup"]);
  });

  test("a Telegram post may consist of media only", async () => {
    for (const media of [[pngMedia(1)], [pngMedia(1), pngMedia(2)]])
      expect(await publish(await createPublication(media, ""))).toMatchObject(PUBLISHED);
    expect((await platform.visible()).map(({ text }) => text)).toEqual(["", ""]);
  });

  test("the Telegram connector sends no media when too much time has passed since the intent to publish was recorded", async () => {
    const publication = await createPublication([mp4Media(1_000_000)]);
    const tooLate = { ...guard, mayStillSend: () => false };
    expect(await telegram.publish(publication, {}, tooLate)).toEqual({ kind: "not_sent" });
    expect(await platform.visible()).toEqual([]);
  });
});

describe("deleting on Telegram", () => {
  async function publishAlbum(): Promise<readonly [Publication, string]> {
    const publication = await createPublication([pngMedia(1), pngMedia(2), pngMedia(3)]);
    const outcome = await publish(publication);
    if (outcome.kind !== "published" || outcome.externalId === null) throw new Error("not there");
    return [publication, outcome.externalId];
  }

  test("the Telegram connector deletes all messages of an album, and reports the same outcome when they are already gone", async () => {
    const [publication, externalId] = await publishAlbum();
    for (let times = 0; times < 2; times += 1)
      expect(await telegram.delete(publication, externalId, signal)).toEqual({ kind: "deleted" });
    expect(await platform.visible()).toEqual([]);
  });

  test("the Telegram connector deletes the remaining messages of an album after a person deleted some of them", async () => {
    const [publication, externalId] = await publishAlbum();
    const [first = ""] = externalId.split(",");
    await telegram.delete(publication, first, signal);
    expect(await platform.visible()).toHaveLength(1);
    expect(await telegram.delete(publication, externalId, signal)).toEqual({ kind: "deleted" });
    expect(await platform.visible()).toEqual([]);
  });

  test("the Telegram connector repeats a deletion whose answer was lost, and the repetition completes it", async () => {
    const [publication, externalId] = await publishAlbum();
    await platform.addFault("delete", "drop_before");
    expect(await telegram.delete(publication, externalId, signal)).toMatchObject(UNKNOWN);
    expect(await telegram.delete(publication, externalId, signal)).toEqual({ kind: "deleted" });
    expect(await platform.visible()).toEqual([]);
  });
});

describe("Telegram's answers about media", () => {
  test.each([
    [
      "a file that is not an image",
      new TestMedia("no", "image/png", Buffer.from("text")),
      "media_rejected",
    ],
    [
      "a file that is not a video",
      new TestMedia("no", "video/mp4", Buffer.from("text")),
      "media_rejected",
    ],
  ])("Telegram rejects %s as media", async (_name, media, code) => {
    expect(await publish(await createPublication([media]))).toMatchObject({
      kind: "refused",
      code,
    });
    expect(await platform.visible()).toEqual([]);
  });

  test("the outcome of a Telegram album is unknown when Telegram refuses one of its files, because the others may be visible", async () => {
    const broken = new TestMedia("no", "image/png", Buffer.from("text"));
    const media = [pngMedia(1), broken, pngMedia(2)];
    expect(await publish(await createPublication(media))).toMatchObject(UNKNOWN);
    const [entry] = await platform.visible();
    expect(entry?.media).toHaveLength(2);
  });

  test("Telegram's refusal of a caption that is too long is reported as `content_rejected`", async () => {
    const publication = await createPublication([pngMedia(1)], "a".repeat(1025));
    expect(await publish(publication)).toMatchObject(refused("content_rejected"));
  });

  test.each([
    [413, { kind: "refused", code: "media_rejected" }],
    [403, { kind: "refused", code: "permission_missing" }],
    [401, { kind: "token_refused" }],
    [429, { kind: "retryable", code: "rate_limited", isLimit: true }],
    [500, { kind: "unknown" }],
    [502, { kind: "unknown" }],
  ])(
    "HTTP %i in answer to a Telegram call with media becomes the outcome %j",
    async (status, outcome) => {
      await platform.addFault("publish", "status", { status });
      expect(await publish(await createPublication([pngMedia(1), pngMedia(2)]))).toMatchObject(
        outcome,
      );
    },
  );

  test.each(["drop_before", "drop_after_commit", "garbage_body", "status_after_commit"])(
    "the outcome of a Telegram call with media is unknown after the simulated fault %s",
    async (mode) => {
      for (const media of [[mp4Media(500_000)], [pngMedia(1), mp4Media(500_000)]]) {
        await platform.addFault("publish", mode);
        expect(await publish(await createPublication(media))).toMatchObject(UNKNOWN);
      }
    },
  );
});
