import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeEach, describe, expect, test } from "vitest";
import type { Handles } from "#src/publishing/handles.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { UnknownCall } from "#src/publishing/verdict.ts";
import { createYoutubePublishingConnector } from "#src/youtube/publishing/connector.ts";
import {
  CANNOT_TELL,
  INCOMPLETE_LOOK,
  LOOK_AGAIN,
  PUBLISHED,
  refused,
  retryable,
  UNKNOWN,
} from "../results.ts";
import { mp4Media, pngMedia, type TestMedia } from "../test-media.ts";
import { guard, signal, startTestPlatform } from "../test-platform.ts";
import { unknownCall } from "../unknown-call.ts";

const KB = 1024;
const CHUNK_BYTES = 256 * KB;

const platform = await startTestPlatform("youtube");
const youtube = createYoutubePublishingConnector({
  baseUrl: platform.url,
  chunkBytes: CHUNK_BYTES,
});

async function createPublication(
  media: readonly TestMedia[] = [mp4Media(1000)],
  part: Partial<Publication> = {},
): Promise<Publication> {
  const made = await platform.createPublication(media, "Ships & sails\n#harbour");
  return { ...made, title: "A video", ...part };
}

const prepare = (publication: Publication, options: { handles?: Handles; maxRuns?: number } = {}) =>
  platform.prepare(youtube, publication, options);
const publish = (publication: Publication) => platform.publish(youtube, publication);
const shown = (media: TestMedia) => [{ kind: "video", sha256: media.sha256 }];

async function listOperations(): Promise<readonly string[]> {
  return (await platform.listRequests()).map(({ operation }) => operation);
}

const reconcile = (
  publication: Publication,
  handles: Handles,
  overrides: Partial<UnknownCall> = {},
) => youtube.reconcile(publication, handles, unknownCall(overrides), signal);

/** Lists the videos that the owner of the YouTube channel sees, including private videos. */
async function listVideos({ accessToken, externalId }: Publication): Promise<readonly string[]> {
  const playlistId = externalId.replace(/^UC/, "UU");
  const url = `${platform.url}/youtube/v3/playlistItems?part=contentDetails&maxResults=50&playlistId=${playlistId}`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${accessToken}` } });
  if (answer.status === 404) return [];
  const { items } = (await answer.json()) as { items: { contentDetails: { videoId: string } }[] };
  return items.map(({ contentDetails }) => contentDetails.videoId);
}

describe("publishing on YouTube", () => {
  test("a small video is uploaded to YouTube with one publishing call to an upload session that was started before", async () => {
    const video = mp4Media(1000);
    const publication = await createPublication([video]);
    const outcome = await publish(publication);
    const [entry] = await platform.visible();
    expect(entry).toMatchObject({ text: "Ships & sails\n#harbour", media: shown(video) });
    expect(outcome).toEqual({
      kind: "published",
      externalId: entry?.id,
      permalink: `https://www.youtube.com/watch?v=${entry?.id ?? ""}`,
      askLater: { videoId: entry?.id, uploadedAt: expect.any(String) as string },
    });
    expect(await listOperations()).toEqual(["create", "publish"]);
  });

  test("a large video is uploaded to YouTube in parts, and the publishing call sends the last part", async () => {
    const video = mp4Media(600 * KB);
    const publication = await createPublication([video]);
    const { handles } = await prepare(publication);
    expect(await listOperations()).toEqual(["create", "upload", "upload"]);
    expect(await listVideos(publication)).toEqual([]);
    expect(youtube.visibleParts?.(publication, handles)).toEqual([
      { media: video, start: 512 * KB, length: 88 * KB },
    ]);
    expect(await youtube.publish(publication, handles, guard)).toMatchObject(PUBLISHED);
    expect((await platform.visible())[0]?.media).toEqual(shown(video));
  });

  test("the last part of a YouTube upload is a whole part when the video's size is a multiple of the part size", async () => {
    const video = mp4Media(2 * CHUNK_BYTES);
    expect(await publish(await createPublication([video]))).toMatchObject(PUBLISHED);
    expect(await listOperations()).toEqual(["create", "upload", "publish"]);
    expect((await platform.visible())[0]?.media).toEqual(shown(video));
  });

  test("YouTube receives the title, tags and privacy of a video, and private or unlisted videos are not public", async () => {
    const tags = ["one", "two words"];
    for (const privacy of ["private", "unlisted"]) {
      const publication = await createPublication([mp4Media(1000)], { tags, privacy });
      const outcome = await publish(publication);
      const [id = ""] = await listVideos(publication);
      expect(outcome).toMatchObject({ kind: "published", externalId: id });
      const url = `${platform.url}/youtube/v3/videos?part=snippet,status&id=${id}`;
      const headers = { authorization: `Bearer ${publication.accessToken}` };
      expect(await (await fetch(url, { headers })).json()).toMatchObject({
        items: [
          {
            snippet: {
              title: "A video",
              description: "Ships & sails\n#harbour",
              tags,
              categoryId: "22",
            },
            status: { privacyStatus: privacy, selfDeclaredMadeForKids: false },
          },
        ],
      });
    }
    expect(await platform.visible()).toEqual([]);
  });

  test.each([
    [{ width: 720, height: 1280, durationMs: 180_000 }, "shorts/"],
    [{ width: 720, height: 720, durationMs: 1000 }, "shorts/"],
    [{ width: 720, height: 1280, durationMs: 180_001 }, "watch?v="],
    [{ width: 1280, height: 720, durationMs: 1000 }, "watch?v="],
    [{ width: null, height: null, durationMs: null }, "watch?v="],
  ])("a YouTube video of the size and duration %j has a permalink with %s", async (size, path) => {
    const publication = await createPublication();
    const media = publication.media.map((video) => ({ ...video, ...size }));
    expect(await publish({ ...publication, media })).toMatchObject({
      permalink: expect.stringContaining(`https://www.youtube.com/${path}`) as string,
    });
  });

  test.each<[string, readonly TestMedia[], Partial<Publication>, string]>([
    ["without a title", [mp4Media(1000)], { title: undefined }, "content_rejected"],
    ["without a video", [], {}, "media_rejected"],
    ["with an image", [pngMedia(1)], {}, "media_rejected"],
    ["with two videos", [mp4Media(1000), mp4Media(1000, 1)], {}, "media_rejected"],
  ])(
    "a YouTube post %s is refused before any call to YouTube",
    async (_name, media, part, code) => {
      const publication = await createPublication(media, part);
      expect(await publish(publication)).toMatchObject({ kind: "refused", code });
      expect(await listOperations()).toEqual([]);
    },
  );
});

describe("interrupted uploads to YouTube", () => {
  test.each([1, 2, 3])(
    "a YouTube upload that is interrupted after YouTube's answer number %i reads from the upload session where to continue",
    async (maxRuns) => {
      const video = mp4Media(900 * KB);
      const publication = await createPublication([video]);
      const { handles } = await prepare(publication, { maxRuns });
      const { handles: ready } = await prepare(publication, { handles });
      expect(await youtube.publish(publication, ready, guard)).toMatchObject(PUBLISHED);
      expect((await platform.visible()).map(({ media }) => media)).toEqual([shown(video)]);
      const uploads = Array<string>(maxRuns - 1).fill("upload");
      const rest = Array<string>(4 - maxRuns).fill("upload");
      expect(await listOperations()).toEqual(["create", ...uploads, "status", ...rest, "publish"]);
    },
  );

  test.each(["drop_before", "drop_after_commit", "garbage_body", "status_after_commit", "status"])(
    "a YouTube upload that meets the simulated fault %s at any call is retried and published once with the right bytes",
    async (mode) => {
      for (const operation of ["create", "upload", "status"]) {
        await platform.reset();
        const video = mp4Media(600 * KB);
        const publication = await createPublication([video]);
        // The handles that an ended process had stored remain; the next process first reads the
        // state of the upload session.
        const { handles: left } =
          operation === "status" ? await prepare(publication, { maxRuns: 2 }) : { handles: {} };
        await platform.addFault(operation, mode);
        let ready = await prepare(publication, { handles: left });
        expect(ready.failure).toMatchObject(retryable("platform_unavailable"));
        ready = await prepare(publication, { handles: ready.handles });
        expect(await youtube.publish(publication, ready.handles, guard)).toMatchObject(PUBLISHED);
        expect((await platform.visible()).map(({ media }) => media)).toEqual([shown(video)]);
        expect(await listVideos(publication)).toHaveLength(1);
      }
    },
  );

  test("a YouTube upload session that is lost before the last byte may have been sent is replaced by a new session", async () => {
    const video = mp4Media(600 * KB);
    const publication = await createPublication([video]);
    const { handles } = await prepare(publication, { maxRuns: 2 });
    const forgotten = forget(handles);
    const { handles: ready } = await prepare(publication, { handles: forgotten });
    expect(await youtube.publish(publication, ready, guard)).toMatchObject(PUBLISHED);
    expect((await platform.visible())[0]?.media).toEqual(shown(video));
  });

  test("a YouTube upload session that is lost after the last byte may have been sent is not replaced by a new session", async () => {
    const publication = await createPublication();
    const { handles } = await prepare(publication);
    expect((await prepare(publication, { handles: forget(handles) })).failure).toMatchObject(
      refused("outcome_unknown"),
    );
    expect(await listVideos(publication)).toEqual([]);
  });

  test("a YouTube upload sends no more bytes when an earlier call has already created the video", async () => {
    const publication = await createPublication();
    const { handles } = await prepare(publication);
    await youtube.publish(publication, handles, guard);
    const ready = await prepare(publication, { handles });
    const [entry] = await platform.visible();
    expect(await youtube.publish(publication, ready.handles, guard)).toMatchObject({
      kind: "published",
      externalId: entry?.id,
    });
    expect(youtube.visibleParts?.(publication, ready.handles)).toEqual([]);
    expect(await platform.visible()).toMatchObject([{ createCalls: 1 }]);
  });

  test("a YouTube upload throws the error of a media stream that breaks, and the next attempt continues at the same offset", async () => {
    const video = mp4Media(600 * KB);
    const publication = await createPublication([video]);
    video.failures = ["broken"];
    await expect(prepare(publication)).rejects.toThrow("media broke off");
    expect(await publish(publication)).toMatchObject(PUBLISHED);
    expect((await platform.visible()).map(({ media }) => media)).toEqual([shown(video)]);
  });
});

/** Returns the handles with an unknown upload session, as if YouTube had forgotten the session. */
function forget(handles: Handles): Handles {
  const state = JSON.parse(handles.upload ?? "") as { uri: string };
  const uri = state.uri.replace(/upload_id=[^&]+/, "upload_id=forgotten");
  return { ...handles, upload: JSON.stringify({ ...state, uri }) };
}

describe("YouTube's answers", () => {
  test.each([
    [400, { kind: "refused", code: "content_rejected" }],
    [401, { kind: "token_refused" }],
    [403, { kind: "refused", code: "permission_missing" }],
    [413, { kind: "refused", code: "media_rejected" }],
    [429, { kind: "retryable", code: "rate_limited", isLimit: true, retryAfterMs: 2000 }],
    [500, { kind: "retryable", code: "platform_unavailable" }],
    [503, { kind: "retryable", code: "platform_unavailable" }],
  ])(
    "HTTP %i in answer to a YouTube preparation step becomes the failure %j",
    async (status, failure) => {
      for (const operation of ["create", "upload"]) {
        await platform.reset();
        await platform.addFault(operation, "status", { status });
        const publication = await createPublication([mp4Media(600 * KB)]);
        expect((await prepare(publication)).failure).toMatchObject(failure);
        expect(await listVideos(publication)).toEqual([]);
      }
    },
  );

  test("YouTube's refusal of a title is reported with YouTube's message", async () => {
    const publication = await createPublication([mp4Media(1000)], { title: "a <b>" });
    expect(await publish(publication)).toEqual({
      kind: "refused",
      code: "content_rejected",
      message: "The request metadata specifies an invalid or empty video title.",
    });
  });

  test("YouTube's upload limit of the project stops all channels until midnight in California, and that of a channel stops the channel for six hours", async () => {
    await platform.control("POST", "settings", { quotas: true });
    const publication = await createPublication();
    const failures: unknown[] = [];
    for (let index = 0; index < 51; index += 1) failures.push((await prepare(publication)).failure);
    expect(failures.at(49)).toBeUndefined();
    expect(failures.at(50)).not.toHaveProperty("isOfApp");
    expect(failures.at(50)).toMatchObject({
      kind: "retryable",
      code: "platform_quota",
      isLimit: true,
      retryAfterMs: 6 * 3_600_000,
    });
    const other = await createPublication();
    for (let index = 0; index < 49; index += 1) await prepare(other);
    const { failure } = await prepare(other);
    const ofApp = { isLimit: true, isOfApp: true };
    expect(failure).toMatchObject({ kind: "retryable", code: "platform_quota", ...ofApp });
    const waitMs = failure?.kind === "retryable" ? (failure.retryAfterMs ?? 0) : 0;
    const until = new Intl.DateTimeFormat("en-US", {
      timeZone: "America/Los_Angeles",
      hourCycle: "h23",
      timeStyle: "short",
    }).format(Date.now() + waitMs);
    expect(until).toBe("00:01");
  });
});

describe("the publishing call to YouTube", () => {
  test.each([
    ["drop_before", {}],
    ["drop_after_commit", {}],
    ["garbage_body", {}],
    ["status_after_commit", { status: 500 }],
    ["status_after_commit", { status: 429 }],
    ["status", { status: 503 }],
    ["status", { status: 429 }],
    ["status", { status: 404 }],
  ])(
    "the outcome of a publishing call to YouTube is unknown after the simulated fault %s %j",
    async (mode, extra) => {
      const publication = await createPublication();
      const { handles } = await prepare(publication);
      await platform.addFault("publish", mode, extra);
      expect(await youtube.publish(publication, handles, guard)).toMatchObject(UNKNOWN);
    },
  );

  test("a publishing call that YouTube refuses creates no video", async () => {
    const publication = await createPublication();
    const { handles } = await prepare(publication);
    await platform.addFault("publish", "refuse");
    expect(await youtube.publish(publication, handles, guard)).toMatchObject(
      refused("permission_missing"),
    );
    expect(await listVideos(publication)).toEqual([]);
  });

  test("a publishing call to YouTube that breaks before its last byte creates no video and is retried", async () => {
    const video = mp4Media(200 * KB);
    const publication = await createPublication([video]);
    const { handles } = await prepare(publication);
    video.failures = ["broken"];
    expect(await youtube.publish(publication, handles, guard)).toMatchObject({ kind: "retryable" });
    expect(await listVideos(publication)).toEqual([]);
    const again = await prepare(publication, { handles });
    expect(await youtube.publish(publication, again.handles, guard)).toMatchObject(PUBLISHED);
    expect((await platform.visible()).map(({ media }) => media)).toEqual([shown(video)]);
  });

  test("the outcome of a publishing call to YouTube that was not sent, or that could not connect, is not unknown", async () => {
    const publication = await createPublication();
    const { handles } = await prepare(publication);
    const late = { ...guard, mayStillSend: () => false };
    expect(await youtube.publish(publication, handles, late)).toEqual({ kind: "not_sent" });
    const state = JSON.parse(handles.upload ?? "") as object;
    const elsewhere = { upload: JSON.stringify({ ...state, uri: "http://127.0.0.1:1/session" }) };
    expect(await youtube.publish(publication, elsewhere, guard)).toMatchObject(
      retryable("platform_unavailable"),
    );
    expect(await listVideos(publication)).toEqual([]);
  });

  test("a publishing call that is sent twice to one YouTube upload session creates one video", async () => {
    const publication = await createPublication();
    const { handles } = await prepare(publication);
    const [one, two] = [
      await youtube.publish(publication, handles, guard),
      await youtube.publish(publication, handles, guard),
    ];
    expect(one).toMatchObject(PUBLISHED);
    expect(two).toMatchObject({ externalId: one.kind === "published" ? one.externalId : "" });
    expect(await platform.visible()).toMatchObject([{ createCalls: 2 }]);
  });
});

describe("an unknown outcome on YouTube", () => {
  async function lose(mode: string): Promise<readonly [Publication, Handles]> {
    const publication = await createPublication();
    const { handles } = await prepare(publication);
    await platform.addFault("publish", mode);
    expect(await youtube.publish(publication, handles, guard)).toMatchObject(UNKNOWN);
    return [publication, handles];
  }

  test("the YouTube connector finds out from the upload session that the publishing call created a video", async () => {
    const [publication, handles] = await lose("drop_after_commit");
    const [entry] = await platform.visible();
    expect(await reconcile(publication, handles)).toEqual({
      kind: "present",
      externalId: entry?.id,
      permalink: `https://www.youtube.com/watch?v=${entry?.id ?? ""}`,
      askLater: { videoId: entry?.id, uploadedAt: expect.any(String) as string },
    });
  });

  test("the YouTube connector reports a video as absent when the upload session waits for more bytes", async () => {
    const [publication, handles] = await lose("drop_before");
    expect(await reconcile(publication, handles)).toEqual({ kind: "absent" });
  });

  test("a video of which YouTube has all bytes is neither reported as absent nor uploaded to another session", async () => {
    const video = mp4Media(1000);
    const publication = await createPublication([video]);
    const { handles } = await prepare(publication);
    await using session = createServer((request, response) => {
      request.resume().on("end", () => response.writeHead(308, { range: "bytes=0-999" }).end());
    });
    session.listen(0, "127.0.0.1");
    await once(session, "listening");
    const uri = `http://127.0.0.1:${(session.address() as AddressInfo).port}/session`;
    const state = JSON.parse(handles.upload ?? "") as object;
    const offered = { upload: JSON.stringify({ ...state, uri }) };
    expect(await youtube.publish(publication, offered, guard)).toMatchObject(UNKNOWN);
    expect(await reconcile(publication, offered)).toMatchObject(INCOMPLETE_LOOK);
    expect(
      await youtube.findMatchingPost?.(publication, offered, unknownCall(), signal),
    ).toMatchObject(INCOMPLETE_LOOK);
    const { failure } = await prepare(publication, { handles: offered });
    expect(failure).toMatchObject(retryable("outcome_unknown"));
  });

  test.each(["drop_before", "garbage_body"])(
    "the YouTube connector checks again when the simulated fault %s prevents reading the upload session",
    async (mode) => {
      const [publication, handles] = await lose("drop_after_commit");
      await platform.addFault("status", mode);
      expect(await reconcile(publication, handles)).toEqual({
        kind: "look_again",
        afterMs: 60,
        isIncomplete: true,
      });
    },
  );

  test("the YouTube connector finds the video of an ended upload session among the channel's uploads, including private videos", async () => {
    for (const privacy of ["public", "private"]) {
      const publication = await createPublication([mp4Media(1000)], { privacy });
      const { handles } = await prepare(publication);
      await platform.addFault("publish", "drop_after_commit");
      await youtube.publish(publication, handles, guard);
      const [id] = await listVideos(publication);
      expect(await reconcile(publication, forget(handles))).toMatchObject({
        kind: "present",
        externalId: id,
      });
    }
  });

  test("the YouTube connector searches for the video of an ended upload session after 5, 30 and 120 minutes, then reports an unknown outcome", async () => {
    const [publication, handles] = await lose("drop_before");
    const lost = forget(handles);
    const callUntil = new Date();
    const look = (looks: number, minutes: number) =>
      reconcile(publication, lost, {
        looks,
        callUntil,
        now: new Date(callUntil.getTime() + minutes * 60_000),
        timeScale: 1,
      });
    expect(await look(0, 0)).toEqual({ kind: "look_again", afterMs: 5 * 60_000 });
    expect(await look(1, 5)).toEqual({ kind: "look_again", afterMs: 25 * 60_000 });
    expect(await look(2, 30)).toEqual({ kind: "look_again", afterMs: 90 * 60_000 });
    expect(await look(3, 120)).toMatchObject(CANNOT_TELL);
    expect(await listVideos(publication)).toEqual([]);
  });

  test("the YouTube connector finds the video of an ended upload session although Postrider's clock is ten minutes fast", async () => {
    const [publication, handles] = await lose("drop_after_commit");
    const lost = forget(handles);
    const [id] = await listVideos(publication);
    const state = JSON.parse(lost.upload ?? "") as object;
    const fast = { upload: JSON.stringify({ ...state, startedAt: Date.now() + 10 * 60_000 }) };
    expect(await reconcile(publication, fast)).toMatchObject({ kind: "present", externalId: id });
  });

  test("the YouTube connector ignores videos that belong to another Postrider post, have another text or are older than the upload", async () => {
    const [publication, handles] = await lose("drop_after_commit");
    const lost = forget(handles);
    const [id = ""] = await listVideos(publication);
    const isOwned = () => Promise.resolve(new Set([id]));
    expect(await reconcile(publication, lost, { isOwned })).toMatchObject(LOOK_AGAIN);
    for (const part of [{ title: "Another video" }, { text: "Other words" }])
      expect(await reconcile({ ...publication, ...part }, lost)).toMatchObject(LOOK_AGAIN);
    const state = JSON.parse(lost.upload ?? "") as object;
    const later = { upload: JSON.stringify({ ...state, startedAt: Date.now() + 20 * 60_000 }) };
    expect(await reconcile(publication, later)).toMatchObject(LOOK_AGAIN);
  });

  test("the YouTube connector reports that it cannot tell the outcome when two videos have the same text", async () => {
    const [publication, handles] = await lose("drop_after_commit");
    await publish({ ...publication, media: [mp4Media(1000, 1)] });
    expect(await reconcile(publication, forget(handles))).toMatchObject(CANNOT_TELL);
  });

  test("the YouTube connector reports that it cannot tell the outcome when YouTube does not allow it to read the channel", async () => {
    const [publication, handles] = await lose("drop_after_commit");
    await platform.addFault("account", "refuse");
    expect(await reconcile(publication, forget(handles))).toMatchObject(CANNOT_TELL);
    await platform.addFault("account", "status", { status: 401 });
    expect(await reconcile(publication, forget(handles))).toMatchObject(INCOMPLETE_LOOK);
  });
});

describe("YouTube videos after a restore", () => {
  const find = (publication: Publication, handles: Handles, overrides: Partial<UnknownCall> = {}) =>
    youtube.findMatchingPost?.(publication, handles, unknownCall(overrides), signal);

  test("after a database restore, the YouTube connector finds a video by its text, whatever the stored data says about its upload", async () => {
    const publication = await createPublication();
    const { handles } = await prepare(publication);
    await youtube.publish(publication, handles, guard);
    const [id] = await listVideos(publication);
    for (const known of [{}, handles, forget(handles)])
      expect(await find(publication, known)).toMatchObject({ kind: "present", externalId: id });
  });

  test("the YouTube connector reports a video as absent only after complete searches of the channel's uploads", async () => {
    const publication = await createPublication();
    const { handles } = await prepare(publication);
    await platform.addFault("account", "drop_before");
    expect(await find(publication, {})).toMatchObject(INCOMPLETE_LOOK);
    for (const known of [{}, handles]) {
      expect(await find(publication, known)).toMatchObject(LOOK_AGAIN);
      const callUntil = new Date(Date.now() - 120 * 60_000);
      const late = { looks: 3, callUntil, timeScale: 1 };
      expect(await find(publication, known, late)).toEqual({ kind: "absent" });
    }
  });

  test("after a database restore, the YouTube connector ignores a matching video that belongs to another Postrider post", async () => {
    const publication = await createPublication();
    await publish(publication);
    const isOwned = (ids: readonly string[]) => Promise.resolve(new Set(ids));
    expect(await find(publication, {}, { isOwned })).toMatchObject(LOOK_AGAIN);
  });
});

describe("videos of a project that YouTube has not audited", () => {
  beforeEach(() => platform.control("POST", "settings", { audited: false }));
  const locked = {
    externalId: expect.any(String) as string,
    caveat: {
      code: "app_configuration",
      message: expect.stringContaining("private") as string,
    },
  };

  test("a video that YouTube locks as private counts as published, with a remark about the lock, so that it is not uploaded again", async () => {
    expect(await publish(await createPublication())).toMatchObject({
      kind: "published",
      ...locked,
    });
    expect(await platform.visible()).toEqual([]);
  });

  test("a locked video is found, with the remark about the lock, when the answer to the upload was lost", async () => {
    const publication = await createPublication();
    const { handles } = await prepare(publication);
    await platform.addFault("publish", "drop_after_commit");
    await youtube.publish(publication, handles, guard);
    const found = { kind: "present", ...locked };
    expect(await reconcile(publication, handles)).toMatchObject(found);
    expect(await reconcile(publication, forget(handles))).toMatchObject(found);
  });

  test("the YouTube connector publishes a private video even if YouTube has not audited the API project", async () => {
    const publication = await createPublication([mp4Media(1000)], { privacy: "private" });
    expect(await publish(publication)).toMatchObject(PUBLISHED);
  });
});

describe("deleting on YouTube", () => {
  const remove = (publication: Publication, id: string) => youtube.delete(publication, id, signal);

  test("the YouTube connector deletes a video, and the deletion can be repeated", async () => {
    const publication = await createPublication();
    await publish(publication);
    const [id = ""] = await listVideos(publication);
    expect(await remove(publication, id)).toEqual({ kind: "deleted" });
    expect(await platform.visible()).toEqual([]);
    expect(await remove(publication, id)).toEqual({ kind: "deleted" });
  });

  test.each([
    ["drop_before", {}, { kind: "unknown" }],
    ["drop_after_commit", {}, { kind: "unknown" }],
    ["garbage_body", {}, { kind: "unknown" }],
    ["status", { status: 503 }, { kind: "unknown" }],
    ["status", { status: 401 }, { kind: "token_refused" }],
    ["status", { status: 429 }, { kind: "retryable", code: "rate_limited", isLimit: true }],
    ["refuse", {}, { kind: "refused", code: "permission_missing" }],
  ])(
    "a YouTube deletion that meets the simulated fault %s %j has the outcome %j, and can be repeated",
    async (mode, extra, outcome) => {
      const publication = await createPublication();
      await publish(publication);
      const [id = ""] = await listVideos(publication);
      await platform.addFault("delete", mode, extra);
      expect(await remove(publication, id)).toMatchObject(outcome);
      expect(await remove(publication, id)).toEqual({ kind: "deleted" });
      expect(await platform.visible()).toEqual([]);
    },
  );
});
