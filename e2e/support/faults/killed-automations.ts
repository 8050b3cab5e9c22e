import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { activeRule } from "../requests/automations.ts";
import { publishOn, type Media } from "../requests/engagement.ts";
import { type Tenant, openTenant } from "../requests/tenant.ts";
import { announce, printFigures } from "../system/figures.ts";
import { isAlive } from "../system/process-state.ts";
import type { System } from "../system/system.ts";

const DAY_MS = 86_400_000;
const PLATFORMS = ["instagram", "facebook", "instagram", "facebook"];
/** Maximum number of comments that are written at the same time. */
const WRITERS = 8;

interface Kind {
  readonly text: string;
  readonly daysAgo: number;
  readonly isAnswered: boolean;
}

/**
 * Comments that readers write today, and whether the automation rule has to answer each. After the
 * last one readers begin with the first one again.
 */
const TODAY: readonly Kind[] = [
  { text: "LINK please", daysAgo: 0, isAnswered: true },
  { text: "링크 link주세요", daysAgo: 0, isAnswered: true },
  { text: "link, spam", daysAgo: 0, isAnswered: false },
  { text: "nice picture", daysAgo: 0, isAnswered: false },
  { text: "the Link!", daysAgo: 0, isAnswered: true },
  { text: "linked", daysAgo: 0, isAnswered: false },
];

/**
 * Returns the comment that the reader with this number writes: comments over 7 days old first, then
 * some that are 6.5 days old, then new ones. The times of the comments only increase, as on the
 * real platforms.
 */
function kindOf(index: number, count: number): Kind {
  if (index < count / 8) return { text: "link, long ago", daysAgo: 7.1, isAnswered: false };
  if (index < count / 4) return { text: "my link", daysAgo: 6.5, isAnswered: true };
  return TODAY[Math.floor(index / PLATFORMS.length) % TODAY.length] as Kind;
}

/**
 * A post whose account has an active automation rule, and the ids of its comments that the rule has
 * to answer.
 */
export interface CommentedPost {
  readonly media: Media;
  readonly answered: Set<string>;
}

/**
 * Publishes posts on new accounts, each with an automation rule that has been active for 30 days
 * and answers the word "link".
 */
async function publishCommentedPosts(
  system: System,
  tenant: Tenant,
): Promise<readonly CommentedPost[]> {
  const posts: CommentedPost[] = [];
  for (const platform of PLATFORMS) {
    const media = await publishOn(tenant, platform);
    await activeRule(tenant, media.accountId, {
      keywords: ["link"],
      excludeKeywords: ["spam"],
      message: "Here it is: https://example.com/guide",
    });
    posts.push({ media, answered: new Set() });
  }
  await system.sql`
    update delivery.automation_rules
    set activated_at = now() - interval '30 days'`;
  await system.sql`
    update delivery.automation_sending
    set enabled_at = now() - interval '30 days'`;
  return posts;
}

/**
 * Lets readers write comments at about the given rate, and records which of them the automation
 * rule has to answer.
 */
async function writeComments(
  { simulator }: System,
  posts: readonly CommentedPost[],
  { count, perSecond }: { readonly count: number; readonly perSecond: number },
): Promise<void> {
  const startedAt = performance.now();
  let written = 0;
  const write = async (): Promise<void> => {
    for (let index = written++; index < count; index = written++) {
      const post = posts[index % posts.length];
      if (post === undefined) return;
      const kind = kindOf(index, count);
      await sleep(Math.max(0, (index * 1_000) / perSecond - (performance.now() - startedAt)));
      const createdAt = new Date(Date.now() - kind.daysAgo * DAY_MS).toISOString();
      const comment = { text: kind.text, author: `reader${index}`, createdAt };
      const id = await simulator.addComment(post.media, comment);
      if (kind.isAnswered) post.answered.add(id);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
}

/**
 * Kills one process of the delivery service after another until the caller stops it. Returns the
 * number of kills.
 */
function startKillingDelivery(
  system: System,
  everyMs: number,
): { readonly stop: () => Promise<number> } {
  const stopping = new AbortController();
  const run = async (): Promise<number> => {
    let kills = 0;
    for (let turn = 0; ; turn += 1) {
      await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return kills;
      const pids = system.pids("delivery");
      const pid = pids[turn % pids.length];
      if (pid === undefined || !isAlive(pid)) continue;
      process.kill(pid, "SIGKILL");
      kills += 1;
    }
  };
  const killing = run();
  return {
    stop: async () => {
      stopping.abort();
      return await killing;
    },
  };
}

/**
 * `POSTRIDER_E2E_AUTOMATION_COMMENTS=10000` writes that many comments and kills a process of the
 * delivery service every 5 s. By default, the test writes fewer comments and kills processes at
 * shorter intervals.
 */
const LONG_COUNT = process.env.POSTRIDER_E2E_AUTOMATION_COMMENTS;
const LOAD =
  LONG_COUNT === undefined
    ? { count: 128, perSecond: 10, everyMs: 3_000 }
    : { count: Number(LONG_COUNT), perSecond: 60, everyMs: 5_000 };
/**
 * Seconds between two polls of an account. An account may make 192 calls for comments at once and
 * one every 50 s afterwards, so a long test polls less often and reads several pages per poll.
 */
const POLL_SECONDS = LONG_COUNT === undefined ? "0.5" : "30";
/** Settings of a system whose automations answer comments soon. */
export const AUTOMATION_SETTINGS = {
  AUTOMATION_SENDING: "enabled",
  COMMENT_POLL_SECONDS: POLL_SECONDS,
};
/**
 * How long the simulated platforms take to answer, so that a process is often killed during a call.
 */
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

/**
 * Tests that automations answer every comment once although processes of the delivery service are
 * killed.
 */
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
