import { setTimeout as sleep } from "node:timers/promises";
import { activeRule } from "../requests/automations.ts";
import { publishOn, type Media } from "../requests/engagement.ts";
import type { Tenant } from "../requests/tenant.ts";
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
 * Comments that readers write today, and whether the automation rule has to answer each. After the last one readers begin with
 * the first one again.
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
 * Returns the comment that the reader with this number writes: comments over 7 days old first, then some that are 6.5 days
 * old, then new ones. The times of the comments only increase, as on the real platforms.
 */
function kindOf(index: number, count: number): Kind {
  if (index < count / 8) return { text: "link, long ago", daysAgo: 7.1, isAnswered: false };
  if (index < count / 4) return { text: "my link", daysAgo: 6.5, isAnswered: true };
  return TODAY[Math.floor(index / PLATFORMS.length) % TODAY.length] as Kind;
}

/** A post whose account has an active automation rule, and the ids of its comments that the rule has to answer. */
export interface CommentedPost {
  readonly media: Media;
  readonly answered: Set<string>;
}

/** Publishes posts on new accounts, each with an automation rule that has been active for 30 days and answers the word "link". */
export async function publishCommentedPosts(
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

/** Lets readers write comments at about the given rate, and records which of them the automation rule has to answer. */
export async function writeComments(
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

/** Kills one process of the delivery service after another until the caller stops it. Returns the number of kills. */
export function startKillingDelivery(
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
