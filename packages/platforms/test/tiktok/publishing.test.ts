import { eventually } from "@postrider/shared/testing/poll";
import { beforeEach, describe, expect, test } from "vitest";
import type { Handles } from "#src/publishing/handles.ts";
import type { Outcome } from "#src/publishing/outcome.ts";
import type { Publication, PublicationMedia } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { createTiktokPublishingConnector } from "#src/tiktok/publishing/connector.ts";
import { jpegMedia, startMediaServer } from "../media-server.ts";
import {
  CANNOT_TELL,
  INCOMPLETE_LOOK,
  LOOK_AGAIN,
  PRESENT,
  refused,
  retryable,
  UNKNOWN,
} from "../results.ts";
import { mp4Media, TestMedia } from "../test-media.ts";
import { guard, signal, startTestPlatform } from "../test-platform.ts";
import { unknownCall } from "../unknown-call.ts";

const MIB = 1024 * 1024;
const platform = await startTestPlatform("tiktok");
const server = await startMediaServer();
/** Makes the TikTok connector divide small videos too, so that the tests send few bytes. */
const tiktok = createTiktokPublishingConnector({
  baseUrl: platform.url,
  chunkSizes: { wholeBytes: 0, chunkBytes: [5 * MIB] },
});
const tiktokAsInstalled = createTiktokPublishingConnector({ baseUrl: platform.url });

/** Makes the simulated TikTok accept several chunks for a video of any size. */
const acceptChunks = () => platform.control("POST", "settings", { tiktokWholeVideoBytes: 0 });
beforeEach(acceptChunks);

const photoMedia = (nonce: number) => server.serve(jpegMedia(nonce));

async function createPublication(
  media: Publication["media"],
  extra: Partial<Publication> = {},
): Promise<Publication> {
  const made = await platform.createPublication(media, "Ahoy #sea");
  return { ...made, privacy: "public", ...extra };
}

/**
 * Creates a publication of a TikTok account whose username has this prefix. The prefix gives the
 * account special properties in the simulator.
 */
async function publicationOf(username: string, media: Publication["media"]): Promise<Publication> {
  const { externalId, credentials } = await platform.createAccount({ username });
  const publication = await createPublication(media);
  return { ...publication, username, externalId, accessToken: credentials.accessToken ?? "" };
}

const advance = (advanceMs: number) => platform.control("POST", "clock", { advanceMs });
const video = (bytes = 300_000, nonce = 0) => mp4Media(bytes, nonce);
const shown = (media: PublicationMedia, kind: string) => ({ kind, sha256: media.sha256 });

interface Called {
  readonly handles: Handles;
  readonly outcome: Outcome;
}

async function call(publication: Publication, before: Handles = {}): Promise<Called> {
  const { handles, failure } = await platform.prepare(tiktok, publication, { handles: before });
  if (failure !== undefined) return { handles, outcome: failure };
  const outcome = await tiktok.publish(publication, handles, guard);
  const added = outcome.kind === "pending" ? outcome.handles : undefined;
  return { handles: { ...handles, ...added }, outcome };
}

const look = (publication: Publication, handles: Handles, overrides: Partial<UnknownCall> = {}) =>
  tiktok.reconcile(publication, handles, unknownCall(overrides), signal);

/** Publishes on TikTok as the delivery service does, until TikTok reports a result. */
async function settle(
  publication: Publication,
  before: Handles = {},
  timeScale = 0.001,
): Promise<Verdict | Outcome> {
  let { handles, outcome } = await call(publication, before);
  for (let looks = 0; looks < 20; looks += 1) {
    if (outcome.kind !== "pending" && outcome.kind !== "unknown") return outcome;
    const isPending = outcome.kind === "pending";
    const verdict = await look(publication, handles, { looks, isPending, timeScale });
    if (verdict.kind === "absent" || verdict.kind === "repeat")
      ({ handles, outcome } = await call(publication, verdict.handles ?? handles));
    else if (verdict.kind === "look_again") await advance(1000);
    else return verdict;
  }
  throw new Error("nothing came of it");
}

describe("publishing a video on TikTok", () => {
  test("the TikTok connector uploads the chunks of a video in order, publishes it with the last chunk and reads its id later", async () => {
    platform.holdClock();
    const media = video(14 * MIB);
    const publication = await createPublication([media]);
    const { handles, outcome } = await call(publication);
    expect(outcome).toEqual({ kind: "pending", afterMs: 1000 });
    expect(await platform.visible()).toMatchObject([
      { text: "Ahoy #sea", media: [shown(media, "video")], createCalls: 1 },
    ]);
    const requests = await platform.listRequests();
    expect(requests.map(({ operation }) => operation)).toEqual([
      "account",
      "create",
      "upload",
      "publish",
    ]);
    expect(await look(publication, handles, { isPending: true })).toMatchObject(LOOK_AGAIN);
    await advance(1300);
    const present = await look(publication, handles, { isPending: true });
    expect(present).toMatchObject({ kind: "present", externalId: null, permalink: null });
    const question = present.kind === "present" ? (present.askLater ?? {}) : {};
    const findDetails = () => tiktok.findDetails?.(publication, question, signal);
    expect(await findDetails()).toEqual({ kind: "not_yet" });
    await advance(1500);
    const [{ id } = { id: "" }] = await platform.visible();
    expect(BigInt(id)).toBeGreaterThan(2n ** 53n);
    expect(await findDetails()).toEqual({
      kind: "found",
      externalId: id,
      permalink: `https://www.tiktok.com/@${publication.username}/video/${id}`,
    });
  });

  test("the publishing call to TikTok sends only the last chunk of the video", async () => {
    const media = video(20 * MIB);
    const publication = await createPublication([media]);
    const { handles } = await platform.prepare(tiktok, publication);
    const parts = tiktok.visibleParts?.(publication, handles);
    expect(parts).toEqual([{ media, start: 15 * MIB, length: 5 * MIB }]);
  });

  test.each([1000, 5 * MIB - 1, 5 * MIB, 10 * MIB - 1, 10 * MIB, 24 * MIB])(
    "a video of %i bytes is split into chunks that TikTok accepts",
    async (bytes) => {
      const media = video(bytes);
      expect(await settle(await createPublication([media]))).toMatchObject(PRESENT);
      expect(await platform.visible()).toMatchObject([{ media: [shown(media, "video")] }]);
    },
  );

  test("TikTok returns no id for a private video, and the TikTok connector does not ask for one", async () => {
    const publication = await createPublication([video()], { privacy: "private" });
    expect(await settle(publication)).toEqual({
      kind: "present",
      externalId: null,
      permalink: null,
    });
    expect(await platform.visible()).toEqual([]);
  });

  test("the TikTok connector reads the creator info again when the stored creator info is too old", async () => {
    const publication = await createPublication([video()]);
    const creator = { readAt: Date.now() - 3_600_000, privacyLevels: [], maxSeconds: 0 };
    const { outcome } = await call(publication, { creator: JSON.stringify(creator) });
    expect(outcome.kind).toBe("pending");
  });
});

describe("TikTok's creator info", () => {
  test.each([
    ["public", "present"],
    ["friends", "present"],
    ["private", "present"],
    ["followers", "refused"],
  ])(
    "a TikTok post with the privacy %s has the outcome %s when the creator info allows public, friends and private posts only",
    async (privacy, kind) => {
      for (const media of [video(), photoMedia(1)])
        expect(await settle(await createPublication([media], { privacy }))).toMatchObject({ kind });
    },
  );

  test("the TikTok connector refuses a public post on a private account, and publishes a post for followers on that account", async () => {
    const publication = await publicationOf("private.person", [video()]);
    expect(await settle(publication)).toMatchObject({
      kind: "refused",
      code: "content_rejected",
      message: expect.stringContaining("FOLLOWER_OF_CREATOR"),
    });
    expect(await settle({ ...publication, privacy: "followers" })).toMatchObject(PRESENT);
  });

  test("the TikTok connector refuses a video that is longer than TikTok allows the creator to post", async () => {
    await platform.control("POST", "settings", { quotas: true });
    const withLength = (durationMs: number) => Object.assign(video(), { durationMs });
    const publication = await publicationOf("short.person", [withLength(11_000)]);
    expect(await settle(publication)).toEqual({
      kind: "refused",
      code: "media_rejected",
      message: "the account may post videos of at most 10 s",
      facts: { available: expect.objectContaining({ maxVideoSeconds: 10 }) as unknown },
    });
    expect(await platform.calls()).toEqual(["POST "]);
    const short = { ...publication, media: [withLength(10_400)] };
    expect(await settle(short)).toMatchObject(PRESENT);
  });
});

describe("publishing photos on TikTok", () => {
  test("the TikTok connector lets TikTok fetch photos in order", async () => {
    const media = [photoMedia(1), photoMedia(2), photoMedia(3)];
    const publication = await createPublication(media, { title: "Ships", text: "Ahoy" });
    const { handles, outcome } = await call(publication);
    expect(outcome).toMatchObject({ kind: "pending", handles: { publishId: handles.publishId } });
    expect(await platform.visible()).toMatchObject([
      { text: "Ahoy", media: media.map((one) => shown(one, "image")), createCalls: 1 },
    ]);
    await advance(5000);
    const [{ id } = { id: "" }] = await platform.visible();
    expect(await look(publication, handles, { isPending: true })).toEqual({
      kind: "present",
      externalId: id,
      permalink: `https://www.tiktok.com/@${publication.username}/photo/${id}`,
    });
  });

  test("photos that TikTok cannot fetch are sent again after each retry pause, and the post is refused after the last pause", async () => {
    const media = jpegMedia(1);
    media.url = `${server.serve(media).url}/gone`;
    const publication = await createPublication([media]);
    const first = await call(publication);
    await advance(1300);
    const verdict = await look(publication, first.handles, { timeScale: 1, isPending: true });
    if (verdict.kind !== "absent" || verdict.handles === undefined) throw new Error("not absent");
    const { waits } = await platform.prepare(tiktok, publication, {
      handles: verdict.handles,
      maxRuns: 1,
    });
    expect(waits[0]).toBeGreaterThan(50_000);
    expect(await settle(publication, {}, 0)).toEqual({
      kind: "refused",
      code: "media_fetch_failed",
      message: "photo_pull_failed",
      isOwnFlag: true,
    });
    expect(await platform.visible()).toEqual([]);
  });

  test("a published TikTok post that TikTok reports as failed before it returns an id keeps TikTok's reason", async () => {
    const media = server.serve(new TestMedia("no", "image/jpeg", Buffer.from("no photo")));
    const publication = await createPublication([media]);
    const { handles } = await call(publication);
    await advance(5000);
    expect(await tiktok.findDetails?.(publication, { ...handles, kind: "photo" }, signal)).toEqual({
      kind: "never",
      caveat: {
        code: "media_rejected",
        message: "TikTok removed the post after it was published: file_format_check_failed",
      },
    });
  });

  test("photos that TikTok cannot process are refused", async () => {
    const media = server.serve(new TestMedia("no", "image/jpeg", Buffer.from("no photo")));
    expect(await settle(await createPublication([media]))).toMatchObject({
      kind: "refused",
      code: "media_rejected",
      message: "file_format_check_failed",
    });
  });
});

describe("the division of a TikTok video into chunks", () => {
  const initsOf = async () =>
    (await platform.listRequests()).filter(({ operation }) => operation === "create").length;

  test("a video of up to 64 MB is sent as one chunk, which TikTok demands since August 2026", async () => {
    await platform.control("POST", "settings", { tiktokWholeVideoBytes: 64_000_000 });
    const publication = await createPublication([video(14 * MIB)]);
    const { handles, failure } = await platform.prepare(tiktokAsInstalled, publication);
    expect(failure).toBeUndefined();
    expect(tiktokAsInstalled.visibleParts?.(publication, handles)).toMatchObject([
      { start: 0, length: 14 * MIB },
    ]);
    const outcome = await tiktokAsInstalled.publish(publication, handles, guard);
    expect(outcome).toMatchObject({ kind: "pending" });
    expect(await platform.visible()).toHaveLength(1);
    expect(await initsOf()).toBe(1);
  });

  test("after TikTok refuses a chunk size, the next size is tried before the video is refused", async () => {
    await platform.control("POST", "settings", { tiktokWholeVideoBytes: 64_000_000 });
    const chunkSizes = { wholeBytes: 0, chunkBytes: [5 * MIB, 7 * MIB, 64_000_000] };
    const connector = createTiktokPublishingConnector({ baseUrl: platform.url, chunkSizes });
    const publication = await createPublication([video(14 * MIB)]);
    const { handles, failure } = await platform.prepare(connector, publication);
    expect(failure).toBeUndefined();
    expect(connector.visibleParts?.(publication, handles)).toMatchObject([{ start: 0 }]);
    expect(await initsOf()).toBe(3);
  });

  test("a video is refused with TikTok's words when TikTok refuses every chunk size", async () => {
    await platform.control("POST", "settings", { tiktokWholeVideoBytes: 64_000_000 });
    const chunkSizes = { wholeBytes: 0, chunkBytes: [5 * MIB, 7 * MIB] };
    const connector = createTiktokPublishingConnector({ baseUrl: platform.url, chunkSizes });
    const publication = await createPublication([video(14 * MIB)]);
    const { failure } = await platform.prepare(connector, publication);
    expect(failure).toMatchObject({
      kind: "refused",
      message: expect.stringContaining("The chunk size is invalid") as string,
    });
  });
});

describe("TikTok videos are published exactly once", () => {
  const MODES = [
    "drop_before",
    "drop_after_commit",
    "status_after_commit",
    "status",
    "garbage_body",
    "refuse",
  ];

  test.each(MODES)(
    "a TikTok video is published once when the call that sends its last chunk meets the simulated fault %s",
    async (mode) => {
      const publication = await createPublication([video(11 * MIB)]);
      await platform.addFault("publish", mode);
      expect(await settle(publication)).toMatchObject(PRESENT);
      expect(await platform.visible()).toMatchObject([{ createCalls: 1 }]);
    },
  );

  test.each(["drop_before", "drop_after_commit", "status_after_commit", "status", "garbage_body"])(
    "a TikTok video is published once when the call that starts the upload and a call that sends a chunk both meet the simulated fault %s",
    async (mode) => {
      const publication = await createPublication([video(16 * MIB)]);
      let handles: Handles = {};
      for (const operation of ["create", "upload"]) {
        await platform.addFault(operation, mode);
        const tried = await platform.prepare(tiktok, publication, { handles });
        expect(tried.failure).toMatchObject(retryable("platform_unavailable"));
        ({ handles } = tried);
      }
      expect(await settle(publication, handles)).toMatchObject(PRESENT);
      expect(await platform.visible()).toHaveLength(1);
    },
  );

  test("a TikTok video is published once when its last chunk arrives late, after the chunk was sent a second time", async () => {
    const publication = await createPublication([video(11 * MIB)]);
    await platform.addFault("publish", "commit_late", { delayMs: 3000 });
    const { handles, outcome } = await call(publication);
    expect(outcome.kind).toBe("unknown");
    const verdict = await look(publication, handles);
    expect(verdict.kind).toBe("repeat");
    expect(await settle(publication, handles)).toMatchObject(PRESENT);
    await eventually(async () => {
      const requests = await platform.control<{ outcome: string }[]>(
        "GET",
        "requests?platform=tiktok",
      );
      return requests.every(({ outcome: done }) => done !== "pending");
    });
    expect(await platform.visible()).toMatchObject([{ createCalls: 1 }]);
  });

  test("a TikTok video is published once while TikTok reports an outdated status", async () => {
    const publication = await createPublication([video(11 * MIB)]);
    await platform.addFault("", "stale_reads", { operation: undefined, delayMs: 5000 });
    expect(await settle(publication)).toMatchObject(PRESENT);
    expect(await platform.visible()).toMatchObject([{ createCalls: 1 }]);
  });

  test.each([
    ["refuses a chunk that it has", undefined],
    ["refuses a chunk with HTTP 400", 400],
    ["refuses a chunk with HTTP 403", 403],
  ])(
    "a TikTok video is published once when the answer to its last chunk is lost, and TikTok reports old progress and %s",
    async (_name, status) => {
      const publication = await createPublication([video(16 * MIB)]);
      await platform.addFault("publish", "drop_after_commit");
      await platform.addFault("", "stale_reads", { operation: undefined, delayMs: 60_000 });
      const first = await call(publication);
      expect(first.outcome).toMatchObject(UNKNOWN);
      const verdict = await look(publication, first.handles);
      expect(verdict).toMatchObject({ kind: "repeat" });
      const { handles = {} } = verdict as Extract<Verdict, { kind: "repeat" }>;
      for (const operation of status === undefined ? [] : ["upload", "publish"])
        await platform.addFault(operation, "status", { status });
      expect((await call(publication, handles)).outcome).toMatchObject(UNKNOWN);
      expect(await platform.visible()).toMatchObject([{ createCalls: 1 }]);
    },
  );

  test("a TikTok video is published once when a worker crashes after any step", async () => {
    for (let maxRuns = 1; maxRuns <= 5; maxRuns += 1) {
      await platform.reset();
      await acceptChunks();
      const publication = await createPublication([video(16 * MIB)]);
      const { handles } = await platform.prepare(tiktok, publication, { maxRuns });
      expect(await settle(publication, handles)).toMatchObject(PRESENT);
      expect(await platform.visible()).toHaveLength(1);
      const creates = (await platform.calls()).length;
      expect(creates).toBeGreaterThan(4);
    }
  });

  test("a TikTok video is published once when its upload URL expires before all chunks have arrived", async () => {
    const publication = await createPublication([video(16 * MIB)]);
    const { handles } = await platform.prepare(tiktok, publication, { maxRuns: 3 });
    await advance(3_600_000);
    expect(await settle(publication, handles)).toMatchObject(PRESENT);
    expect(await platform.visible()).toHaveLength(1);
  });

  test("a new upload URL for a TikTok video is used only after the old upload URL can no longer complete the video", async () => {
    const publication = await createPublication([video()]);
    const { handles } = await platform.prepare(tiktok, publication);
    await advance(3_600_000);
    expect(await tiktok.publish(publication, handles, guard)).toMatchObject(UNKNOWN);
    const now = new Date(Date.now() + 3_700_000);
    const soon = { timeScale: 1, now, callUntil: new Date(now.getTime() - 1000) };
    expect(await look(publication, handles, soon)).toMatchObject(LOOK_AGAIN);
    const settled = { timeScale: 1, now, callUntil: new Date(now.getTime() - 601_000) };
    expect(await look(publication, handles, settled)).toEqual({ kind: "absent", handles: {} });
  });

  test("TikTok's refusal of a file that is not a video is reported as `media_rejected`", async () => {
    const media = new TestMedia("no", "video/mp4", Buffer.from("text"));
    expect(await settle(await createPublication([media]))).toMatchObject(refused("media_rejected"));
    expect(await platform.visible()).toEqual([]);
  });

  test("the TikTok connector sends no publishing call when too much time has passed since the intent to publish was recorded", async () => {
    const publication = await createPublication([video()]);
    const { handles } = await platform.prepare(tiktok, publication);
    const tooLate = { ...guard, mayStillSend: () => false };
    expect(await tiktok.publish(publication, handles, tooLate)).toEqual({ kind: "not_sent" });
    expect(await platform.visible()).toEqual([]);
  });
});

describe("TikTok photo posts whose answer is lost", () => {
  const SECOND_LOOK = 120_000;

  async function lose(extra: Partial<Publication> = {}, mode = "drop_after_commit") {
    const publication = await createPublication([photoMedia(1)], extra);
    await platform.addFault("publish", mode);
    const { handles, outcome } = await call(publication);
    expect(outcome).toMatchObject(UNKNOWN);
    return { publication, handles };
  }

  test.each(["drop_after_commit", "status_after_commit", "garbage_body"])(
    "the TikTok connector finds a photo post among the account's posts after the simulated fault %s",
    async (mode) => {
      const { publication, handles } = await lose({ title: "Ships" }, mode);
      expect(await look(publication, handles)).toMatchObject(LOOK_AGAIN);
      await advance(5000);
      const [{ id } = { id: "" }] = await platform.visible();
      expect(await look(publication, handles)).toEqual({
        kind: "present",
        externalId: id,
        permalink: `https://www.tiktok.com/@${publication.username}/photo/${id}`,
      });
    },
  );

  test("the TikTok connector finds a photo post by the beginning of its long text", async () => {
    const { publication, handles } = await lose({ text: "long ".repeat(500) });
    await advance(5000);
    expect(await look(publication, handles)).toMatchObject(PRESENT);
  });

  test("a listed photo post whose long text is cut may also be another post that begins with the same words", async () => {
    const words = "long ".repeat(30);
    const { publication, handles } = await lose({ text: `${words}end` });
    await advance(5000);
    const beside = (text: string) =>
      look(publication, handles, {
        hasSimilarPost: (isSimilar) => Promise.resolve(isSimilar?.({ text }) ?? false),
      });
    expect(await beside(`${words}another end`)).toMatchObject(CANNOT_TELL);
    expect(await beside("other words")).toMatchObject(PRESENT);
  });

  test("the TikTok connector searches for a photo post after 2, 10 and 30 minutes and never reports it as absent", async () => {
    const { publication, handles } = await lose({}, "drop_before");
    const callUntil = new Date();
    const at = (looks: number, sinceMs: number) =>
      look(publication, handles, {
        looks,
        callUntil,
        timeScale: 1,
        now: new Date(callUntil.getTime() + sinceMs),
      });
    expect(await at(0, 0)).toEqual({ kind: "look_again", afterMs: SECOND_LOOK });
    expect(await at(1, SECOND_LOOK)).toEqual({ kind: "look_again", afterMs: 480_000 });
    expect(await at(2, 600_000)).toEqual({ kind: "look_again", afterMs: 1_200_000 });
    expect(await at(3, 1_800_000)).toMatchObject(CANNOT_TELL);
  });

  test("the TikTok connector does not take an older photo post, one of another Postrider post, or one of two equal ones as the published post", async () => {
    const { publication, handles } = await lose();
    await advance(5000);
    const owned = { isOwned: (ids: readonly string[]) => Promise.resolve(new Set(ids)) };
    expect(await look(publication, handles, owned)).toMatchObject(LOOK_AGAIN);
    const later = { calledAt: new Date(Date.now() + 3_600_000) };
    expect(await look(publication, handles, later)).toMatchObject(LOOK_AGAIN);
    expect(await look({ ...publication, text: "other" }, handles)).toMatchObject(LOOK_AGAIN);
    await call({ ...publication, media: [photoMedia(2)] });
    await advance(5000);
    expect(await look(publication, handles)).toMatchObject(CANNOT_TELL);
  });

  test("the TikTok connector reports that it cannot tell the outcome when TikTok does not list the photo post", async () => {
    const hidden = await lose({ privacy: "private" });
    expect(await look(hidden.publication, hidden.handles)).toMatchObject(CANNOT_TELL);
    const wordless = await lose({ text: "" });
    expect(await look(wordless.publication, wordless.handles)).toMatchObject(CANNOT_TELL);
  });

  test("the TikTok connector searches again when the list of posts cannot be read", async () => {
    const { publication, handles } = await lose();
    await platform.addFault("status", "status", { status: 500 });
    expect(await look(publication, handles)).toMatchObject(INCOMPLETE_LOOK);
  });
});

test("after a database restore, the TikTok connector finds a post by its text and never reports it as absent", async () => {
  for (const media of [video(), photoMedia(1)]) {
    const publication = await createPublication([media]);
    const find = (overrides: Partial<UnknownCall> = {}) =>
      tiktok.findMatchingPost?.(publication, {}, unknownCall(overrides), signal);
    expect(await find()).toMatchObject(LOOK_AGAIN);
    const afterAllLooks = { looks: 3, now: new Date(Date.now() + 30 * 60_000) };
    expect(await find(afterAllLooks)).toMatchObject(CANNOT_TELL);
    await call(publication);
    await advance(5000);
    const { id } = (await platform.visible()).at(-1) ?? {};
    expect(await find()).toMatchObject({ kind: "present", externalId: id });
  }
});

describe("TikTok's answers", () => {
  test.each([
    [401, { kind: "token_refused" }],
    [403, { kind: "refused", code: "account_action_needed" }],
    [400, { kind: "refused", code: "content_rejected" }],
    [429, { kind: "retryable", code: "rate_limited", isLimit: true, retryAfterMs: 60_000 }],
  ])("HTTP %i in answer to any TikTok call becomes the failure %j", async (status, failure) => {
    for (const [operation, media] of [
      ["account", video()],
      ["create", video()],
      ["publish", photoMedia(1)],
    ] as const) {
      await platform.addFault(operation, "status", { status });
      const { outcome } = await call(await createPublication([media]));
      expect(outcome, operation).toMatchObject(failure);
    }
  });

  test("HTTP 429 from a proxy leaves the outcome of a TikTok photo post unknown", async () => {
    await platform.addFault("publish", "status_after_commit", { status: 429 });
    const { outcome } = await call(await createPublication([photoMedia(1)]));
    expect(outcome).toMatchObject(UNKNOWN);
  });

  test("a post that meets TikTok's daily limit waits and is tried again", async () => {
    const publication = await createPublication([video()]);
    await platform.control("POST", "settings", { quotas: true });
    for (let posts = 0; posts < 15; posts += 1) {
      await platform.prepare(tiktok, publication, { maxRuns: 2 });
      await advance(60_000);
    }
    const { outcome } = await call(publication);
    expect(outcome).toMatchObject({
      kind: "retryable",
      code: "platform_quota",
      isLimit: true,
      retryAfterMs: 3_600_000,
    });
  });

  test("a video for which TikTok finds the daily limit reached while it processes it is not published, and its account waits an hour", async () => {
    const publication = await createPublication([video()]);
    await platform.control("POST", "settings", { quotas: true });
    const { handles: before } = await platform.prepare(tiktok, publication);
    await platform.control("POST", "settings", { tiktokPostsOfOtherApps: 15 });
    const { handles } = await call(publication, before);
    await advance(5000);
    expect(await look(publication, handles, { isPending: true, timeScale: 1 })).toEqual({
      kind: "absent",
      isOwnFlag: true,
      handles: {},
      limit: {
        kind: "retryable",
        code: "platform_quota",
        message: "spam_risk_too_many_posts",
        retryAfterMs: 3_600_000,
        isLimit: true,
      },
    });
    expect(await platform.visible()).toEqual([]);
  });

  test("an unaudited TikTok app and an unverified URL prefix are reported as errors of the app's configuration", async () => {
    await platform.control("POST", "settings", { audited: false });
    expect((await call(await createPublication([video()]))).outcome).toMatchObject(
      refused("app_configuration"),
    );
    await platform.control("POST", "settings", { audited: true });
    const foreign = Object.assign(photoMedia(1), { url: "https://media.example/1" });
    expect((await call(await createPublication([foreign]))).outcome).toMatchObject(
      refused("app_configuration"),
    );
  });

  test("the TikTok connector repeats a status check that TikTok does not answer, and reports an unknown outcome if TikTok refuses the check", async () => {
    const publication = await createPublication([video()]);
    const { handles } = await call(publication);
    for (const [mode, status] of [
      ["status", 500],
      ["status", 429],
      ["status", 401],
      ["drop_before", undefined],
      ["garbage_body", undefined],
    ] as const) {
      await platform.addFault("status", mode, status === undefined ? {} : { status });
      expect(await look(publication, handles)).toMatchObject(INCOMPLETE_LOOK);
    }
    const stranger = await createPublication([video()]);
    expect(await look(stranger, handles)).toMatchObject(CANNOT_TELL);
  });

  test("the TikTok connector reports that it cannot delete posts", () => {
    expect(tiktok.canDelete).toBe(false);
  });
});
