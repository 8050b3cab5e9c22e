import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PostRecord } from "./support/api.ts";
import { startSystem, type System } from "./support/system.ts";

const HANGING = "x";
const OTHERS = ["telegram", "bluesky"];
/**
 * Number of accounts on the hanging platform: more than the publishing calls that one platform, or one workspace on it,
 * may have in progress.
 */
const HANGING_ACCOUNTS = 80;
const OTHER_ACCOUNTS = 10;
const POSTS = 120;
/**
 * Time limit of a publishing call in seconds. It is the highest value that the setting allows, so that a hanging call
 * lasts longer than the test.
 */
const CALL_SECONDS = "295";

let system: System;

beforeAll(async () => {
  // Calls of the hanging platform last until the end of the test.
  system = await startSystem("postgres", { env: { VISIBLE_CALL_SECONDS: CALL_SECONDS } });
});
afterAll(async () => {
  // Stopping the simulator ends the hanging calls, so that the stop of the stack does not wait for them.
  process.kill(system.local().simulator.pid, "SIGKILL");
  await system[Symbol.asyncDispose]();
});

function listTargets(posts: readonly PostRecord[], platforms: readonly string[]) {
  return posts.flatMap(({ targets }) =>
    targets.filter(({ platform }) => platforms.includes(platform)).map(({ status }) => status),
  );
}

test("posts are published on all other platforms while one platform answers no call, not even token requests", async () => {
  const hanging = await system.connect(HANGING, HANGING_ACCOUNTS);
  const others = await Promise.all(
    OTHERS.map((platform) => system.connect(platform, OTHER_ACCOUNTS)),
  );
  await system.sql`
    update accounts.credentials
    set issued_at = issued_at - interval '1 day', expires_at = now() - interval '1 minute'
    where account_id in ${system.sql(hanging.slice(0, HANGING_ACCOUNTS / 4))}`;
  await system.simulator.addFault({
    platform: HANGING,
    operation: "* /*",
    mode: "status",
    delayMs: 3_600_000,
    times: 1_000_000,
  });

  const made: PostRecord[] = [];
  for (let index = 0; index < POSTS; index += 1) {
    const accountIds = [hanging, ...others].map((ids) => ids[index % ids.length] ?? "");
    made.push(await system.api.createPost(`beside a platform that hangs ${index}`, accountIds));
  }

  for (const { id } of made) {
    await eventually(
      async () => {
        const statuses = listTargets([await system.api.getPost(id)], OTHERS);
        expect(statuses).toEqual(OTHERS.map(() => "published"));
      },
      { timeoutMs: 150_000 },
    );
  }
  const posts = await Promise.all(made.map(({ id }) => system.api.getPost(id)));
  expect(new Set(listTargets(posts, [HANGING]))).not.toContain("published");
  const [inProgress] = await system.sql<{ count: number }[]>`
    select count(*)::int as count
    from delivery.publish_tasks
    where status = 'calling'
    and platform = ${HANGING}`;
  expect(inProgress?.count).toBeGreaterThan(0);
  const visible = await system.simulator.visible();
  expect(visible.filter(({ platform }) => platform === HANGING)).toEqual([]);
  expect(visible).toHaveLength(POSTS * OTHERS.length);
});
