import type { Sql, SqlFragment } from "#src/postgres.ts";
import { type Loop, type LoopOptions, startLoop } from "#src/process/loop.ts";

/** How long work may wait if its loop was not nudged. */
const ASK_MS = 1_000;

interface Question {
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
  readonly #questions = new Set<Question>();
  #asking: Loop | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  add(question: Question): AsyncDisposable {
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
    const [row] = await sql<{ due: (boolean | null)[] }[]>`select json_build_array(${all}) as due`;
    for (const [index, { onAnswer }] of asked.entries()) onAnswer(row?.due[index] === true);
  }
}

const workOfPool = new WeakMap<Sql, DueWork>();

export interface DueLoop extends Loop {
  /** Milliseconds since it was last known that nothing is due or that the work succeeded. */
  lookAgeMs(): number;
}

export interface DueLoopOptions extends LoopOptions {
  readonly sql: Sql;
  /** A boolean expression on few index entries: whether there may be work now. */
  readonly isDue: Question["isDue"];
  /** Called while nothing is due. */
  readonly onIdle?: () => void;
}

/** A loop that also runs within a second after its work became due. */
export function startDueLoop({ sql, isDue, onIdle, work, ...options }: DueLoopOptions): DueLoop {
  let lookedAt = performance.now();
  const loop = startLoop({
    ...options,
    work: async (isNudged) => {
      const next = await work(isNudged);
      lookedAt = performance.now();
      return next;
    },
  });
  const due = workOfPool.get(sql) ?? new DueWork(sql);
  workOfPool.set(sql, due);
  const question = due.add({
    isDue,
    onAnswer: (isDueNow) => {
      if (isDueNow) return loop.nudge();
      lookedAt = performance.now();
      onIdle?.();
    },
  });
  return {
    nudge: loop.nudge,
    lookAgeMs: () => performance.now() - lookedAt,
    [Symbol.asyncDispose]: async () => {
      await question[Symbol.asyncDispose]();
      await loop[Symbol.asyncDispose]();
    },
  };
}
