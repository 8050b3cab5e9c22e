import { setTimeout as sleep } from "node:timers/promises";
import { appendEvents, causedBy } from "@postrider/shared/outbox";
import { isInfrastructureError, type Sql, type TransactionSql } from "@postrider/shared/postgres";
import { readClock } from "@postrider/shared/postgres/clock";
import { Batcher } from "@postrider/shared/process/batcher";
import { type Cause, currentCause } from "@postrider/shared/telemetry/cause";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { targetUpdated } from "#src/events.ts";
import { countFailures, holdAccounts, resetFailures } from "#src/publishing/db/account-gates.ts";
import { listAttempts, updateAttempts } from "#src/publishing/db/attempts.ts";
import { insertQuestions } from "#src/publishing/db/detail-questions.ts";
import { addHandles, deleteHandles } from "#src/publishing/db/handles.ts";
import { lockTasks, updateTasks } from "#src/publishing/db/tasks.ts";
import { decideInOrder, type LockedTargets } from "#src/publishing/domain/decide.ts";
import {
  type AccountEffect,
  type Decision,
  type TargetUpdate,
  type TaskEvent,
  toTargetUpdates,
} from "#src/publishing/domain/decision.ts";
import { nextAccountPauseMs } from "#src/publishing/domain/retry-policy.ts";
import { type AttemptKey, isFinal, nameTask, type Task } from "#src/publishing/domain/task.ts";
import type { PublishingDeps } from "./dependencies.ts";
import { countUpdates } from "./metrics.ts";

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
 * Records what the workers of the process learned about publish tasks, and what follows from it. It retries until the database
 * accepts the record, because the result of a publishing call is stored nowhere else.
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
    const { sql, logger } = this.#deps;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      try {
        return await this.#write(entries);
      } catch (error) {
        logger.error(
          { err: error, count: entries.length },
          "the outcomes of publishing calls could not be recorded; recording is retried until it succeeds",
        );
        if (!isInfrastructureError(error)) {
          if (entries.length > 1) return await this.#recordOneByOne(entries);
          await keepSuccess(sql, logger, entries);
        }
        await sleep(pauseMs);
      }
    }
  }

  /**
   * Records each event about a publish task in a transaction of its own, so that an event that cannot be recorded does
   * not hold back the others.
   */
  async #recordOneByOne(entries: readonly Entry[]): Promise<readonly Recorded[]> {
    const recorded = await Promise.all(entries.map((entry) => this.#record([entry])));
    return recorded.flat();
  }

  async #write(entries: readonly Entry[]): Promise<readonly Recorded[]> {
    const { sql, settings, random, onEvents } = this.#deps;
    const events = entries.map(({ event }) => event);
    const causes = new Map(entries.map(({ event, cause }) => [event.targetId, cause]));
    const { decisions, updates } = await sql.begin(async (tx) => {
      const keys = events.map(({ targetId, attemptNumber: number }) => ({ targetId, number }));
      const locked = await lockTargets(tx, keys);
      const byEvent = decideInOrder(locked, events, settings, random);
      const made = [...byEvent.values()];
      const written = await writeDecisions(tx, made, causes);
      await this.#writeHandles(tx, made);
      await this.#gateAccounts(tx, made, locked.now);
      return { decisions: byEvent, updates: written };
    });
    if (updates.length > 0) onEvents();
    countUpdates(updates);
    return events.map((event) => ({ isContinued: decisions.get(event)?.isContinued === true }));
  }

  async #writeHandles(tx: TransactionSql, decisions: readonly Decision[]): Promise<void> {
    const { sealing } = this.#deps;
    const returned = decisions.flatMap(({ task, handles }) =>
      handles === undefined ? [] : [{ task, handles: sealing.seal(task, handles) }],
    );
    if (returned.length > 0) await addHandles(tx, returned);
    const questions = decisions.flatMap(({ task, askLater }) =>
      askLater === undefined ? [] : [{ task, handles: askLater }],
    );
    if (questions.length > 0) await insertQuestions(tx, questions);
  }

  async #gateAccounts(
    tx: TransactionSql,
    decisions: readonly Decision[],
    now: Date,
  ): Promise<void> {
    const tasksWith = (kind: AccountEffect["kind"]): readonly Task[] =>
      decisions.filter(({ account }) => account?.kind === kind).map(({ task }) => task);
    const answered = tasksWith("answered").map((task) => task.accountId);
    if (answered.length > 0) await resetFailures(tx, answered);
    const failed = tasksWith("failed");
    const counts = failed.length > 0 ? await countFailures(tx, failed) : [];
    const pauses = counts.flatMap(({ failuresInRow, ...account }) => {
      const pauseMs = nextAccountPauseMs(this.#deps.settings, failuresInRow);
      return pauseMs === undefined
        ? []
        : [{ ...account, until: new Date(now.getTime() + pauseMs) }];
    });
    const limits = decisions.flatMap(({ task, account }) =>
      account?.kind === "limited" ? [{ ...task, until: account.until }] : [],
    );
    if (pauses.length + limits.length > 0) await holdAccounts(tx, [...pauses, ...limits]);
  }
}

/**
 * Stores the success of a publishing call in its attempt if the publish task cannot be updated, which only a fault in
 * our code can cause. The worker that later searches for the outcome of this call finds the success in the attempt.
 */
async function keepSuccess(sql: Sql, logger: Logger, entries: readonly Entry[]): Promise<void> {
  for (const { event } of entries) {
    if (event.kind !== "called" || event.outcome.kind !== "published") continue;
    const { targetId, attemptNumber: number } = event;
    const { externalId, permalink } = event.outcome;
    const result = { outcome: "published", code: "", message: "", isNotSent: false } as const;
    const finishedAt = new Date();
    try {
      await updateAttempts(sql, [
        { targetId, number, ...result, externalId, permalink, finishedAt },
      ]);
    } catch (error) {
      logger.error(
        { err: error, targetId },
        "the success of a publishing call could not be recorded, nor stored in its attempt; both writes are tried again",
      );
    }
  }
}

/**
 * Locks publishing targets with the tasks of all their publish requests, and reads the attempts with the given keys.
 */
export async function lockTargets(
  tx: TransactionSql,
  keys: readonly AttemptKey[],
): Promise<LockedTargets> {
  const targetIds = [...new Set(keys.map((key) => key.targetId))];
  const [tasks, attempts, now] = await Promise.all([
    lockTasks(tx, targetIds),
    listAttempts(tx, keys),
    readClock(tx),
  ]);
  return { tasks, attempts, now };
}

/** Returns the last of the items with each key. */
function lastOfEach<T>(items: readonly T[], name: (item: T) => string): readonly T[] {
  return [...new Map(items.map((item) => [name(item), item])).values()];
}

/**
 * Writes the decisions about publish tasks whose targets are locked, in the order in which they were made. Appends the
 * events for the posts service to the outbox.
 *
 * @param causes Headers of the API requests that led to the decisions, by target.
 */
export async function writeDecisions(
  tx: TransactionSql,
  decisions: readonly Decision[],
  causes: ReadonlyMap<string, Cause>,
): Promise<readonly TargetUpdate[]> {
  const changes = decisions.flatMap((decision) => decision.changes);
  const tasks = lastOfEach(
    changes.map(({ task }) => task),
    nameTask,
  );
  const attempts = lastOfEach(
    decisions.flatMap(({ attempt }) => attempt ?? []),
    ({ targetId, number }) => `${targetId}/${number}`,
  );
  // A failed task whose publishing call has an unknown outcome keeps its handles (ids from the platform), because a
  // late answer can continue the task.
  const ended = tasks.filter((task) => isFinal(task.status) && task.openUnknowns === 0);
  const updates = decisions.flatMap(toTargetUpdates);
  await Promise.all([
    attempts.length > 0 ? updateAttempts(tx, attempts) : undefined,
    tasks.length > 0 ? updateTasks(tx, tasks) : undefined,
    ended.length > 0 ? deleteHandles(tx, ended) : undefined,
    appendEvents(
      tx,
      updates.map((update) => causedBy(targetUpdated(update), causes.get(update.task.targetId))),
    ),
  ]);
  return updates;
}
