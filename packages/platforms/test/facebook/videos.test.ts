import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { FacebookSettings } from "#src/facebook/publishing/connector.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Outcome } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { Verdict } from "#src/publishing/verdict.ts";
import { callOfLastMinute, VISIBLE_CALL_FAULTS } from "../graph-driver.ts";
import { mp4Media, mp4OfSize, TestMedia, toReel } from "../test-media.ts";
import { guard, signal, startTestPlatform } from "../test-platform.ts";
import { facebookAt } from "./facebook-at.ts";

const platform = await startTestPlatform("facebook");

const createPublication = (video: TestMedia) => platform.createPublication([video], "A video");

/** Publishes a post and searches the platform until the outcome is known, at most three times. */
async function settle(
  connector: PublishingConnector,
  publication: Publication,
): Promise<{ readonly outcome: Outcome | Verdict; readonly calls: number }> {
  const { handles, failure } = await platform.prepare(connector, publication);
  if (failure !== undefined) return { outcome: failure, calls: 0 };
  for (let calls = 1; calls <= 3; calls += 1) {
    const outcome = await connector.publish(publication, handles, guard);
    if (outcome.kind !== "unknown" && outcome.kind !== "pending") return { outcome, calls };
    const isPending = outcome.kind === "pending";
    let waitedMs = 0;
    let verdict: Verdict | undefined;
    for (let looks = 0; verdict === undefined || verdict.kind === "look_again"; looks += 1) {
      if (verdict !== undefined) {
        waitedMs += verdict.afterMs;
        await platform.control("POST", "clock", { advanceMs: verdict.afterMs });
      }
      const call = callOfLastMinute({ looks, isPending, now: new Date(Date.now() + waitedMs) });
      verdict = await connector.reconcile(publication, handles, call, signal);
    }
    if (verdict.kind !== "absent" && verdict.kind !== "repeat") return { outcome: verdict, calls };
  }
  throw new Error("the post is absent after three publishing calls");
}

const MODES: readonly (readonly [string, Partial<FacebookSettings>])[] = [
  ["in two phases", {}],
  ["with FACEBOOK_TWO_PHASE=off", { isTwoPhase: false }],
];

describe.each(MODES)("Facebook videos %s", (name, settings) => {
  const facebook = facebookAt(platform.url, settings);

  test.each([
    ["a MOV file of 9:16 and 10 seconds", "video/quicktime"],
    ["an MP4 file of 9:16 and 10 seconds", "video/mp4"],
  ])(`the Facebook connector ${name} publishes %s as a reel`, async (_file, contentType) => {
    const video = toReel(mp4OfSize(720, 1280, contentType));
    const { outcome } = await settle(facebook, await createPublication(video));
    expect(outcome).toMatchObject({ kind: "present" });
    expect(await platform.visible()).toHaveLength(1);
    expect(await platform.calls()).toContain("POST video_reels");
  });

  test.each([
    ["an upright video of 2 minutes", 720, 1280, 120_000],
    ["an upright video of 3:4", 1080, 1440, 10_000],
    ["an upright video of unknown length", 720, 1280, null],
  ])(
    `the Facebook connector ${name} does not report %s kept as a draft as published, and says what a reel needs`,
    async (_file, width, height, durationMs) => {
      const video = mp4OfSize(width, height);
      video.durationMs = durationMs;
      const { outcome, calls } = await settle(facebook, await createPublication(video));
      expect(outcome).toMatchObject({
        kind: "refused",
        code: "media_rejected",
        message: expect.stringContaining("9:16") as string,
      });
      expect(calls).toBe(1);
      expect(await platform.visible()).toEqual([]);
    },
  );

  test(`the Facebook connector ${name} publishes a video that is wider than high once`, async () => {
    const { outcome, calls } = await settle(
      facebook,
      await createPublication(mp4OfSize(1280, 720)),
    );
    const [entry] = await platform.visible();
    expect(outcome).toMatchObject({ externalId: entry?.id });
    expect(calls).toBe(1);
  });

  test.each(VISIBLE_CALL_FAULTS)(
    `the Facebook connector ${name} publishes a video once when its publishing call meets the simulated fault %s %o`,
    async (mode, extra) => {
      await platform.addFault("publish", mode, extra);
      const { outcome } = await settle(facebook, await createPublication(mp4Media(50_000)));
      const visible = await platform.visible();
      expect(visible).toHaveLength(1);
      expect(outcome).toMatchObject({ externalId: visible[0]?.id });
    },
  );
});

test.each([
  ["h264-12fps.mp4", { kind: "refused", code: "media_rejected" }, 0],
  ["h264-120fps.mp4", { kind: "refused", code: "media_rejected" }, 0],
  ["hevc-10-bit.mp4", { kind: "present" }, 1],
])("Facebook judges the reel %s by its frame rate: %o", async (name, end, count) => {
  const url = new URL(`../../../../services/media/test/videos/${name}`, import.meta.url);
  const video = toReel(new TestMedia(name, "video/mp4", readFileSync(url)));
  const { outcome } = await settle(facebookAt(platform.url), await createPublication(video));
  expect(outcome).toMatchObject(end);
  expect(await platform.visible()).toHaveLength(count);
});

test("with FACEBOOK_TWO_PHASE=off, the call that ends the upload of a Facebook video publishes it", async () => {
  const facebook = facebookAt(platform.url, { isTwoPhase: false });
  await settle(facebook, await createPublication(mp4Media(50_000)));
  const calls = (await platform.listRequests()).filter(({ operation }) => operation === "publish");
  expect(calls.map(({ path }) => path.split("/").at(-1))).toEqual(["videos"]);
  expect(platform.lastBody("/videos")).toMatchObject({ published: "true" });
});

test("a Facebook video that was prepared in two phases is published after FACEBOOK_TWO_PHASE was turned off", async () => {
  const publication = await createPublication(mp4OfSize(1280, 720));
  const { handles } = await platform.prepare(facebookAt(platform.url), publication);
  const atOnce = facebookAt(platform.url, { isTwoPhase: false });
  expect(atOnce.steps(publication).every((step) => step.isDone(handles))).toBe(true);
  expect(await atOnce.publish(publication, handles, guard)).toMatchObject({ kind: "published" });
  expect(await platform.visible()).toHaveLength(1);
});

test.each([
  ["video", mp4OfSize(1280, 720)],
  ["reel", toReel(mp4Media(50_000))],
])(
  "Facebook's refusal of a %s by an app that may not publish videos is a missing permission, although its code means an invalid parameter",
  async (_kind, video) => {
    await platform.control("POST", "settings", { facebookVideos: "refused" });
    const { outcome } = await settle(facebookAt(platform.url), await createPublication(video));
    expect(outcome).toMatchObject({ kind: "refused", code: "permission_missing" });
    expect(await platform.visible()).toEqual([]);
  },
);
