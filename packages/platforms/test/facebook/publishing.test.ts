import { eventually } from "@postrider/shared/testing/poll";
import { describe, expect, test } from "vitest";
import type { Handles } from "#src/publishing/handles.ts";
import type { Outcome } from "#src/publishing/outcome.ts";
import type { Publication, PublicationMedia } from "#src/publishing/publication.ts";
import type { Verdict } from "#src/publishing/verdict.ts";
import {
  callOfLastMinute,
  expectOnePost,
  GraphDriver,
  STEP_FAULTS,
  VISIBLE_CALL_FAULTS,
} from "../graph-driver.ts";
import {
  CANNOT_TELL,
  LOOK_AGAIN,
  PRESENT,
  PUBLISHED,
  refused,
  retryable,
  TOKEN_REFUSED,
  UNKNOWN,
} from "../results.ts";
import { mp4Media, TestMedia, toReel } from "../test-media.ts";
import { guard, signal, startTestPlatform } from "../test-platform.ts";
import { facebookAt } from "./facebook-at.ts";
import { KINDS, VIDEO } from "./post-kinds.ts";

const MINUTE_MS = 60_000;

const platform = await startTestPlatform("facebook");
const facebook = facebookAt(platform.url);
const driver = new GraphDriver(platform, facebook);

const createPublication = (media: readonly PublicationMedia[], text = "Greetings from the Page") =>
  platform.createPublication(media, text);
const prepare = (publication: Publication, options = {}) =>
  platform.prepare(facebook, publication, options);
const shown = ({ kind, contentType, sha256 }: PublicationMedia) => ({
  kind: contentType === "image/gif" ? "gif" : kind,
  sha256,
});

describe("publishing on Facebook", () => {
  test.each(KINDS)(
    "the Facebook connector publishes %s once and reads its permalink",
    async (_name, media) => {
      const publication = await createPublication(media);
      const { outcome, publishCalls } = await driver.settle(publication);
      const [entry, ...others] = await platform.visible();
      expect(others).toEqual([]);
      expect(entry).toMatchObject({ text: "Greetings from the Page", media: media.map(shown) });
      expect(publishCalls).toBe(1);
      expect(outcome).toMatchObject({
        externalId: entry?.id,
        permalink: expect.stringMatching(/^https:\/\/www\.facebook\.com\/[\w/]+/) as string,
      });
    },
  );

  test.each(KINDS)(
    "the Facebook connector makes %s visible only with the publishing call",
    async (_name, media) => {
      const publication = await createPublication(media);
      expect((await prepare(publication)).failure).toBeUndefined();
      expect(await platform.visible()).toEqual([]);
    },
  );

  test.each(KINDS)(
    "the Facebook connector publishes %s once, even if a worker crashes at any point before the publishing call",
    async (_name, media) => {
      for (let died = 1; died <= 8; died += 1) {
        await platform.reset();
        const publication = await createPublication(media);
        const { handles } = await prepare(publication, { maxRuns: died });
        const { outcome } = await driver.settle(publication, handles);
        expect(["published", "present"]).toContain(outcome.kind);
        expect(await platform.visible()).toMatchObject([{ media: media.map(shown) }]);
      }
    },
  );

  test("the Facebook connector publishes a text with a preview of its first link", async () => {
    const text = "Read https://example.com/a?b=1 and https://example.com/c";
    const publication = await createPublication([], text);
    expect(await platform.publish(facebook, publication)).toMatchObject(PUBLISHED);
    expect(await platform.visible()).toMatchObject([{ text }]);
  });

  test("a Facebook post is reported as published even if its permalink cannot be read", async () => {
    const publication = await createPublication([]);
    const { handles } = await prepare(publication);
    await platform.addFault("status", "status", { status: 500 });
    const outcome = await facebook.publish(publication, handles, guard);
    const [entry] = await platform.visible();
    expect(outcome).toEqual({
      kind: "published",
      externalId: entry?.id,
      permalink: `https://www.facebook.com/${entry?.id}`,
    });
  });

  test("the Facebook connector sends no publishing call when too much time has passed since the intent to publish was recorded", async () => {
    const publication = await createPublication([]);
    const { handles } = await prepare(publication);
    const tooLate = { ...guard, mayStillSend: () => false };
    expect(await facebook.publish(publication, handles, tooLate)).toEqual({ kind: "not_sent" });
    expect(await platform.visible()).toEqual([]);
  });

  test("the Facebook connector does not send a token to an upload URL on another host", async () => {
    const elsewhere = facebookAt(platform.url, { uploadBaseUrl: "https://rupload.facebook.com" });
    const { failure } = await platform.prepare(
      elsewhere,
      await createPublication([toReel(mp4Media(300_000))]),
    );
    expect(failure).toMatchObject(retryable("platform_unavailable"));
    expect(await platform.calls()).toEqual(["POST video_reels"]);
  });
});

describe("failing preparation steps on Facebook", () => {
  test.each(STEP_FAULTS)(
    "a Facebook post that meets the simulated fault %s on any call before the publishing call is published once",
    async (mode, extra) => {
      for (const operation of ["create", "upload", "status"])
        for (const [, media] of KINDS) {
          await platform.reset();
          const publication = await createPublication(media);
          await platform.addFault(operation, mode, extra);
          const { outcome } = await driver.settle(publication);
          expect(["published", "present"]).toContain(outcome.kind);
          expect(await platform.visible()).toMatchObject([{ media: media.map(shown) }]);
        }
    },
    90_000,
  );

  test("a Facebook upload that lost the answer to a chunk continues with the next missing byte", async () => {
    const publication = await createPublication([VIDEO]);
    await platform.addFault("upload", "drop_after_commit");
    const { outcome } = await driver.settle(publication);
    expect(outcome).toMatchObject(PUBLISHED);
    const calls = (await platform.calls()).filter((call) => call === "POST videos");
    // Six upload calls: one that begins the upload, three chunks of which one is sent twice, and
    // one that ends the upload.
    expect(calls).toHaveLength(6);
  });

  test("after a lost answer to the upload of a reel, the Facebook connector asks Facebook how many bytes arrived and sends no byte twice", async () => {
    const publication = await createPublication([toReel(mp4Media(300_000))]);
    await platform.addFault("upload", "drop_after_commit");
    const { outcome } = await driver.settle(publication);
    expect(outcome).toMatchObject(PRESENT);
    const uploads = (await platform.calls()).filter((call) => /^POST \d+$/.test(call));
    expect(uploads).toHaveLength(1);
  });

  test.each<[string, PublicationMedia]>([
    ["a file that is not an image", new TestMedia("no", "image/png", Buffer.from("text"))],
    ["a file that is not a video", new TestMedia("no", "video/mp4", Buffer.from("text"))],
    [
      "a file with the size of a reel that is not a video",
      toReel(new TestMedia("no", "video/mp4", Buffer.from("text"))),
    ],
  ])("Facebook's refusal of %s is reported as final", async (_name, media) => {
    const { failure } = await prepare(await createPublication([media]));
    expect(failure).toMatchObject(refused("media_rejected"));
  });

  test("Facebook's refusal of a text that repeats the Page's last post is reported as a duplicate", async () => {
    const publication = await createPublication([]);
    await platform.publish(facebook, publication);
    const { failure } = await prepare(publication);
    expect(failure).toMatchObject(refused("duplicate_on_platform"));
  });

  test.each([
    ["401", { kind: "token_refused" }],
    ["403", { kind: "refused", code: "permission_missing" }],
    ["429", { kind: "retryable", code: "rate_limited", isLimit: true }],
    ["400", { kind: "refused", code: "content_rejected" }],
    ["503", { kind: "retryable", code: "platform_unavailable" }],
  ])(
    "HTTP %s in answer to a Facebook preparation step becomes the failure %j",
    async (status, expected) => {
      await platform.addFault("create", "status", { status: Number(status) });
      const { failure } = await prepare(await createPublication([]));
      expect(failure).toMatchObject(expected);
    },
  );

  test("a Facebook preparation step that meets the rate limit waits as long as the usage header says", async () => {
    await platform.addFault("create", "status", { status: 429 });
    const { failure } = await prepare(await createPublication([]));
    expect(failure?.kind === "retryable" && failure.retryAfterMs).toBe(1800);
  });
});

describe("publishing calls to Facebook without a clear answer", () => {
  test.each(VISIBLE_CALL_FAULTS)(
    "a publishing call to Facebook that meets the simulated fault %s %o ends in exactly one post",
    async (mode, extra, calls) => {
      for (const [, media] of KINDS) {
        await platform.reset();
        const publication = await createPublication(media);
        await platform.addFault("publish", mode, extra);
        await expectOnePost({ driver, platform }, publication, calls);
      }
    },
    60_000,
  );

  test("a Facebook post is published once even if Facebook's answers to read calls are outdated", async () => {
    for (const [, media] of KINDS) {
      await platform.reset();
      const publication = await createPublication(media);
      const { handles } = await prepare(publication);
      await platform.control("POST", "clock", { advanceMs: 3 * MINUTE_MS });
      await platform.control("POST", "faults", {
        platform: "facebook",
        mode: "stale_reads",
        delayMs: 2 * MINUTE_MS,
      });
      await platform.addFault("publish", "drop_after_commit");
      const { outcome } = await driver.settle(publication, handles);
      expect(["published", "present"]).toContain(outcome.kind);
      expect(await platform.visible()).toMatchObject([{ media: media.map(shown) }]);
    }
  });

  test("a publishing call to Facebook that takes effect after the last status check still results in one post", async () => {
    for (const [, media] of KINDS) {
      await platform.reset();
      const publication = await createPublication(media);
      const { handles } = await prepare(publication);
      await platform.addFault("publish", "commit_late", { delayMs: 200 });
      expect(await facebook.publish(publication, handles, guard)).toMatchObject(UNKNOWN);
      const { outcome } = await driver.settle(publication, handles);
      expect(["published", "present"]).toContain(outcome.kind);
      await eventually(async () => {
        const calls = await platform.listRequests();
        return calls.every((call) => call.outcome !== "pending");
      });
      expect(await platform.visible()).toMatchObject([{ media: media.map(shown) }]);
    }
  });

  test("a refusal of the publishing call is final when the answer is an error in Facebook's own format", async () => {
    const publication = await createPublication([]);
    const { handles } = await prepare(publication);
    await platform.addFault("publish", "refuse");
    expect(await facebook.publish(publication, handles, guard)).toMatchObject(
      refused("account_action_needed"),
    );
    await platform.addFault("publish", "status", { status: 401 });
    expect(await facebook.publish(publication, handles, guard)).toMatchObject(TOKEN_REFUSED);
    expect(await platform.visible()).toEqual([]);
  });
});

describe("an unpublished post of a live check on Facebook", () => {
  test("the post of a live check on Facebook is never visible, and is published for the check once it is prepared", async () => {
    const publication = { ...(await createPublication([])), privacy: "unpublished" } as const;
    const { handles } = await prepare(publication);
    expect(await facebook.publish(publication, handles, guard)).toMatchObject({
      kind: "published",
      externalId: handles.postId,
    });
    expect(await driver.reconcile(publication, handles)).toMatchObject(PRESENT);
    expect(await platform.visible()).toEqual([]);
  });

  test("the publishing of a live check on Facebook fails without a prepared post, and when readers see the post", async () => {
    const publication = { ...(await createPublication([])), privacy: "unpublished" } as const;
    expect(await facebook.publish(publication, {}, guard)).toMatchObject(
      retryable("internal_error"),
    );
    const { handles } = await prepare(publication);
    await facebook.publish({ ...publication, privacy: "public" }, handles, guard);
    expect(await platform.visible()).toHaveLength(1);
    expect(await driver.reconcile(publication, handles)).toMatchObject(refused("internal_error"));
  });
});

describe("reconciling on Facebook", () => {
  test("the Facebook connector searches three times for an unpublished post that no longer exists and then reports that it cannot tell the outcome", async () => {
    const publication = await createPublication([]);
    const { handles } = await prepare(publication);
    await facebook.delete(publication, handles.postId ?? "", signal);
    expect(await driver.reconcile(publication, handles)).toEqual({
      kind: "look_again",
      afterMs: MINUTE_MS,
    });
    expect(await driver.judge(publication, handles)).toMatchObject(CANNOT_TELL);
  });

  test("the Facebook connector repeats the publishing call when the account's token has no permission to read the unpublished post", async () => {
    const publication = await createPublication([]);
    const { handles } = await prepare(publication);
    await platform.addFault("status", "status", { status: 401 });
    expect(await driver.reconcile(publication, handles)).toEqual({ kind: "repeat" });
  });

  test("the Facebook connector checks later whether a post exists when Facebook answers the check with a rate limit", async () => {
    const publication = await createPublication([]);
    const { handles } = await prepare(publication);
    await platform.addFault("status", "status", { status: 429 });
    expect(await driver.reconcile(publication, handles)).toEqual({
      kind: "look_again",
      afterMs: 1800,
      isIncomplete: true,
    });
  });
});

describe("deleting on Facebook", () => {
  test.each(KINDS)(
    "the Facebook connector deletes %s, and the deletion can be repeated",
    async (_name, media) => {
      const publication = await createPublication(media);
      await driver.settle(publication);
      const [entry] = await platform.visible();
      for (let times = 0; times < 2; times += 1)
        expect(await facebook.delete(publication, entry?.id ?? "", signal)).toEqual({
          kind: "deleted",
        });
      expect(await platform.visible()).toEqual([]);
    },
  );

  test.each([
    ["drop_before", {}, "unknown"],
    ["drop_after_commit", {}, "unknown"],
    ["status", { status: 500 }, "unknown"],
    ["status", { status: 404 }, "unknown"],
    ["status", { status: 401 }, "token_refused"],
    ["status", { status: 403 }, "refused"],
  ])(
    "a Facebook deletion that meets the simulated fault %s %o does not report success while the post exists",
    async (mode, extra, kind) => {
      const publication = await createPublication([]);
      const outcome = await platform.publish(facebook, publication);
      const id = outcome.kind === "published" ? (outcome.externalId ?? "") : "";
      await platform.addFault("delete", mode, extra);
      expect(await facebook.delete(publication, id, signal)).toMatchObject({ kind });
    },
  );
});

describe("Facebook posts that are created visible at once", () => {
  const POSTS = KINDS.slice(0, 3);
  const atOnce = facebookAt(platform.url, { isTwoPhase: false });

  /**
   * Publishes a Facebook post that is visible at once, and searches the platform until the outcome
   * is known.
   */
  async function settleAtOnce(publication: Publication): Promise<Outcome | Verdict> {
    const { handles } = await platform.prepare(atOnce, publication);
    for (let calls = 0; calls < 2; calls += 1) {
      const outcome = await atOnce.publish(publication, handles, guard);
      if (outcome.kind !== "unknown") return outcome;
      const verdict = await look(publication, handles);
      if (verdict.kind !== "absent") return verdict;
    }
    throw new Error("absent twice");
  }

  async function look(publication: Publication, handles: Handles): Promise<Verdict> {
    let waitedMs = 0;
    const callUntil = new Date();
    for (let looks = 0; ; looks += 1) {
      const now = new Date(Date.now() + waitedMs);
      const call = callOfLastMinute({ looks, now, callUntil });
      const verdict = await atOnce.reconcile(publication, handles, call, signal);
      if (verdict.kind !== "look_again") return verdict;
      waitedMs += verdict.afterMs;
    }
  }

  test.each([
    ["drop_before", {}],
    ["drop_after_commit", {}],
    ["garbage_body", {}],
    ["status_after_commit", { status: 500 }],
    ["status", { status: 503 }],
  ])(
    "a Facebook post that is created visible at once is published once when its creation meets the simulated fault %s %o",
    async (mode, extra) => {
      for (const [, media] of POSTS) {
        await platform.reset();
        const publication = await createPublication(media, "See https://example.com/a");
        await platform.addFault("publish", mode, extra);
        const outcome = await settleAtOnce(publication);
        const [entry, ...others] = await platform.visible();
        expect(others).toEqual([]);
        expect(["published", "present"]).toContain(outcome.kind);
        expect(outcome).toMatchObject({ externalId: entry?.id });
      }
    },
  );

  test("the Facebook connector reports that it cannot tell the outcome when Facebook refuses to list the Page's posts", async () => {
    const publication = await createPublication([]);
    await platform.addFault("status", "status", { status: 403 });
    expect(await atOnce.reconcile(publication, {}, callOfLastMinute(), signal)).toMatchObject(
      CANNOT_TELL,
    );
  });

  test("the Facebook connector finds a published text with a link to a video although Facebook lists a preview of the video with the post", async () => {
    const text = "See https://www.youtube.com/watch?v=1";
    const publication = await createPublication([], text);
    expect(await atOnce.publish(publication, {}, guard)).toMatchObject(PUBLISHED);
    const [entry] = await platform.visible();
    expect(await atOnce.reconcile(publication, {}, callOfLastMinute(), signal)).toMatchObject({
      kind: "present",
      externalId: entry?.id,
    });
  });

  test("the Facebook connector does not take a post that belongs to another Postrider post as the published post", async () => {
    const publication = await createPublication([]);
    await settleAtOnce(publication);
    const [entry] = await platform.visible();
    const isOwned = () => Promise.resolve(new Set([entry?.id ?? ""]));
    const call = callOfLastMinute({ isOwned });
    expect(await atOnce.reconcile(publication, {}, call, signal)).toMatchObject(LOOK_AGAIN);
  });
});

describe("Facebook posts after a restore", () => {
  test.each(KINDS.filter(([, media]) => media.length > 0))(
    "after a database restore, the Facebook connector finds %s by its ids even if the database by mistake assigns the Facebook post to another Postrider post",
    async (_name, media) => {
      const publication = await createPublication(media);
      const { handles } = await prepare(publication);
      await driver.settle(publication, handles);
      const [entry] = await platform.visible();
      const isOwned = (ids: readonly string[]) => Promise.resolve(new Set(ids));
      const call = callOfLastMinute({ isOwned });
      expect(await facebook.findMatchingPost?.(publication, handles, call, signal)).toMatchObject({
        kind: "present",
        externalId: entry?.id,
      });
      expect(await facebook.findMatchingPost?.(publication, {}, call, signal)).toMatchObject(
        LOOK_AGAIN,
      );
    },
  );

  test.each(KINDS)(
    "after a database restore, the Facebook connector finds %s that was published before the restore",
    async (_name, media) => {
      const publication = await createPublication(media);
      const find = () => facebook.findMatchingPost?.(publication, {}, callOfLastMinute(), signal);
      expect(await find()).toMatchObject(LOOK_AGAIN);
      await driver.settle(publication);
      const [entry] = await platform.visible();
      expect(await find()).toMatchObject({
        kind: "present",
        externalId: entry?.id,
        permalink: expect.stringMatching(/^https:\/\/www\.facebook\.com\//) as string,
      });
    },
  );
});

test("the Facebook connector sends all calls with a video to the host for videos, and all other calls to the Graph API", async () => {
  const connector = facebookAt(platform.url, { videoBaseUrl: `${platform.url}/graph-video` });
  const publication = await createPublication([mp4Media(300_000)]);
  expect(await platform.publish(connector, publication)).toMatchObject(PUBLISHED);
  const calls = (await platform.listRequests()).filter(({ method }) => method === "POST");
  expect(calls.map(({ path }) => path.replaceAll(/\d{10,}/g, "id"))).toEqual([
    "/graph-video/v25.0/id/videos",
    "/graph-video/v25.0/id/videos",
    "/graph-video/v25.0/id/videos",
    "/v25.0/id",
  ]);
});
