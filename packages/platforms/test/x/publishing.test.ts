import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Handles } from "#src/publishing/handles.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { createXPublishingConnector } from "#src/x/publishing/connector.ts";
import {
  CANNOT_TELL,
  LOOK_AGAIN,
  PRESENT,
  PUBLISHED,
  refused,
  retryable,
  UNKNOWN,
} from "../results.ts";
import { gifMedia, mp4Media, pngMedia, TestMedia } from "../test-media.ts";
import { guard, signal, startTestPlatform } from "../test-platform.ts";
import { unknownCall } from "../unknown-call.ts";

const platform = await startTestPlatform("x");
const x = createXPublishingConnector({ baseUrl: platform.url, mayResend: true });

const createPublication = (media: Publication["media"], text = "with media") =>
  platform.createPublication(media, text);
const prepare = (publication: Publication, handles: Handles = {}, maxRuns = 1000) =>
  platform.prepare(x, publication, { handles, maxRuns });
const publish = (publication: Publication) => platform.publish(x, publication);

/** Lists the upload calls that X received, in order. */
async function listUploads(): Promise<readonly string[]> {
  return (await platform.listRequests())
    .filter(({ path }) => path.startsWith("/2/media/upload"))
    .map(({ method, path }) => `${method} ${path.split("/").at(-1)}`);
}

function toShown(media: TestMedia, kind: string): { kind: string; sha256: string } {
  return { kind, sha256: media.sha256 };
}

const MB = 1024 * 1024;

describe("publishing media on X", () => {
  test("the X connector publishes four images unchanged and in order", async () => {
    const images = [1, 2, 3, 4].map(pngMedia);
    const publication = await createPublication(images);
    const outcome = await publish(publication);
    const [entry] = await platform.visible();
    expect(outcome).toMatchObject({
      kind: "published",
      externalId: entry?.id,
      permalink: `https://x.com/${publication.username}/status/${entry?.id ?? ""}`,
    });
    expect(entry?.text).toBe("with media");
    expect(entry?.media).toEqual(images.map((image) => toShown(image, "image")));
  });

  test("a post on X may consist of media only", async () => {
    expect(await publish(await createPublication([pngMedia(1)], ""))).toMatchObject(PUBLISHED);
  });

  test("the X connector uploads a GIF in segments like a video", async () => {
    const gif = gifMedia();
    expect(await publish(await createPublication([gif]))).toMatchObject(PUBLISHED);
    expect((await platform.visible())[0]?.media).toEqual([toShown(gif, "gif")]);
  });

  test("the X connector uploads a video in segments and waits for its processing as long as X states", async () => {
    const video = mp4Media(9 * MB);
    const publication = await createPublication([video]);
    platform.holdClock();
    const { handles, waits } = await prepare(publication);
    expect(waits).toEqual([1000, 1000]);
    expect(await x.publish(publication, handles, guard)).toMatchObject(PUBLISHED);
    expect((await platform.visible())[0]?.media).toEqual([toShown(video, "video")]);
    expect(await listUploads()).toEqual([
      "POST initialize",
      "POST append",
      "POST append",
      "POST append",
      "POST finalize",
      "GET upload",
      "GET upload",
    ]);
  });
});

test("a video whose codec X does not take is refused with X's words, and a file that is not a video with others", async () => {
  const url = new URL("../../../../services/media/test/videos/mpeg4-mp3.mp4", import.meta.url);
  const unsupported = new TestMedia("mpeg4", "video/mp4", readFileSync(url));
  const unreadable = new TestMedia("text", "video/mp4", Buffer.alloc(1000, "not a video"));
  const refused = { kind: "refused", code: "media_rejected" };
  expect(await publish(await createPublication([unsupported]))).toEqual({
    ...refused,
    message: "file is currently unsupported",
  });
  expect(await publish(await createPublication([unreadable]))).toEqual({
    ...refused,
    message: "Unsupported media format",
  });
});

describe("interrupted uploads to X", () => {
  test.each([1, 2, 3, 4, 5])(
    "an upload to X that is interrupted after X's answer number %i continues with the next call",
    async (runs) => {
      const video = mp4Media(9 * MB);
      const publication = await createPublication([video]);
      const { handles } = await prepare(publication, {}, runs);
      const done = await listUploads();
      const { handles: ready } = await prepare(publication, handles);
      expect(await x.publish(publication, ready, guard)).toMatchObject(PUBLISHED);
      expect((await platform.visible())[0]?.media).toEqual([toShown(video, "video")]);
      expect(done).toHaveLength(runs);
      expect((await listUploads()).filter((call) => call === "POST append")).toHaveLength(3);
      expect((await listUploads()).filter((call) => call === "POST initialize")).toHaveLength(1);
    },
  );

  test.each(["drop_before", "drop_after_commit", "garbage_body", "status_after_commit"])(
    "a post on X whose upload meets the simulated fault %s at any call is retried and published once with the right bytes",
    async (mode) => {
      for (const operation of [
        "POST /2/media/upload/initialize",
        "POST /2/media/upload/*/append",
        "POST /2/media/upload/*/finalize",
        "GET /2/media/upload",
      ]) {
        await platform.reset();
        const video = mp4Media(5 * MB);
        const publication = await createPublication([video]);
        await platform.addFault(operation, mode);
        let ready = await prepare(publication);
        for (let tries = 0; ready.failure !== undefined && tries < 3; tries += 1) {
          expect(ready.failure).toMatchObject(retryable("platform_unavailable"));
          ready = await prepare(publication, ready.handles);
        }
        expect(await x.publish(publication, ready.handles, guard)).toMatchObject(PUBLISHED);
        expect((await platform.visible()).map(({ media }) => media)).toEqual([
          [toShown(video, "video")],
        ]);
        const begun = (await listUploads()).filter((call) => call === "POST initialize");
        expect(begun).toHaveLength(operation.endsWith("initialize") ? 2 : 1);
      }
    },
  );

  test("an upload that X has lost is started again once", async () => {
    const video = mp4Media(5 * MB);
    const publication = await createPublication([video]);
    const { handles } = await prepare(publication, {}, 2);
    const forgotten = {
      media0: JSON.stringify({ ...(JSON.parse(handles.media0 ?? "") as object), id: "123" }),
    };
    const { handles: ready } = await prepare(publication, forgotten);
    expect(await x.publish(publication, ready, guard)).toMatchObject(PUBLISHED);
    expect((await platform.visible())[0]?.media).toEqual([toShown(video, "video")]);
    await platform.addFault("POST /2/media/upload/*/append", "status", { status: 400, times: 2 });
    expect((await prepare(publication)).failure).toMatchObject(refused("media_rejected"));
  });

  test("an upload to X is started again when its media would expire too soon", async () => {
    const image = pngMedia(1);
    const publication = await createPublication([image]);
    const { handles } = await prepare(publication);
    expect(x.steps(publication).every((step) => step.isDone(handles))).toBe(true);
    const state = JSON.parse(handles.media0 ?? "") as { id: string };
    const old = { media0: JSON.stringify({ ...state, expiresAt: Date.now() + 60_000 }) };
    expect(x.steps(publication).some((step) => step.isDone(old))).toBe(false);
    const { handles: fresh } = await prepare(publication, old);
    expect(JSON.parse(fresh.media0 ?? "")).not.toMatchObject({ id: state.id });
    expect(await x.publish(publication, fresh, guard)).toMatchObject(PUBLISHED);
  });
});

describe("X's answers about media", () => {
  test.each([
    [401, { kind: "token_refused" }],
    [402, { kind: "refused", code: "app_configuration" }],
    [403, { kind: "refused", code: "account_action_needed" }],
    [413, { kind: "refused", code: "media_rejected" }],
    [500, { kind: "retryable", code: "platform_unavailable" }],
    [503, { kind: "retryable", code: "platform_unavailable" }],
    [429, { kind: "retryable", code: "rate_limited", isLimit: true }],
  ])(
    "HTTP %i in answer to an upload to X becomes the failure %j for an image and for a video",
    async (status, failure) => {
      await platform.addFault("upload", "status", { status, times: 2 });
      for (const media of [pngMedia(1), mp4Media(1000)]) {
        const publication = await createPublication([media]);
        expect((await prepare(publication)).failure).toMatchObject(failure);
      }
      expect(await platform.visible()).toEqual([]);
    },
  );

  test("an image that X cannot read is rejected", async () => {
    const nonsense = new TestMedia("nonsense", "image/png", Buffer.alloc(1000, "nonsense"));
    expect((await prepare(await createPublication([nonsense]))).failure).toMatchObject(
      refused("media_rejected"),
    );
  });

  test("a post on X whose media has expired is refused and does not become visible", async () => {
    const publication = await createPublication([pngMedia(1)]);
    const { handles } = await prepare(publication);
    const state = JSON.parse(handles.media0 ?? "") as object;
    const ended = { media0: JSON.stringify({ ...state, id: "123" }) };
    expect(await x.publish(publication, ended, guard)).toMatchObject(refused("media_rejected"));
  });

  test("an attempt whose video is processed by X for hours fails, and the next attempt does not upload the video again", async () => {
    const publication = await createPublication([mp4Media(1000)]);
    const { handles } = await prepare(publication, {}, 3);
    const state = JSON.parse(handles.media0 ?? "") as object;
    const impatient = { media0: JSON.stringify({ ...state, patientUntil: Date.now() - 1 }) };
    expect((await prepare(publication, impatient)).failure).toMatchObject(
      retryable("platform_unavailable"),
    );
    await platform.control("POST", "clock", { advanceMs: 2000 });
    const { handles: ready } = await prepare(publication, impatient);
    expect(await x.publish(publication, ready, guard)).toMatchObject(PUBLISHED);
    expect((await listUploads()).filter((call) => call === "POST initialize")).toHaveLength(1);
  });
});

describe("an unknown outcome with media on X", () => {
  async function lose(
    mode: string,
    text = "is it there?",
  ): Promise<readonly [Publication, Handles]> {
    const publication = await createPublication([pngMedia(1)], text);
    const { handles } = await prepare(publication);
    await platform.addFault("publish", mode);
    expect(await x.publish(publication, handles, guard)).toMatchObject(UNKNOWN);
    return [publication, handles];
  }

  test.each(["is it there?", ""])(
    "after a lost answer, the X connector finds a post with the text %j by its media",
    async (text) => {
      const [publication, handles] = await lose("drop_after_commit", text);
      const [entry] = await platform.visible();
      expect(await x.reconcile(publication, handles, unknownCall(), signal)).toMatchObject({
        kind: "present",
        externalId: entry?.id,
      });
    },
  );

  test("the X connector reports a post with media as absent only after three timeline reads", async () => {
    const [publication, handles] = await lose("drop_before");
    const callUntil = new Date(Date.now() - 60_000);
    const look = (looks: number) =>
      x.reconcile(publication, handles, unknownCall({ looks, callUntil }), signal);
    expect(await look(0)).toMatchObject(LOOK_AGAIN);
    expect(await look(3)).toEqual({ kind: "absent" });
  });

  test("the X connector does not take a post with the same text and other media, or without media, as the published post", async () => {
    const [publication, handles] = await lose("drop_before");
    const other = { ...publication, media: [pngMedia(2)] };
    await publish({ ...publication, media: [] });
    expect(
      await x.reconcile(publication, handles, unknownCall({ looks: 0 }), signal),
    ).toMatchObject(LOOK_AGAIN);
    await publish(other);
    expect(await x.reconcile(publication, handles, unknownCall(), signal)).toMatchObject(
      CANNOT_TELL,
    );
  });

  test("the X connector does not take a post with media as the published post when it searches for the same text without media", async () => {
    const withMedia = await createPublication([pngMedia(1)], "hello");
    await publish(withMedia);
    const textOnly = { ...withMedia, media: [] };
    expect(await x.reconcile(textOnly, {}, unknownCall(), signal)).toMatchObject(LOOK_AGAIN);
    await publish(textOnly);
    const entry = (await platform.visible()).find(({ media }) => media.length === 0);
    expect(await x.reconcile(textOnly, {}, unknownCall(), signal)).toMatchObject({
      kind: "present",
      externalId: entry?.id,
    });
  });

  test("the X connector reduces two texts to the same form exactly if a search of the timeline cannot tell posts with these texts apart", async () => {
    const publication = await createPublication([], "a &amp; b https://example.com/a#b");
    await publish(publication);
    const [text, same, other] = [
      publication.text,
      "a & b  http://Example.com/a/",
      "a & b https://example.com/b",
    ];
    const find = (words: string) =>
      x.reconcile({ ...publication, text: words }, {}, unknownCall(), signal);
    expect(await find(same)).toMatchObject(PRESENT);
    expect(x.comparableText?.(same)).toBe(x.comparableText?.(text));
    expect(await find(other)).toMatchObject(CANNOT_TELL);
    expect(x.comparableText?.(other)).not.toBe(x.comparableText?.(text));
  });

  test("the X connector reports that it cannot tell the outcome when a text with a link to media on X may be an existing post with media", async () => {
    const withMedia = await createPublication([pngMedia(1)], "look");
    await publish(withMedia);
    const linking = { ...withMedia, text: "look https://x.com/me/status/1/photo/1", media: [] };
    expect(await x.reconcile(linking, {}, unknownCall(), signal)).toMatchObject(CANNOT_TELL);
  });

  test.each(["reconcile", "findMatchingPost"] as const)(
    "the X connector's method %s finds a post by its media even if the database by mistake assigns the X post to another Postrider post",
    async (search) => {
      const [publication, handles] = await lose("drop_after_commit");
      const [entry] = await platform.visible();
      const isOwned = (ids: readonly string[]) => Promise.resolve(new Set(ids));
      expect(
        await x[search]?.(publication, handles, unknownCall({ isOwned }), signal),
      ).toMatchObject({ kind: "present", externalId: entry?.id });
    },
  );

  test("the X connector reports that it cannot tell the outcome when it does not know which media was sent", async () => {
    const [publication] = await lose("drop_after_commit");
    expect(await x.reconcile(publication, {}, unknownCall(), signal)).toMatchObject(CANNOT_TELL);
  });
});

test("a long post of a subscriber on X whose answer is lost is found by its whole text, and not by its beginning", async () => {
  const { externalId, username, credentials } = await platform.createAccount({
    username: "premium_1",
  });
  const made = await createPublication([], `${"Ships & sails ".repeat(40)}https://a.example/b`);
  const { accessToken = "" } = credentials;
  const publication = { ...made, externalId, username, accessToken };
  await platform.addFault("publish", "drop_after_commit");
  expect(await publish(publication)).toMatchObject(UNKNOWN);
  const [entry] = await platform.visible();
  expect(entry?.text).toBe(publication.text);
  const other = { ...publication, text: `${"Ships & sails ".repeat(41)}https://a.example/b` };
  const find = (sent: Publication) => x.reconcile(sent, {}, unknownCall(), signal);
  expect(await find(publication)).toMatchObject({ kind: "present", externalId: entry?.id });
  expect(await find(other)).toMatchObject(LOOK_AGAIN);
});
