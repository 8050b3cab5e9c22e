import { type Cause, currentCause } from "@postrider/shared/telemetry/cause";
import { withoutPlatformText } from "#src/calls/call-event.ts";
import { decideInOrder } from "#src/calls/decide-in-order.ts";
import { Recorder } from "#src/calls/recorder.ts";
import { updateAttempts } from "#src/publishing/db/attempts.ts";
import { endWithoutDecision } from "#src/publishing/db/fallback-ends.ts";
import { withBegunAttempts } from "#src/publishing/domain/begun-attempts.ts";
import { toFallbackEnd } from "#src/publishing/domain/fallback-end.ts";
import { TASKS, type TargetUpdate, type TaskEvent } from "#src/publishing/domain/task.ts";
import type { PublishingDeps } from "../../operations/dependencies.ts";
import {
  attemptsTotal,
  publishLatency,
  refusedEventsTotal,
  targetsTotal,
} from "../../operations/metrics.ts";
import {
  writePlatformBreakers,
  writeAccountBreakers,
  lockTargets,
  writeDecisions,
  writeHandles,
} from "../../operations/write-decisions.ts";

type RecorderDeps = Pick<
  PublishingDeps,
  "sql" | "logger" | "sealing" | "settings" | "random" | "onEvents"
>;

/** With the headers of its API request: one transaction records events of several. */
interface Entry {
  readonly event: TaskEvent;
  readonly cause: Cause;
}

/** `isContinued`: whether the worker that reported the event keeps the publish task. */
type Recorded = { readonly isContinued: boolean };

export interface EventRecorder {
  /** Resolves when the event is recorded, however long the database is unavailable. */
  readonly record: (event: TaskEvent) => Promise<Recorded>;
  readonly drain: () => Promise<void>;
}

export function createEventRecorder(deps: RecorderDeps): EventRecorder {
  const recorder = new Recorder<Entry, Recorded>({
    logger: deps.logger,
    what: "the outcomes of publishing calls",
    otherwise:
      "when the lease of its task ends, another worker continues as after a crash, and finds a success in the attempt if it could be stored there",
    identify: ({ event }) => ({ targetId: event.targetId, eventType: event.kind }),
    windowMs: 2,
    maxEntries: 100,
    write: (entries) => write(deps, entries),
    withoutText: ({ event, cause }) => ({ event: withoutPlatformText(event), cause }),
    keep: ({ event }) => keepSuccess(deps, event),
    endWithoutDecision: async ({ event }) => {
      await endWithoutDecision(deps.sql, event, toFallbackEnd(event));
      return true;
    },
    unrecorded: { isContinued: false },
    onRefused: (recorded) => refusedEventsTotal.inc({ recorded }),
  });
  return {
    record: (event) => recorder.record({ event, cause: currentCause() }),
    drain: () => recorder.drain(),
  };
}

/** If the task cannot be updated: the search for the outcome finds the success in the attempt. */
async function keepSuccess({ sql }: RecorderDeps, event: TaskEvent): Promise<void> {
  const kept = withoutPlatformText(event);
  if (kept.kind !== "called" || kept.outcome.kind !== "published") return;
  const { targetId, attemptNumber: number, outcome } = kept;
  const { externalId, permalink } = outcome;
  const result = { outcome: "published", code: "", message: "", isNotSent: false } as const;
  const finishedAt = new Date();
  await updateAttempts(sql, [{ targetId, number, ...result, externalId, permalink, finishedAt }]);
}

async function write(
  { sql, settings, random, sealing, onEvents }: RecorderDeps,
  entries: readonly Entry[],
): Promise<readonly Recorded[]> {
  const events = entries.map(({ event }) => event);
  const policy = { ...settings, heldPlatformMs: settings.probeMs[0] ?? 0 };
  const causes = new Map(entries.map(({ event, cause }) => [event.targetId, cause]));
  const { decisions, updates } = await sql.begin(async (tx) => {
    const keys = events.map(({ targetId, attemptNumber: number }) => ({ targetId, number }));
    const locked = withBegunAttempts(await lockTargets(tx, keys), events);
    const byEvent = decideInOrder(TASKS, locked, events, { policy, random });
    const made = [...byEvent.values()];
    const written = await writeDecisions(tx, made, causes);
    await writeHandles(tx, sealing, made);
    await writeAccountBreakers(tx, settings, made, locked.now);
    await writePlatformBreakers(tx, settings, byEvent, locked.now);
    return { decisions: byEvent, updates: written };
  });
  if (updates.length > 0) onEvents();
  countUpdates(updates);
  return events.map((event) => ({ isContinued: decisions.get(event)?.isContinued === true }));
}

/** To be called after the commit. */
function countUpdates(updates: readonly TargetUpdate[]): void {
  for (const { task, attempt } of updates) {
    const { platform, finishedAt, dueAt } = task;
    if (attempt?.outcome) attemptsTotal.inc({ platform, outcome: attempt.outcome });
    if (attempt?.outcome === "published" && finishedAt !== null)
      publishLatency.observe(
        { platform },
        Math.max(0, finishedAt.getTime() - dueAt.getTime()) / 1000,
      );
    if (task.status === "published" || task.status === "failed")
      targetsTotal.inc({ platform, status: task.status, code: task.errorCode ?? "" });
  }
}
