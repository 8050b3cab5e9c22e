import { randomUUID } from "node:crypto";
import { eventually } from "@postrider/shared/testing/poll";
import { describe, expect, test } from "vitest";
import type { Publication } from "#src/publishing/publication.ts";
import { expectOnePost, GraphDriver, STEP_FAULTS, VISIBLE_CALL_FAULTS } from "../graph-driver.ts";
import { jpegMedia, startMediaServer } from "../media-server.ts";
import {
  CANNOT_TELL,
  INCOMPLETE_LOOK,
  PRESENT,
  PUBLISHED,
  refused,
  retryable,
  TOKEN_REFUSED,
  UNKNOWN,
} from "../results.ts";
import { mp4Media, pngMedia, TestMedia } from "../test-media.ts";
import { guard, signal, startTestPlatform } from "../test-platform.ts";
import { instagramAt } from "./instagram-at.ts";

const MINUTE_MS = 60_000;
const NAMELESS = { kind: "present", externalId: null, permalink: null };

const platform = await startTestPlatform("instagram");
const files = await startMediaServer();
const instagram = instagramAt(platform.url);
const driver = new GraphDriver(platform, instagram);

const createPublication = (media: readonly TestMedia[], text = "Ships & sails #harbour") =>
  platform.createPublication(
    media.map((one) => files.serve(one)),
    text,
  );
const prepare = (publication: Publication, options = {}) =>
  platform.prepare(instagram, publication, options);
const shown = (media: TestMedia) => ({ kind: media.kind, sha256: media.sha256 });
const VIDEO = mp4Media(300_000);
const KINDS: readonly (readonly [string, readonly TestMedia[]])[] = [
  ["an image", [jpegMedia(1)]],
  ["a video", [VIDEO]],
  ["a carousel", [jpegMedia(1), VIDEO, jpegMedia(2)]],
];

describe("publishing on Instagram", () => {
  test.each(KINDS)(
    "the Instagram connector publishes %s with its caption and reads its permalink",
    async (_name, media) => {
      const publication = await createPublication(media);
      const outcome = await platform.publish(instagram, publication);
      const [entry, ...others] = await platform.visible();
      expect(others).toEqual([]);
      expect(entry).toMatchObject({ text: "Ships & sails #harbour", media: media.map(shown) });
      expect(outcome).toEqual({
        kind: "published",
        externalId: entry?.id,
        permalink: expect.stringMatching(
          /^https:\/\/www\.instagram\.com\/(?:p|reel)\/[\w-]{11}\/$/,
        ) as string,
      });
    },
  );

  test("a caption with more hashtags than Instagram's API takes is refused as content before anything is published, whatever the number is", async () => {
    const publication = await createPublication([jpegMedia(1)], "#a ".repeat(6));
    await platform.control("POST", "settings", { instagramHashtags: 5 });
    expect(await platform.publish(instagram, publication)).toMatchObject({
      kind: "refused",
      code: "content_rejected",
      message: expect.stringContaining("hashtags") as string,
    });
    expect(await platform.visible()).toEqual([]);
    await platform.control("POST", "settings", { instagramHashtags: 30 });
    expect(await platform.publish(instagram, publication)).toMatchObject(PUBLISHED);
  });

  test("the Instagram connector reads the publishing limit first, and creates the parts of a carousel before the carousel", async () => {
    await platform.publish(instagram, await createPublication([jpegMedia(1), jpegMedia(2)]));
    const calls = (await platform.calls()).map((call) => call.replace(/\d{10,}/, "id"));
    expect(calls).toEqual([
      "GET content_publishing_limit",
      "POST media",
      "POST media",
      "GET id",
      "GET id",
      "POST media",
      "GET id",
      "POST media_publish",
      "GET id",
    ]);
  });

  test.each(KINDS)(
    "the Instagram connector publishes %s once, even if a worker crashes at any point before the publishing call",
    async (_name, media) => {
      const whole = await prepare(await createPublication(media));
      const runs = Object.keys(whole.handles).length + whole.waits.length + media.length + 2;
      for (let died = 1; died <= runs; died += 1) {
        await platform.reset();
        const publication = await createPublication(media);
        const { handles } = await prepare(publication, { maxRuns: died });
        expect((await driver.settle(publication, handles)).outcome).toMatchObject(PUBLISHED);
        expect(await platform.visible()).toMatchObject([{ media: media.map(shown) }]);
      }
    },
  );

  test("an Instagram post is reported as published even if its permalink cannot be read", async () => {
    const publication = await createPublication([jpegMedia(1)]);
    const { handles } = await prepare(publication);
    await platform.addFault("status", "status", { status: 500, times: 9 });
    const outcome = await instagram.publish(publication, handles, guard);
    const [entry] = await platform.visible();
    expect(outcome).toEqual({ kind: "published", externalId: entry?.id, permalink: null });
  });

  test("the Instagram connector sends no publishing call when too much time has passed since the intent to publish was recorded", async () => {
    const publication = await createPublication([jpegMedia(1)]);
    const { handles } = await prepare(publication);
    const tooLate = { ...guard, mayStillSend: () => false };
    expect(await instagram.publish(publication, handles, tooLate)).toEqual({ kind: "not_sent" });
    expect(await platform.visible()).toEqual([]);
  });

  test("the Instagram connector does not send a token to an upload URL on another host", async () => {
    const elsewhere = instagramAt(platform.url, "https://rupload.facebook.com");
    const { failure } = await platform.prepare(elsewhere, await createPublication([VIDEO]));
    expect(failure).toMatchObject(refused("app_configuration"));
    expect(await platform.calls()).not.toContainEqual(expect.stringMatching(/^POST \d+$/));
  });
});

describe("Instagram's publishing limit", () => {
  async function exhaust(): Promise<Publication> {
    const publication = await createPublication([jpegMedia(1)]);
    await platform.control("POST", "settings", { quotas: true });
    for (let posts = 0; posts < 50; posts += 1)
      await platform.publish(instagram, { ...publication, text: String(posts) });
    return publication;
  }

  test("a post waits when Instagram's publishing limit is reached, without using an attempt or creating a container", async () => {
    const publication = await exhaust();
    const { failure, handles } = await prepare(publication);
    const wait = { kind: "retryable", code: "platform_quota", isLimit: true };
    expect(failure).toMatchObject({ ...wait, retryAfterMs: 15 * MINUTE_MS });
    expect(handles).toEqual({});
    await platform.control("POST", "clock", { advanceMs: 24 * 60 * MINUTE_MS });
    expect(await platform.publish(instagram, publication)).toMatchObject(PUBLISHED);
  });

  test("a post whose publishing call meets Instagram's publishing limit waits and keeps its media container", async () => {
    const publication = await createPublication([jpegMedia(2)]);
    const { handles } = await prepare(publication);
    await platform.control("POST", "settings", { quotas: true });
    for (let posts = 0; posts < 50; posts += 1)
      await platform.publish(instagram, { ...publication, text: String(posts) });
    expect(await instagram.publish(publication, handles, guard)).toMatchObject({
      kind: "retryable",
      code: "platform_quota",
      isLimit: true,
    });
  });

  test("the preparation of a post continues when Instagram's publishing limit cannot be read, and fails when Instagram refuses the token", async () => {
    const publication = await createPublication([jpegMedia(1)]);
    await platform.addFault("account", "status", { status: 500 });
    expect(await platform.publish(instagram, publication)).toMatchObject(PUBLISHED);
    await platform.addFault("account", "status", { status: 401 });
    expect((await prepare(publication)).failure).toMatchObject(TOKEN_REFUSED);
  });
});

describe("failing preparation steps on Instagram", () => {
  test.each(STEP_FAULTS)(
    "an Instagram preparation step that meets the simulated fault %s when it creates a media container is retried and makes nothing visible",
    async (mode, extra) => {
      for (const [, media] of KINDS) {
        await platform.reset();
        const publication = await createPublication(media);
        await platform.addFault("create", mode, extra);
        const first = await prepare(publication);
        expect(first.failure).toMatchObject(retryable("platform_unavailable"));
        const { outcome } = await driver.settle(publication, first.handles);
        expect(outcome).toMatchObject(PUBLISHED);
        expect(await platform.visible()).toMatchObject([{ media: media.map(shown) }]);
      }
    },
  );

  test.each([
    ["drop_before", {}],
    ["drop_after_commit", {}],
    ["garbage_body", {}],
    ["status_after_commit", { status: 500 }],
    ["status", { status: 503 }],
    ["refuse", {}],
  ])(
    "an Instagram video upload that meets the simulated fault %s %o starts again with another container",
    async (mode, extra) => {
      const publication = await createPublication([VIDEO]);
      await platform.addFault("upload", mode, extra);
      const { handles, waits, failure } = await prepare(publication);
      expect(failure).toBeUndefined();
      expect(waits).toContain(5000);
      expect((await driver.settle(publication, handles)).outcome).toMatchObject(PUBLISHED);
      expect(await platform.visible()).toMatchObject([{ media: [shown(VIDEO)] }]);
    },
  );

  test("an Instagram preparation step waits while the status of a media container cannot be read", async () => {
    const publication = await createPublication([jpegMedia(1), jpegMedia(2)]);
    for (const mode of ["drop_before", "garbage_body", "status"])
      await platform.addFault("status", mode, { status: 404 });
    const { waits, failure } = await prepare(publication);
    expect(failure).toBeUndefined();
    expect(waits).toEqual([1000, 2000, 4000]);
  });

  test("an Instagram media container that has expired is created again, and the carousel contains the new child containers", async () => {
    for (const [, media] of KINDS) {
      await platform.reset();
      const publication = await createPublication(media);
      const { handles } = await prepare(publication);
      await platform.control("POST", "clock", { advanceMs: 24 * 60 * MINUTE_MS });
      const { outcome, publishCalls } = await driver.settle(publication, handles);
      expect(outcome).toMatchObject(PUBLISHED);
      expect(publishCalls).toBe(2);
      expect(await platform.visible()).toMatchObject([{ media: media.map(shown) }]);
    }
  });

  test.each([
    ["an image of another type", pngMedia(1), "media_rejected"],
    [
      "a file that is not a video",
      new TestMedia("no", "video/mp4", Buffer.from("text")),
      "media_rejected",
    ],
  ])("Instagram's refusal of %s is reported as final", async (_name, media, code) => {
    const { failure } = await prepare(await createPublication([media]));
    expect(failure).toMatchObject({ kind: "refused", code });
    const parts = await prepare(await createPublication([jpegMedia(1), media]));
    expect(parts.failure).toMatchObject({ kind: "refused", code });
  });

  test("an image that Instagram cannot fetch is sent again on a later attempt", async () => {
    const publication = await createPublication([jpegMedia(1)]);
    const missing = publication.media.map((one) => ({ ...one, url: `${one.url}/gone` }));
    const { failure } = await prepare({ ...publication, media: missing });
    expect(failure).toMatchObject(retryable("media_fetch_failed"));
  });

  test("Instagram's refusal of a caption that is too long is reported as `content_rejected`", async () => {
    const { failure } = await prepare(await createPublication([jpegMedia(1)], "a".repeat(2201)));
    expect(failure).toMatchObject(refused("content_rejected"));
  });

  test("an Instagram preparation step that meets the rate limit waits as long as Instagram says", async () => {
    await platform.addFault("create", "status", { status: 429 });
    const { failure } = await prepare(await createPublication([jpegMedia(1)]));
    expect(failure).toMatchObject({ kind: "retryable", code: "rate_limited", isLimit: true });
    expect(failure?.kind === "retryable" && failure.retryAfterMs).toBeLessThan(5000);
  });
});

describe("publishing calls to Instagram without a clear answer", () => {
  test.each(VISIBLE_CALL_FAULTS)(
    "a publishing call to Instagram that meets the simulated fault %s %o ends in exactly one post (publishing calls: %i)",
    async (mode, extra, calls) => {
      for (const [, media] of KINDS) {
        await platform.reset();
        const publication = await createPublication(media);
        await platform.addFault("publish", mode, extra);
        const entry = await expectOnePost({ driver, platform }, publication, calls);
        expect(entry?.createCalls).toBe(1);
      }
    },
  );

  test("an Instagram post is not reported as absent while Instagram's answers to read calls are outdated", async () => {
    const publication = await createPublication([jpegMedia(1)]);
    const { handles } = await prepare(publication);
    await platform.control("POST", "clock", { advanceMs: 3 * MINUTE_MS });
    await platform.control("POST", "faults", {
      platform: "instagram",
      mode: "stale_reads",
      delayMs: 2 * MINUTE_MS,
    });
    await platform.addFault("publish", "drop_after_commit");
    const { outcome } = await driver.settle(publication, handles);
    expect(outcome).toMatchObject(PRESENT);
    expect(await platform.visible()).toHaveLength(1);
  });

  test("a publishing call to Instagram that takes effect after the last status check still results in one post", async () => {
    const publication = await createPublication([jpegMedia(1)]);
    const { handles } = await prepare(publication);
    await platform.addFault("publish", "commit_late", { delayMs: 300 });
    expect(await instagram.publish(publication, handles, guard)).toMatchObject(UNKNOWN);
    // The publishing call takes effect only after both status checks, which is later than
    // Instagram's documentation allows.
    const verdict = await driver.reconcile(publication, handles, { looks: 1 });
    if (verdict.kind !== "absent") throw new Error("it was there");
    await eventually(async () => (await platform.visible()).length === 1);
    const { outcome } = await driver.settle(publication, verdict.handles);
    expect(outcome).toMatchObject(PRESENT);
    expect(await platform.visible()).toHaveLength(1);
  });

  test("a publishing call to Instagram before the media container is ready ends in exactly one post", async () => {
    const publication = await createPublication([VIDEO]);
    const { handles } = await prepare(publication, { maxRuns: 3 });
    const container = JSON.parse(handles.container0 ?? "{}") as object;
    expect(container).toMatchObject({ stage: "processing" });
    const early = { ...handles, container0: JSON.stringify({ ...container, stage: "ready" }) };
    expect(await instagram.publish(publication, early, guard)).toMatchObject({ kind: "pending" });
    const { outcome } = await driver.settle(publication, early);
    expect(outcome).toMatchObject(PUBLISHED);
    expect(await platform.visible()).toHaveLength(1);
  });

  test("a refusal of the publishing call is final when the answer is an error in Instagram's own format", async () => {
    const publication = await createPublication([jpegMedia(1)]);
    const { handles } = await prepare(publication);
    await platform.addFault("publish", "refuse");
    expect(await instagram.publish(publication, handles, guard)).toMatchObject(
      refused("account_action_needed"),
    );
    await platform.addFault("publish", "status", { status: 401 });
    expect(await instagram.publish(publication, handles, guard)).toMatchObject(TOKEN_REFUSED);
    await platform.addFault("publish", "status", { status: 403 });
    expect(await instagram.publish(publication, handles, guard)).toMatchObject(
      refused("permission_missing"),
    );
  });
});

describe("reconciling on Instagram", () => {
  async function ready(media: readonly TestMedia[] = [jpegMedia(1)], text?: string) {
    const publication = await createPublication(media, text);
    return { publication, ...(await prepare(publication)) };
  }

  test("an Instagram container that is still ready at the second check proves that the post is absent, and the container is published again", async () => {
    const { publication, handles } = await ready();
    const first = await driver.reconcile(publication, handles);
    expect(first).toEqual({ kind: "look_again", afterMs: 2 * MINUTE_MS });
    const second = await driver.reconcile(publication, handles, { looks: 1 });
    expect(second).toMatchObject({ kind: "absent", handles });
    const again = await prepare(publication, { handles: { ...handles, ...second } });
    expect(again.handles.container0).toBe(handles.container0);
  });

  test("the Instagram connector does not take a post that belongs to another Postrider post, or one of two equal posts, as the published post", async () => {
    const { publication, handles } = await ready();
    await instagram.publish(publication, handles, guard);
    const mine = (await platform.visible()).at(0)?.id ?? "";
    expect(await driver.reconcile(publication, handles)).toMatchObject({
      kind: "present",
      externalId: mine,
    });
    await platform.publish(instagram, publication);
    const [, other = { id: "" }] = await platform.visible();
    expect(await driver.reconcile(publication, handles)).toEqual(NAMELESS);
    const isOwned = () => Promise.resolve(new Set([other.id]));
    expect(await driver.reconcile(publication, handles, { isOwned })).toMatchObject({
      externalId: mine,
    });
  });

  test("a photo without a caption that a person put on Instagram is never taken as a post without a caption", async () => {
    const byHand = await ready([jpegMedia(1)], "");
    await instagram.publish(byHand.publication, byHand.handles, guard);
    const publication = { ...byHand.publication, targetId: randomUUID() };
    const { handles } = await prepare(publication);

    await platform.addFault("status", "status", { status: 404 });
    expect(await driver.reconcile(publication, handles)).toMatchObject(CANNOT_TELL);

    await instagram.publish(publication, handles, guard);
    const [{ id } = { id: "" }] = await platform.visible();
    const isOwned = () => Promise.resolve(new Set([id]));
    expect(await driver.reconcile(publication, handles, { isOwned })).toEqual(NAMELESS);
  });

  test("an Instagram post is published without a link when another Postrider post with its caption has an unknown outcome", async () => {
    const { publication, handles } = await ready();
    await instagram.publish(publication, handles, guard);
    const hasSimilarPost = () => Promise.resolve(true);
    expect(await driver.reconcile(publication, handles, { hasSimilarPost })).toEqual(NAMELESS);
  });

  test("the Instagram connector waits until Instagram's list of the account's posts contains the post of a published container", async () => {
    const { publication, handles } = await ready();
    await instagram.publish(publication, handles, guard);
    await platform.addFault("GET /v25.0/*/media", "status", { status: 500, times: 9 });
    expect(await driver.reconcile(publication, handles)).toMatchObject(INCOMPLETE_LOOK);
    const callUntil = new Date(Date.now() - 11 * MINUTE_MS);
    expect(await driver.reconcile(publication, handles, { callUntil })).toEqual(NAMELESS);
  });

  test("an Instagram container that is not found or cannot be read leaves the outcome of the publishing call unknown", async () => {
    const { publication, handles } = await ready();
    for (const status of [404, 500, 503])
      for (let looks = 0; looks < 3; looks += 1) {
        await platform.addFault("status", "status", { status });
        expect(await driver.reconcile(publication, handles, { looks })).toMatchObject(
          INCOMPLETE_LOOK,
        );
      }
    await platform.addFault("status", "drop_before");
    expect(await driver.reconcile(publication, handles, { looks: 1 })).toMatchObject(
      INCOMPLETE_LOOK,
    );
  });

  test("the Instagram connector finds a post in Instagram's list of the account's posts when the post's container is not found", async () => {
    const { publication, handles } = await ready();
    await instagram.publish(publication, handles, guard);
    await platform.addFault("status", "status", { status: 404 });
    expect(await driver.reconcile(publication, handles)).toMatchObject(PRESENT);
  });

  test("the Instagram connector reports that it cannot tell the outcome when Instagram refuses to show the media container", async () => {
    const { publication, handles } = await ready();
    await platform.addFault("status", "status", { status: 401 });
    expect(await driver.reconcile(publication, handles)).toMatchObject(CANNOT_TELL);
  });

  test("an expired Instagram container proves that the post is absent, and another container is created", async () => {
    const { publication, handles } = await ready([jpegMedia(1), jpegMedia(2)]);
    await platform.control("POST", "clock", { advanceMs: 24 * 60 * MINUTE_MS });
    const verdict = await driver.reconcile(publication, handles);
    expect(verdict).toEqual({
      kind: "absent",
      handles: { limitReadAt: handles.limitReadAt },
    });
  });
});

describe("deleting on Instagram", () => {
  async function publishOne(): Promise<readonly [Publication, string]> {
    const publication = await createPublication([jpegMedia(1)]);
    const outcome = await platform.publish(instagram, publication);
    if (outcome.kind !== "published" || outcome.externalId === null) throw new Error("not there");
    return [publication, outcome.externalId];
  }

  test("the Instagram connector deletes a post, and reports the same outcome when the post is already gone", async () => {
    const [publication, id] = await publishOne();
    for (let times = 0; times < 2; times += 1)
      expect(await instagram.delete(publication, id, signal)).toEqual({ kind: "deleted" });
    expect(await platform.visible()).toEqual([]);
  });

  test("the Instagram connector reports a post as deleted only when the post cannot be read any more", async () => {
    const [publication, id] = await publishOne();
    await platform.addFault("delete", "status", { status: 404 });
    expect(await instagram.delete(publication, id, signal)).toMatchObject(
      refused("permission_missing"),
    );
  });

  test.each([
    ["drop_before", {}, { kind: "unknown" }],
    ["drop_after_commit", {}, { kind: "unknown" }],
    ["status", { status: 500 }, { kind: "retryable" }],
    ["status", { status: 429 }, { kind: "retryable", isLimit: true }],
    ["status", { status: 401 }, { kind: "token_refused" }],
    ["status", { status: 403 }, { kind: "refused", code: "permission_missing" }],
  ])(
    "an Instagram deletion that meets the simulated fault %s %o returns the outcome %j and can be repeated",
    async (mode, extra, outcome) => {
      const [publication, id] = await publishOne();
      await platform.addFault("delete", mode, extra);
      expect(await instagram.delete(publication, id, signal)).toMatchObject(outcome);
      expect(await instagram.delete(publication, id, signal)).toEqual({ kind: "deleted" });
      expect(await platform.visible()).toEqual([]);
    },
  );
});
