import fc from "fast-check";
import { expect, test } from "vitest";
import { decideDeletion, type DeletionResult, type DeletionTask } from "./deletion.ts";

const POLICY = { retryMs: [60_000, 300_000], leaseMs: 60_000, accountPauseMs: [60_000] };
const NOW = new Date("2026-11-20T09:00:00.000Z");
const MOMENT = { now: NOW, random: 0.5 };

function taskWith(given: Partial<DeletionTask> = {}): DeletionTask {
  return {
    targetId: "target",
    deletion: 1,
    fence: 1,
    workspaceId: "workspace",
    postId: "post",
    accountId: "account",
    platform: "x",
    externalId: "id",
    isPublishedByUs: true,
    permalink: null,
    status: "working",
    wakeAt: NOW,
    crashCount: 1,
    retryCount: 0,
    version: 7,
    errorCode: null,
    errorMessage: null,
    cause: null,
    createdAt: NOW,
    ...given,
  };
}

function after(ms: number): Date {
  return new Date(NOW.getTime() + ms);
}

const limit = (retryAfterMs?: number): DeletionResult => ({
  kind: "retryable",
  code: "rate_limited",
  message: "slow down",
  isLimit: true,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});

test("a deletion succeeds when the platform reports that the post is gone, whatever the earlier tries ended with", () => {
  const task = taskWith({ retryCount: 2, errorCode: "platform_unavailable", errorMessage: "503" });
  expect(decideDeletion(task, { kind: "deleted" }, MOMENT, POLICY)).toEqual({
    task: { ...task, status: "deleted", version: 8, errorCode: null, errorMessage: null },
  });
});

test("when a platform asks for a wait before the next try of a deletion, that wait replaces the configured one, and the next try is counted as a retry", () => {
  const result = {
    kind: "retryable",
    code: "platform_unavailable",
    message: "later",
    retryAfterMs: 5_000,
  } as const;
  expect(decideDeletion(taskWith(), result, MOMENT, POLICY).task).toMatchObject({
    status: "queued",
    wakeAt: after(5_000),
    retryCount: 1,
    crashCount: 0,
  });
});

test("a rate limit stops all deletions of the account, for a minute if the platform does not say how long, and the try after the limit is not counted as a retry", () => {
  const last = taskWith({ retryCount: 2 });
  expect(decideDeletion(last, limit(9_000), MOMENT, POLICY)).toMatchObject({
    task: { status: "queued", wakeAt: after(9_000), retryCount: 2 },
    holdUntil: after(9_000),
  });
  expect(decideDeletion(last, limit(), MOMENT, POLICY).holdUntil).toEqual(after(60_000));
});

test("a deletion that meets only rate limits is given up after a day", () => {
  const task = taskWith({ createdAt: after(-24 * 3_600_000 + 1_000) });
  expect(decideDeletion(task, limit(1_000), MOMENT, POLICY).task.status).toBe("queued");
  expect(decideDeletion(task, limit(1_001), MOMENT, POLICY).task).toMatchObject({
    status: "failed",
    errorCode: "rate_limited",
  });
});

test("a deletion that meets no rate limit ends at the latest after its configured number of retries, whatever the result of each try", () => {
  const results = fc.constantFrom<DeletionResult>(
    { kind: "unknown", message: "reset" },
    { kind: "retryable", code: "platform_unavailable", message: "" },
    { kind: "refused", code: "permission_missing", message: "" },
    { kind: "deleted" },
  );
  fc.assert(
    fc.property(fc.array(results, { minLength: 3, maxLength: 3 }), (tries) => {
      let task = taskWith();
      for (const result of tries) {
        const { version } = task;
        if (task.status === "deleted" || task.status === "failed") return;
        ({ task } = decideDeletion(task, result, MOMENT, POLICY));
        expect(task.version).toBe(version + 1);
        expect(task.status === "deleted").toBe(task.errorCode === null);
      }
      expect(["deleted", "failed"]).toContain(task.status);
    }),
  );
});
