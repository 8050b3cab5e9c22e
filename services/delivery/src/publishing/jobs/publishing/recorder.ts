import { setTimeout as sleep } from "node:timers/promises";
import { appendEvents, causedBy } from "@postrider/shared/outbox";
import { isInfrastructureError, type Sql, type TransactionSql } from "@postrider/shared/postgres";
import { currentCause, type Cause } from "@postrider/shared/telemetry/cause";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { targetUpdated } from "#src/events.ts";
import { countFailures, holdAccounts, resetFailures } from "#src/publishing/db/account-gates.ts";
import { insertQuestions } from "#src/publishing/db/detail-questions.ts";
import { addHandles } from "#src/publishing/db/handles.ts";
import {
  deleteHandles,
  lockTargets,
  updateAttempts,
  updateTasks,
} from "#src/publishing/db/outcomes.ts";
import { attemptResult, type AccountEffect } from "#src/publishing/domain/decision.ts";
import { nextAccountPauseMs } from "#src/publishing/domain/retry-policy.ts";
import { settle, type Report, type Settlement } from "#src/publishing/domain/settle.ts";
import { isFinal, type Task } from "#src/publishing/domain/task.ts";
import type { PublishingDeps } from "./deps.ts";
import { Gatherer } from "./gatherer.ts";
import { countOutcomes } from "./metrics.ts";

type RecorderDeps = Pick<
  PublishingDeps,
  "sql" | "logger" | "seals" | "settings" | "random" | "onEvents"
>;

const WINDOW_MS = 2;
const MAX_REPORTS = 100;
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 5_000;

/**
 * Writes what was learned about tasks, and what follows from it, in one transaction for all workers of the process. It
 * never gives up: what a visible call returned exists nowhere else.
 */
export class Recorder {
  readonly #deps: RecorderDeps;
  readonly #gatherer: Gatherer<Report, Task | undefined>;
  /** Reports of several requests are written together; each remembers its own. */
  readonly #causes = new WeakMap<Report, Cause>();

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
    this.#gatherer = new Gatherer({
      windowMs: WINDOW_MS,
      maxItems: MAX_REPORTS,
      flush: (reports) => this.#record(reports),
    });
  }

  /** Resolves, however long the database is away, with the task as it is after the report. */
  record(report: Report): Promise<Task | undefined> {
    this.#causes.set(report, currentCause());
    return this.#gatherer.submit(report);
  }

  drain(): Promise<void> {
    return this.#gatherer.drain();
  }

  async #record(reports: readonly Report[]): Promise<readonly (Task | undefined)[]> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      try {
        const settlement = await this.#write(reports);
        if (settlement.updates.length > 0) this.#deps.onEvents();
        countOutcomes(settlement);
        return settlement.outcomes;
      } catch (error) {
        this.#deps.logger.error({ err: error, count: reports.length }, "outcomes not recorded yet");
        if (!isInfrastructureError(error)) {
          if (reports.length > 1) return await this.#recordOneByOne(reports);
          await keepSuccess(this.#deps.sql, this.#deps.logger, reports[0]);
        }
        await sleep(pauseMs);
      }
    }
  }

  /** One of them cannot be written: it must not keep the others. */
  #recordOneByOne(reports: readonly Report[]): Promise<readonly (Task | undefined)[]> {
    return Promise.all(
      reports.map(async (report) => {
        const [task] = await this.#record([report]);
        return task;
      }),
    );
  }

  async #write(reports: readonly Report[]): Promise<Settlement> {
    const { sql, settings, random } = this.#deps;
    return await sql.begin(async (tx) => {
      const keys = reports.map(({ targetId, attemptNumber }) => ({
        targetId,
        number: attemptNumber,
      }));
      const known = await lockTargets(tx, keys);
      const settlement = settle(known, reports, settings, random);
      await this.#apply(tx, settlement, { now: known.now, causes: this.#causesOf(reports) });
      return settlement;
    });
  }

  #causesOf(reports: readonly Report[]): ReadonlyMap<string, Cause | undefined> {
    return new Map(reports.map((report) => [report.targetId, this.#causes.get(report)]));
  }

  async #apply(
    tx: TransactionSql,
    settlement: Settlement,
    { now, causes }: { now: Date; causes: ReadonlyMap<string, Cause | undefined> },
  ): Promise<void> {
    const { tasks, facts, updates } = settlement;
    // An end with an open question may be answered late, and goes on with what its steps had made.
    const ended = tasks.filter((task) => isFinal(task.status) && task.openUnknowns === 0);
    const events = updates.map(({ task, attempt }) =>
      causedBy(targetUpdated(task, attempt), causes.get(task.targetId)),
    );
    await Promise.all([
      facts.length > 0 ? updateAttempts(tx, facts, now) : undefined,
      tasks.length > 0 ? updateTasks(tx, tasks) : undefined,
      ended.length > 0 ? deleteHandles(tx, ended) : undefined,
      appendEvents(tx, events),
    ]);
    const { seals } = this.#deps;
    const made = settlement.handles.map(({ task, handles }) => ({
      task,
      handles: seals.seal(task, handles),
    }));
    if (made.length > 0) await addHandles(tx, made);
    if (settlement.questions.length > 0) await insertQuestions(tx, settlement.questions);
    await this.#gateAccounts(tx, settlement, now);
  }

  async #gateAccounts(tx: TransactionSql, { accounts }: Settlement, now: Date): Promise<void> {
    const of = (kind: AccountEffect["kind"]): readonly Task[] =>
      accounts.filter(({ effect }) => effect.kind === kind).map(({ task }) => task);
    const answered = of("answered").map((task) => task.accountId);
    if (answered.length > 0) await resetFailures(tx, answered);
    const failed = of("failed");
    const counts = failed.length > 0 ? await countFailures(tx, failed) : [];
    const rests = counts.flatMap(({ failuresInRow, ...account }) => {
      const pauseMs = nextAccountPauseMs(this.#deps.settings, failuresInRow);
      return pauseMs === undefined
        ? []
        : [{ ...account, until: new Date(now.getTime() + pauseMs) }];
    });
    const limits = accounts.flatMap(({ task, effect }) =>
      effect.kind === "limited" ? [{ ...task, until: effect.until }] : [],
    );
    if (rests.length + limits.length > 0) await holdAccounts(tx, [...rests, ...limits]);
  }
}

/**
 * A success whose decision cannot be written, which only a fault of ours can cause, is at least kept in its attempt: the
 * worker that looks at the call later finds it there.
 */
async function keepSuccess(sql: Sql, logger: Logger, report: Report | undefined): Promise<void> {
  if (report?.happening.kind !== "called") return;
  const { outcome } = report.happening;
  if (outcome.kind !== "published") return;
  const { externalId, permalink } = outcome;
  const result = { ...attemptResult("published"), externalId, permalink };
  const fact = { targetId: report.targetId, number: report.attemptNumber, result };
  try {
    await sql.begin((tx) => updateAttempts(tx, [fact], new Date()));
  } catch (error) {
    logger.error({ err: error, targetId: report.targetId }, "a success could not be kept yet");
  }
}
