import { randomUUID } from "node:crypto";
import { createClient } from "../../packages/client/src/client.ts";

const PUBLISH_MS = 300_000;
/** How many posts are read at once to see whether they are published. */
const READERS = 8;

export interface LoadReport {
  readonly requests: number;
  /** Requests that got no answer, or one with an error, after the repetitions of the client. */
  readonly failures: readonly string[];
  readonly accepted: number;
  /** How long each accepted post took, in ms and in growing order. */
  readonly acceptMs: readonly number[];
  /** Accepted posts that were not published. */
  readonly lost: number;
  /** Texts that their readers see more than once. */
  readonly doubled: number;
}

interface LoadOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Posts take turns, because an account publishes one post at a time. */
  readonly accountIds: readonly string[];
  readonly simulatorUrl: string;
  readonly perSecond: number;
  /** One request out of this number creates a post; the others read. */
  readonly postEvery: number;
  /** The client's default if it is left out. */
  readonly maxRetries?: number;
}

export interface Load {
  /** Number of posts that were accepted so far. */
  accepted(): number;
  stop(): Promise<LoadReport>;
}

/** Waits until publishing has ended, and counts the posts that were not published. */
async function countLost(options: LoadOptions, ids: readonly string[]): Promise<number> {
  const client = createClient(options);
  let [next, lost] = [0, 0];
  const read = async (): Promise<void> => {
    for (let id = ids[next++]; id !== undefined; id = ids[next++]) {
      const { status } = await client.waitForPost(id, { timeoutMs: PUBLISH_MS });
      if (status !== "published") lost += 1;
    }
  };
  await Promise.all(Array.from({ length: READERS }, read));
  return lost;
}

/** Counts the texts that readers see more than once. */
async function countDoubled(simulatorUrl: string, texts: readonly string[]): Promise<number> {
  const answer = await fetch(`${simulatorUrl}/_control/visible`);
  const counts = new Map(texts.map((text) => [text, 0]));
  for (const { text } of (await answer.json()) as readonly { text: string }[])
    counts.set(text, (counts.get(text) ?? 0) + 1);
  return texts.filter((text) => (counts.get(text) ?? 0) > 1).length;
}

/** Sends requests at a steady rate, whether they are answered or not; some are posts. */
export function startLoad(options: LoadOptions): Load {
  const { accountIds, perSecond, postEvery } = options;
  const client = createClient(options);
  const [failures, ids, texts] = [[] as string[], [] as string[], [] as string[]];
  const acceptMs: number[] = [];
  const running: Promise<void>[] = [];

  async function post(number: number): Promise<void> {
    const content = `Load ${number} ${randomUUID()}`;
    const accountId = accountIds[(number / postEvery) % accountIds.length] ?? "";
    const startedAt = performance.now();
    ids.push((await client.createPost({ content, accountIds: [accountId] })).id);
    acceptMs.push(performance.now() - startedAt);
    texts.push(content);
  }

  async function send(number: number): Promise<void> {
    try {
      if (number % postEvery === 0) await post(number);
      else await client.listPosts({ limit: 1 });
    } catch (error) {
      failures.push(`${new Date().toISOString()} ${String(error)}`);
    }
  }

  const startedAt = performance.now();
  const timer = setInterval(() => {
    const due = ((performance.now() - startedAt) / 1000) * perSecond;
    while (running.length < due) running.push(send(running.length));
  }, 1000 / perSecond);
  return {
    accepted: () => ids.length,
    async stop() {
      clearInterval(timer);
      await Promise.all(running);
      return {
        requests: running.length,
        failures,
        accepted: ids.length,
        acceptMs: acceptMs.toSorted((a, b) => a - b),
        lost: await countLost(options, ids),
        doubled: await countDoubled(options.simulatorUrl, texts),
      };
    },
  };
}
