import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Api, PostRecord } from "./api.ts";

/** One request of a load test, with its result as the client saw it. */
export interface Sample {
  readonly operation: string;
  /** HTTP status of the answer; 0 = no answer arrived. */
  readonly status: number;
  readonly retryAfter: string | null;
  readonly durationMs: number;
  /** Time at which the request was sent, in milliseconds as `performance.now()` returns it. */
  readonly sentAt: number;
  /** The error code of a refused request, or the message of a connection error. */
  readonly reason: string;
}

/** The requests that a load test sent, and the posts that they created. */
export interface LoadReport {
  /** Number of requests that the load test had to send at its request rate. */
  readonly planned: number;
  /**
   * Number of requests that the load test did not send because too many earlier requests were
   * unanswered.
   */
  readonly notSent: number;
  readonly samples: readonly Sample[];
  readonly posts: readonly PostRecord[];
}

/**
 * A load test that sends requests at a steady rate, whether earlier requests are answered or not.
 * Stopping it waits for the outstanding answers.
 */
export interface Load {
  /** Returns the requests that the load test has sent so far. */
  report(): LoadReport;
  stop(): Promise<LoadReport>;
}

/** In a load test, one request out of this number creates a post; all others only read. */
const CREATES_ONE_IN = 5;
/**
 * The maximum number of unanswered requests of a load test is the number of requests of this many
 * seconds. At this maximum, further requests are only counted and not sent, so that a slow machine
 * can keep up.
 */
const MAX_IN_FLIGHT_SECONDS = 10;
/** Minimum fraction of the planned requests that a load test must send. */
const MIN_SENT_SHARE = 0.9;
/** Maximum fraction of all requests of a load test that the gateway may refuse. */
const MAX_REFUSED_SHARE = 0.01;

export function startLoad(options: {
  readonly api: Api;
  readonly perSecond: number;
  readonly accountIds: readonly string[];
  readonly label: string;
  /**
   * Repeats every request that creates a post, with its idempotency key, until the gateway accepts
   * it.
   */
  readonly isPersistent?: boolean;
}): Load {
  const { api, perSecond, accountIds, label } = options;
  const samples: Sample[] = [];
  const posts: PostRecord[] = [];
  const stopping = new AbortController();
  const pending = new Set<Promise<void>>();

  const send = async <T>(
    operation: string,
    ...[method, path, details]: Parameters<Api["call"]>
  ): Promise<T | undefined> => {
    const sentAt = performance.now();
    const add = (status: number, retryAfter: string | null, reason: string): void => {
      const durationMs = performance.now() - sentAt;
      samples.push({ operation, status, retryAfter, durationMs, sentAt, reason });
    };
    try {
      const answer = await api.call<T>(method, path, details);
      const refusal = (answer.body ?? {}) as { readonly error?: { readonly code: string } };
      add(answer.status, answer.headers.get("retry-after"), refusal.error?.code ?? "");
      return answer.status < 300 ? answer.body : undefined;
    } catch (error) {
      const cause = error instanceof Error ? (error.cause ?? error) : error;
      add(0, null, cause instanceof Error ? `${cause.name} ${cause.message}` : String(cause));
      return undefined;
    }
  };

  const create = async (index: number): Promise<void> => {
    const accountId = accountIds[(index / CREATES_ONE_IN) % accountIds.length] ?? "";
    const details = {
      body: { content: `${label} ${index}`, accountIds: [accountId] },
      headers: { "idempotency-key": crypto.randomUUID() },
    };
    for (;;) {
      const post = await send<PostRecord>("create", "POST", "/posts", details);
      if (post !== undefined) posts.push(post);
      if (post !== undefined || options.isPersistent !== true) return;
      await sleep(500);
    }
  };

  const ask = async (index: number): Promise<void> => {
    if (index % CREATES_ONE_IN === 0) return await create(index);
    const known = posts.at(-1 - (index % 50));
    if (known !== undefined && index % 2 === 0) await send("get", "GET", `/posts/${known.id}`);
    else await send("list", "GET", "/posts?limit=5");
  };

  let planned = 0;
  let notSent = 0;
  const drive = async (): Promise<void> => {
    const startedAt = performance.now();
    while (!stopping.signal.aborted) {
      const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond);
      for (; planned < due; planned++) {
        if (pending.size >= perSecond * MAX_IN_FLIGHT_SECONDS) {
          notSent++;
          continue;
        }
        const request = ask(planned).finally(() => pending.delete(request));
        pending.add(request);
      }
      await sleep(5);
    }
  };
  const driving = drive();
  const report = (): LoadReport => ({
    planned,
    notSent,
    samples: [...samples],
    posts: [...posts],
  });
  return {
    report,
    stop: async () => {
      stopping.abort();
      await driving;
      await Promise.all(pending);
      return report();
    },
  };
}

/**
 * Counts the answers of a load test by operation and status, with the reason of each failure, for
 * the message of a failed test.
 */
export function tally(samples: readonly Sample[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { operation, status, retryAfter, reason } of samples) {
    const wait = status === 503 && retryAfter === null ? "without Retry-After" : "";
    const name = [operation, status || "lost", reason, wait].join(" ").trim();
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/**
 * Checks that every request of a load test was answered, and that each failure is a 503 with a
 * Retry-After header.
 */
export function expectNoneLost({ samples }: Pick<LoadReport, "samples">): void {
  const bad = samples.filter(
    ({ status, retryAfter }) =>
      status === 0 || (status >= 500 && !(status === 503 && retryAfter !== null)),
  );
  expect(tally(bad)).toEqual({});
}

/**
 * Checks that a load test sent the planned requests and that they succeeded, except for a few 503
 * answers with a Retry-After header.
 */
export function expectServed(report: LoadReport): void {
  const { planned, notSent, samples } = report;
  expect(planned - notSent).toBeGreaterThanOrEqual(planned * MIN_SENT_SHARE);
  expectNoneLost(report);
  const refused = samples.filter(({ status }) => status === 503);
  const others = samples.filter(({ status }) => status !== 503 && (status < 200 || status > 299));
  expect(tally(others)).toEqual({});
  expect(refused.length, JSON.stringify(tally(refused))).toBeLessThanOrEqual(
    samples.length * MAX_REFUSED_SHARE,
  );
}
