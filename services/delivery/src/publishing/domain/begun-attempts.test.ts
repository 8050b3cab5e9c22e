import { expect, test } from "vitest";
import { NEVER_MARKED } from "#src/calls/call.ts";
import { withBegunAttempts } from "./begun-attempts.ts";
import type { Task, TaskEvent } from "./task.ts";

const CLAIMED_AT = new Date("2026-11-21T12:00:00Z");
const WORKING: Task = {
  ...NEVER_MARKED,
  targetId: "t",
  generation: 2,
  workspaceId: "w",
  postId: "p",
  accountId: "a",
  platform: "x",
  status: "working",
  wakeAt: CLAIMED_AT,
  dueAt: CLAIMED_AT,
  sendBefore: CLAIMED_AT,
  fence: 3,
  crashCount: 0,
  retryCount: 0,
  attemptNumber: 4,
  updatedAt: CLAIMED_AT,
  isAttemptOpen: false,
  version: 5,
  externalId: null,
  permalink: null,
  errorCode: null,
  errorMessage: null,
};
const FAILED: TaskEvent = {
  targetId: "t",
  generation: 2,
  attemptNumber: 5,
  kind: "step_failed",
  fence: 3,
  failure: { kind: "refused", code: "media_rejected", message: "" },
};

const add = (task: Task, event: TaskEvent) =>
  withBegunAttempts({ calls: [task], attempts: [], now: CLAIMED_AT }, [event]);

test("a failure before the mark ends an attempt that began when the task was claimed", () => {
  const { calls, attempts } = add(WORKING, FAILED);
  expect(calls).toMatchObject([{ attemptNumber: 5, isAttemptOpen: true }]);
  expect(attempts).toMatchObject([
    { targetId: "t", number: 5, fence: 3, startedAt: CLAIMED_AT, outcome: null, isNew: true },
  ]);
});

test.each<[string, Task, TaskEvent]>([
  ["of a worker that lost the task", { ...WORKING, fence: 4 }, FAILED],
  ["of a task that has ended", { ...WORKING, status: "dropped" }, FAILED],
  ["from before the steps of an attempt", WORKING, { ...FAILED, attemptNumber: 4 }],
  [
    "about a target that is not wanted",
    WORKING,
    { targetId: "t", generation: 2, attemptNumber: 5, kind: "not_wanted", fence: 3 },
  ],
])("an event %s begins no attempt", (_, task, event) => {
  expect(add(task, event)).toMatchObject({ calls: [task], attempts: [] });
});
