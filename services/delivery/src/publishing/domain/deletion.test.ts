import fc from "fast-check";
import { expect, test } from "vitest";
import type { CallEvent, CallOutcome } from "#src/calls/call-event.ts";
import { NEVER_MARKED } from "#src/calls/call.ts";
import { decide } from "#src/calls/decide.ts";
import { DELETIONS, type DeletionCall } from "./deletion.ts";

const POLICY = { retryMs: [60_000, 300_000], leaseMs: 60_000, heldMs: 0 };
const NOW = new Date("2026-11-20T09:00:00.000Z");

function taskWith(given: Partial<DeletionCall> = {}): DeletionCall {
  return {
    ...NEVER_MARKED,
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
    sendBefore: after(86_400_000),
    ...given,
  };
}

function after(ms: number): Date {
  return new Date(NOW.getTime() + ms);
}

/** The task after one try with this outcome, and until when its account waits. */
function decideTry(task: DeletionCall, outcome: CallOutcome) {
  const event: CallEvent = { kind: "tried", fence: task.fence, outcome };
  const known = { call: task, kind: DELETIONS.kindOf(task), siblings: [], attempt: undefined };
  const { changes, account } = decide({ ...known, now: NOW, random: 0.5, policy: POLICY }, event);
  const holdUntil = account?.kind === "limited" ? account.until : undefined;
  return { task: changes[0]?.call ?? task, holdUntil };
}

const limit = (retryAfterMs?: number): CallOutcome => ({
  kind: "retryable",
  code: "rate_limited",
  message: "slow down",
  isLimit: true,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
});

test("a deletion succeeds when the platform reports that the post is gone, whatever the earlier tries ended with", () => {
  const task = taskWith({ retryCount: 2, errorCode: "platform_unavailable", errorMessage: "503" });
  expect(decideTry(task, { kind: "done" })).toEqual({
    task: {
      ...task,
      status: "deleted",
      version: 8,
      errorCode: null,
      errorMessage: null,
      crashCount: 0,
      finishedAt: NOW,
    },
    holdUntil: undefined,
  });
});

test("when a platform asks for a wait before the next try of a deletion, that wait replaces the configured one, and the next try is counted as a retry", () => {
  const result = {
    kind: "retryable",
    code: "platform_unavailable",
    message: "later",
    retryAfterMs: 5_000,
  } as const;
  expect(decideTry(taskWith(), result).task).toMatchObject({
    status: "queued",
    wakeAt: after(5_000),
    retryCount: 1,
    crashCount: 0,
  });
});

test("a rate limit stops all deletions of the account, for a minute if the platform does not say how long, and the try after the limit is not counted as a retry", () => {
  const last = taskWith({ retryCount: 2 });
  expect(decideTry(last, limit(9_000))).toMatchObject({
    task: { status: "queued", wakeAt: after(9_000), retryCount: 2 },
    holdUntil: after(9_000),
  });
  expect(decideTry(last, limit()).holdUntil).toEqual(after(60_000));
});

test("a deletion that meets only rate limits is given up after a day", () => {
  const task = taskWith({ sendBefore: after(1_001) });
  expect(decideTry(task, limit(1_000)).task.status).toBe("queued");
  expect(decideTry(task, limit(1_001)).task).toMatchObject({
    status: "failed",
    errorCode: "rate_limited",
  });
});

test("a deletion that meets no rate limit ends at the latest after its configured number of retries, whatever the result of each try", () => {
  const results = fc.constantFrom<CallOutcome>(
    { kind: "unknown", message: "reset" },
    { kind: "retryable", code: "platform_unavailable", message: "" },
    { kind: "refused", code: "permission_missing", message: "" },
    { kind: "done" },
  );
  fc.assert(
    fc.property(fc.array(results, { minLength: 3, maxLength: 3 }), (tries) => {
      let task = taskWith();
      for (const result of tries) {
        const { version } = task;
        if (task.status === "deleted" || task.status === "failed") return;
        ({ task } = decideTry({ ...task, status: "working" }, result));
        expect(task.version).toBe(version + 1);
        expect(task.status === "deleted").toBe(task.errorCode === null);
      }
      expect(["deleted", "failed"]).toContain(task.status);
    }),
  );
});
