import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { LocalStack } from "@postrider/local/stack/local-file";

/** The body of one `POST /posts`. Each of its accounts makes one target. */
export interface LoadPost {
  readonly content: string;
  readonly accountIds: readonly string[];
  readonly mediaIds?: readonly string[];
}

export interface TargetLoadOptions {
  readonly local: LocalStack;
  readonly targetsPerSecond: number;
  /** Returns the post with the given number; numbers count up from 0. */
  readonly post: (number: number) => LoadPost;
}

/**
 * A load that creates posts at a fixed rate. Disposing of it stops the load and waits until every
 * created post is accepted.
 */
export interface TargetLoad extends AsyncDisposable {
  /** Number of targets of the posts that the gateway has accepted. */
  readonly accepted: number;
  /**
   * While true, the load stops. The posts that it would have created in this time are not created
   * later either.
   */
  isPaused: boolean;
}

const TICK_MS = 50;
const RETRY_MS = 250;
const REQUEST_TIMEOUT_MS = 10_000;
/** Maximum number of requests that wait for an answer. Posts beyond it are created later. */
const MAX_IN_FLIGHT = 100;

/** Starts to create posts, so that the given number of targets is created per second. */
export function startTargetLoad(options: TargetLoadOptions): TargetLoad {
  const stop = new AbortController();
  const inFlight = new Set<Promise<void>>();
  const counts = { accepted: 0, created: 0, number: 0 };
  const create = (): void => {
    const post = options.post(counts.number);
    counts.number += 1;
    counts.created += post.accountIds.length;
    const created = createPost(options.local, post).then(() => {
      counts.accepted += post.accountIds.length;
      inFlight.delete(created);
    });
    inFlight.add(created);
  };
  const load = {
    isPaused: false,
    get accepted() {
      return counts.accepted;
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await running;
      await Promise.all(inFlight);
    },
  };
  const run = async (): Promise<void> => {
    let owed = 0;
    let lastAt = performance.now();
    while (!stop.signal.aborted) {
      await sleep(TICK_MS);
      const now = performance.now();
      if (!load.isPaused) owed += ((now - lastAt) / 1000) * options.targetsPerSecond;
      lastAt = now;
      while (counts.created < owed && inFlight.size < MAX_IN_FLIGHT) create();
    }
  };
  const running = run();
  return load;
}

/** Repeats the request for a post, with the same idempotency key, until the gateway accepts it. */
async function createPost({ baseUrl, apiKey }: LocalStack, post: LoadPost): Promise<void> {
  const request = {
    method: "POST",
    headers: {
      authorization: `Bearer ${apiKey}`,
      "content-type": "application/json",
      "idempotency-key": randomUUID(),
    },
    body: JSON.stringify(post),
  };
  for (;;) {
    const answer = await send(`${baseUrl}/api/v1/posts`, request);
    if (answer?.status === 202) return;
    if (answer !== undefined && answer.status < 500 && answer.status !== 409)
      throw new Error(`POST /posts answered ${answer.status}: ${answer.body.slice(0, 500)}`);
    await sleep(RETRY_MS);
  }
}

/**
 * Returns undefined if the request got no answer, for example because the gateway process was
 * killed.
 */
async function send(url: string, request: RequestInit) {
  try {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const answer = await fetch(url, { ...request, signal });
    return { status: answer.status, body: await answer.text() };
  } catch {
    return undefined;
  }
}
