import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import type { PostRecord } from "../requests/api.ts";
import type { System } from "../system/system.ts";

const HANGING = "x";
const OTHERS = ["telegram", "bluesky"];
/**
 * Number of accounts on the hanging platform: more than the publishing calls that one workspace may
 * have in progress on one platform (32).
 */
const HANGING_ACCOUNTS = 40;
const OTHER_ACCOUNTS = 8;
const POSTS = 40;
/** With what the text of each post begins. */
const TEXT = "beside a platform that hangs";

/**
 * Settings of a system in which calls to a platform that hangs last until the end of the test. The
 * time limit of a publishing call is the highest value that the setting allows.
 */
export const HANGING_SETTINGS = { VISIBLE_CALL_SECONDS: "295" };

function listTargets(posts: readonly PostRecord[], platforms: readonly string[]) {
  return posts.flatMap(({ targets }) =>
    targets.filter(({ platform }) => platforms.includes(platform)).map(({ status }) => status),
  );
}

/**
 * Tests that a platform that hangs does not delay the other platforms. The calls to this platform
 * hang until the simulator ends, so this test is the last one of its system.
 */
export function testHangingPlatform(findSystem: () => System): void {
  test("posts are published on all other platforms while one platform answers no call, not even token requests", async () => {
    const system = findSystem();
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
      made.push(await system.api.createPost(`${TEXT} ${index}`, accountIds));
    }

    for (const { id } of made)
      await eventually(async () => {
        const statuses = listTargets([await system.api.getPost(id)], OTHERS);
        expect(statuses).toEqual(OTHERS.map(() => "published"));
      });

    const posts = await Promise.all(made.map(({ id }) => system.api.getPost(id)));
    expect(new Set(listTargets(posts, [HANGING]))).not.toContain("published");
    const [inProgress] = await system.sql<{ count: number }[]>`
    select count(*)::int as count
    from delivery.publish_tasks
    where status = 'calling'
    and platform = ${HANGING}`;
    expect(inProgress?.count).toBeGreaterThan(0);
    const visible = (await system.simulator.visible()).filter(({ text }) => text.startsWith(TEXT));
    expect(visible.filter(({ platform }) => platform === HANGING)).toEqual([]);
    expect(visible.filter(({ platform }) => OTHERS.includes(platform))).toHaveLength(
      POSTS * OTHERS.length,
    );
  });
}
