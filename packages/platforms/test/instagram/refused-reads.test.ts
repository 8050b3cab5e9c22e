import { beforeEach, describe, expect, test } from "vitest";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { jpegMedia, startMediaServer } from "../media-server.ts";
import { PUBLISHED, retryable, UNKNOWN } from "../results.ts";
import { mp4Media, type TestMedia } from "../test-media.ts";
import { guard, signal, startTestPlatform } from "../test-platform.ts";
import { unknownCall } from "../unknown-call.ts";
import { instagramAt } from "./instagram-at.ts";

const platform = await startTestPlatform("instagram");
const files = await startMediaServer();
const instagram = instagramAt(platform.url);

beforeEach(() => platform.control("POST", "settings", { instagramPageTokenReads: "refused" }));

const createPublication = (media: readonly TestMedia[], text = "Ships") =>
  platform.createPublication(
    media.map((one) => files.serve(one)),
    text,
  );

const permalink = expect.stringMatching(/^https:\/\/www\.instagram\.com\//) as string;
const sum = (waits: readonly number[]) => waits.reduce((total, wait) => total + wait, 0);

async function countPublishCalls(): Promise<number> {
  return (await platform.calls()).filter((call) => call === "POST media_publish").length;
}

describe("publishing with an Instagram Page token that may not read containers and posts", () => {
  test.each<[string, readonly TestMedia[], number]>([
    ["an image", [jpegMedia(1)], 10_000],
    ["a carousel of images", [jpegMedia(1), jpegMedia(2), jpegMedia(3)], 15_000],
    ["a video", [mp4Media(300_000)], 130_000],
    ["a carousel with a video", [jpegMedia(1), mp4Media(300_000)], 140_000],
  ])(
    "the Instagram connector publishes %s once although its container is unreadable, and takes the permalink from the list of posts",
    async (_name, media, maxWaitMs) => {
      const publication = await createPublication(media);
      const { handles, failure, waits } = await platform.prepare(instagram, publication, {
        maxRuns: 100,
      });
      expect(failure).toBeUndefined();
      expect(sum(waits)).toBeLessThan(maxWaitMs);
      const outcome = await instagram.publish(publication, handles, guard);
      const visible = await platform.visible();
      expect(visible.map(({ media: shown }) => shown.length)).toEqual([media.length]);
      expect(outcome).toEqual({ kind: "published", externalId: visible[0]?.id, permalink });
      expect(await countPublishCalls()).toBe(1);
    },
  );

  test("an Instagram video with an unreadable container is published on a later attempt when Instagram still processes it", async () => {
    const publication = await createPublication([mp4Media(300_000)]);
    const { handles } = await platform.prepare(instagram, publication, { maxRuns: 3 });
    const container = JSON.parse(handles.container0 ?? "") as object;
    const early = {
      container0: JSON.stringify({ ...container, stage: "ready", isUnread: true }),
    };
    expect(await instagram.publish(publication, early, guard)).toMatchObject(
      retryable("platform_unavailable"),
    );
    expect(await platform.visible()).toEqual([]);
    await platform.control("POST", "clock", { advanceMs: 60_000 });
    expect(await instagram.publish(publication, early, guard)).toMatchObject(PUBLISHED);
    expect(await platform.visible()).toHaveLength(1);
  });

  test("an Instagram post whose publishing call got no answer is found in the list of posts and not published again", async () => {
    const publication = await createPublication([jpegMedia(1)]);
    const { handles } = await platform.prepare(instagram, publication, { maxRuns: 100 });
    await platform.addFault("publish", "drop_after_commit");
    expect(await instagram.publish(publication, handles, guard)).toMatchObject(UNKNOWN);
    const verdict = await instagram.reconcile(publication, handles, unknownCall(), signal);
    const [entry, ...others] = await platform.visible();
    expect(others).toEqual([]);
    expect(verdict).toMatchObject({ kind: "present", externalId: entry?.id });
    expect(await countPublishCalls()).toBe(1);
  });

  test("an Instagram post is not published again when neither its container nor the list of posts shows the call's outcome", async () => {
    const publication = await createPublication([jpegMedia(1)]);
    const { handles } = await platform.prepare(instagram, publication, { maxRuns: 100 });
    await platform.addFault("publish", "drop_before");
    expect(await instagram.publish(publication, handles, guard)).toMatchObject(UNKNOWN);
    const verdict = await instagram.reconcile(publication, handles, unknownCall(), signal);
    expect(verdict.kind).not.toBe("absent");
  });
});

describe("deletions with an Instagram Page token that may not read single posts", () => {
  async function publishOne(): Promise<readonly [AccountAccess, string]> {
    const publication = await createPublication([jpegMedia(1)]);
    const outcome = await platform.publish(instagram, publication);
    if (outcome.kind !== "published" || outcome.externalId === null) throw new Error("not there");
    return [publication, outcome.externalId];
  }
  const refuseDeletion = () => platform.addFault("delete", "status", { status: 404 });

  test("a deletion that Instagram refuses as if the post were missing fails while the list of posts shows the post", async () => {
    const [account, id] = await publishOne();
    await refuseDeletion();
    expect(await instagram.delete(account, id, signal)).toMatchObject(
      retryable("permission_missing"),
    );
    expect(await platform.visible()).toHaveLength(1);
    expect(await instagram.delete(account, id, signal)).toEqual({ kind: "deleted" });
  });

  test("a repeated deletion of an Instagram post succeeds because the list of posts no longer shows the post", async () => {
    const [account, id] = await publishOne();
    for (let times = 0; times < 2; times += 1)
      expect(await instagram.delete(account, id, signal)).toEqual({ kind: "deleted" });
  });

  test("a refused deletion of an Instagram post has no definite outcome when the list of posts cannot be read", async () => {
    const [account, id] = await publishOne();
    await refuseDeletion();
    await platform.addFault(`GET /v25.0/${account.externalId}/media`, "status", { status: 500 });
    expect(await instagram.delete(account, id, signal)).toMatchObject(
      retryable("platform_unavailable"),
    );
  });
});
