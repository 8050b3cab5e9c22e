import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { createBlueskyPublishingConnector } from "#src/bluesky/publishing/connector.ts";
import { createTid } from "#src/bluesky/publishing/put-post.ts";
import { limitForeignHosts } from "#src/http/foreign-hosts.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { CANNOT_TELL, PUBLISHED, refused, retryable, TOKEN_REFUSED, UNKNOWN } from "../results.ts";
import { mp4Media, pngMedia, TestMedia } from "../test-media.ts";
import { guard, signal, startTestPlatform } from "../test-platform.ts";
import { unknownCall } from "../unknown-call.ts";

const platform = await startTestPlatform("bluesky");
const bluesky = createBlueskyPublishingConnector({
  baseUrl: platform.url,
  videoBaseUrl: platform.url,
});

const createPublication = (media: Publication["media"], text = "with media") =>
  platform.createPublication(media, text);
const prepare = (publication: Publication, handles: Handles = {}, maxRuns = 1000) =>
  platform.prepare(bluesky, publication, { handles, maxRuns });
const publish = (publication: Publication) => platform.publish(bluesky, publication);
const shown = (media: TestMedia, kind: string) => ({ kind, sha256: media.sha256 });

/** Lists the calls that Bluesky received after the session was created, in order. */
async function listCalls(): Promise<readonly string[]> {
  return (await platform.calls()).slice(1).map((call) => call.split(" ").at(-1) ?? "");
}

async function readRecord(publication: Publication, { rkey = "" }: Handles) {
  const query = `repo=${publication.externalId}&collection=app.bsky.feed.post&rkey=${rkey}`;
  const answer = await fetch(`${platform.url}/xrpc/com.atproto.repo.getRecord?${query}`);
  return ((await answer.json()) as { value: Record<string, unknown> }).value;
}

/**
 * Returns the handles as if their blobs (uploaded files) had been uploaded `byMs` milliseconds
 * earlier.
 */
function aged(handles: Handles, byMs: number): Handles {
  return Object.fromEntries(
    Object.entries(handles).map(([name, value]) => {
      if (!name.startsWith("blob")) return [name, value];
      const stored = JSON.parse(value) as { uploadedAt: number };
      return [name, JSON.stringify({ ...stored, uploadedAt: stored.uploadedAt - byMs })];
    }),
  );
}

const HOUR_MS = 3_600_000;

describe("publishing media on Bluesky", () => {
  test("the Bluesky connector publishes four images unchanged, in order, with their aspect ratio and an empty alternative text", async () => {
    const images = [1, 2, 3, 4].map(pngMedia);
    const publication = await createPublication(images, "Ships #harbour");
    const { handles } = await prepare(publication);
    const outcome = await bluesky.publish(publication, handles, guard);
    expect(outcome).toEqual({
      kind: "published",
      externalId: handles.rkey,
      permalink: `https://bsky.app/profile/${publication.externalId}/post/${handles.rkey ?? ""}`,
    });
    expect(await platform.visible()).toMatchObject([
      { text: "Ships #harbour", media: images.map((image) => shown(image, "image")) },
    ]);
    const { embed } = await readRecord(publication, handles);
    expect(embed).toMatchObject({
      images: images.map(({ bytes }) => ({
        image: { mimeType: "image/png", size: bytes },
        alt: "",
        aspectRatio: { width: 640, height: 480 },
      })),
    });
  });

  test("the Bluesky connector sends a video to Bluesky's video service and polls until the video is processed", async () => {
    const video = mp4Media(300_000);
    const publication = await createPublication([video], "");
    platform.holdClock();
    const { handles, waits } = await prepare(publication);
    expect(waits).toEqual([1000, 1000]);
    expect(await bluesky.publish(publication, handles, guard)).toMatchObject(PUBLISHED);
    expect(await platform.visible()).toMatchObject([{ text: "", media: [shown(video, "video")] }]);
    expect(await readRecord(publication, handles)).toMatchObject({
      embed: { $type: "app.bsky.embed.video", aspectRatio: { width: 640, height: 480 } },
    });
    expect(await listCalls()).toEqual([
      "getServiceAuth",
      "uploadVideo",
      "getJobStatus",
      "getJobStatus",
      "putRecord",
      "getRecord",
    ]);
  });

  test("the Bluesky connector does not wait for a video that Bluesky's video service has already processed", async () => {
    const video = mp4Media(1000);
    const publication = await createPublication([video]);
    await prepare(publication);
    const { waits, handles } = await prepare(publication);
    expect(waits).toEqual([]);
    expect(await bluesky.publish(publication, handles, guard)).toMatchObject(PUBLISHED);
  });
});

describe("interrupted uploads to Bluesky", () => {
  test.each([1, 2, 3, 4])(
    "a Bluesky upload that is interrupted after the platform's answer number %i repeats no call whose result was stored",
    async (runs) => {
      const images = [pngMedia(1), pngMedia(2), pngMedia(3)];
      const publication = await createPublication(images);
      const { handles } = await prepare(publication, {}, runs);
      const { handles: ready } = await prepare(publication, handles);
      expect(await bluesky.publish(publication, ready, guard)).toMatchObject(PUBLISHED);
      expect(await listCalls()).toEqual(["uploadBlob", "uploadBlob", "uploadBlob", "putRecord"]);
      expect((await platform.visible())[0]?.media).toEqual(
        images.map((one) => shown(one, "image")),
      );
    },
  );

  test("an interrupted video upload to Bluesky continues with the stored id of the processing job", async () => {
    const publication = await createPublication([mp4Media(1000)]);
    const { handles } = await prepare(publication, {}, 1);
    const { handles: ready } = await prepare(publication, handles);
    expect(await bluesky.publish(publication, ready, guard)).toMatchObject(PUBLISHED);
    expect((await listCalls()).filter((call) => call === "uploadVideo")).toHaveLength(1);
  });

  test.each(["drop_before", "drop_after_commit", "garbage_body", "status_after_commit"])(
    "a Bluesky post whose upload meets the simulated fault %s at any call is retried and published once with the right bytes",
    async (mode) => {
      const image = pngMedia(1);
      const video = mp4Media(5000);
      for (const [nsid, media, kind] of [
        ["POST /xrpc/com.atproto.repo.uploadBlob", image, "image"],
        ["GET /xrpc/com.atproto.server.getServiceAuth", video, "video"],
        ["POST /xrpc/app.bsky.video.uploadVideo", video, "video"],
        ["GET /xrpc/app.bsky.video.getJobStatus", video, "video"],
      ] as const) {
        await platform.reset();
        const publication = await createPublication([media]);
        await platform.addFault(nsid, mode);
        const first = await prepare(publication);
        expect(first.failure).toMatchObject(retryable("platform_unavailable"));
        const { handles } = await prepare(publication, first.handles);
        expect(await bluesky.publish(publication, handles, guard)).toMatchObject(PUBLISHED);
        expect((await platform.visible()).map((entry) => entry.media)).toEqual([
          [shown(media, kind)],
        ]);
      }
    },
  );

  test("files that Bluesky may have deleted since their upload are uploaded again before the post's record is written", async () => {
    const publication = await createPublication([pngMedia(1), pngMedia(2)]);
    const { handles } = await prepare(publication);
    await platform.control("POST", "clock", { advanceMs: HOUR_MS });
    expect(await bluesky.publish(publication, handles, guard)).toMatchObject(
      retryable("platform_unavailable"),
    );
    const old = aged(handles, HOUR_MS);
    expect(bluesky.steps(publication).map((step) => step.isDone(old))).toEqual([
      false,
      false,
      true,
    ]);
    const { handles: ready } = await prepare(publication, old);
    expect([ready.rkey, ready.record]).toEqual([handles.rkey, handles.record]);
    expect(await bluesky.publish(publication, ready, guard)).toMatchObject(PUBLISHED);
  });

  test("files that Bluesky has deleted sooner than expected are uploaded again by the next attempt", async () => {
    const publication = await createPublication([pngMedia(1), pngMedia(2)]);
    const { handles } = await prepare(publication);
    await platform.control("POST", "clock", { advanceMs: HOUR_MS });
    const outcome = await bluesky.publish(publication, handles, guard);
    expect(outcome).toMatchObject(retryable("platform_unavailable"));
    const added = outcome.kind === "retryable" ? outcome.handles : undefined;
    const { handles: ready } = await prepare(publication, { ...handles, ...added });
    expect(await bluesky.publish(publication, ready, guard)).toMatchObject(PUBLISHED);
  });

  test("a Bluesky post keeps its record key when a second upload changes the post's reference to a file", async () => {
    const publication = await createPublication([pngMedia(1)]);
    const { handles } = await prepare(publication);
    await platform.addFault("publish", "drop_after_commit");
    expect(await bluesky.publish(publication, handles, guard)).toMatchObject(UNKNOWN);
    const changed = { ...publication, media: [pngMedia(2)] };
    const { handles: ready } = await prepare(changed, aged(handles, HOUR_MS));
    expect(ready.rkey).toBe(handles.rkey);
    expect(ready.record).not.toBe(handles.record);
    // The first write took effect, so Bluesky refuses the second write, and the search finds the
    // record.
    expect(await bluesky.publish(changed, ready, guard)).toMatchObject(UNKNOWN);
    expect(await platform.visible()).toHaveLength(1);
  });
});

describe("Bluesky's answers about media", () => {
  test.each([
    [400, { kind: "refused", code: "media_rejected" }],
    [413, { kind: "refused", code: "media_rejected" }],
    [500, { kind: "retryable", code: "platform_unavailable" }],
    [502, { kind: "retryable", code: "platform_unavailable" }],
    [429, { kind: "retryable", code: "rate_limited", isLimit: true }],
  ])(
    "HTTP %i in answer to a Bluesky upload becomes the failure %j for an image and for a video",
    async (status, failure) => {
      await platform.addFault("upload", "status", { status, times: 2 });
      for (const media of [pngMedia(1), mp4Media(1000)]) {
        const publication = await createPublication([media]);
        expect((await prepare(publication)).failure).toMatchObject(failure);
      }
      expect(await platform.visible()).toEqual([]);
    },
  );

  test("a refused token for Bluesky's video service is not reported as `token_refused`, but a refused token of the account is", async () => {
    await platform.addFault("upload", "status", { status: 401, times: 2 });
    const image = await createPublication([pngMedia(1)]);
    expect((await prepare(image)).failure).toMatchObject(TOKEN_REFUSED);
    const video = await createPublication([mp4Media(1000)]);
    expect((await prepare(video)).failure).toMatchObject({ code: "platform_unavailable" });
    const dead = { ...video, accessToken: "dead-token" };
    expect((await prepare(dead)).failure).toMatchObject(TOKEN_REFUSED);
  });

  test("a video that Bluesky cannot process is rejected with the message of Bluesky's video service", async () => {
    const nonsense = new TestMedia("nonsense", "video/mp4", Buffer.alloc(1000, "nonsense"));
    expect((await prepare(await createPublication([nonsense]))).failure).toEqual({
      kind: "refused",
      code: "media_rejected",
      message: "The video could not be read",
    });
  });

  test("an image that is too large for a Bluesky record is rejected", async () => {
    const { content } = pngMedia(1);
    const large = Buffer.concat([content, Buffer.alloc(2_000_000)]);
    const publication = await createPublication([new TestMedia("large", "image/png", large)]);
    expect(await publish(publication)).toMatchObject(refused("media_rejected"));
  });

  test("a video job that Bluesky's video service has lost is started again once", async () => {
    const publication = await createPublication([mp4Media(1000)]);
    const { handles } = await prepare(publication, {}, 1);
    const upload = JSON.parse(handles.video ?? "") as object;
    const forgotten = { video: JSON.stringify({ ...upload, jobId: "unknown" }) };
    const { handles: ready } = await prepare(publication, forgotten);
    expect(await bluesky.publish(publication, ready, guard)).toMatchObject(PUBLISHED);
    const again = { video: JSON.stringify({ ...upload, jobId: "unknown", restarts: 1 }) };
    expect((await prepare(publication, again)).failure).toMatchObject(
      retryable("platform_unavailable"),
    );
  });

  /** Starts a video service whose jobs end as given, in order. */
  async function startVideoService(ends: readonly object[]) {
    let jobs = 0;
    const server = createServer((request, response) => {
      request.resume();
      request.on("end", () => {
        const isUpload = request.url?.includes("uploadVideo") === true;
        if (isUpload) jobs += 1;
        const state = isUpload ? { state: "JOB_STATE_CREATED" } : ends[jobs - 1];
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ jobStatus: { jobId: String(jobs), ...state } }));
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const videoBaseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const connector = createBlueskyPublishingConnector({ baseUrl: platform.url, videoBaseUrl });
    return {
      connector,
      countJobs: () => jobs,
      [Symbol.dispose]: () => void server.close(),
    };
  }
  const failed = (code: object) => ({ state: "JOB_STATE_FAILED", message: "no", ...code });
  const blob = { $type: "blob", ref: { $link: "b" }, mimeType: "video/mp4", size: 1000 };
  const COMPLETED = { state: "JOB_STATE_COMPLETED", blob };

  test.each([{}, { failureCode: "generic_failure" }, { failureCode: "pds_upload_failure" }])(
    "a Bluesky video whose job fails with %j is uploaded once more",
    async (code) => {
      using service = await startVideoService([failed(code), COMPLETED]);
      const publication = await createPublication([mp4Media(1000)]);
      const { failure } = await platform.prepare(service.connector, publication);
      expect(failure).toBeUndefined();
      expect(service.countJobs()).toBe(2);
    },
  );

  test("a Bluesky video that its server cannot store twice is not faulty: the next attempt uploads it again", async () => {
    const code = { failureCode: "pds_upload_failure" };
    using service = await startVideoService([failed(code), failed(code), COMPLETED]);
    const publication = await createPublication([mp4Media(1000)]);
    const { failure, handles } = await platform.prepare(service.connector, publication);
    expect(failure).toMatchObject(retryable("platform_unavailable"));
    const stored = failure?.kind === "retryable" ? failure.handles : undefined;
    const before = { ...handles, ...stored };
    const next = await platform.prepare(service.connector, publication, { handles: before });
    expect(next.failure).toBeUndefined();
    expect(service.countJobs()).toBe(3);
  });

  test("a Bluesky video whose job fails twice without a code is refused", async () => {
    using service = await startVideoService([failed({}), failed({})]);
    const publication = await createPublication([mp4Media(1000)]);
    const { failure } = await platform.prepare(service.connector, publication);
    expect(failure).toMatchObject(refused("media_rejected"));
  });

  test("an attempt whose Bluesky video is processed for hours fails, and the next attempt does not upload the video again", async () => {
    const publication = await createPublication([mp4Media(1000)]);
    const { handles } = await prepare(publication, {}, 1);
    const upload = JSON.parse(handles.video ?? "") as object;
    const impatient = { video: JSON.stringify({ ...upload, startedAt: Date.now() - HOUR_MS }) };
    expect((await prepare(publication, impatient)).failure).toMatchObject(
      retryable("platform_unavailable"),
    );
    await platform.control("POST", "clock", { advanceMs: 2000 });
    const { handles: ready } = await prepare(publication, impatient);
    expect(await bluesky.publish(publication, ready, guard)).toMatchObject(PUBLISHED);
    expect((await listCalls()).filter((call) => call === "uploadVideo")).toHaveLength(1);
  });
});

test("deleting a Bluesky post removes its video", async () => {
  const publication = await createPublication([mp4Media(1000)]);
  const outcome = await publish(publication);
  if (outcome.kind !== "published" || outcome.externalId === null) throw new Error("not there");
  expect(await bluesky.delete(publication, outcome.externalId, signal)).toEqual({
    kind: "deleted",
  });
  expect(await platform.visible()).toEqual([]);
});

test("a Bluesky post that meets the daily limit of videos waits for it, and does not use up its attempts", async () => {
  await platform.control("POST", "settings", { quotas: true });
  const publication = await createPublication([]);
  const prepareVideo = (nonce: number) =>
    prepare({ ...publication, media: [mp4Media(1000, nonce)] });
  for (let nonce = 1; nonce <= 25; nonce += 1)
    expect((await prepareVideo(nonce)).failure).toBeUndefined();
  expect((await prepareVideo(26)).failure).toMatchObject({
    kind: "retryable",
    code: "platform_quota",
    isLimit: true,
    retryAfterMs: 3_600_000,
  });
});

test("a description of 1,500 characters of a Bluesky video is published", async () => {
  const video = mp4Media(1000);
  video.altText = "a".repeat(1500);
  expect(await publish(await createPublication([video]))).toMatchObject(PUBLISHED);
});

describe("Bluesky posts after a restore", () => {
  const HOUR_AGO = new Date(Date.now() - HOUR_MS);
  const find = (publication: Publication, handles: Handles = {}, given = {}) =>
    bluesky.findMatchingPost?.(
      publication,
      handles,
      unknownCall({ calledAt: HOUR_AGO, ...given }),
      signal,
    );

  /** Writes the next records of the account, as another client of it would. */
  async function writeRecords(publication: Publication, count: number, more: object) {
    const collection = "app.bsky.feed.post";
    for (let index = 0; index < count; index += 1) {
      const answer = await fetch(`${platform.url}/xrpc/com.atproto.repo.putRecord`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${publication.accessToken}`,
        },
        body: JSON.stringify({
          repo: publication.externalId,
          collection,
          rkey: createTid(new Date(Date.now() + 1000 + index), 0),
          record: { $type: collection, text: `imported ${index}`, ...more },
        }),
      });
      expect(answer.status).toBe(200);
    }
  }

  test("the Bluesky connector finds a post although the next posts in the account's list have old dates", async () => {
    const publication = await createPublication([], "found");
    const outcome = await publish(publication);
    await writeRecords(publication, 101, { createdAt: "2020-01-01T00:00:00.000Z" });
    const externalId = outcome.kind === "published" ? outcome.externalId : undefined;
    expect(await find(publication)).toMatchObject({ kind: "present", externalId });
  });

  test.each([
    ["a link card each on the server of the account", 5_000, true],
    ["long descriptions", 20_000, false],
    ["long descriptions on the server of the account", 20_000, true],
  ])(
    "the Bluesky connector finds a post although the next posts of the account have %s",
    async (_what, length, isForeign) => {
      limitForeignHosts({ allow: [{ address: "127.0.0.1", fromPort: 1, toPort: 65_535 }] });
      const publication = await createPublication([], "found");
      const outcome = await publish(publication);
      const external = { uri: "https://example.com", title: "", description: "a".repeat(length) };
      const embed = { $type: "app.bsky.embed.external", external };
      await writeRecords(publication, 60, { createdAt: new Date().toISOString(), embed });
      const attributes: Publication["attributes"] = isForeign ? { pdsUrl: platform.url } : {};
      const externalId = outcome.kind === "published" ? outcome.externalId : undefined;
      expect(await find({ ...publication, attributes })).toMatchObject({
        kind: "present",
        externalId,
      });
      limitForeignHosts({ allow: [] });
    },
  );

  test("the Bluesky connector finds a post without text by its record key, even if the database assigns it to another Postrider post by mistake", async () => {
    const publication = await createPublication([pngMedia(1)], "");
    const { handles } = await prepare(publication);
    await bluesky.publish(publication, handles, guard);
    const isOwned = (ids: readonly string[]) => Promise.resolve(new Set(ids));
    expect(await find(publication, handles, { isOwned })).toMatchObject({
      kind: "present",
      externalId: handles.rkey,
    });
    // Without the record key, an image post without text cannot be told from any other image post
    // of the account.
    expect(await find(publication)).toMatchObject(CANNOT_TELL);
  });
});
