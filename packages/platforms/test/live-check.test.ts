import { describe, expect, test } from "vitest";
import type {
  CallPermission,
  LiveCheckContext,
  LiveCheckStep,
  LivePost,
} from "#src/diagnosis/live/check-context.ts";
import { type LeastVisible, liveCheckText } from "#src/diagnosis/live/least-visible.ts";
import { runLiveCheck } from "#src/diagnosis/live/run-live-check.ts";
import { PLATFORM_IDS, type PlatformId } from "#src/platform-id.ts";
import { createConnectors } from "#src/platforms.ts";
import type { PublicationMedia } from "#src/publishing/publication.ts";
import { PLATFORM_FACTS } from "#src/registry.ts";
import { createSession } from "./bluesky/create-session.ts";
import { jpegMedia, startMediaServer } from "./media-server.ts";
import { mp4Media } from "./test-media.ts";
import { guard, startTestPlatform, type TestPlatform } from "./test-platform.ts";

const files = await startMediaServer();
const platforms = new Map<PlatformId, TestPlatform>();
for (const platform of PLATFORM_IDS) platforms.set(platform, await startTestPlatform(platform));

function platformOf(platform: PlatformId): TestPlatform {
  const found = platforms.get(platform);
  if (found === undefined) throw new Error("no such platform");
  return found;
}

function connectorOf(platform: PlatformId) {
  const at = { baseUrl: platformOf(platform).url };
  const graph = { ...at, uploadBaseUrl: `${at.baseUrl}/rupload`, version: "v25.0" };
  return createConnectors("livePublishing", {
    instagram: { ...graph, loginBaseUrl: `${at.baseUrl}/login` },
    x: { ...at, mayResend: true },
    facebook: graph,
    tiktok: at,
    youtube: at,
    telegram: at,
    bluesky: { ...at, videoBaseUrl: at.baseUrl },
  })[platform];
}

function mediaOf(platform: PlatformId): readonly PublicationMedia[] {
  if (platform === "instagram") return [files.serve(jpegMedia(1))];
  return platform === "youtube" || platform === "tiktok" ? [mp4Media(1000)] : [];
}

/** A journal of a live check that is held in memory and permits one publishing call. */
class Journal {
  readonly steps: LiveCheckStep[] = [];
  readonly kept: LivePost[] = [];
  isDropped = false;
  calls = 0;
  addStep = (step: LiveCheckStep) => Promise.resolve(void this.steps.push(step));
  keepPost = (post: LivePost) => Promise.resolve(void this.kept.push(post));
  dropPost = () => Promise.resolve(void (this.isDropped = true));
  beginCall = (): Promise<CallPermission> => {
    this.calls += 1;
    const now = new Date();
    return Promise.resolve({ kind: "granted", guard, calledAt: now, callUntil: now });
  };
}

async function contextOf(platform: PlatformId, journal: Journal): Promise<LiveCheckContext> {
  const made = await platformOf(platform).createPublication(
    mediaOf(platform),
    liveCheckText("a1b2"),
    (credentials) =>
      platform === "bluesky"
        ? createSession(platformOf(platform).url, credentials)
        : (credentials.accessToken ?? credentials.botToken ?? ""),
  );
  const post: LeastVisible = PLATFORM_FACTS[platform].liveCheck;
  return {
    connector: connectorOf(platform),
    publication: { ...made, title: "Postrider check a1b2", privacy: post.privacy },
    post,
    journal,
    isOwned: () => Promise.resolve(new Set()),
    openPermalink: () => Promise.resolve(200),
    patienceMs: 3_000,
    stopping: new AbortController().signal,
  };
}

/** Runs a live check and returns its steps as `name: status`. */
async function check(platform: PlatformId, given: Partial<LiveCheckContext> = {}) {
  const journal = new Journal();
  await runLiveCheck({ ...(await contextOf(platform, journal)), ...given });
  const steps = journal.steps.map(({ name, status }) => `${name}: ${status}`);
  return { journal, steps };
}

const READ = ["find it as after a lost answer: ok", "find it by its content: ok"];
const REMOVED = ["delete it: ok", "find it no longer: ok", "delete it again: ok"];

const EXPECTED = {
  instagram: ["prepare: ok", "publish: ok", ...READ, "open its permalink: ok", ...REMOVED],
  x: ["prepare: ok", "publish: ok", ...READ, "open its permalink: ok", ...REMOVED],
  bluesky: ["prepare: ok", "publish: ok", ...READ, "open its permalink: ok", ...REMOVED],
  youtube: ["prepare: ok", "publish: ok", ...READ, "open its permalink: skipped", ...REMOVED],
  facebook: ["prepare: ok", "find it unpublished: ok", "delete it: ok", "delete it again: ok"],
  telegram: [
    "prepare: ok",
    "publish: ok",
    "find it as after a lost answer: warning",
    "find it by its content: skipped",
    "open its permalink: ok",
    "delete it: ok",
    "find it no longer: skipped",
    "delete it again: ok",
  ],
  tiktok: [
    "prepare: ok",
    "publish: ok",
    "find it as after a lost answer: ok",
    "find it by its content: warning",
    "delete it: warning",
  ],
} satisfies Record<PlatformId, readonly string[]>;

describe.each(PLATFORM_IDS)("the live check of %s", (platform) => {
  test(`the live check of ${platform} publishes one post, finds it again and leaves nothing that can be deleted`, async () => {
    const { journal, steps } = await check(platform);

    expect(steps).toEqual(EXPECTED[platform]);
    expect(journal.calls).toBe(platform === "facebook" ? 0 : 1);
    expect(await platformOf(platform).visible()).toEqual([]);
    expect(journal.isDropped).toBe(platform !== "tiktok");
  });
});

test("a live check reports a platform that changes the text of posts", async () => {
  const connector = connectorOf("x");
  const publish: typeof connector.publish = (publication, ...rest) =>
    connector.publish({ ...publication, text: publication.text.replace("ü", "u") }, ...rest);
  const { steps, journal } = await check("x", {
    connector: { ...connector, publish },
    patienceMs: 200,
  });

  expect(steps).toContain("find it by its content: failed");
  expect(steps).toContain("delete it: ok");
  expect(journal.isDropped).toBe(true);
});

test("a live check reports a deletion that the platform refuses, and its journal (the stored record of the check) still names the post", async () => {
  await platformOf("bluesky").addFault("delete", "status", { status: 403, times: 5 });
  const { steps, journal } = await check("bluesky");

  expect(steps.at(-1)).toMatch(/^delete it: failed/);
  expect(journal.isDropped).toBe(false);
  expect(journal.kept).toHaveLength(1);
});

test("a live check finds and deletes its post although the answer of the publishing call was lost", async () => {
  await platformOf("x").addFault("publish", "drop_after_commit");
  const { steps, journal } = await check("x");

  expect(steps.slice(1, 3)).toEqual(["publish: failed", "find it as after a lost answer: ok"]);
  expect(journal.isDropped).toBe(true);
  expect(await platformOf("x").visible()).toEqual([]);
});

test("a live check that cannot read the account's posts reports this, and still deletes its post", async () => {
  await platformOf("x").addFault("GET /*", "status", { status: 503, times: 100 });
  const { steps } = await check("x", { patienceMs: 100 });

  expect(steps).toContain("find it as after a lost answer: failed");
  expect(steps).toContain("delete it: ok");
  expect(steps).toContain("find it no longer: warning");
});

test("a live check makes no publishing call that its journal (the stored record of the check) does not permit", async () => {
  const journal = new Journal();
  const context = await contextOf("telegram", journal);
  journal.beginCall = () => Promise.resolve({ kind: "refused", message: "publishing is paused" });
  await runLiveCheck(context);

  expect(journal.steps.at(-1)).toMatchObject({
    name: "publish",
    status: "failed",
    found: "publishing is paused",
  });
  expect(await platformOf("telegram").visible()).toEqual([]);
});

test("a live check on Facebook fails when the preparation steps create no unpublished post", async () => {
  const connector = connectorOf("facebook");
  const { steps, journal } = await check("facebook", {
    connector: { ...connector, steps: () => [] },
  });

  expect(steps).toEqual(["prepare: ok", "find it unpublished: failed"]);
  expect(journal.calls).toBe(0);
});
