import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createApi, type Api } from "./support/api.ts";
import { expectAll, expectExactlyOnce, publishBurst } from "./support/burst.ts";
import { hasCaughtUp } from "./support/bus-loss.ts";
import { expectNoQuotaDrift } from "./support/drift.ts";
import { announce } from "./support/figures.ts";
import { prepareMixedPosts } from "./support/mixed-posts.ts";
import { findPreviousVersion } from "./support/previous-version.ts";
import { startSystem, type System } from "./support/system.ts";

const TIMEOUT_MS = 300_000;
const SETTLE_MS = 60_000;
const PLATFORMS = ["bluesky", "x", "telegram"];
const POSTS = 60;
/** Posts for each command, each on an account of its own. */
const EACH = 4;
/** The second replica of each service is still the previous version. */
const PREVIOUS = 1;

const previous = findPreviousVersion();
/** A run that mixed nothing must not look like one that did. */
const reach = previous.commit === undefined ? " (no earlier version here: this one twice)" : "";

let system: System;
/** One client for each gateway: the new one, then the previous one. */
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

async function expectAtRest(): Promise<void> {
  await eventually(
    async () => {
      const [open] = await system.sql`
        select
          (select count(*)::int from posts.targets where status in ('pending', 'publishing', 'deleting')) as targets,
          (select count(*)::int from posts.outbox) + (select count(*)::int from delivery.outbox) as outbox,
          (select count(*)::int from posts.parked_events) + (select count(*)::int from delivery.parked_events) as parked`;
      expect(open).toEqual({ targets: 0, outbox: 0, parked: 0 });
      expect(await hasCaughtUp(system, "delivery", "posts.events.v1")).toBe(true);
      expect(await hasCaughtUp(system, "posts", "delivery.events.v1")).toBe(true);
    },
    { timeoutMs: SETTLE_MS },
  );
  await expectNoQuotaDrift(system);
}

test(
  `replicas of this version and of the one before it publish each post once, whichever gateway takes it${reach}`,
  async () => {
    const accounts = await Promise.all(PLATFORMS.map((platform) => system.connect(platform, 10)));
    const bursts = await Promise.all(
      apis.map((api, index) =>
        publishBurst({ ...system, api }, { count: POSTS, label: `mixed ${index}`, accounts }),
      ),
    );
    for (const [index, burst] of bursts.entries()) {
      // What one gateway took, the other one shows.
      await expectAll(
        { ...system, api: apis.at(-1 - index) ?? system.api },
        burst,
        "published",
        SETTLE_MS,
      );
      await expectExactlyOnce(system, burst, PLATFORMS);
    }
    await expectAtRest();
  },
  TIMEOUT_MS,
);

test(
  `what is scheduled, edited, retried and deleted through either of them ends as it was asked${reach}`,
  async () => {
    // One after the other: a refusal that one of them waits for must not meet the other's posts.
    for (const [index, api] of apis.entries()) {
      const posts = await prepareMixedPosts({ ...system, api }, `mixed commands ${index}`, EACH);
      await posts.command();
      await posts.settle();
      await posts.expectOnce();
    }
    await expectAtRest();
  },
  TIMEOUT_MS,
);
