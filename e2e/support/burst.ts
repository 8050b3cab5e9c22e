import { eventually } from "@postrider/shared/testing/poll";
import { expect } from "vitest";
import type { PostRecord } from "./api.ts";
import type { VisibleEntry } from "./simulator.ts";
import type { System } from "./system.ts";

const IN_FLIGHT = 16;

/** Runs `work` for each index, at most 16 at a time. */
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

/** Publishes `count` posts, each on one account per platform, and calls `halfway` when half of them are accepted. */
export async function publishBurst(
  system: System,
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

async function readStatuses(system: System): Promise<ReadonlyMap<string, PostRecord>> {
  const found = new Map<string, PostRecord>();
  let cursor: string | null = "";
  while (cursor !== null) {
    const query: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await system.api.call<{ posts: PostRecord[]; nextCursor: string | null }>(
      "GET",
      `/posts?limit=100${query}`,
    );
    if (page.status !== 200) throw new Error(`GET /posts answered ${page.status}`);
    for (const post of page.body.posts) found.set(post.id, post);
    cursor = page.body.nextCursor;
  }
  return found;
}

/** Waits until every post of the burst has the status, and says which have not. */
export async function expectAll(
  system: System,
  burst: Burst,
  status: string,
  timeoutMs: number,
): Promise<void> {
  await eventually(
    async () => {
      const statuses = await readStatuses(system);
      const others = burst.posts
        .map(({ id }) => statuses.get(id))
        .filter((post) => post?.status !== status);
      const summary = others.map(
        (post) =>
          `${post?.status}: ${post?.targets.map((target) => `${target.platform}=${target.status}`).join(",")}`,
      );
      expect(summary, `${others.length} of ${burst.posts.length} posts are not ${status}`).toEqual(
        [],
      );
    },
    { timeoutMs },
  );
}

/** Every post is on every platform it was meant for exactly once, as a reader sees it. */
export async function expectExactlyOnce(
  system: System,
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
