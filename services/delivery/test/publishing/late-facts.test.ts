import type { Outcome } from "@postrider/platforms/publishing/outcome";
import { newId } from "@postrider/shared/ids";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import type { CallStatus } from "#src/calls/call.ts";
import { createEventRecorder } from "#src/publishing/jobs/claim-tasks/event-recorder.ts";
import {
  createRpcClients,
  lastUpdate,
  listAttempts,
  publishingDeps,
  readTask,
  request,
  startWorker,
  untilStatus,
} from "./fixture.ts";
import { openTargetRun, type TargetRun } from "./run-target.ts";

const QUICK = { visibleCallMs: 250, leaseMs: 1_000 };
const never = new Promise<never>(() => undefined);

/**
 * Creates a target whose first publishing call is sent by a process that is then suspended, so that
 * the outcome arrives late.
 */
async function loseFirstCall(): Promise<TargetRun> {
  const run = await openTargetRun({ reactions: [() => never] });
  const stopped = startWorker(run.database, run.world, { settings: QUICK });
  await request(run.sql, run.target);
  await eventually(() => run.world.calls.length === 1);
  await stopped.crash();
  return run;
}

/** Lets the suspended process continue and record the outcome of its publishing call. */
async function recordLate({ world, sql, target }: TargetRun, outcome: Outcome): Promise<void> {
  const recorder = createEventRecorder(publishingDeps(world, sql));
  await recorder.record({
    targetId: target.targetId,
    generation: 1,
    attemptNumber: 1,
    kind: "called",
    callNumber: 1,
    outcome,
  });
}

/** Runs another worker until the target has the status. */
async function runNextWorker({ database, world, sql, target }: TargetRun, status: CallStatus) {
  await using _worker = startWorker(database, world, { settings: QUICK });
  await untilStatus(sql, target, status);
}

/** Creates a target that failed with outcome_unknown because its first publishing call was lost. */
async function failUnknown(): Promise<TargetRun> {
  const run = await loseFirstCall();
  await runNextWorker(run, "failed");
  expect(await readTask(run.sql, run.target)).toMatchObject({ errorCode: "outcome_unknown" });
  return run;
}

test("a success that is reported late publishes a target that had failed with outcome_unknown", async () => {
  await using run = await failUnknown();
  const { sql, target } = run;

  const late = { kind: "published", externalId: "late", permalink: null } as const;
  await recordLate(run, late);
  await recordLate(run, late);

  expect(await lastUpdate(sql, target)).toMatchObject({
    status: "published",
    externalId: "late",
    attempt: { number: 1, outcome: "published" },
  });
  expect(await listAttempts(sql, target)).toMatchObject([
    { number: 1, outcome: "published", externalId: "late" },
  ]);
});

test("a late report that a publishing call was not sent queues the target again without a new publish request", async () => {
  await using run = await failUnknown();
  const { world, sql, target } = run;

  await recordLate(run, { kind: "not_sent" });

  expect(await lastUpdate(sql, target)).toMatchObject({ status: "publishing" });
  await sql`update publish_tasks set wake_at = now()`;
  await runNextWorker(run, "published");
  expect(world.visible).toHaveLength(1);
  expect(await listAttempts(sql, target)).toMatchObject([
    { number: 1, outcome: "retry" },
    { number: 2, outcome: "published" },
  ]);
});

test("a late refusal by the platform replaces outcome_unknown with the error code of the refusal", async () => {
  await using run = await failUnknown();
  const { sql, target } = run;

  await recordLate(run, {
    kind: "refused",
    code: "permission_missing",
    message: "",
  });

  expect(await lastUpdate(sql, target)).toMatchObject({
    status: "failed",
    errorCode: "permission_missing",
  });
});

test("a retryable failure that is reported late counts as one retry", async () => {
  await using run = await failUnknown();
  const { sql, target } = run;

  await recordLate(run, {
    kind: "retryable",
    code: "platform_unavailable",
    message: "",
  });

  expect(await readTask(sql, target)).toMatchObject({
    status: "queued",
    errorCode: "platform_unavailable",
  });
});

test("a late outcome of an older publishing call does not change a target that has made a newer call", async () => {
  await using run = await loseFirstCall();
  const { world, sql, target } = run;
  world.verdicts = [() => ({ kind: "absent" })];
  world.reactions = [() => ({ kind: "refused", code: "content_rejected", message: "" })];
  await runNextWorker(run, "failed");
  const before = await readTask(sql, target);

  await recordLate(run, { kind: "not_sent" });
  await recordLate(run, { kind: "unknown", message: "" });

  expect(await readTask(sql, target)).toEqual(before);
});

test("a second success of a target stores the post ids of both successes and marks the target as duplicate_detected", async () => {
  await using run = await loseFirstCall();
  const { world, sql, target } = run;
  world.verdicts = [() => ({ kind: "absent" })];
  await runNextWorker(run, "published");

  const { status } = createRpcClients(sql);
  const { workspaceId, targetId } = target;
  const seconds = async (own = workspaceId) =>
    (await status.batchGetSecondPosts({ workspaceId: own, targetIds: [targetId] })).posts;
  expect(await seconds()).toEqual([]);

  const permalink = "https://x.com/sailor/status/2";
  await recordLate(run, { kind: "published", externalId: "late", permalink });

  expect(await seconds()).toMatchObject([{ targetId, permalink }]);
  expect(await seconds(newId())).toEqual([]);
  expect(await lastUpdate(sql, target)).toMatchObject({
    status: "published",
    externalId: "id-1",
    errorCode: "duplicate_detected",
    errorRetryable: false,
  });
  expect((await listAttempts(sql, target)).map(({ externalId }) => externalId)).toEqual([
    "late",
    "id-1",
  ]);
});

test("when an older publish request of a target succeeds late, the task of the newer publish request gets the status dropped", async () => {
  await using run = await failUnknown();
  const { sql, target } = run;
  target.generation = 2;
  await request(sql, target);

  await recordLate(run, {
    kind: "published",
    externalId: "late",
    permalink: null,
  });

  expect((await readTask(sql, target, 2)).status).toBe("dropped");
  expect(await lastUpdate(sql, target)).toMatchObject({
    generation: 1,
    status: "published",
  });
  // The sweep of the posts service repeats the publish request, which publishes nothing.
  await request(sql, target);
  expect((await readTask(sql, target, 2)).status).toBe("dropped");
});

test("a late report that a publishing call was not sent does not queue a publish request that a newer one has replaced", async () => {
  await using run = await failUnknown();
  const { sql, target } = run;
  target.generation = 2;
  await request(sql, target);

  await recordLate(run, { kind: "not_sent" });

  expect((await readTask(sql, target, 1)).status).toBe("failed");
  expect((await readTask(sql, target, 2)).status).toBe("queued");
});
