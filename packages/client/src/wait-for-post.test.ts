import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { PostDetail } from "../gen/openapi.ts";
import { PostriderError, PostWaitTimeoutError } from "./errors.ts";
import { waitForPost, type WaitOptions } from "./wait-for-post.ts";

interface Reading {
  readonly atMs: number;
  readonly query: unknown;
}

let readings: Reading[];
let startedAt: number;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  readings = [];
  startedAt = Date.now();
});
afterEach(() => {
  vi.useRealTimers();
});

const at = (ms: number): string => new Date(startedAt + ms).toISOString();

/** Waits for a post. `statusAt` returns its status at a time in milliseconds after the start. */
async function wait(
  statusAt: (ms: number) => string,
  options: WaitOptions = {},
  serverWaits = false,
  hold: (query: unknown) => Promise<void> = () => Promise.resolve(),
  scheduledAt: string | null = null,
) {
  const getPost = async (id: string, query?: unknown): Promise<PostDetail> => {
    readings.push({ atMs: Date.now() - startedAt, query });
    await hold(query);
    return { id, status: statusAt(Date.now() - startedAt), scheduledAt } as PostDetail;
  };
  const result = waitForPost(getPost, "p", options, serverWaits).catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  return await result;
}

test("waiting for a post reads it at growing intervals, up to five seconds, until it is final", async () => {
  const post = await wait((ms) => (ms < 20_000 ? "publishing" : "partial"));
  expect(post).toMatchObject({ id: "p", status: "partial" });
  const times = readings.map(({ atMs }) => Math.round(atMs));
  expect(times.slice(0, 4)).toEqual([0, 200, 500, 950]);
  expect(readings.length).toBeLessThan(15);
  expect((times.at(-1) ?? 0) - (times.at(-2) ?? 0)).toBe(5_000);
});

test.each(["published", "partial", "failed", "cancelled"])(
  "waiting for a post that is %s returns the post immediately",
  async (status) => {
    expect(await wait(() => status)).toMatchObject({ status });
    expect(readings).toHaveLength(1);
  },
);

test("waiting for a post passes each version read to onUpdate, and at the time limit throws an error with the last one", async () => {
  const seen: string[] = [];
  const onUpdate = ({ status }: PostDetail): void => void seen.push(status);
  const error = await wait(() => "publishing", { timeoutMs: 1_000, onUpdate });
  expect(error).toBeInstanceOf(PostWaitTimeoutError);
  expect(error).toMatchObject({
    message: 'post p is still "publishing" after 1000 ms',
    post: { status: "publishing" },
  });
  expect(seen).toHaveLength(readings.length);
  expect(readings.at(-1)?.atMs).toBe(1_000);
});

test("waiting for a scheduled post reads the post every minute until it is due, and again at the moment when it is due", async () => {
  const due = 150_000;
  const options = { timeoutMs: 300_000 };
  const status = (ms: number) => (ms < due + 100 ? "scheduled" : "published");
  await wait(status, options, false, undefined, at(due));
  expect(readings.slice(0, 4).map(({ atMs }) => atMs)).toEqual([0, 60_000, 120_000, 150_000]);
  expect(readings.length).toBeLessThan(8);
});

test("aborting the signal ends the wait for a post", async () => {
  const signal = AbortSignal.abort(new Error("stopped"));
  expect(await wait(() => "publishing", { signal })).toMatchObject({ message: "stopped" });
});

test("when the server delays its answer until the post is final, the wait for a post repeats the request", async () => {
  const hold = () => new Promise<void>((resolve) => void setTimeout(resolve, 30_000));
  await wait((ms) => (ms < 40_000 ? "publishing" : "published"), {}, true, hold);
  const query = { waitFor: "final", timeoutSeconds: 30 };
  expect(readings).toEqual([
    { atMs: 0, query },
    { atMs: 30_000, query },
  ]);
});

test("waiting for a post reads the post at intervals from a server of an older version, which answers immediately", async () => {
  const hold = (query: unknown) => {
    if (Object.keys(query ?? {}).length === 0) return Promise.resolve();
    const fields = { details: [], requestId: null, retryAfterSeconds: null };
    const error = {
      code: "invalid_request",
      message: "Unknown parameter.",
      status: 400,
      ...fields,
    };
    return Promise.reject(new PostriderError(error));
  };
  const post = await wait((ms) => (ms < 300 ? "publishing" : "published"), {}, true, hold);
  expect(post).toMatchObject({ status: "published" });
  expect(readings.map(({ query }) => query)).toEqual([
    { waitFor: "final", timeoutSeconds: 30 },
    {},
    {},
    {},
  ]);
});
