import { afterAll, beforeAll, test } from "vitest";
import { expectAtRest } from "./support/faults/crash-points.ts";
import { createApi, type Api } from "./support/requests/api.ts";
import { expectAll, expectExactlyOnce, publishBurst } from "./support/requests/burst.ts";
import { announce } from "./support/system/figures.ts";
import { prepareMixedPosts } from "./support/system/mixed-posts.ts";
import { findPreviousVersion } from "./support/system/previous-version.ts";
import { startSystem, type System } from "./support/system/system.ts";

const TIMEOUT_MS = 300_000;
const SETTLE_MS = 60_000;
const PLATFORMS = ["bluesky", "x", "telegram"];
const POSTS = 12;
/**
 * Number of posts for each of the four actions: schedule, edit, retry and delete. Each post has its
 * own account.
 */
const EACH = 2;
/**
 * Index of the replica that still runs the previous version; the index is the same in each service.
 */
const PREVIOUS = 1;

const previous = findPreviousVersion();
/**
 * Part of the test titles that says which versions are tested, so that a run in which no earlier
 * version was found is not mistaken for a test of two versions.
 */
const reach =
  previous.commit === undefined
    ? " (no earlier version is available: this version runs twice)"
    : "";

let system: System;
/** One API client for each gateway: first for this version, then for the previous one. */
let apis: readonly Api[];

beforeAll(async () => {
  announce(`mixed versions: this one and ${previous.commit ?? `itself${reach}`}`);
  const checkout = previous.prepare();
  system = await startSystem("postgres", {
    replicas: 2,
    replica: (_service, index) => (index === PREVIOUS ? { checkout } : {}),
  });
  const { services, apiKey } = system.local();
  apis = services.gateway.map(({ url }) => createApi(url, apiKey));
}, TIMEOUT_MS);
afterAll(() => system[Symbol.asyncDispose]());

test(
  `processes of this version and of the previous one together publish each post once, whichever version's gateway accepts the post${reach}`,
  async () => {
    const accounts = await Promise.all(PLATFORMS.map((platform) => system.connect(platform, 6)));
    const bursts = await Promise.all(
      apis.map((api, index) =>
        publishBurst({ ...system, api }, { count: POSTS, label: `mixed ${index}`, accounts }),
      ),
    );
    for (const [index, burst] of bursts.entries()) {
      // Posts that one gateway accepted are read through the gateway of the other version.
      await expectAll(
        { ...system, api: apis.at(-1 - index) ?? system.api },
        burst,
        "published",
        SETTLE_MS,
      );
      await expectExactlyOnce(system, burst, PLATFORMS);
    }
    await expectAtRest(system);
  },
  TIMEOUT_MS,
);

test(
  `posts that are scheduled, edited, retried or deleted through the gateway of either version reach the requested status${reach}`,
  async () => {
    // Changes posts through one gateway after the other: a refusal by a platform that the test sets
    // up for posts of one gateway must not affect posts of the other.
    for (const [index, api] of apis.entries()) {
      const posts = await prepareMixedPosts({ ...system, api }, `mixed commands ${index}`, EACH);
      await posts.command();
      await posts.settle();
      await posts.expectOnce();
    }
    await expectAtRest(system);
  },
  TIMEOUT_MS,
);
