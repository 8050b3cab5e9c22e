import { eventually } from "@postrider/shared/testing/poll";
import { expect } from "vitest";
import type { SharedSystem, System } from "../system/system.ts";
import type { PostRecord } from "./api.ts";
import type { VisibleEntry } from "./simulator.ts";

const IN_FLIGHT = 16;

/** Runs `work` for each index from 0, for at most 16 indexes at the same time. */
async function inParallel(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
}

export interface Burst {
  readonly posts: readonly PostRecord[];
}

/**
 * Creates `count` posts, each on one account per platform, and calls `halfway` when the gateway has
 * accepted half of the posts.
 */
export async function publishBurst(
  system: Pick<System, "api">,
  options: {
    readonly count: number;
    readonly label: string;
    readonly accounts: readonly (readonly string[])[];
    readonly halfway?: () => void;
  },
): Promise<Burst> {
  const posts: PostRecord[] = [];
  await inParallel(options.count, async (index) => {
    const accountIds = options.accounts.map((ids) => ids[index % ids.length] ?? "");
    posts.push(await system.api.createPost(`${options.label} ${index}`, accountIds));
    if (posts.length === Math.floor(options.count / 2)) options.halfway?.();
  });
  return { posts };
}

/**
 * Waits until every created post has the status. It polls one post at a time to keep the load on
 * the system low.
 */
export async function expectAll(
  system: Pick<System, "api">,
  burst: Burst,
  status: string,
  timeoutMs: number,
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (const { id } of burst.posts)
    await eventually(
      async () => {
        const post = await system.api.getPost(id);
        const targets = post.targets.map((target) => [
          target.platform,
          target.status,
          target.error?.code,
        ]);
        expect({ status: post.status, targets }).toMatchObject({ status });
      },
      { timeoutMs: Math.max(0, deadline - performance.now()) },
    );
}

/** Checks that readers see every created post exactly once on each of its platforms. */
export async function expectExactlyOnce(
  system: Pick<SharedSystem, "simulator">,
  burst: Burst,
  platforms: readonly string[],
): Promise<void> {
  const entries = await system.simulator.visible();
  const counts = new Map<string, number>();
  for (const entry of entries) counts.set(keyOf(entry), (counts.get(keyOf(entry)) ?? 0) + 1);
  const wrong = burst.posts.flatMap(({ content }) =>
    platforms
      .map((platform) => ({ platform, content, count: counts.get(`${platform}\n${content}`) ?? 0 }))
      .filter(({ count }) => count !== 1),
  );
  expect(wrong).toEqual([]);
}

function keyOf(entry: VisibleEntry): string {
  return `${entry.platform}\n${entry.text}`;
}
