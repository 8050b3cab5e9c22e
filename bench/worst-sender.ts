/**
 * A process that `bench/worst-texts.ts` starts. It sends the worst texts, so that sending them does
 * not delay the requests that are measured.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { createWorstTexts } from "@postrider/shared/testing/growth";

/** Size in UTF-16 units of the worst texts; their largest characters have three bytes per unit. */
const LENGTH = 80_000;
const MAX_BODY_BYTES = 256 * 1024;

export interface Target {
  readonly baseUrl: string;
  readonly key: string;
}

const agent = new Agent({ keepAlive: true });

/**
 * Sends one request and returns the time until its answer has arrived, in milliseconds; Infinity
 * for a status of 500 or more. Uses Node's own client, because `fetch` takes three times as much
 * processor time for a large body, which the services on the same two cores would miss.
 */
export async function ask(
  { baseUrl, key }: Target,
  path: string,
  body?: string | Buffer,
): Promise<number> {
  const startedAt = performance.now();
  const request = httpRequest(`${baseUrl}/api/v1${path}`, {
    agent,
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "accept-encoding": "gzip",
    },
  });
  request.end(body);
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  answer.resume();
  await once(answer, "end");
  return (answer.statusCode ?? 0) >= 500 ? Infinity : performance.now() - startedAt;
}

/**
 * Starts a request at a random moment of each interval, whether earlier ones are answered or not,
 * and returns the times of all answers. At regular moments, each request of one load would meet a
 * request of another load in the same state, or none of them would.
 */
export async function atRate(
  { perSecond, seconds }: { readonly perSecond: number; readonly seconds: number },
  start: (index: number) => Promise<number>,
): Promise<number[]> {
  const answers: Promise<number>[] = [];
  const startedAt = performance.now();
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const startsAt = startedAt + ((index + Math.random()) * 1000) / perSecond;
    await sleep(Math.max(0, startsAt - performance.now()));
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

/** Clients have a machine of their own, so sending must not take processor time from services. */
const LOWEST_PRIORITY = 19;

if (process.send !== undefined) {
  setPriority(LOWEST_PRIORITY);
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
