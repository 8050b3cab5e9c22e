import { randomUUID } from "node:crypto";
import { createClient } from "../../packages/client/src/client.ts";

/** One account publishes one post at a time. */
const POST_EVERY = 10;
const PUBLISH_MS = 300_000;

export interface LoadReport {
  readonly requests: number;
  /** Requests that got no answer, or one with an error, without any repetition. */
  readonly failures: readonly string[];
  readonly accepted: number;
  /** Accepted posts that were not published. */
  readonly lost: number;
  /** Texts that their readers see more than once. */
  readonly doubled: number;
}

interface LoadOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly accountId: string;
  readonly simulatorUrl: string;
  readonly perSecond: number;
}

/** Sends requests at a steady rate, whether they are answered or not; some are posts. */
export function startLoad(options: LoadOptions): { stop(): Promise<LoadReport> } {
  const { accountId, simulatorUrl, perSecond } = options;
  const client = createClient({ ...options, maxRetries: 0 });
  const [failures, ids, texts] = [[] as string[], [] as string[], [] as string[]];
  const running: Promise<void>[] = [];

  async function send(number: number): Promise<void> {
    try {
      if (number % POST_EVERY !== 0) await client.listPosts({ limit: 1 });
      else {
        const content = `Load ${number} ${randomUUID()}`;
        ids.push((await client.createPost({ content, accountIds: [accountId] })).id);
        texts.push(content);
      }
    } catch (error) {
      failures.push(`${new Date().toISOString()} ${String(error)}`);
    }
  }

  const timer = setInterval(() => running.push(send(running.length)), 1000 / perSecond);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(running);
      const patient = createClient(options);
      let lost = 0;
      for (const id of ids) {
        const { status } = await patient.waitForPost(id, { timeoutMs: PUBLISH_MS });
        if (status !== "published") lost += 1;
      }
      const answer = await fetch(`${simulatorUrl}/_control/visible`);
      const visible = ((await answer.json()) as readonly { text: string }[]).map(
        ({ text }) => text,
      );
      const counts = texts.map((text) => visible.filter((one) => one === text).length);
      return {
        requests: running.length,
        failures,
        accepted: ids.length,
        lost,
        doubled: counts.filter((count) => count > 1).length,
      };
    },
  };
}
