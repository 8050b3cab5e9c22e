import { afterEach, beforeAll, expect, test, vi } from "vitest";
import type * as FailedTargets from "./failed-targets.ts";
import { postWords } from "./post-words.ts";

let failures: typeof FailedTargets;

beforeAll(async () => {
  vi.stubGlobal("location", { origin: "http://localhost" });
  failures = await import("./failed-targets.ts");
});
afterEach(() => vi.unstubAllGlobals());

const failedWith = (code: "content_rejected" | "outcome_unknown" | "platform_unavailable") =>
  ({
    platform: "x",
    status: "failed",
    error: { code, retryable: code === "platform_unavailable" },
  }) as const;

test("the retry of a post sends again all that failed for certain, also where it does not help", () => {
  const refused = failedWith("content_rejected");
  const unknown = failedWith("outcome_unknown");
  const published = { platform: "x", status: "published" } as const;
  const targets = [refused, failedWith("platform_unavailable"), unknown, published];
  expect(targets.filter(failures.isRetryable)).toEqual(targets.slice(0, 2));
});

test("a retry that sends nothing again says so", () => {
  expect([0, 1, 2].map((count) => postWords.en.retried(count))).toEqual([
    "Nothing was left to retry.",
    "1 publication is sent again.",
    "2 publications are sent again.",
  ]);
  expect(postWords.ko.retried(0)).toBe("다시 시도할 것이 없었습니다.");
});

test("after a retry only the publications are counted that the server sends again", async () => {
  const targetOf = (accountId: string, status: "failed" | "pending" | "published") => ({
    accountId,
    status,
  });
  const targets = [targetOf("a", "failed"), targetOf("b", "failed"), targetOf("c", "published")];
  const after = [targetOf("a", "pending"), ...targets.slice(1)];
  vi.stubGlobal("fetch", () =>
    Promise.resolve(new Response(JSON.stringify({ id: "p", targets: after }), { status: 202 })),
  );
  expect(await failures.retryPost({ id: "p", targets })).toBe(1);
});
