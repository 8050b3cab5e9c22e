import type { Sql, SqlFragment } from "#src/postgres.ts";
import { disposeInOrder } from "#src/process/lifecycle.ts";
import { type Loop, type LoopOptions, startLoop } from "#src/process/loop.ts";

/** How long work may wait if its loop was not nudged. */
const ASK_MS = 1_000;
/** A question and its answer may take this much longer than `ASK_MS` on a busy machine. */
const RECENT_MS = ASK_MS + 500;
/** Pause after an error. */
const RETRY_MS = 250;

export interface DueQuestion {
  /** A boolean expression: whether there may be work now. */
  readonly isDue: (sql: Sql) => SqlFragment;
  readonly onAnswer: (isDue: boolean) => void;
}

/**
 * Asks for the work of all loops of a pool with one statement a second, so that an idle process
 * sends one statement instead of one for each loop. Only work that no nudge announced waits for it:
 * what became due by the clock, or what a killed process left behind.
 *
 * If the statement fails, every loop looks by itself, so that one damaged table does not stop the
 * others.
 */
class DueWork {
  readonly #sql: Sql;
  readonly #questions = new Set<DueQuestion>();
  #answer: { readonly at: number; readonly skewMs: number } | undefined;
  #asking: Loop | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  add(question: DueQuestion): AsyncDisposable {
    this.#questions.add(question);
    // Every loop looks when it starts, so the first question is after the first pause.
    let isFirst = true;
    this.#asking ??= startLoop({
      idleMs: ASK_MS,
      work: async () => {
        if (!isFirst) await this.#ask();
        isFirst = false;
        return false;
      },
      onError: () => {
        this.#answer = undefined;
        for (const { onAnswer } of this.#questions) onAnswer(true);
      },
    });
    return {
      [Symbol.asyncDispose]: async () => {
        this.#questions.delete(question);
        if (this.#questions.size > 0) return;
        const asking = this.#asking;
        this.#asking = undefined;
        await asking?.[Symbol.asyncDispose]();
      },
    };
  }

  async #ask(): Promise<void> {
    const sql = this.#sql;
    const asked = [...this.#questions];
    const all = asked
      .map(({ isDue }) => isDue(sql))
      .reduce((before, next) => sql`${before}, ${next}`);
    const [row] = await sql<[{ now: Date; due: (boolean | null)[] }]>`
      select clock_timestamp() as now, json_build_array(${all}) as due`;
    this.#answer = { at: performance.now(), skewMs: Date.now() - row.now.getTime() };
    for (const [index, { onAnswer }] of asked.entries()) onAnswer(row.due[index] === true);
  }

  get recentSkewMs(): number | undefined {
    const answer = this.#answer;
    if (answer === undefined || performance.now() - answer.at > RECENT_MS) return undefined;
    return answer.skewMs;
  }
}

const workOfPool = new WeakMap<Sql, DueWork>();

/**
 * How far our clock is ahead of the database's. Undefined if it is not known that the database
 * answers, because the last question is too old or failed.
 */
export function recentSkewMs(sql: Sql): number | undefined {
  return workOfPool.get(sql)?.recentSkewMs;
}

/** With the questions of all loops of the pool, once a second, until it is disposed of. */
export function askWhetherDue(sql: Sql, question: DueQuestion): AsyncDisposable {
  const due = workOfPool.get(sql) ?? new DueWork(sql);
  workOfPool.set(sql, due);
  return due.add(question);
}

export interface DueLoop extends Loop {
  /** Milliseconds since the work last succeeded, or since nothing was due after such a success. */
  readonly lookAgeMs: () => number;
}

export interface DueLoopOptions extends LoopOptions {
  readonly sql: Sql;
  /** A boolean expression on few index entries: whether there may be work now. */
  readonly isDue: DueQuestion["isDue"];
}

/** A loop that also runs within a second after its work became due, and soon after an error. */
export function startDueLoop(options: DueLoopOptions): DueLoop {
  const { sql, isDue, idleMs, work, onError } = options;
  let lookedAt = performance.now();
  let hasFailed = false;
  const run = async (isNudged: boolean): Promise<boolean | number> => {
    try {
      const next = await work(isNudged);
      lookedAt = performance.now();
      hasFailed = false;
      return next;
    } catch (error) {
      hasFailed = true;
      onError(error);
      return RETRY_MS;
    }
  };
  const loop = startLoop({ idleMs, work: run, onError });
  const onAnswer = (isDueNow: boolean): void => {
    if (isDueNow) return loop.nudge();
    if (!hasFailed) lookedAt = performance.now();
  };
  const question = askWhetherDue(sql, { isDue, onAnswer });
  return {
    nudge: loop.nudge,
    lookAgeMs: () => performance.now() - lookedAt,
    [Symbol.asyncDispose]: () => disposeInOrder([question, loop]),
  };
}
