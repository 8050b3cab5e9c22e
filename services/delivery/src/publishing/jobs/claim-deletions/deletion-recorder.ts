import { appendEvents, causedBy } from "@postrider/shared/outbox";
import { causeOf } from "@postrider/shared/telemetry/cause";
import { createCounter } from "@postrider/shared/telemetry/metrics";
import { isFinal, NEVER_MARKED } from "#src/calls/call.ts";
import { decideInOrder } from "#src/calls/decide-in-order.ts";
import { Recorder } from "#src/calls/recorder.ts";
import { writeCalls } from "#src/calls/table.ts";
import { withoutText } from "#src/domain/without-text.ts";
import { deletionUpdated } from "#src/events.ts";
import { delayAccounts } from "#src/publishing/db/account-breakers.ts";
import { DELETION_TABLE, delayDeletions, lockDeletions } from "#src/publishing/db/deletions.ts";
import { deleteHandles } from "#src/publishing/db/handles.ts";
import {
  DELETIONS,
  type DeletionEvent,
  type DeletionResult,
  type DeletionTask,
} from "#src/publishing/domain/deletion.ts";
import { isLiveCheck } from "#src/publishing/domain/live-check.ts";
import type { PublishingDeps } from "../../operations/dependencies.ts";
import { refusedEventsTotal } from "../../operations/metrics.ts";

type RecorderDeps = Pick<PublishingDeps, "sql" | "logger" | "settings" | "random" | "onEvents">;

interface EndedTry {
  readonly task: DeletionTask;
  readonly result: DeletionResult;
}

/** For an answer that cannot be recorded in any form. */
const NOT_RECORDED: DeletionResult = {
  kind: "given_up",
  code: "internal_error",
  message: "the result could not be recorded; the log of the delivery service says why",
};

const deletionsTotal = createCounter(
  "delivery_deletions_total",
  "Deletions that ended, by status and, when failed, the reason.",
  ["platform", "status", "code"],
);

export type DeletionRecorder = Recorder<EndedTry>;

export function createDeletionRecorder(deps: RecorderDeps): DeletionRecorder {
  return new Recorder<EndedTry>({
    logger: deps.logger,
    what: "the results of deletions",
    otherwise: "the deletion is repeated when its lease ends, which is harmless",
    identify: ({ task }) => ({ targetId: task.targetId }),
    windowMs: 2,
    maxEntries: 100,
    write: (tries) => write(deps, tries),
    withoutText: ({ task, result }) => ({ task, result: withoutText(result) }),
    // A successful deletion is not recorded as a failure: it is repeated, and succeeds again.
    endWithoutDecision: async ({ task, result }) => {
      if (result.kind === "deleted") return false;
      await write(deps, [{ task, result: NOT_RECORDED }]);
      return true;
    },
    unrecorded: undefined,
    onRefused: (recorded) => refusedEventsTotal.inc({ recorded }),
  });
}

async function write(
  deps: RecorderDeps,
  tries: readonly EndedTry[],
): Promise<readonly undefined[]> {
  const tasks = await decideAndWrite(deps, tries);
  if (tasks.length > 0) deps.onEvents();
  for (const { platform, status, errorCode } of tasks)
    if (status !== "queued") deletionsTotal.inc({ platform, status, code: errorCode ?? "" });
  return tries.map(() => undefined);
}

async function decideAndWrite(
  { sql, settings, random }: RecorderDeps,
  tries: readonly EndedTry[],
): Promise<readonly DeletionTask[]> {
  const policy = { ...settings, heldPlatformMs: 0 };
  return await sql.begin(async (tx) => {
    const leased = tries.map(({ task }) => task);
    const { tasks: stored, now } = await lockDeletions(tx, leased);
    const locked = { calls: stored.map((task) => ({ ...NEVER_MARKED, ...task })), now };
    const decided = decideInOrder(DELETIONS, locked, tries.map(toEvent), { policy, random });
    const decisions = [...decided.values()];
    const tasks = decisions.flatMap(({ changes }) => changes.map(({ call }) => call));
    if (tasks.length === 0) return [];
    await writeCalls(tx, DELETION_TABLE, tasks);
    const ended = tasks.filter((task) => isLiveCheck(task) && isFinal(task.status));
    if (ended.length > 0)
      await deleteHandles(
        tx,
        ended.map(({ targetId }) => targetId),
      );
    await appendEvents(
      tx,
      tasks
        .filter((task) => !isLiveCheck(task))
        .map((task) => causedBy(deletionUpdated(task), task.cause && causeOf(task.cause))),
    );
    const limits = decisions.flatMap(({ changes, account }) =>
      account?.kind === "limited" ? changes.map(({ call }) => ({ ...call, ...account })) : [],
    );
    // One that ends its deletion holds no account: the next would end only when it is over.
    const delays = limits.filter(({ ofApp, status }) => ofApp === undefined && !isFinal(status));
    if (delays.length > 0) await delayAccounts(tx, delays);
    // A limit of our app that deletions met may count no publications (YouTube's units).
    const ofApp = limits.filter((limit) => limit.ofApp !== undefined);
    if (ofApp.length > 0) await delayDeletions(tx, ofApp);
    return tasks;
  });
}

function toEvent({ task, result }: EndedTry): DeletionEvent {
  const { targetId, deletion, fence } = task;
  const key = { targetId, deletion, fence };
  if (result.kind === "given_up") return { ...key, ...result };
  const outcome = result.kind === "deleted" ? ({ kind: "done" } as const) : result;
  return { ...key, kind: "tried", outcome };
}
