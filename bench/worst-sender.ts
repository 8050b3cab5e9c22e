/**
 * A process that `bench/worst-texts.ts` starts. It sends the worst texts, so that sending them does
 * not delay the requests that are measured.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { createWorstTexts } from "@postrider/shared/testing/growth";

/** Size in UTF-16 units of the worst texts; their largest characters have three bytes per unit. */
const LENGTH = 80_000;
const MAX_BODY_BYTES = 256 * 1024;

export interface Target {
  readonly baseUrl: string;
  readonly key: string;
}

/**
 * Sends one request and returns the time until its answer has arrived, in milliseconds; Infinity
 * for a status of 500 or more.
 */
export async function ask({ baseUrl, key }: Target, path: string, body?: string | Buffer) {
  const startedAt = performance.now();
  const answer = await fetch(`${baseUrl}/api/v1${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: body ?? null,
  });
  await answer.arrayBuffer();
  return answer.status >= 500 ? Infinity : performance.now() - startedAt;
}

/**
 * Starts requests at regular times, whether earlier ones are answered or not, and returns the times
 * of all answers.
 */
export async function atRate(
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
  start: (index: number) => Promise<number>,
): Promise<number[]> {
  const answers: Promise<number>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < perSecond * seconds; index += 1) {
    await sleep(Math.max(0, startedAt + (index * 1000) / perSecond - performance.now()));
    answers.push(start(index));
  }
  return await Promise.all(answers);
}

/**
 * What the process sends: posts of `target` to `accountIds`, at a rate, each time it gets a
 * message.
 */
export interface WorstLoad {
  readonly target: Target;
  readonly accountIds: readonly string[];
  readonly rate: { readonly perSecond: number; readonly seconds: number };
}

/**
 * Starts the process. `send` sends the worst texts once and returns the times of the answers, in
 * milliseconds.
 */
export function startWorstSender(load: WorstLoad): Disposable & { send(): Promise<number[]> } {
  const child = fork(import.meta.filename, { serialization: "advanced" });
  return {
    send: async () => {
      child.send(load);
      const [times] = (await once(child, "message")) as [number[]];
      return times;
    },
    [Symbol.dispose]: () => child.kill(),
  };
}

/**
 * Returns the bodies of posts with the worst texts: one text for all accounts, and a text of its
 * own for each account.
 */
function createWorstBodies(accountIds: readonly string[]): Buffer[] {
  return [...createWorstTexts(LENGTH)]
    .flatMap((content) => {
      const part = content.slice(0, content.length / accountIds.length);
      const texts = accountIds.map((id, index) => [id, { content: `${part}${index}` }]);
      return [
        { content, accountIds },
        { content: "", accountIds, options: Object.fromEntries(texts) as object },
      ];
    })
    .map((post) => Buffer.from(JSON.stringify(post)))
    .filter(({ length }) => length < MAX_BODY_BYTES);
}

if (process.send !== undefined) {
  let sent = 0;
  let bodies: Buffer[] = [];
  process.on("message", ({ target, accountIds, rate }: WorstLoad) => {
    if (bodies.length === 0) bodies = createWorstBodies(accountIds);
    const answers = atRate(rate, async () => {
      sent += 1;
      return await ask(target, "/posts/validate", bodies[sent % bodies.length]);
    });
    void answers.then((times) => process.send?.(times));
  });
}
