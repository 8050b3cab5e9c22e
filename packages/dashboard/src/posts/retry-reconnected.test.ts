import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type * as RetryReconnected from "./retry-reconnected.ts";

let retries: typeof RetryReconnected;

const stubLocation = () => vi.stubGlobal("location", { origin: "http://localhost" });

beforeAll(async () => {
  stubLocation();
  retries = await import("./retry-reconnected.ts");
});

let requests: unknown[] = [];

beforeEach(() => {
  requests = [];
  stubLocation();
  vi.stubGlobal("fetch", (_url: URL, { body }: RequestInit) => {
    requests.push(JSON.parse(body as string));
    const answer = { retried: 1, isMore: false, nextAfter: null, refused: [] };
    return Promise.resolve(new Response(JSON.stringify(answer)));
  });
});
afterEach(() => vi.unstubAllGlobals());

const failure = { accountId: "a", code: "permission_missing", postId: "p", retryable: 2 };

test.each([
  ["on the page of a post retries that post", false, { code: failure.code, postId: "p" }],
  ["for a cause retries the posts with that cause", true, { code: failure.code }],
])("a reconnect %s and nothing else", async (_case, isSmall, request) => {
  const retry = retries.retryOf(failure, isSmall);
  expect(await retries.retryReconnected(retry)).toBe(1);
  expect(requests).toEqual([request]);
});

test("a reconnect whose button names no retry sends nothing again", async () => {
  const retry = retries.retryOf({ ...failure, retryable: 0 }, true);
  expect(await retries.retryReconnected(retry)).toBe(0);
  expect(requests).toEqual([]);
});
