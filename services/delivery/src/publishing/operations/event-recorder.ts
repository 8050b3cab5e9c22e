import { setTimeout as sleep } from "node:timers/promises";
import { isDamagedData, isInfrastructureError } from "@postrider/shared/postgres";
import { Batcher } from "@postrider/shared/process/batcher";
import { type Cause, currentCause } from "@postrider/shared/telemetry/cause";
import { decideInOrder } from "#src/calls/decide.ts";
import { withoutPlatformText } from "#src/calls/storable.ts";
import { updateAttempts } from "#src/publishing/db/attempts.ts";
import { endWithoutDecision } from "#src/publishing/db/fallback-ends.ts";
import { toFallbackEnd } from "#src/publishing/domain/fallback-end.ts";
import { TASKS, type TargetUpdate, type TaskEvent } from "#src/publishing/domain/task.ts";
import type { PublishingDeps } from "./dependencies.ts";
import { attemptsTotal, publishLatency, refusedEventsTotal, targetsTotal } from "./metrics.ts";
import {
  brakePlatforms,
  gateAccounts,
  lockTargets,
  writeDecisions,
  writeHandles,
} from "./write-decisions.ts";

type RecorderDeps = Pick<
  PublishingDeps,
  "sql" | "logger" | "sealing" | "settings" | "random" | "onEvents"
>;

/**
 * An event about a publish task with the headers of the API request that led to the event. One transaction records
 * events of several API requests.
 */
interface Entry {
  readonly event: TaskEvent;
  readonly cause: Cause;
}

interface Recorded {
  /** Whether the worker that reported the event keeps the publish task. */
  readonly isContinued: boolean;
}

/** How long events about publish tasks are collected before they are recorded in one transaction, in milliseconds. */
const WINDOW_MS = 2;
/** Maximum number of events about publish tasks per transaction. */
const MAX_EVENTS = 100;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 5_000;
/**
 * How many times the recorder tries to record an event that the database or our code refuses: this number of times with the
 * platform's text, and then the same number without it.
 */
const TRIES_PER_FORM = 3;

/**
 * Records the events that the workers of the process report about publish tasks, and the decisions that follow from
 * them. While the database is unavailable, the recorder tries again, because the result of a publishing call is stored
 * nowhere else. An event that the database or our code refuses, or whose rows are damaged, is recorded without the
 * platform's text, or ends its publish task without a decision.
 */
export class EventRecorder {
  readonly #deps: RecorderDeps;
  readonly #batcher: Batcher<Entry, Recorded>;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
    this.#batcher = new Batcher({
      windowMs: WINDOW_MS,
      maxItems: MAX_EVENTS,
      flush: (entries) => this.#record(entries),
    });
  }

  /** Resolves when the event about the publish task is recorded, however long the database is unavailable. */
  record(event: TaskEvent): Promise<Recorded> {
    return this.#batcher.submit({ event, cause: currentCause() });
  }

  drain(): Promise<void> {
    return this.#batcher.drain();
  }

  async #record(entries: readonly Entry[]): Promise<readonly Recorded[]> {
    try {
      return await this.#untilAvailable(() => this.#write(entries));
    } catch (error) {
      this.#logRefusal(error, entries);
      // Each event is recorded in a transaction of its own, so that one that the database refuses does not delay the others.
      const recorded = await Promise.all(
        entries.map((entry) =>
          entries.length > 1 ? this.#record([entry]) : this.#recordRefused(entry),
        ),
      );
      return recorded.flat();
    }
  }

  /** Retries a write until the database is available. Throws if the database or our code refuses the write. */
  async #untilAvailable<T>(write: () => Promise<T>): Promise<T> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS))
      try {
        return await write();
      } catch (error) {
        if (!isInfrastructureError(error) || isDamagedData(error)) throw error;
        this.#deps.logger.error(
          { err: error },
          "the outcomes of publishing calls could not be recorded; recording is retried until it succeeds",
        );
        await sleep(pauseMs);
      }
  }

  #logRefusal(error: unknown, entries: readonly Entry[]): void {
    const [first] = entries;
    this.#deps.logger.error(
      {
        err: error,
        count: entries.length,
        targetId: first?.event.targetId,
        event: first?.event.kind,
      },
      "the database or Postrider's own code refused to record results of work on targets; each is recorded alone, without the platform's texts if it is refused again",
    );
  }

  /**
   * Tries again to record an event that the database or our code refused: twice more unchanged, because another
   * transaction may have caused the refusal, and then without the platform's text. If every try is refused, the publish
   * task ends without a decision.
   */
  async #recordRefused({ event, cause }: Entry): Promise<Recorded> {
    await this.#keepSuccess(event);
    const simple = withoutPlatformText(event);
    for (let tries = 1; tries < 2 * TRIES_PER_FORM; tries += 1) {
      const isSimple = tries >= TRIES_PER_FORM;
      const entry = { event: isSimple ? simple : event, cause };
      await sleep(FIRST_PAUSE_MS);
      try {
        const [recorded] = await this.#untilAvailable(() => this.#write([entry]));
        if (isSimple) refusedEventsTotal.inc({ recorded: "without_text" });
        return recorded ?? { isContinued: false };
      } catch (error) {
        this.#logRefusal(error, [entry]);
      }
    }
    await this.#endWithoutDecision(event);
    return { isContinued: false };
  }

  async #endWithoutDecision(event: TaskEvent): Promise<void> {
    const { sql, logger } = this.#deps;
    const { targetId, kind } = event;
    try {
      await this.#untilAvailable(() => endWithoutDecision(sql, event, toFallbackEnd(event)));
      refusedEventsTotal.inc({ recorded: "without_decision" });
    } catch (error) {
      refusedEventsTotal.inc({ recorded: "nothing" });
      logger.error(
        { err: error, targetId, event: kind },
        "the result of work on a target could not be recorded, not even without the platform's text; when the lease of its task ends, another worker continues as after a crash",
      );
    }
  }

  /**
   * Stores the success of a publishing call in its attempt if the publish task cannot be updated. The worker that later
   * searches for the outcome of this call finds the success in the attempt.
   */
  async #keepSuccess(event: TaskEvent): Promise<void> {
    const kept = withoutPlatformText(event);
    if (kept.kind !== "called" || kept.outcome.kind !== "published") return;
    const { targetId, attemptNumber: number, outcome } = kept;
    const { externalId, permalink } = outcome;
    const result = { outcome: "published", code: "", message: "", isNotSent: false } as const;
    const attempt = { targetId, number, ...result, externalId, permalink, finishedAt: new Date() };
    try {
      await this.#untilAvailable(() => updateAttempts(this.#deps.sql, [attempt]));
    } catch (error) {
      this.#deps.logger.error(
        { err: error, targetId },
        "the success of a publishing call could not be stored in the attempt; if it cannot be stored in the task either, Postrider searches the platform for the post",
      );
    }
  }

  async #write(entries: readonly Entry[]): Promise<readonly Recorded[]> {
    const { sql, settings, random, sealing, onEvents } = this.#deps;
    const events = entries.map(({ event }) => event);
    const causes = new Map(entries.map(({ event, cause }) => [event.targetId, cause]));
    const { decisions, updates } = await sql.begin(async (tx) => {
      const keys = events.map(({ targetId, attemptNumber: number }) => ({ targetId, number }));
      const locked = await lockTargets(tx, keys);
      const byEvent = decideInOrder(TASKS, locked, events, {
        policy: { ...settings, heldMs: settings.probeMs[0] ?? 0 },
        random,
      });
      const made = [...byEvent.values()];
      const written = await writeDecisions(tx, made, causes);
      await writeHandles(tx, sealing, made);
      await gateAccounts(tx, settings, made, locked.now);
      await brakePlatforms(tx, settings, byEvent, locked.now);
      return { decisions: byEvent, updates: written };
    });
    if (updates.length > 0) onEvents();
    countUpdates(updates);
    return events.map((event) => ({ isContinued: decisions.get(event)?.isContinued === true }));
  }
}

/**
 * Counts changes of targets in the metrics. It must be called after the transaction with the changes is
 * committed.
 */
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
