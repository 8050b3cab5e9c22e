import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { openTenant, type Tenant } from "../requests/tenant.ts";
import { announce, printFigures } from "../system/figures.ts";
import type { System } from "../system/system.ts";
import {
  publishCommentedPosts,
  startKillingDelivery,
  writeComments,
  type CommentedPost,
} from "./commented-posts.ts";

/**
 * `POSTRIDER_E2E_AUTOMATION_COMMENTS=10000` writes that many comments and kills a process of the delivery service every 5 s.
 * By default, the test writes fewer comments and kills processes at shorter intervals.
 */
const LONG_COUNT = process.env.POSTRIDER_E2E_AUTOMATION_COMMENTS;
const LOAD =
  LONG_COUNT === undefined
    ? { count: 128, perSecond: 10, everyMs: 3_000 }
    : { count: Number(LONG_COUNT), perSecond: 60, everyMs: 5_000 };
/**
 * Seconds between two polls of an account. An account may make 192 calls for comments at once and one every 50 s afterwards,
 * so a long test polls less often and reads several pages per poll.
 */
const POLL_SECONDS = LONG_COUNT === undefined ? "0.5" : "30";
/** Settings of a system whose automations answer comments soon. */
export const AUTOMATION_SETTINGS = {
  AUTOMATION_SENDING: "enabled",
  COMMENT_POLL_SECONDS: POLL_SECONDS,
};
/** How long the simulated platforms take to answer, so that a process is often killed during a call. */
const LATENCY_MS = LONG_COUNT === undefined ? 500 : 0;
/** Maximum time from the last comment until all private replies are sent. */
const SETTLE_MS = 60_000 + LOAD.count * 30;

interface RunCounts {
  readonly sent: number;
  readonly waiting: number;
  readonly others: readonly string[];
}

async function countRuns({ sql }: System, tenant: Tenant): Promise<RunCounts> {
  const rows = await sql<{ status: string; reason: string | null; count: number }[]>`
    select status, reason, count(*)::int as count
    from delivery.automation_runs
    where workspace_id = ${tenant.id}
    group by status, reason`;
  const find = (status: string, reason: string | null) =>
    rows.find((row) => row.status === status && row.reason === reason)?.count ?? 0;
  return {
    sent: find("sent", null),
    waiting: find("prepared", null),
    others: rows
      .filter(({ reason }) => reason !== null)
      .map(({ status, reason }) => `${status} ${reason}`)
      .toSorted(),
  };
}

/** Returns how many private replies each comment got, as the readers of the platform see it. */
async function countReplies(
  { simulator }: System,
  { media }: CommentedPost,
): Promise<ReadonlyMap<string, number>> {
  const replies = await simulator.privateReplies(media.platform, media.account);
  const byComment = Map.groupBy(replies, ({ commentId }) => commentId);
  return new Map([...byComment].map(([id, same]) => [id, same.length]));
}

/** Tests that automations answer every comment once although processes of the delivery service are killed. */
export function testKilledAutomations(findSystem: () => System): void {
  test(
    `each of ${LOAD.count} comments with a keyword gets exactly one private reply while a process is killed every ${LOAD.everyMs / 1_000} s`,
    async () => {
      const system = findSystem();
      const tenant = await openTenant(system);
      const posts = await publishCommentedPosts(system, tenant);
      await using delay = await system.simulator.delayAnswers(LATENCY_MS);
      const killing = startKillingDelivery(system, LOAD.everyMs);
      await writeComments(system, posts, LOAD);
      const kills = await killing.stop();
      await delay[Symbol.asyncDispose]();
      const sentUnderKills = (await countRuns(system, tenant)).sent;
      const writtenAt = performance.now();
      const expected = posts.reduce((sum, { answered }) => sum + answered.size, 0);
      await eventually(
        async () => {
          const { sent, waiting, others } = await countRuns(system, tenant);
          if (sent !== expected || waiting > 0)
            throw new Error(`${sent} of ${expected} sent, ${waiting} wait, ${others.join(", ")}`);
        },
        { timeoutMs: SETTLE_MS },
      );
      const settledMs = Math.round(performance.now() - writtenAt);
      announce(
        `automations: ${LOAD.count} comments, ${expected} answered, ${kills} kills of delivery`,
      );

      const calls: number[] = [];
      for (const post of posts) {
        const counts = await countReplies(system, post);
        expect([...counts.keys()].toSorted()).toEqual([...post.answered].toSorted());
        expect([...counts.values()].filter((count) => count !== 1)).toEqual([]);
        const { platform, account } = post.media;
        calls.push(await system.simulator.countCalls(platform, "reply", account));
      }
      expect((await countRuns(system, tenant)).others).toEqual([
        "skipped excluded",
        "skipped too_old",
      ]);
      printFigures("automations killed", { settledMs, expected, kills, sentUnderKills, calls });
    },
    LOAD.count * 20 + SETTLE_MS + 180_000,
  );
}
