import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Outcome } from "#src/publishing/outcome.ts";
import type { Publication, PublicationMedia } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { createTiktokPublishingConnector } from "#src/tiktok/publishing/connector.ts";
import { jpegMedia, MediaServer } from "../media-server.ts";
import { mp4Media, TestMedia } from "../test-media.ts";
import { guard, signal, TestPlatform } from "../test-platform.ts";

const MIB = 1024 * 1024;
let platform: TestPlatform;
let tiktok: PublishingConnector;
let server: MediaServer;

beforeAll(async () => {
  [platform, server] = await Promise.all([TestPlatform.start("tiktok"), MediaServer.start()]);
  tiktok = createTiktokPublishingConnector({ baseUrl: platform.url });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await platform[Symbol.asyncDispose]();
});
beforeEach(() => platform.reset());

const photoMedia = (nonce: number) => server.serve(jpegMedia(nonce));

async function createPublication(
  media: Publication["media"],
  extra: Partial<Publication> = {},
): Promise<Publication> {
  const made = await platform.createPublication(
    media,
    "Ahoy #sea",
    ({ accessToken }) => accessToken ?? "",
  );
  return { ...made, privacy: "public", ...extra };
}

/** An account whose name begins so is of another kind. */
async function publicationOf(username: string, media: Publication["media"]): Promise<Publication> {
  const { accounts } = await platform.control<{
    accounts: { externalId: string; credentials: { accessToken: string } }[];
  }>("POST", "accounts", { platform: "tiktok", username });
  const publication = await createPublication(media);
  const { externalId, credentials } = accounts[0] ?? {
    externalId: "",
    credentials: { accessToken: "" },
  };
  return { ...publication, username, externalId, accessToken: credentials.accessToken };
}

const advance = (advanceMs: number) => platform.control("POST", "clock", { advanceMs });
const film = (bytes = 300_000, nonce = 0) => mp4Media(bytes, nonce);
const shown = (media: PublicationMedia, kind: string) => ({ kind, sha256: media.sha256 });

function unknownCall(overrides: Partial<UnknownCall> = {}): UnknownCall {
  const now = new Date();
  return {
    calledAt: new Date(now.getTime() - 1000),
    callUntil: now,
    looks: 0,
    now,
    timeScale: 0.001,
    isOwned: () => Promise.resolve(new Set()),
    ...overrides,
  };
}

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

/** Goes on as the core does until the platform has an answer. */
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
    if (verdict.kind === "absent") {
      ({ handles, outcome } = await call(publication, verdict.handles ?? handles));
    } else if (verdict.kind === "look_again") await advance(1000);
    else return verdict;
  }
  throw new Error("nothing came of it");
}

describe("publishing a film on tiktok", () => {
  test("uploads it in order, posts it with its last chunk, and hears of its id later", async () => {
    const media = film(14 * MIB);
    const publication = await createPublication([media]);
    const { handles, outcome } = await call(publication);
    expect(outcome).toEqual({ kind: "pending", afterMs: 1000 });
    expect(await platform.visible()).toMatchObject([
      { text: "Ahoy #sea", media: [shown(media, "video")], createCalls: 1 },
    ]);
    const requests = await platform.control<{ method: string; path: string; operation: string }[]>(
      "GET",
      "requests?platform=tiktok",
    );
    expect(requests.map(({ operation }) => operation)).toEqual([
      "account",
      "create",
      "upload",
      "publish",
    ]);
    expect(await look(publication, handles, { isPending: true })).toMatchObject({
      kind: "look_again",
    });
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

  test("brings the last chunk onto this machine, and nothing else", async () => {
    const media = film(20 * MIB);
    const publication = await createPublication([media]);
    const { handles } = await platform.prepare(tiktok, publication);
    const parts = tiktok.visibleParts?.(publication, handles);
    expect(parts).toEqual([{ media, start: 15 * MIB, length: 5 * MIB }]);
  });

  test.each([1000, 5 * MIB - 1, 5 * MIB, 10 * MIB - 1, 10 * MIB, 24 * MIB])(
    "of %i bytes is cut as TikTok wants it",
    async (bytes) => {
      const media = film(bytes);
      expect(await settle(await createPublication([media]))).toMatchObject({ kind: "present" });
      expect(await platform.visible()).toMatchObject([{ media: [shown(media, "video")] }]);
    },
  );

  test("that only its author may see has no id and is not asked for one", async () => {
    const publication = await createPublication([film()], { privacy: "private" });
    expect(await settle(publication)).toEqual({
      kind: "present",
      externalId: null,
      permalink: null,
    });
    expect(await platform.visible()).toEqual([]);
  });

  test("asks anew what the creator may do when that was long ago", async () => {
    const publication = await createPublication([film()]);
    const creator = { readAt: Date.now() - 3_600_000, privacyLevels: [], maxSeconds: 0 };
    const { outcome } = await call(publication, { creator: JSON.stringify(creator) });
    expect(outcome.kind).toBe("pending");
  });
});

describe("what the creator may do", () => {
  test.each([
    ["public", "present"],
    ["friends", "present"],
    ["private", "present"],
    ["followers", "refused"],
  ])("decides over %s: %s", async (privacy, kind) => {
    for (const media of [film(), photoMedia(1)])
      expect(await settle(await createPublication([media], { privacy }))).toMatchObject({ kind });
  });

  test("that is not public is never made so", async () => {
    const publication = await publicationOf("private.person", [film()]);
    expect(await settle(publication)).toMatchObject({
      kind: "refused",
      code: "content_rejected",
      message: expect.stringContaining("FOLLOWER_OF_CREATOR"),
    });
    expect(await settle({ ...publication, privacy: "followers" })).toMatchObject({
      kind: "present",
    });
  });

  test("limits how long a film is", async () => {
    await platform.control("POST", "settings", { quotas: true });
    const withLength = (durationMs: number) => Object.assign(film(), { durationMs });
    const publication = await publicationOf("short.person", [withLength(11_000)]);
    expect(await settle(publication)).toEqual({
      kind: "refused",
      code: "media_rejected",
      message: "the account may post videos of at most 10 s",
    });
    expect(await platform.calls()).toEqual(["POST "]);
    const short = { ...publication, media: [withLength(10_400)] };
    expect(await settle(short)).toMatchObject({ kind: "present" });
  });
});

describe("publishing photos on tiktok", () => {
  test("has TikTok fetch them, in their order", async () => {
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

  test("that cannot be fetched are sent anew after a rest, and given up in the end", async () => {
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
    });
    expect(await platform.visible()).toEqual([]);
  });

  test("that TikTok cannot show are refused", async () => {
    const media = server.serve(new TestMedia("no", "image/jpeg", Buffer.from("no photo")));
    expect(await settle(await createPublication([media]))).toMatchObject({
      kind: "refused",
      code: "media_rejected",
      message: "file_format_check_failed",
    });
  });
});

describe("a film is posted once", () => {
  const MODES = [
    "drop_before",
    "drop_after_commit",
    "status_after_commit",
    "status",
    "garbage_body",
    "refuse",
  ];

  test.each(MODES)("after %s on its last chunk", async (mode) => {
    const publication = await createPublication([film(11 * MIB)]);
    await platform.addFault("publish", mode);
    expect(await settle(publication)).toMatchObject({ kind: "present" });
    expect(await platform.visible()).toMatchObject([{ createCalls: 1 }]);
  });

  test.each(["drop_before", "drop_after_commit", "status_after_commit", "status", "garbage_body"])(
    "after %s on its init and on a chunk",
    async (mode) => {
      const publication = await createPublication([film(16 * MIB)]);
      let handles: Handles = {};
      for (const operation of ["create", "upload"]) {
        await platform.addFault(operation, mode);
        const tried = await platform.prepare(tiktok, publication, { handles });
        expect(tried.failure).toMatchObject({ kind: "retryable", code: "platform_unavailable" });
        ({ handles } = tried);
      }
      expect(await settle(publication, handles)).toMatchObject({ kind: "present" });
      expect(await platform.visible()).toHaveLength(1);
    },
  );

  test("when the last chunk arrives late, after it was sent again", async () => {
    const publication = await createPublication([film(11 * MIB)]);
    await platform.addFault("publish", "commit_late", { delayMs: 300 });
    const { handles, outcome } = await call(publication);
    expect(outcome.kind).toBe("unknown");
    const verdict = await look(publication, handles);
    expect(verdict.kind).toBe("absent");
    expect(await settle(publication, handles)).toMatchObject({ kind: "present" });
    await eventually(async () => {
      const requests = await platform.control<{ outcome: string }[]>(
        "GET",
        "requests?platform=tiktok",
      );
      return requests.every(({ outcome: done }) => done !== "pending");
    });
    expect(await platform.visible()).toMatchObject([{ createCalls: 1 }]);
  });

  test("while TikTok shows what was long ago", async () => {
    const publication = await createPublication([film(11 * MIB)]);
    await platform.addFault("", "stale_reads", { operation: undefined, delayMs: 5000 });
    expect(await settle(publication)).toMatchObject({ kind: "present" });
    expect(await platform.visible()).toMatchObject([{ createCalls: 1 }]);
  });

  test("whoever goes on after a crash, at every step", async () => {
    for (let maxRuns = 1; maxRuns <= 5; maxRuns += 1) {
      await platform.reset();
      const publication = await createPublication([film(16 * MIB)]);
      const { handles } = await platform.prepare(tiktok, publication, { maxRuns });
      expect(await settle(publication, handles)).toMatchObject({ kind: "present" });
      expect(await platform.visible()).toHaveLength(1);
      const creates = (await platform.calls()).length;
      expect(creates).toBeGreaterThan(4);
    }
  });

  test("when its address ends before all chunks are there", async () => {
    const publication = await createPublication([film(16 * MIB)]);
    const { handles } = await platform.prepare(tiktok, publication, { maxRuns: 3 });
    await advance(3_600_000);
    expect(await settle(publication, handles)).toMatchObject({ kind: "present" });
    expect(await platform.visible()).toHaveLength(1);
  });

  test("when its address is of no use any more: only a settled absence makes a new one", async () => {
    const publication = await createPublication([film()]);
    const { handles } = await platform.prepare(tiktok, publication);
    await advance(3_600_000);
    expect(await tiktok.publish(publication, handles, guard)).toMatchObject({ kind: "unknown" });
    const now = new Date(Date.now() + 3_700_000);
    const soon = { timeScale: 1, now, callUntil: new Date(now.getTime() - 1000) };
    expect(await look(publication, handles, soon)).toMatchObject({ kind: "look_again" });
    const settled = { timeScale: 1, now, callUntil: new Date(now.getTime() - 601_000) };
    expect(await look(publication, handles, settled)).toEqual({ kind: "absent", handles: {} });
  });

  test("which TikTok refuses when it is no film", async () => {
    const media = new TestMedia("no", "video/mp4", Buffer.from("text"));
    expect(await settle(await createPublication([media]))).toMatchObject({
      kind: "refused",
      code: "media_rejected",
    });
    expect(await platform.visible()).toEqual([]);
  });

  test("which is not sent at all when the mark is too old", async () => {
    const publication = await createPublication([film()]);
    const { handles } = await platform.prepare(tiktok, publication);
    const tooLate = { ...guard, mayStillSend: () => false };
    expect(await tiktok.publish(publication, handles, tooLate)).toEqual({ kind: "not_sent" });
    expect(await platform.visible()).toEqual([]);
  });
});

describe("photos whose answer is lost", () => {
  const SECOND_LOOK = 120_000;

  async function lose(extra: Partial<Publication> = {}, mode = "drop_after_commit") {
    const publication = await createPublication([photoMedia(1)], extra);
    await platform.addFault("publish", mode);
    const { handles, outcome } = await call(publication);
    expect(outcome).toMatchObject({ kind: "unknown" });
    return { publication, handles };
  }

  test.each(["drop_after_commit", "status_after_commit", "garbage_body"])(
    "are found among the account's posts after %s",
    async (mode) => {
      const { publication, handles } = await lose({ title: "Ships" }, mode);
      expect(await look(publication, handles)).toMatchObject({ kind: "look_again" });
      await advance(5000);
      const [{ id } = { id: "" }] = await platform.visible();
      expect(await look(publication, handles)).toEqual({
        kind: "present",
        externalId: id,
        permalink: `https://www.tiktok.com/@${publication.username}/photo/${id}`,
      });
    },
  );

  test("are found by the beginning of a long text", async () => {
    const { publication, handles } = await lose({ text: "long ".repeat(500) });
    await advance(5000);
    expect(await look(publication, handles)).toMatchObject({ kind: "present" });
  });

  test("are looked for after 2, 10 and 30 minutes and never taken for absent", async () => {
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
    expect(await at(3, 1_800_000)).toMatchObject({ kind: "cannot_tell" });
  });

  test("are never another target's, an older post or one of two that are the same", async () => {
    const { publication, handles } = await lose();
    await advance(5000);
    const owned = { isOwned: (ids: readonly string[]) => Promise.resolve(new Set(ids)) };
    expect(await look(publication, handles, owned)).toMatchObject({ kind: "look_again" });
    const later = { calledAt: new Date(Date.now() + 3_600_000) };
    expect(await look(publication, handles, later)).toMatchObject({ kind: "look_again" });
    expect(await look({ ...publication, text: "other" }, handles)).toMatchObject({
      kind: "look_again",
    });
    await call({ ...publication, media: [photoMedia(2)] });
    await advance(5000);
    expect(await look(publication, handles)).toMatchObject({ kind: "cannot_tell" });
  });

  test("are for a person to find when lists do not show them", async () => {
    const hidden = await lose({ privacy: "private" });
    expect(await look(hidden.publication, hidden.handles)).toMatchObject({ kind: "cannot_tell" });
    const wordless = await lose({ text: "" });
    expect(await look(wordless.publication, wordless.handles)).toMatchObject({
      kind: "cannot_tell",
    });
  });

  test("are looked for again when the list cannot be read", async () => {
    const { publication, handles } = await lose();
    await platform.addFault("status", "status", { status: 500 });
    expect(await look(publication, handles)).toMatchObject({
      kind: "look_again",
      isIncomplete: true,
    });
  });
});

test("after the data was restored a post is found by its words, and never taken for absent", async () => {
  for (const media of [film(), photoMedia(1)]) {
    const publication = await createPublication([media]);
    const twin = (overrides: Partial<UnknownCall> = {}) =>
      tiktok.findMatchingPost?.(publication, {}, unknownCall(overrides), signal);
    expect(await twin()).toMatchObject({ kind: "look_again" });
    const afterAllLooks = { looks: 3, now: new Date(Date.now() + 30 * 60_000) };
    expect(await twin(afterAllLooks)).toMatchObject({ kind: "cannot_tell" });
    await call(publication);
    await advance(5000);
    const { id } = (await platform.visible()).at(-1) ?? {};
    expect(await twin()).toMatchObject({ kind: "present", externalId: id });
  }
});

describe("what tiktok answers", () => {
  test.each([
    [401, { kind: "token_refused" }],
    [403, { kind: "refused", code: "account_action_needed" }],
    [400, { kind: "refused", code: "content_rejected" }],
    [429, { kind: "retryable", code: "rate_limited", isLimit: true, retryAfterMs: 60_000 }],
  ])("with %i means what it means, at every call", async (status, failure) => {
    for (const [operation, media] of [
      ["account", film()],
      ["create", film()],
      ["publish", photoMedia(1)],
    ] as const) {
      await platform.addFault(operation, "status", { status });
      const { outcome } = await call(await createPublication([media]));
      expect(outcome, operation).toMatchObject(failure);
    }
  });

  test("a proxy's 429 to photos may have posted them", async () => {
    await platform.addFault("publish", "status_after_commit", { status: 429 });
    const { outcome } = await call(await createPublication([photoMedia(1)]));
    expect(outcome).toMatchObject({ kind: "unknown" });
  });

  test("too many posts in a day wait", async () => {
    const publication = await createPublication([film()]);
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

  test("an app that was not audited, and addresses that were not verified, are our own affair", async () => {
    await platform.control("POST", "settings", { audited: false });
    expect((await call(await createPublication([film()]))).outcome).toMatchObject({
      kind: "refused",
      code: "app_configuration",
    });
    await platform.control("POST", "settings", { audited: true });
    const foreign = Object.assign(photoMedia(1), { url: "https://media.example/1" });
    expect((await call(await createPublication([foreign]))).outcome).toMatchObject({
      kind: "refused",
      code: "app_configuration",
    });
  });

  test("a look that gets no answer is done again, and one that is refused is not", async () => {
    const publication = await createPublication([film()]);
    const { handles } = await call(publication);
    for (const [mode, status] of [
      ["status", 500],
      ["status", 429],
      ["status", 401],
      ["drop_before", undefined],
      ["garbage_body", undefined],
    ] as const) {
      await platform.addFault("status", mode, status === undefined ? {} : { status });
      expect(await look(publication, handles)).toMatchObject({
        kind: "look_again",
        isIncomplete: true,
      });
    }
    const stranger = await createPublication([film()]);
    expect(await look(stranger, handles)).toMatchObject({ kind: "cannot_tell" });
  });

  test("nothing can be deleted", () => {
    expect(tiktok.canDelete).toBe(false);
  });
});
