import { setTimeout as sleep } from "node:timers/promises";
import { isTooSlow } from "@postrider/shared/bus/batch-size";
import { isDamagedData, isInfrastructureError } from "@postrider/shared/postgres";
import { Batcher } from "@postrider/shared/process/batcher";
import type { LogFields, Logger } from "@postrider/shared/telemetry/logger";

/** What is recorded instead of a result that the database or our code refuses. */
export type RecordedInstead = "without_text" | "without_decision" | "nothing";

export interface RecorderOptions<E, R> {
  readonly logger: Logger;
  /** In the plural and with an article, for the log. */
  readonly what: string;
  readonly otherwise: string;
  readonly identify: (entry: E) => LogFields;
  readonly windowMs: number;
  readonly maxEntries: number;
  /** In one transaction. Returns one answer per result, in their order. */
  readonly write: (entries: readonly E[]) => Promise<readonly R[]>;
  /** Returns the result without the texts that a platform or receiver wrote. */
  readonly withoutText: (entry: E) => E;
  /** Stores what must not be lost of a refused result before it is tried again. */
  readonly keep?: (entry: E) => Promise<void>;
  /** False if the work is better repeated. */
  readonly endWithoutDecision?: (entry: E) => Promise<boolean>;
  readonly unrecorded: R;
  readonly onRefused: (recorded: RecordedInstead) => void;
}

const FIRST_PAUSE_MS = 50;
/**
 * Shorter than the wait of other processes after an outage, before they take over work whose result
 * may be known.
 */
const MAX_PAUSE_MS = 2_000;
/** How long results wait for the transaction of earlier ones, so that they share the next one. */
const PATIENCE_MS = 200;
/** How often a refused result is tried with the texts of the other side, and then without them. */
const TRIES_PER_FORM = 3;

class TooLarge extends Error {}

/**
 * Records in batches. While the database is unavailable, it tries without end, because an outcome
 * is stored nowhere else. A batch that exceeds a limit of the database is halved. Refused results
 * and damaged rows are recorded one by one, so that they delay no others: unchanged, without the
 * texts of the other side, at last without a decision.
 */
export class Recorder<E, R = void> {
  readonly #options: RecorderOptions<E, R>;
  readonly #batcher: Batcher<E, R>;

  constructor(options: RecorderOptions<E, R>) {
    const { windowMs, maxEntries: maxItems } = options;
    this.#options = options;
    this.#batcher = new Batcher({
      windowMs,
      maxItems,
      patienceMs: PATIENCE_MS,
      flush: (entries) => this.#record(entries),
    });
  }

  /** Resolves when recorded, however long the database is unavailable. Never rejects. */
  record(entry: E): Promise<R> {
    return this.#batcher.submit(entry);
  }

  drain(): Promise<void> {
    return this.#batcher.drain();
  }

  async #record(entries: readonly E[]): Promise<readonly R[]> {
    try {
      return await this.#untilAvailable(() => this.#options.write(entries), entries.length > 1);
    } catch (error) {
      if (error instanceof TooLarge) return await this.#recordHalves(entries);
      this.#logRefusal(error, entries);
      const recorded = await Promise.all(
        entries.map(async (entry) =>
          entries.length > 1 ? await this.#record([entry]) : [await this.#recordRefused(entry)],
        ),
      );
      return recorded.flatMap((each) => each);
    }
  }

  async #recordHalves(entries: readonly E[]): Promise<readonly R[]> {
    const middle = Math.ceil(entries.length / 2);
    const first = await this.#record(entries.slice(0, middle));
    return [...first, ...(await this.#record(entries.slice(middle)))];
  }

  /** Throws `TooLarge` if the work exceeds a limit of the database and may be divided. */
  async #untilAvailable<T>(write: () => Promise<T>, mayDivide = false): Promise<T> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      const startedAt = performance.now();
      try {
        return await write();
      } catch (error) {
        if (!isInfrastructureError(error) || isDamagedData(error)) throw error;
        if (mayDivide && isTooSlow(error, performance.now() - startedAt)) throw new TooLarge();
        const { logger, what } = this.#options;
        logger.error(
          { err: error },
          `${what} could not be recorded; recording is retried until it succeeds`,
        );
        await sleep(pauseMs);
      }
    }
  }

  /** Tries again unchanged first, because another transaction may have caused the refusal. */
  async #recordRefused(entry: E): Promise<R> {
    const { write, withoutText, keep, onRefused } = this.#options;
    if (keep !== undefined) await this.#tryAlone(entry, () => keep(entry));
    for (let tries = 1; tries < 2 * TRIES_PER_FORM; tries += 1) {
      const isSimple = tries >= TRIES_PER_FORM;
      await sleep(FIRST_PAUSE_MS);
      const recorded = await this.#tryAlone(entry, () =>
        write([isSimple ? withoutText(entry) : entry]),
      );
      if (recorded === undefined) continue;
      if (isSimple) onRefused("without_text");
      return recorded.value[0] ?? this.#options.unrecorded;
    }
    return await this.#endWithoutDecision(entry);
  }

  async #endWithoutDecision(entry: E): Promise<R> {
    const { endWithoutDecision, onRefused, logger, identify, what, otherwise } = this.#options;
    const ended =
      endWithoutDecision && (await this.#tryAlone(entry, () => endWithoutDecision(entry)));
    const isEnded = ended?.value === true;
    onRefused(isEnded ? "without_decision" : "nothing");
    if (!isEnded)
      logger.error(
        identify(entry),
        `one of ${what} could not be recorded in any form; ${otherwise}`,
      );
    return this.#options.unrecorded;
  }

  async #tryAlone<T>(entry: E, write: () => Promise<T>): Promise<{ value: T } | undefined> {
    try {
      return { value: await this.#untilAvailable(write) };
    } catch (error) {
      this.#logRefusal(error, [entry]);
      return undefined;
    }
  }

  #logRefusal(error: unknown, entries: readonly E[]): void {
    const { logger, identify, what } = this.#options;
    const [first] = entries;
    logger.error(
      { err: error, count: entries.length, ...(first === undefined ? {} : identify(first)) },
      `the database or Postrider's own code refused to record ${what}; each is recorded alone, and after another refusal without the platform's or receiver's texts`,
    );
  }
}
