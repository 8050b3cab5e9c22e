import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { holderIsGone } from "#src/processes/hold.ts";
import type { PartPlan, RunningPart } from "#src/processes/running-part.ts";

/** Options for the supervision of one process of the local stack. */
export interface SupervisionOptions {
  readonly holdDir: string;
  /** Whether the process is started again when it ends; false = it stays down. */
  readonly restart: boolean;
  /** Called each time the process has been started and has a new process id. */
  readonly onStarted: () => void;
  /** Called with one line for each event of the process, such as its end or its restart. */
  readonly report: (line: string) => void;
}

const holdPollMs = 100;
const firstDelayMs = 50;
const longestDelayMs = 900;
const livedLongMs = 5_000;

/**
 * Keeps one process of the stack running. If it ends for any reason, it is started again on its port within a second,
 * unless a hold file keeps it down. A process that SIGSTOP stopped has not ended and is not replaced.
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

  /**
   * Id of the supervised process; 0 before the first start. After the process ended, its pid stays until the next
   * process has started.
   */
  get pid(): number {
    return this.#running?.pid ?? 0;
  }

  /** Starts the process for the first time, and throws if that fails. */
  async start(): Promise<void> {
    this.#running = await this.plan.start();
    this.#options.onStarted();
  }

  /** Resolves with the reason when the current process has ended. */
  async ended(): Promise<string> {
    return (await this.#running?.exited) ?? "by itself";
  }

  /** Starts supervision: from now on the process is started again when it ends. */
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
      if (how === undefined) return;

      delayMs =
        performance.now() - since > livedLongMs
          ? firstDelayMs
          : Math.min(delayMs * 2, longestDelayMs);
      this.#options.report(`${this.plan.name} (process ${this.pid}) ended: ${how}`);
      await this.#startAgain(delayMs);
    }
  }

  /** Waits for the end of the process and returns how it ended, or undefined when the stack is being stopped. */
  async #endOrStop(): Promise<string | undefined> {
    const { signal } = this.#stopping;
    const { promise: stopped, resolve } = Promise.withResolvers<undefined>();
    const onAbort = (): void => resolve(undefined);
    if (signal.aborted) return undefined;

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
      if (this.#stopping.signal.aborted) return;

      try {
        await this.start();
        this.#options.report(`${this.plan.name} started again (process ${this.pid})`);
        return;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        this.#options.report(`${this.plan.name} did not start and is tried again: ${reason}`);
        delayMs = longestDelayMs;
      }
    }
  }

  async #untilReleased(): Promise<void> {
    const file = join(this.#options.holdDir, this.plan.holdName);
    let told = false;
    while (existsSync(file) && !holderIsGone(file) && !this.#stopping.signal.aborted) {
      if (!told) {
        this.#options.report(`${this.plan.name} stays down until ${file} is removed`);
        told = true;
      }
      await this.#pause(holdPollMs);
    }
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }
}
