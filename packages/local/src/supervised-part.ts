import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { holderIsGone } from "#src/hold.ts";
import type { PartPlan, RunningPart } from "#src/running-part.ts";

/** Where a part finds what it must respect, and whom it tells. */
export interface SupervisionOptions {
  readonly holdDir: string;
  /** False: an ended part stays down. */
  readonly restart: boolean;
  /** Called whenever the part's pid has changed. */
  readonly onStarted: () => void;
  /** One line for people. */
  readonly report: (line: string) => void;
}

const holdPollMs = 100;
const firstDelayMs = 50;
const longestDelayMs = 900;
const livedLongMs = 5_000;

/**
 * Keeps one process of the stack up. When it ends, however, it is started again on its port within a second,
 * unless a hold file keeps it down. A stopped process (SIGSTOP) has not ended and is left alone.
 */
export class SupervisedPart implements AsyncDisposable {
  readonly plan: PartPlan;
  readonly #options: SupervisionOptions;
  readonly #stopping = new AbortController();
  #running: RunningPart | undefined;
  #loop: Promise<void> = Promise.resolve();

  constructor(plan: PartPlan, options: SupervisionOptions) {
    this.plan = plan;
    this.#options = options;
  }

  /** The process; 0 before the first start. A dead one keeps its number until its successor is there. */
  get pid(): number {
    return this.#running?.pid ?? 0;
  }

  /** Starts it for the first time; a failure is the caller's. */
  async start(): Promise<void> {
    this.#running = await this.plan.start();
    this.#options.onStarted();
  }

  /** Resolves, with how, when the process that runs now has ended. */
  async ended(): Promise<string> {
    return (await this.#running?.exited) ?? "by itself";
  }

  /** Begins to watch over it. */
  supervise(): void {
    this.#loop = this.#keepUp();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
    await this.#running?.[Symbol.asyncDispose]();
  }

  async #keepUp(): Promise<void> {
    let delayMs = firstDelayMs;
    while (this.#options.restart) {
      const since = performance.now();
      const how = await this.#endOrStop();
      if (how === undefined) {
        return;
      }
      delayMs =
        performance.now() - since > livedLongMs
          ? firstDelayMs
          : Math.min(delayMs * 2, longestDelayMs);
      this.#options.report(`${this.plan.name} (process ${this.pid}) ended: ${how}`);
      await this.#startAgain(delayMs);
    }
  }

  /** Undefined when the stack is being stopped. */
  async #endOrStop(): Promise<string | undefined> {
    const { signal } = this.#stopping;
    const { promise: stopped, resolve } = Promise.withResolvers<undefined>();
    const onAbort = (): void => resolve(undefined);
    if (signal.aborted) {
      return undefined;
    }
    signal.addEventListener("abort", onAbort);
    const how = await Promise.race([this.ended(), stopped]);
    signal.removeEventListener("abort", onAbort);
    return signal.aborted ? undefined : how;
  }

  async #startAgain(firstDelay: number): Promise<void> {
    let delayMs = firstDelay;
    while (!this.#stopping.signal.aborted) {
      await this.#pause(delayMs);
      await this.#untilReleased();
      if (this.#stopping.signal.aborted) {
        return;
      }
      try {
        await this.start();
        this.#options.report(`${this.plan.name} started again (process ${this.pid})`);
        return;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#options.report(`${this.plan.name} does not start: ${reason}`);
        delayMs = longestDelayMs;
      }
    }
  }

  async #untilReleased(): Promise<void> {
    const file = join(this.#options.holdDir, this.plan.holdName);
    let told = false;
    while (existsSync(file) && !holderIsGone(file) && !this.#stopping.signal.aborted) {
      if (!told) {
        this.#options.report(`${this.plan.name} stays down until ${file} goes`);
        told = true;
      }
      await this.#pause(holdPollMs);
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }
}
