import { appendEvents, causedBy } from "@postrider/shared/outbox";
import { causeOf } from "@postrider/shared/telemetry/cause";
import { createCounter } from "@postrider/shared/telemetry/metrics";
import { Recorder } from "#src/calls/recorder.ts";
import { withoutText } from "#src/domain/without-text.ts";
import { deletionUpdated } from "#src/events.ts";
import { holdAccounts } from "#src/publishing/db/account-gates.ts";
import { lockDeletions, updateDeletions } from "#src/publishing/db/deletions.ts";
import {
  decideDeletion,
  nameHeldDeletion,
  type DeletionDecision,
  type DeletionResult,
  type DeletionTask,
} from "#src/publishing/domain/deletion.ts";
import type { PublishingDeps } from "./dependencies.ts";
import { refusedEventsTotal } from "./metrics.ts";

type RecorderDeps = Pick<PublishingDeps, "sql" | "logger" | "settings" | "random" | "onEvents">;

/** How one try of a claimed deletion task ended, with the data that is recorded about it. */
interface EndedTry {
  readonly task: DeletionTask;
  readonly result: DeletionResult;
}

/**
 * The result that is recorded for a deletion if the platform's answer cannot be recorded in any
 * form.
 */
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

/** Records the results of deletions, with their events. */
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
  const decisions = await decideAndWrite(deps, tries);
  if (decisions.length > 0) deps.onEvents();
  for (const { task } of decisions) {
    const { platform, status, errorCode } = task;
    if (status !== "queued") deletionsTotal.inc({ platform, status, code: errorCode ?? "" });
  }
  return tries.map(() => undefined);
}

async function decideAndWrite(
  { sql, settings, random }: RecorderDeps,
  tries: readonly EndedTry[],
): Promise<readonly DeletionDecision[]> {
  const results = new Map(tries.map(({ task, result }) => [nameHeldDeletion(task), result]));
  return await sql.begin(async (tx) => {
    const held = await lockDeletions(
      tx,
      tries.map(({ task }) => task),
    );
    const decisions = held.tasks.flatMap((task) => {
      const result = results.get(nameHeldDeletion(task));
      if (result === undefined) return [];
      return [decideDeletion(task, result, { now: held.now, random: random() }, settings)];
    });
    if (decisions.length === 0) return [];
    const tasks = decisions.map(({ task }) => task);
    await updateDeletions(tx, tasks);
    await appendEvents(
      tx,
      tasks.map((task) => causedBy(deletionUpdated(task), task.cause && causeOf(task.cause))),
    );
    const holds = decisions.flatMap(({ task, holdUntil }) =>
      holdUntil === undefined ? [] : [{ ...task, until: holdUntil }],
    );
    if (holds.length > 0) await holdAccounts(tx, holds);
    return decisions;
  });
}
